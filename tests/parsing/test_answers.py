"""Answer lines are found whatever markup is around them, and read without being evaluated."""

import random
import re
import time

import pytest

from harness.parsing.answers import (
    NO_LINE,
    NOT_NUMBERS,
    NOT_PAIR,
    NOT_WHOLE,
    NOT_WORD,
    REPEATED,
    answer_lines,
    read_letters,
    read_numbers,
    read_pair,
    read_whole_number,
    read_word,
)

KEYS = ("P1.1", "seating.1", "CONFLICT 1", "CASE 07", "six_rules.4")
NARROW, THIN = "\u202f", "\u2009"


def value(line: str, key: str = "P1.1") -> str | None:
    return answer_lines(line, KEYS).values.get(key)


@pytest.mark.parametrize(
    "line",
    [
        "P1.1 = 64",
        "P1.1: 64",
        "P1.1=64",
        "p1.1 = 64",
        "  P1.1 = 64  ",
        "\tP1.1\t=\t64\t",
        "P1.1 = 64\r",
        "P1.1 = 64.",
        "**P1.1 = 64**",
        "**P1.1:** 64",
        "**P1.1**: 64",
        "**P1.1** = **64**",
        "P1.1 **=** 64",
        "P1.1**:** 64",
        "*P1.1* = 64",
        "_P1.1_ = _64_",
        "***P1.1:*** 64.",
        "`P1.1 = 64`",
        "`P1.1` = `64`",
        "**P1.1** = `64`.",
        "**P1.1 = 64.**",
        '"P1.1" = "64"',
        "“P1.1” = “64”",
        "- P1.1 = 64",
        "* P1.1 = 64",
        "+ P1.1 = 64",
        "• P1.1 = 64",
        "- **P1.1:** 64.",
        "1. P1.1 = 64",
        "12) P1.1 = 64",
        "> P1.1 = 64",
        "> - P1.1 = 64",
        "### P1.1 = 64",
        "| P1.1 | 64 |",
        "|P1.1|64|",
        "P1.1 | 64",
        "| **P1.1** | **64** |",
        "| P1.1 | `64`. |",
        "P1\\.1 = 64",
        "P1.1\uff1a64",
        "P1.1 \uff1d 64",
        "\ufeffP1.1 = 64",
        "\u00a0P1.1\u00a0=\u00a064",
    ],
)
def test_markup_around_an_answer_line_does_not_matter(line: str) -> None:
    """Emphasis, lists, quotes, tables, tabs, CRLF and a full stop are no part of an answer."""
    assert value(line) == "64"


@pytest.mark.parametrize(
    "line",
    [
        "P1.1",
        "P1.1 64",
        "P1.1 -> 64",
        "P1.1 =",
        "**P1.1:**",
        "| P1.1 | |",
        "P1.1 = **",
        "P1.10 = 64",
        "P11 = 64",
        "XP1.1 = 64",
        "P1.1x = 64",
        "the answer is P1.1 = 64",
        "~~P1.1 = 64~~",
        "",
    ],
)
def test_other_lines_are_no_answers(line: str) -> None:
    """A key in prose, another key, or a line without a value says nothing."""
    assert value(line) is None


def test_keys_have_spaces_dots_and_underscores() -> None:
    """Every form of key is found, and its spacing and escapes do not count."""
    text = (
        "Seating.1 = A B C\n**conflict  1:** 2.2 / 5.1\nCASE 07 = 54 | 108 by 1\nsix\\_rules.4 = 7"
    )

    assert answer_lines(text, KEYS).values == {
        "seating.1": "A B C",
        "CONFLICT 1": "2.2 / 5.1",
        "CASE 07": "54 | 108 by 1",
        "six_rules.4": "7",
    }


def test_a_declaration_keeps_its_own_signs() -> None:
    """Dashes inside a value belong to it; the list mark, emphasis and stop around it do not."""
    assert answer_lines("- **CONFLICT:** 2.1 – 4.3.", ["CONFLICT"]).values == {
        "CONFLICT": "2.1 – 4.3"
    }


def test_a_pair_survives_a_table() -> None:
    """In a table row the last border is no part of a value that has a bar itself."""
    assert value("| CASE 07 | 54 | 108 by 1 |", "CASE 07") == "54 | 108 by 1"
    assert read_pair(value("| CASE 07 | 54 \\| 108 |", "CASE 07")).value == (54, 108)


def test_a_fence_around_the_block_does_not_matter() -> None:
    """Lines in a code block are lines."""
    assert answer_lines("```text\nP1.1 = 64\nCASE 07 = 5\n```\n", KEYS).values == {
        "P1.1": "64",
        "CASE 07": "5",
    }


def test_the_last_line_of_a_key_wins() -> None:
    """A later line replaces an earlier one, and the difference is flagged by its key."""
    found = answer_lines("| P1.1 | 63 |\nCASE 07 = 5\n| P1.1 | 64 |", KEYS)

    assert found.values["P1.1"] == "64"
    assert found.two_finals == ("P1.1",)


@pytest.mark.parametrize("again", ["**P1.1:** 1,264.", "P1.1 = $1264$", "p1.1 | 1264 |"])
def test_the_same_value_twice_is_one_final(again: str) -> None:
    """Only two different values are two finals; markup and thousands marks make none."""
    assert answer_lines(f"P1.1 = 1264\n{again}", KEYS).two_finals == ()


def test_an_empty_line_of_a_key_replaces_nothing() -> None:
    """A heading that repeats the key without a value does not erase the value."""
    assert answer_lines("P1.1 = 64\n**P1.1:**\n", KEYS).values["P1.1"] == "64"


def test_unknown_keys_are_counted_by_their_shape() -> None:
    """A line for an item that nobody asked is counted; ordinary prose with a colon is not."""
    text = "P9.9 = 3\nCASE 99 = 4\nNote: this is prose\nSo x = 3 follows.\nP1.1 = 64"

    assert answer_lines(text, KEYS).unknown == 2


def test_without_keys_nothing_is_looked_for() -> None:
    """A task of files asks no key, so a file's own lines are no unknown answers."""
    assert answer_lines("P1.1 = 64", ()) == answer_lines("", ())


def test_values_stand_in_the_order_asked() -> None:
    """The record of a reply does not depend on the order a model chose."""
    assert list(answer_lines("CASE 07 = 1\nP1.1 = 2", KEYS).values) == ["P1.1", "CASE 07"]


def test_every_line_of_the_written_grammar_is_found() -> None:
    """Second method: whatever the specified pattern accepts, and nothing of another key."""
    key = re.escape("P1.1")
    grammar = re.compile(
        rf"^\s*(?:[-*>|]\s*)?[*_`]*{key}[*_`]*\s*(?:[:=|])\s*(\S.*?)\s*\|?\s*$", re.IGNORECASE
    )
    draw = random.Random("grammar")
    pieces = ["P1.1", "p1.1", " ", "\t", "-", "*", ">", "|", "_", "`", ":", "=", "64", "x", "7"]
    seen = 0
    for _ in range(30_000):
        line = "".join(draw.choices(pieces, k=draw.randrange(3, 9)))
        match = grammar.match(line)
        if match and match[1].strip("*_`|. \t"):
            seen += 1
            assert value(line) is not None, line
            assert value(line) in match[1], line
    assert seen > 100


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("64", 64),
        ("-64", -64),
        ("−64", -64),
        ("0", 0),
        ("-0", 0),
        ("007", 7),
        (" 64 ", 64),
        ("64.", 64),
        ("**64**", 64),
        ("`64`", 64),
        ("12,480", 12480),
        ("12_480", 12480),
        (f"12{THIN}480", 12480),
        (f"12{NARROW}480", 12480),
        ("1,234,567", 1234567),
        ("$64$", 64),
        ("$$64$$", 64),
        ("$12,480", 12480),
        ("\\$12,480", 12480),
        ("$12{,}480$", 12480),
        ("12\\,480", 12480),
        ("\\(64\\)", 64),
        ("\\[64\\]", 64),
        ("\\boxed{64}", 64),
        ("$\\boxed{-64}$", -64),
        ("\\( \\boxed{12{,}480} \\).", 12480),
        ("**$\\boxed{\\text{64}}$**", 64),
        ("9" * 40, int("9" * 40)),
    ],
)
def test_whole_numbers(text: str, number: int) -> None:
    """INT is digits with a sign and thousands marks, in LaTeX or emphasis or neither."""
    reading = read_whole_number(text)

    assert (reading.value, reading.problem, reading.canonical) == (number, "", str(number))


@pytest.mark.parametrize(
    "text",
    [
        "64.0",
        "64.5",
        "12.480",
        "1/2",
        "\\frac{7}{2}",
        "2^10",
        "2**10",
        "10**10**10",
        "10^(10^10)",
        "6*84+12",
        "= 64",
        "1e3",
        "64 km",
        "64 sacks",
        "64%",
        "sixty-four",
        "about 64",
        "64 (see above)",
        "64, 65",
        "64 65",
        "12 480",
        "12,48",
        "1,2,3",
        "1234,567",
        "12,,480",
        ",480",
        "12_48",
        "+64",
        "--64",
        "- 64",
        "٦٤",
        "\uff16\uff14",
        "0x40",
        "1_000_00",
        "64..",
        "?",
        "NaN",
        "inf",
        "true",
        "\\boxed{7",
        "9" * 41,
        "",
    ],
)
def test_what_is_no_whole_number(text: str) -> None:
    """Decimals, fractions, powers, words, units and expressions are wrong, never computed."""
    reading = read_whole_number(text)

    assert (reading.value, reading.problem, reading.canonical) == (None, NOT_WHOLE, "")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("6-84-12", (6, 84, 12)),
        ("6 - 84 - 12", (6, 84, 12)),
        ("6–84—12", (6, 84, 12)),
        ("6\u201184\u221212", (6, 84, 12)),
        ("6,84,12", (6, 84, 12)),
        ("6, 84, 12", (6, 84, 12)),
        ("(6, 84, 12)", (6, 84, 12)),
        ("(6-84-12)", (6, 84, 12)),
        ("$(6, 84)$", (6, 84)),
        ("\\boxed{6-84}", (6, 84)),
        ("**6-84**.", (6, 84)),
        ("-3, 4", (-3, 4)),
        ("-3-4", (-3, 4)),
        ("3--4", (3, -4)),
        ("3-−4", (3, -4)),
        ("1,200-5", (1200, 5)),
        ("1,200", (1, 200)),
        ("5", (5,)),
    ],
)
def test_tuples(text: str, numbers: tuple[int, ...]) -> None:
    """TUPLE is INTs joined by dashes or commas; a dash behind a dash is a sign."""
    reading = read_numbers(text)

    assert reading.value == numbers
    assert reading.canonical == "-".join(map(str, numbers))


@pytest.mark.parametrize(
    "text",
    ["", "a-b", "6/84", "6;84", "6 84", "6-", "-", "6-84-x", "(6, 84", "6.5-2", "6,,84", "()"],
)
def test_what_is_no_tuple(text: str) -> None:
    """Other joints, words, and holes are wrong."""
    assert (read_numbers(text).value, read_numbers(text).problem) == (None, NOT_NUMBERS)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ABC", "ABC"),
        ("abc", "ABC"),
        ("A B C", "ABC"),
        ("A, B, C", "ABC"),
        ("a-b-c", "ABC"),
        ("A -> B -> C", "ABC"),
        ("A → B→C", "ABC"),
        ("A–B", "AB"),
        ("**A, B.**", "AB"),
        ("$\\text{ABC}$", "ABC"),
        ("ñu", "ÑU"),
    ],
)
def test_words(text: str, word: str) -> None:
    """WORD is letters; what may stand between them and their case do not count."""
    reading = read_word(text)

    assert (reading.value, reading.canonical, reading.problem) == (word, word, "")


@pytest.mark.parametrize(
    "text", ["", "-", "A1", "A/B", "A | B", "A; B", "{A, B}", "A = B", "3", "A?"]
)
def test_what_is_no_word(text: str) -> None:
    """Any other sign makes a value no word, and an empty value is none."""
    assert (read_word(text).value, read_word(text).problem) == (None, NOT_WORD)


def test_a_look_alike_letter_is_another_letter() -> None:
    """A Cyrillic letter is a letter, and not the Latin one."""
    assert read_word("\u0410BC").value != "ABC"


def test_sets() -> None:
    """SET is letters in any order; one that stands twice makes it wrong."""
    assert read_letters("c, a").value == frozenset("AC")
    assert read_letters("c, a").canonical == "AC"
    assert read_letters("ACA").problem == REPEATED
    assert read_letters("Aa").problem == REPEATED
    assert read_letters("A1").problem == NOT_WORD


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("54 | 108", (54, 108)),
        ("54|108", (54, 108)),
        ("108 | 54", (108, 54)),
        ("-1 | 1,200", (-1, 1200)),
        ("**54** | **108**", (54, 108)),
        ("$54$ | $108$", (54, 108)),
        ("54 \\| 108", (54, 108)),
        ("54 | 108 |", (54, 108)),
    ],
)
def test_pairs(text: str, pair: tuple[int, int]) -> None:
    """PAIR is two INTs around a bar, in the order as written."""
    reading = read_pair(text)

    assert (reading.value, reading.canonical) == (pair, f"{pair[0]} | {pair[1]}")


@pytest.mark.parametrize(
    "text", ["", "54", "54 | ", "| 54", "54 | x", "54, 108", "1 | 2 | 3", "1.5 | 2"]
)
def test_what_is_no_pair(text: str) -> None:
    """One value, three, another joint, or no whole number is wrong."""
    assert (read_pair(text).value, read_pair(text).problem) == (None, NOT_PAIR)


def test_a_missing_line_is_its_own_reason() -> None:
    """No line and a wrong line are told apart, for every type."""
    for read in (read_whole_number, read_numbers, read_word, read_letters, read_pair):
        assert (read(None).value, read(None).problem) == (None, NO_LINE)


def test_canonical_text_reads_back() -> None:
    """The form in which answers are stored is one the parser reads as the same value."""
    draw = random.Random("canonical")
    for _ in range(500):
        numbers = tuple(draw.randint(-999_999, 999_999) for _ in range(draw.randint(2, 4)))
        letters = draw.sample("ABCDEFGHIJ", k=4)
        assert read_whole_number(str(numbers[0])).value == numbers[0]
        assert read_numbers("-".join(map(str, numbers))).value == numbers
        assert read_pair(f"{numbers[0]} | {numbers[1]}").value == numbers[:2]
        assert read_word("".join(letters)).canonical == "".join(letters)
        assert read_letters("".join(letters)).canonical == "".join(sorted(letters))


@pytest.mark.parametrize(
    "text",
    [
        "P1.1 = " + "9" * 1_000_000,
        "P1.1 = 10**10**10",
        "P1.1 = " + "1," * 300_000,
        "P1.1 = " + ".|" * 300_000,
        "P1.1 = " + "\\boxed{" * 100_000,
        "*" * 300_000 + "P1.1",
        "1. " * 100_000,
        "| " * 200_000,
        "_" * 300_000,
        "a " * 200_000,
        "P1.1 " * 100_000,
        "CONFLICT" + " " * 300_000,
        "P1.1 = 64\n" * 30_000,
        "P9.9 = 64\n" * 30_000,
    ],
)
def test_no_text_is_slow_to_read(text: str) -> None:
    """Long digits, towers of powers and repeated marks are refused without being computed.

    Measured at most 0.1 s of CPU; one second leaves room for a busy machine.
    """
    started = time.process_time()

    given = answer_lines(text, KEYS).values.get("P1.1")
    for read in (read_whole_number, read_numbers, read_word, read_letters, read_pair):
        read(given)

    assert time.process_time() - started < 1.0


def test_letters_of_every_script_never_raise() -> None:
    """Case folding of odd letters finds no key that was not asked, and does not fail."""
    for odd in ("\u0130", "\u0131", "\u017f", "\u212a", "ß"):
        answer_lines(
            f"case 0{odd} = 1\nKEY{odd} = 2\nK{odd} = 3", ["KEYI", "KEYS", "KK", "Case 0s"]
        )
