r"""The grammar of a labelled final answer, for level B: ``Final answer: 42``.

A label is `answer` or `final answer` with a colon or an equals sign; emphasis around it does
not count. Its value is what stands behind it on its line, or on the next written one. The last
label wins. Nothing is evaluated, rescaled, or searched for where no label stands.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.parsing.answers import (
    DIGITS,
    LONGEST_VALUE,
    NOT_WHOLE,
    Reading,
    bare,
    unwrapped,
    whole,
)

NO_FINAL = "no final answer"
UNTERMINATED = "unterminated"
OTHER_UNIT = "not in the declared unit"
NO_OPTION = "none of the options"

EMPHASIS = r"[*_`]*+"
LABEL = re.compile(
    rf"(?<![^\W_])(?:final[ \t]+)?answer{EMPHASIS}(?:[ \t]+is)?[ \t]*{EMPHASIS}[:=]{EMPHASIS}",
    re.IGNORECASE,
)
OPENS_DISPLAY = re.compile(r"[ \t]*(?:\\\[|\$\$|`{3,}\w*|~{3,}\w*)?[ \t]*")
BRACE = re.compile(r"(?<!\\)[{}]")
BOXED = re.compile(r"\\boxed[ \t]*\{")
NUMBER = re.compile(rf"([-−]?)[ \t]*\\?\$?[ \t]*([-−]?)({DIGITS})\\?\$?(?:[*_`]+(?=[\s.,;]|$))?")
PROSE = re.compile(r"\.?\s*|[.,;:]\s.*")
LIKE_A_UNIT = re.compile(r"[%°]|[^\W\d_]+(?!\w)")
LETTER = re.compile(r"\(?([A-Za-z])\)?(?:[*_`]*(?:[.,:;)(].*)?|\s+\(.*)")


@dataclass(frozen=True)
class Final:
    """The final answer as text, or why there is none; exactly one of the two is given.

    two_finals : the last two lines give two different ones
    """

    value: str | None
    problem: str = ""
    two_finals: bool = False


def read_final(text: str, *, boxed: bool = False) -> Final:
    r"""Find the final answer of a visible text.

    Parameters
    ----------
    text : the visible text, reasoning removed
    boxed : without any label, the last ``\boxed{...}`` is the final answer
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    labels = list(LABEL.finditer(plain))
    ends = [*(label.start() for label in labels[1:]), len(plain)]
    finals = [
        (label.start(), final)
        for label, end in zip(labels, ends, strict=False)
        if (final := _labelled(plain[label.end() : end])) is not None
    ]
    if finals:
        two = len(finals) > 1 and _close_the_text(plain, finals[-2][0], finals[-1][0])
        last, before = finals[-1][1], finals[-2:][0][1]
        return replace(last, two_finals=two and last.value != before.value)
    boxes = list(BOXED.finditer(plain)) if boxed and not labels else []
    return _boxed(plain[boxes[-1].end() :]) if boxes else Final(None, NO_FINAL)


def final_whole_number(final: Final, units: Sequence[str] = ()) -> Reading[int]:
    """Read a final answer as a whole number, in the declared unit or in none.

    Parameters
    ----------
    units : every accepted spelling of the unit, such as `km` and `kilometres`
    """
    if final.value is None:
        return Reading(None, final.problem)
    value = _without_leading_unit(unwrapped(final.value[:LONGEST_VALUE]), units)
    match = NUMBER.match(value)
    number = whole((match[1] or match[2]) + match[3]) if match else None
    if match is None or number is None or (match[1] and match[2]):
        return Reading(None, NOT_WHOLE)
    rest = value[match.end() :]
    if not PROSE.fullmatch(rest):
        word = rest.lstrip()
        unit = next((u for u in units if _is_unit(word, u)), None)
        if unit is None:
            return Reading(None, OTHER_UNIT if LIKE_A_UNIT.match(word) else NOT_WHOLE)
    return Reading(number, canonical=str(number))


def final_letter(final: Final, options: str) -> Reading[str]:
    """Read a final answer as one of some lettered options: `D`, `(D)`, `D) because`."""
    if final.value is None:
        return Reading(None, final.problem)
    match = LETTER.fullmatch(unwrapped(final.value[:LONGEST_VALUE]))
    letter = match[1].upper() if match else ""
    if not letter or letter not in options:
        return Reading(None, NO_OPTION)
    return Reading(letter, canonical=letter)


def _labelled(behind: str) -> Final | None:
    """Return the value that stands behind a label, or None if nothing does."""
    start = 0
    for line in behind.split("\n"):
        if not OPENS_DISPLAY.fullmatch(line):
            box = BOXED.search(line)
            return _boxed(behind[start + box.end() :]) if box else Final(bare(line))
        start += len(line) + 1
    return None


def _boxed(behind: str) -> Final:
    """Return what stands before the brace that closes a box."""
    depth = 1
    for brace in BRACE.finditer(behind):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return Final(behind[: brace.start()].strip())
    return Final(None, UNTERMINATED)


def _close_the_text(text: str, *places: int) -> bool:
    """Say whether these places lie on the last written lines of a text, one on each."""
    written = [number for number, line in enumerate(text.split("\n")) if line.strip()]
    return [text.count("\n", 0, place) for place in places] == written[-len(places) :]


def _is_unit(word: str, unit: str) -> bool:
    """Say whether a text begins with a unit that ends there."""
    return word[: len(unit)].casefold() == unit.casefold() and bool(
        PROSE.fullmatch(word[len(unit) :])
    )


def _without_leading_unit(value: str, units: Sequence[str]) -> str:
    """Return a value without a declared unit in front of its number: `€42`, `EUR 42`."""
    for unit in units:
        rest = value[len(unit) :].lstrip()
        if value[: len(unit)].casefold() == unit.casefold() and NUMBER.match(rest):
            return rest
    return value
