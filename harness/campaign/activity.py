"""What goes on now: which cells are asked, how far they are, what it took and what went wrong.

Whoever asks cells tells it, in one thread or several; the display and the sampler read it.
"""

import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.campaign.pace import Pace, PlannedCell, Times
from harness.clock import Clock
from harness.parsing.completion import completion_of
from harness.records.response import Exchange

LAST_REPLIES = 8  # of all cells together; the speed that is shown is theirs


@dataclass(frozen=True)
class Doing:
    """One cell while it is asked.

    replies : how many have come in this pass; an agent's next reply has the number after them
    fired : faults of its schedule that the model has met
    began_s : on the monotonic clock
    broken : the infrastructure ended it, so that its time says nothing of other cells
    """

    player: str
    run: int
    task: str
    began_s: float
    replies: int = 0
    fired: int = 0
    broken: bool = False


@dataclass(frozen=True)
class Now:
    """Everything at one moment.

    cells : those that are asked, the oldest first
    player, run : whose server is up, or is coming up; None between two of them
    calls : exchanges that ended, with a reply or without one
    prompt_tokens, written_tokens : by the servers' counts; None before the first count
    tokens_per_s : of the last replies; None where no server counts
    faults : cause → exchanges that ended with it, tries that were repeated among them
    fired : faults of agents' schedules that the model met
    """

    cells: tuple[Doing, ...] = ()
    player: str | None = None
    run: int | None = None
    calls: int = 0
    prompt_tokens: int | None = None
    written_tokens: int | None = None
    tokens_per_s: float | None = None
    faults: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    fired: int = 0


class CellActivity:
    """What the asker of one cell tells."""

    def __init__(self, activity: "Activity", key: int) -> None:
        self._activity = activity
        self._key = key

    def exchange(self, exchange: Exchange) -> None:
        """Tell that an exchange has ended."""
        self._activity.count(self._key, exchange)

    def fired(self, count: int) -> None:
        """Tell how many faults of its schedule the cell has met so far, all together."""
        self._activity.count_fired(self._key, count)


class Activity:
    """What a pass over a campaign is doing. Every method may be called from any thread.

    at_once : how many cells are asked at the same time
    """

    def __init__(self, clock: Clock, *, at_once: int = 1) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._now = Now()
        self._cells: dict[int, Doing] = {}
        self._next_key = 0
        self._faults: Counter[str] = Counter()
        self._speeds: deque[tuple[int, float]] = deque(maxlen=LAST_REPLIES)
        self._pace = Pace((), {}, at_once)

    def plan(self, pending: tuple[PlannedCell, ...], measured: Times) -> None:
        """Tell which cells are still to be asked, and what cells took in earlier passes."""
        with self._lock:
            self._pace = Pace(pending, measured, self._pace.at_once)

    def give_up(self, player: str, run: int | None = None) -> None:
        """Tell that a run's cells will not be asked; those of all its runs where none is named."""
        with self._lock:
            self._pace.give_up(player, run)

    @contextmanager
    def playing(self, player: str, run: int) -> Iterator[None]:
        """Hold while a player's server is brought up, asked, and taken down."""
        self._set(player=player, run=run)
        try:
            yield
        finally:
            self._set(player=None, run=None)

    @contextmanager
    def cell(self, player: str, run: int, task: str) -> Iterator[CellActivity]:
        """Hold while a cell is asked; its time counts for the estimate if it came to its end."""
        with self._lock:
            key = self._next_key
            self._next_key += 1
            self._cells[key] = Doing(player, run, task, self._clock.monotonic())
        finished = False
        try:
            yield CellActivity(self, key)
            finished = True
        finally:
            with self._lock:
                doing = self._cells.pop(key)
                took_s = self._clock.monotonic() - doing.began_s
                whole = finished and not doing.broken
                self._pace.ended((player, run, task), took_s if whole else None)

    def count(self, key: int, exchange: Exchange) -> None:
        """Count an exchange of a cell; `CellActivity.exchange` calls it."""
        prompt, written = _tokens(exchange)
        timings = exchange.timings
        with self._lock:
            self._faults.update(attempt.cause for attempt in exchange.retried)
            doing = self._cells[key]
            if exchange.ended == "infrastructure":
                self._faults[str(exchange.cause)] += 1
                self._cells[key] = replace(doing, broken=True)
            else:
                self._cells[key] = replace(doing, replies=doing.replies + 1)
            if written and timings.first_token_s is not None and timings.last_token_s is not None:
                self._speeds.append((written, timings.last_token_s - timings.first_token_s))
            self._now = replace(
                self._now,
                calls=self._now.calls + 1,
                prompt_tokens=_plus(self._now.prompt_tokens, prompt),
                written_tokens=_plus(self._now.written_tokens, written),
            )

    def count_fired(self, key: int, count: int) -> None:
        """Set the fired faults of a cell; `CellActivity.fired` calls it."""
        with self._lock:
            doing = self._cells[key]
            self._cells[key] = replace(doing, fired=count)
            self._now = replace(self._now, fired=self._now.fired + count - doing.fired)

    def now(self) -> Now:
        """Return what goes on, as it is at this moment; nothing changes it later."""
        with self._lock:
            seconds = sum(took for _, took in self._speeds)
            tokens = sum(written for written, _ in self._speeds)
            return replace(
                self._now,
                cells=tuple(self._cells.values()),
                tokens_per_s=tokens / seconds if seconds > 0 else None,
                faults=MappingProxyType(dict(self._faults)),
            )

    def left_s(self) -> float | None:
        """Return about how long it is to the end; None before anything was measured."""
        with self._lock:
            gone = {
                (d.player, d.run, d.task): self._clock.monotonic() - d.began_s
                for d in self._cells.values()
            }
            return self._pace.left_s(gone)

    def _set(self, *, player: str | None, run: int | None) -> None:
        with self._lock:
            self._now = replace(self._now, player=player, run=run)


def _tokens(exchange: Exchange) -> tuple[int | None, int | None]:
    """Return what was read and written by the server's count; None where it does not tell."""
    try:
        completion = completion_of(exchange)
    except ValueError:  # there is no reply
        return None, None
    return completion.prompt_tokens, completion.written_tokens


def _plus(sum_so_far: int | None, more: int | None) -> int | None:
    return sum_so_far if more is None else (sum_so_far or 0) + more
