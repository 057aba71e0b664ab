"""Answer lines `KEY = VALUE` of level A, and how a value is read.

(to be completed: see the docstrings)
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True)
class Reading(Generic[Value]):
    """A value that was read, or the reason why there is none (`no line`, `not a whole number`).

    Exactly one of the two is given. canonical is the value as text, for comparing with traps.
    """

    value: Value | None
    problem: str = ""
    canonical: str = ""


def read_whole_number(text: str | None) -> Reading[int]:
    raise NotImplementedError


def read_numbers(text: str | None) -> Reading[tuple[int, ...]]:
    raise NotImplementedError


def read_word(text: str | None) -> Reading[str]:
    raise NotImplementedError


def read_letters(text: str | None) -> Reading[frozenset[str]]:
    raise NotImplementedError
