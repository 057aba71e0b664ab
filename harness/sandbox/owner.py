"""The owner of a list: it holds the items, serves every read of the far side, and counts."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.records.base import Json
from harness.sandbox.inside import codec

SLICE = re.compile(rb"(-?\d{1,18}),(-?\d{1,18}),(-?\d{1,18})")
INDEX = re.compile(rb"-?\d{1,18}")
QUESTION = re.compile(rb"(\d{1,6})([nis*])(.*)", re.DOTALL)


@dataclass(frozen=True)
class Owned:
    """A list argument that stays outside; the function gets a near end of it.

    values : the items, of exact builtin types
    budget : reads that are served; one more ends the call
    """

    values: Sequence[Json]
    budget: int


class OverBudgetError(Exception):
    """A read beyond the budget was asked for."""


class NoQuestionError(Exception):
    """A frame that is no read of any list."""


class Owner:
    """Serves the owned lists of one call.

    An index read counts 1, a slice its length, a pass over the list its length; the length is free.
    """

    def __init__(self, lists: Sequence[Owned]) -> None:
        self._lists = [list(owned.values) for owned in lists]
        self._budgets = [owned.budget for owned in lists]
        self.counts = [0] * len(lists)

    def answer(self, frame: bytes) -> bytes:
        """Return the answer to one question.

        Raises
        ------
        OverBudgetError
            When the read would be beyond the budget; the count then says so.
        NoQuestionError
            For anything else that was sent.
        """
        match = QUESTION.fullmatch(frame)
        if match is None or int(match[1]) >= len(self._lists):
            raise NoQuestionError
        number, kind, rest = int(match[1]), match[2], match[3]
        items = self._lists[number]
        if kind == b"i" and INDEX.fullmatch(rest):
            place = int(rest)
            if not -len(items) <= place < len(items):
                raise NoQuestionError
            self._charge(number, 1)
            return _text(items[place])
        if kind == b"s" and (bounds := SLICE.fullmatch(rest)):
            return self._slice(number, *map(int, bounds.groups()))
        if kind == b"*" and not rest:
            self._charge(number, len(items))
            return _text(items)
        if kind == b"n" and not rest:
            return b"%d" % len(items)
        raise NoQuestionError

    def _slice(self, number: int, start: int, stop: int, step: int) -> bytes:
        """The bounds are those of `slice.indices`: of this list's length, or refused."""
        items = self._lists[number]
        size = len(items)
        if step == 0 or not (-1 <= start <= size and -1 <= stop <= size):
            raise NoQuestionError
        places = range(start, stop, step)
        self._charge(number, len(places))
        return _text([items[place] for place in places])

    def _charge(self, number: int, reads: int) -> None:
        self.counts[number] += reads
        if self.counts[number] > self._budgets[number]:
            raise OverBudgetError


def _text(value: Json) -> bytes:
    if type(value) is int:
        return b"%d" % value
    return json.dumps(codec.encode(value), separators=(",", ":")).encode("ascii")
