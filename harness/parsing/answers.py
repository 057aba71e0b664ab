"""Answer lines `KEY = VALUE` of level A, and how a value is read.

Nothing is evaluated: a value either has the form that was asked for or it has none. What is
tolerated is markup alone (emphasis, lists, quotes, tables, fences, LaTeX delimiters).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

Value = TypeVar("Value")

NO_LINE = "no line"
NOT_WHOLE = "not a whole number"
NOT_NUMBERS = "not whole numbers joined by - or ,"
NOT_PAIR = "not two whole numbers with | between them"
NOT_WORD = "not a word"
REPEATED = "a letter stands twice"

LONGEST_NUMBER = 40  # digits; nothing we ask is near it, and int() of a long text is slow
LONGEST_VALUE = 400  # characters; a longer value is prose

MARKUP = "*_`\"'“”‘’"
LEAD = r"(?:[\s\-+•|>#\ufeff\u200b" + MARKUP + r"]|\d{1,3}[.)](?=\s))*+"
SEPARATOR = r"[\s" + MARKUP + r"]*+[:=|\uff1a\uff1d]\s*+"
UNKNOWN_LINE = re.compile(LEAD + r"([^\W_][\w.\- ]{0,39}?)" + SEPARATOR + r"(?=\S)")

GROUP = r"[,_\u2009\u202f]"
DIGITS = rf"[0-9]{{1,3}}(?:{GROUP}[0-9]{{3}})+|[0-9]+"
WHOLE = re.compile(rf"([-−]?)({DIGITS})")
DASH = r"[-\u2010-\u2015\u2212]"  # what models write for a hyphen
BETWEEN = re.compile(rf"(?<=[0-9])\s*{DASH}\s*")  # a dash behind a dash is a sign
LISTED = re.compile(r"[-−]?[0-9]+(?:\s*,\s*[-−]?[0-9]+)*")
NO_LETTER = re.compile(rf"[\s,→⇒⟶➔➜]|->|=>|{DASH}")
WRAPPERS = (
    re.compile(r"\\\((.*)\\\)"),
    re.compile(r"\\\[(.*)\\\]"),
    re.compile(r"\\(?:boxed|text|mathbf|mathrm)\s*\{(.*)\}"),
)


@dataclass(frozen=True)
class Reading(Generic[Value]):
    """A value that was read, or the reason why there is none (`no line`, `not a whole number`).

    Exactly one of the two is given. canonical is the value as text, for comparing with traps.
    """

    value: Value | None
    problem: str = ""
    canonical: str = ""


@dataclass(frozen=True)
class AnswerLines:
    """What a text says for the keys that were asked.

    values : asked key → the value of its last line, without the markup around it
    two_finals : keys whose lines do not all say the same
    unknown : lines shaped like an asked one whose key nobody asked
    """

    values: dict[str, str]
    two_finals: tuple[str, ...] = ()
    unknown: int = 0


def answer_lines(text: str, keys: Sequence[str]) -> AnswerLines:
    """Find the answer lines of a visible text; the last line of a key wins.

    A line is a key, one of ``:``, ``=``, ``|``, and a value to its end. Emphasis, list and
    quote marks, a table row, a fence around the block, tabs and a final full stop are no part
    of it. A line with an empty value says nothing.

    Parameters
    ----------
    text : the visible text, reasoning removed
    keys : what was asked; any case is the same key
    """
    if not keys:
        return AnswerLines({})
    asked = _asked(tuple(keys))
    found: dict[str, list[str]] = {}
    unknown = 0
    for line in text.replace("\r", "\n").split("\n"):
        match = asked.line.match(line)
        key = asked.keys.get(_plain(match[1])) if match else None
        if match and key is not None:
            value = bare(match[2])
            if value:
                found.setdefault(key, []).append(value)
        elif (other := UNKNOWN_LINE.match(line)) and _shape(other[1]) in asked.shapes:
            unknown += 1
    return AnswerLines(
        values={key: found[key][-1] for key in keys if key in found},
        two_finals=tuple(
            key for key in keys if len({_same(value) for value in found.get(key, ())}) > 1
        ),
        unknown=unknown,
    )


def bare(value: str) -> str:
    """Return a value without the markup, table border and full stop around it."""
    plain = value.strip()
    inner = None
    while plain != inner and len(plain) <= LONGEST_VALUE:
        inner = plain
        plain = plain.strip(MARKUP + " \t").removesuffix("|").rstrip()
        if not plain.endswith(".."):
            plain = plain.removesuffix(".").rstrip()
    return plain


def read_whole_number(text: str | None) -> Reading[int]:
    """Read INT: an optional sign, digits, thousands marks in their places, and nothing else."""
    if text is None:
        return Reading(None, NO_LINE)
    number = whole(unwrapped(text))
    if number is None:
        return Reading(None, NOT_WHOLE)
    return Reading(number, canonical=str(number))


def read_numbers(text: str | None) -> Reading[tuple[int, ...]]:
    """Read TUPLE: INTs joined by ``-``, or by ``,`` with optional parentheses."""
    if text is None:
        return Reading(None, NO_LINE)
    plain = unwrapped(text)
    if plain.startswith("(") and plain.endswith(")"):
        plain = plain[1:-1].strip()
    parts = plain.split(",") if LISTED.fullmatch(plain) else BETWEEN.split(plain)
    numbers = [whole(part.strip()) for part in parts]
    values = tuple(number for number in numbers if number is not None)
    if not values or len(values) != len(numbers):
        return Reading(None, NOT_NUMBERS)
    return Reading(values, canonical="-".join(str(number) for number in values))


def read_pair(text: str | None) -> Reading[tuple[int, int]]:
    """Read PAIR: two INTs with ``|`` between them, in the order as written."""
    if text is None:
        return Reading(None, NO_LINE)
    halves = [whole(unwrapped(half)) for half in unwrapped(text).replace("\\|", "|").split("|")]
    if len(halves) != 2 or halves[0] is None or halves[1] is None:
        return Reading(None, NOT_PAIR)
    return Reading((halves[0], halves[1]), canonical=f"{halves[0]} | {halves[1]}")


def read_word(text: str | None) -> Reading[str]:
    """Read WORD: letters; spaces, commas, hyphens and arrows between them do not count."""
    if text is None:
        return Reading(None, NO_LINE)
    word = NO_LETTER.sub("", unwrapped(text)).upper()
    if not word.isalpha():
        return Reading(None, NOT_WORD)
    return Reading(word, canonical=word)


def read_letters(text: str | None) -> Reading[frozenset[str]]:
    """Read SET: as WORD, in any order, each letter once."""
    word = read_word(text)
    if word.value is None:
        return Reading(None, word.problem)
    letters = frozenset(word.value)
    if len(letters) < len(word.value):
        return Reading(None, REPEATED)
    return Reading(letters, canonical="".join(sorted(letters)))


def unwrapped(text: str) -> str:
    """Return a value without LaTeX delimiters; a text too long to be a value becomes empty."""
    if len(text) > LONGEST_VALUE:
        return ""
    plain = bare(text)
    plain = plain.replace("{,}", ",").replace("\\,", "\u2009").replace("\\$", "$")
    while True:
        inner = bare(plain.strip("$"))
        for wrapper in WRAPPERS:
            if match := wrapper.fullmatch(inner):
                inner = bare(match[1])
        if inner == plain:
            return inner
        plain = inner


def whole(text: str) -> int | None:
    """Return the whole number that a text is, or None."""
    match = WHOLE.fullmatch(text)
    if match is None:
        return None
    digits = re.sub(GROUP, "", match[2])
    if len(digits) > LONGEST_NUMBER:
        return None
    return -int(digits) if match[1] else int(digits)


@dataclass(frozen=True)
class _Asked:
    """The asked keys, compiled: their line, their spelling, and what they look like."""

    line: re.Pattern[str]
    keys: dict[str, str]
    shapes: frozenset[str]


@lru_cache(maxsize=256)
def _asked(keys: tuple[str, ...]) -> _Asked:
    names = "|".join(_pattern(key) for key in keys)
    return _Asked(
        line=re.compile(LEAD + "(" + names + ")" + SEPARATOR + r"(.+)", re.IGNORECASE),
        keys={_plain(key): key for key in keys},
        shapes=frozenset(_shape(key) for key in keys),
    )


def _pattern(key: str) -> str:
    """Return the pattern of a key: its signs may stand behind a backslash, as in Markdown."""
    return "".join(
        r"\s+" if sign == " " else sign if sign.isalnum() else r"\\?" + re.escape(sign)
        for sign in " ".join(key.split())
    )


def _plain(key: str) -> str:
    return " ".join(key.replace("\\", "").split()).casefold()


def _shape(key: str) -> str:
    """Return what a key looks like: `P1.1` and `Q7.12` are both `a0.0`."""
    return re.sub(r"[0-9]+", "0", re.sub(r"[^\W\d_]+", "a", _plain(key)))


def _same(value: str) -> str:
    """Return a value as it is compared for `two-finals`: spacing and thousands do not count."""
    return re.sub(r"[\s,_]", "", unwrapped(value) or value).casefold()
