"""The labelled final answer of level B: the last label, its value, and nothing else."""

import time

import pytest

from harness.parsing.answers import NOT_WHOLE
from harness.parsing.channel import read_channel
from harness.parsing.final import (
    NO_FINAL,
    NO_OPTION,
    OTHER_UNIT,
    UNTERMINATED,
    final_letter,
    final_whole_number,
    read_final,
)

CHANNELS = (
    "<|channel|>analysis<|message|>Final answer: 9<|end|><|start|>assistant"
    "<|channel|>final<|message|>"
)
KILOMETRES = ("km", "kilometres", "kilometers")


def number(text: str, *, boxed: bool = False, units: tuple[str, ...] = ()) -> int | None:
    return final_whole_number(read_final(text, boxed=boxed), units).value


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: 42",
        "final answer: 42",
        "FINAL ANSWER: 42",
        "Answer: 42",
        "Final answer = 42",
        "The final answer is: 42",
        "**Final answer:** 42",
        "**Final answer**: 42",
        "**Final answer: 42**",
        "*Final answer:* **42**",
        "__Final answer:__ `42`",
        "### Final answer: 42",
        "- Final answer: 42.",
        "> Final answer: 42",
        "Final answer:\n42",
        "**Final answer:**\n\n42\n",
        "Final answer:\n\\[\n\\boxed{42}\n\\]",
        "Final answer:\n```\n42\n```",
        "Final answer: $42$",
        "Final answer: \\(42\\)",
        "Final answer: $\\boxed{42}$.",
        "Final answer: 42\r\n\r\n",
        "Final answer: 42 \t ",
        "Final answer: 42, as computed above, in total.",
        "Final answer: 42. That is all.",
        "Final answer: 42, as computed in step 3.",
        "Final answer: 42; the other one was 41.",
        "Final answer: 7. No.\nFinal answer: 42",
        "The answer seems to be 7.\nFinal answer: 42",
        "Final answer: 42\nFinal answer:",
    ],
)
def test_forms_of_a_final_answer(text: str) -> None:
    """Emphasis, LaTeX, line ends and a sentence behind the number never matter."""
    assert number(text) == 42


@pytest.mark.parametrize(
    "text",
    [
        "So \\[ \\boxed{42} \\]",
        "So $\\boxed{42}$.",
        "So \\(\\boxed{42}\\)",
        "\\boxed{42}",
        "\\boxed{7} no, \\boxed{ 42 }",
    ],
)
def test_a_box_counts_where_it_is_allowed(text: str) -> None:
    """Without a label the last box is the answer, if the task said so, and only then."""
    assert number(text, boxed=True) == 42
    assert read_final(text).problem == NO_FINAL


def test_a_label_stands_above_a_box() -> None:
    """A box in the working is no final answer once one is labelled."""
    assert number("\\boxed{7}\nFinal answer: 42\nas in \\boxed{8}", boxed=True) == 42


def test_a_box_is_read_to_its_own_brace() -> None:
    """Braces inside a box are balanced, and a fraction in it is no whole number."""
    final = read_final("So \\boxed{\\frac{7}{2}} and {more}", boxed=True)

    assert final.value == "\\frac{7}{2}"
    assert final_whole_number(final).problem == NOT_WHOLE


@pytest.mark.parametrize(
    "text", ["\\boxed{7", "Final answer: \\boxed{7", "\\boxed{1} \\boxed{\\frac{7}{2"]
)
def test_a_box_that_never_closes_is_no_answer(text: str) -> None:
    """An unterminated box is refused; the whole text is not searched instead."""
    final = read_final(text, boxed=True)

    assert (final.value, final.problem) == (None, UNTERMINATED)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Final answer: $12,480.", 12480),
        ("Final answer: \\$12,480.", 12480),
        ("Final answer: 12{,}480", 12480),
        ("Final answer: $12{,}480$", 12480),
        ("Final answer: 12,480 $", 12480),
        ("Final answer: 12,480$", 12480),
        ("Final answer: 12\u202f480", 12480),
        ("Final answer: -$5", -5),
        ("Final answer: $-5", -5),
        ("Final answer: −5", -5),
        ("Final answer: 1,234,567, in all", 1234567),
    ],
)
def test_money_and_thousands(text: str, value: int) -> None:
    """A currency sign and thousands marks are no part of a number, and split none."""
    assert number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "72.5",
        "12,48",
        "1234,567",
        "7/2",
        "6*7",
        "10**10**10",
        "2^10",
        "1e3",
        "x",
        "about 42",
        "42 43",
        "∞",
        "--5",
        "9" * 41,
    ],
)
def test_what_is_no_whole_number(text: str) -> None:
    """Nothing is evaluated or rounded, and no part of a longer number is taken."""
    reading = final_whole_number(read_final(f"Final answer: {text}"))

    assert (reading.value, reading.problem, reading.canonical) == (None, NOT_WHOLE, "")


def test_the_declared_unit_is_stripped() -> None:
    """Every accepted spelling of the unit is, with and without a space or a stop."""
    for text in ("42 km", "42km", "42 kilometres.", "**42** km", "42 KM, by road", "42"):
        assert number(f"Final answer: {text}", units=KILOMETRES) == 42


@pytest.mark.parametrize(
    "text", ["42 km/h", "4200%", "42 m", "42 kmh", "42 km per day", "42 miles", "42°"]
)
def test_another_unit_is_wrong(text: str) -> None:
    """A value in other units is not rescaled and not taken for the declared one."""
    reading = final_whole_number(read_final(f"Final answer: {text}"), KILOMETRES)

    assert (reading.value, reading.problem) == (None, OTHER_UNIT)


@pytest.mark.parametrize("text", ["€12,480", "€ 12,480.", "eur 12,480", "EUR -5", "**€12,480**"])
def test_a_declared_unit_may_stand_first(text: str) -> None:
    """A currency is written in front of its number; only a declared one is no part of it."""
    assert number(f"Final answer: {text}", units=("€", "EUR")) in (12480, -5)
    assert number(f"Final answer: {text}") is None
    assert number(f"Final answer: {text}", units=KILOMETRES) is None


def test_no_unit_is_declared() -> None:
    """Where no unit was declared none is accepted."""
    assert final_whole_number(read_final("Answer: 42 km")).problem == OTHER_UNIT


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: B … no. Answer: D", "D"),
        ("Answer seems to be hard to see.\nAnswer: C", "C"),
        ("Answer: (C)", "C"),
        ("Answer: **C**", "C"),
        ("Answer: **C**.", "C"),
        ("Answer: C) because of A", "C"),
        ("Answer: C. Paris", "C"),
        ("Answer: c", "C"),
        ("Answer: $\\boxed{C}$", "C"),
        ("Answer: A lot of work", None),
        ("Answer: Don't know", None),
        ("Answer: E", None),
        ("Answer: B and C", None),
        ("Answer: BC", None),
        ("Answer seems to be hard to see.", None),
        ("Answers: C", None),
        ("Nonanswer: C", None),
    ],
)
def test_lettered_options(text: str, letter: str | None) -> None:
    """An option is one letter at the place of the value, never a letter of another word."""
    assert final_letter(read_final(text), "ABCD").value == letter


def test_reasons_are_told_apart() -> None:
    """No label, and a label with something else, have their own reasons."""
    assert final_letter(read_final("C"), "ABCD").problem == NO_FINAL
    assert final_whole_number(read_final("42")).problem == NO_FINAL
    assert final_letter(read_final("Answer: 42"), "ABCD").problem == NO_OPTION


def test_two_finals_are_flagged() -> None:
    """Two different labelled answers on the last two lines: the last one, and a mark."""
    assert read_final("Answer: 3\nAnswer: 4").two_finals
    assert read_final("Answer: 3\n\nAnswer: 4\n").value == "4"
    assert not read_final("Answer: 4\nAnswer: **4**.").two_finals
    assert not read_final("Answer: 3\nNo, one more.\nAnswer: 4").two_finals
    assert not read_final("Answer: B … no. Answer: D").two_finals


@pytest.mark.parametrize(
    "text",
    [
        "Final answer: " + "9" * 1_000_000,
        "Final answer: " * 50_000,
        "\\boxed{" * 100_000,
        "Final answer: \\boxed{" * 20_000,
        "answer" + " " * 300_000,
        "answer" + "*" * 300_000,
        "Final answer:" + "\n" * 300_000 + "42",
    ],
)
def test_no_text_is_slow_to_read(text: str) -> None:
    """Long digits and repeated labels cost time in proportion to their length.

    Measured at most 0.2 s of CPU; two seconds leave room for a busy machine.
    """
    started = time.process_time()

    final = read_final(text, boxed=True)
    final_whole_number(final, KILOMETRES)
    final_letter(final, "ABCD")

    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("<think>Final answer: 9</think>Final answer: 12", 12),
        ("<Think>Final answer: 9</Think>\nFinal answer: 12", 12),
        ("<thinking>Final answer: 9</thinking>\nFinal answer: 12", 12),
        ("Final answer: 9</think>Final answer: 12", 12),
        ("<think>long … Final answer: 9", None),
        ("Final answer: 12<|im_end|>\n<|im_start|>user\nAnd 9?\nFinal answer: 9", 12),
        (
            CHANNELS + "Final answer: 12",
            12,
        ),
        ("<think>Final answer: 12</think>I am done.", None),
    ],
)
def test_a_final_answer_is_never_taken_from_reasoning(content: str, value: int | None) -> None:
    """What a model tries out in its reasoning, or in an invented turn, is no answer."""
    visible = read_channel(content, "", ("think", "thinking")).text

    assert number(visible) == value
