"""Values in markup, for the goldens and the ladders of answer tasks."""

import pytest

from harness.parsing import answers
from harness.parsing.answers import answer_lines, read_numbers, read_whole_number, read_word
from harness.suite.forms import LONGEST_READ, MOST_DIGITS, dressed, misdressed

KEYS = [f"K{number}" for number in range(1, 27)]
READERS = [
    (read_whole_number, "412", 412),
    (read_whole_number, "1532", 1532),
    (read_whole_number, "7", 7),
    (read_numbers, "10-1-2", (10, 1, 2)),
    (read_word, "HWPG", "HWPG"),
]


def given(values: dict[str, str]) -> dict[str, str]:
    """What the parser takes from answer lines."""
    text = "".join(f"{key} = {value}\n" for key, value in values.items())
    return answer_lines(text, list(values)).values


@pytest.mark.parametrize(
    ("read", "value", "right"), READERS, ids=lambda x: getattr(x, "__name__", "")
)
def test_every_dress_is_taken_off(read: object, value: str, right: object) -> None:
    """A golden in all dresses reaches the maximum."""
    assert callable(read)
    written = dressed(dict.fromkeys(KEYS, value))
    found = given(written)
    assert {key: read(found[key]).value for key in KEYS} == dict.fromkeys(KEYS, right)
    assert len(set(written.values())) > 5


@pytest.mark.parametrize("number", ["7", "41", "412", "1532"])
def test_no_misfit_is_the_number(number: str) -> None:
    """A ladder of misfits scores nothing."""
    found = given(misdressed(dict.fromkeys(KEYS, number)))
    assert all(read_whole_number(found[key]).value != int(number) for key in KEYS)


def test_the_longest_values_are_the_ones_that_readers_take() -> None:
    """One sign more is no value; the members stand on both sides of the limit."""
    assert (answers.LONGEST_VALUE, answers.LONGEST_NUMBER) == (LONGEST_READ, MOST_DIGITS)
    lengths = {len(value) for value in dressed(dict.fromkeys(KEYS, "412")).values()}
    assert max(lengths) == LONGEST_READ
    assert LONGEST_READ + 1 in {len(v) for v in misdressed(dict.fromkeys(KEYS, "412")).values()}
