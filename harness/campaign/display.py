"""What a person sees of a running campaign: live on a terminal, a line an event elsewhere.

Nobody may be there any more, as when a terminal was closed or `tee` was ended, and a disk may be
full: what cannot be shown is lost, and ends no night.
"""

import json
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from harness.campaign.activity import Activity, Doing, Now
from harness.campaign.durations import duration
from harness.clock import Clock

PER_SECOND = 2  # how often the terminal is drawn anew
BAR_WIDTH = 24
DOT = " · "


class Display(Protocol):
    """Where the orchestrator tells what it is doing."""

    def doing(self, what: str, done: int, total: int) -> None:
        """Say what is being done now, and how many cells are done of all."""
        ...

    def phase(self, text: str) -> None:
        """Say what is being done within it, without counting."""
        ...

    def note(self, text: str) -> None:
        """Say something that stays on the screen."""
        ...


class QuietDisplay:
    """Nobody looks."""

    def doing(self, what: str, done: int, total: int) -> None:
        """Say nothing."""

    def phase(self, text: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def __enter__(self) -> Self:
        """Nothing is set up."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Nothing is left."""


class LogDisplay:
    """One line per event, for files and pipes: the time, what happened, and `key=value` fields.

    to : where lines go; stderr, where none is named
    """

    def __init__(
        self,
        activity: Activity,
        deadline: datetime | None,
        clock: Clock,
        to: TextIO | None = None,
    ) -> None:
        self._activity, self._deadline, self._clock = activity, deadline, clock
        self._to = sys.stderr if to is None else to

    def doing(self, what: str, done: int, total: int) -> None:
        """Print what is being done, with every number that is known."""
        self._line(what, {"done": done, "cells": total, **self._known()})

    def phase(self, text: str) -> None:
        """Print it with every number that is known."""
        self._line(text, self._known())

    def note(self, text: str) -> None:
        """Print it as one line, however many it has."""
        self._line(" / ".join(line for line in text.splitlines() if line.strip()), {})

    def __enter__(self) -> Self:
        """Nothing is set up."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Nothing is left."""

    def _known(self) -> dict[str, object]:
        """Return the fields of a line; what is not known has none."""
        now = self._activity.now()
        left_s = self._activity.left_s()
        told: dict[str, object] = {
            "model": now.player,
            "run": now.run,
            "task": ",".join(cell.task for cell in now.cells) or None,
            "turn": ",".join(str(turn_of(cell)) for cell in now.cells) or None,
            "tokens_per_s": None if now.tokens_per_s is None else f"{now.tokens_per_s:.1f}",
            "calls": now.calls,
            "read_tokens": now.prompt_tokens,
            "written_tokens": now.written_tokens,
            "faults": faults_text(now).replace(" ", "") or 0,
            "agent_faults": now.fired,
            "left_s": None if left_s is None else round(left_s),
            "deadline": None
            if self._deadline is None
            else self._deadline.isoformat(timespec="seconds"),
        }
        return {name: value for name, value in told.items() if value is not None}

    def _line(self, words: str, fields: dict[str, object]) -> None:
        at = self._clock.now().isoformat(timespec="seconds")
        told = [f"{name}={_value(value)}" for name, value in fields.items()]
        with suppress(OSError):
            self._to.write(" ".join([at, words, *told]) + "\n")
            self._to.flush()


class LiveDisplay:
    """A few lines that are drawn anew while the campaign runs; notes scroll above them.

    console : where they are drawn; a terminal on stderr, where none is named
    """

    def __init__(
        self,
        activity: Activity,
        deadline: datetime | None,
        clock: Clock,
        console: Console | None = None,
    ) -> None:
        self._activity, self._deadline, self._clock = activity, deadline, clock
        self._what, self._phase, self._done, self._total = "starting", "", 0, 0
        self._live = Live(
            console=console or Console(stderr=True),
            get_renderable=self.drawn,
            refresh_per_second=PER_SECOND,
            transient=True,
        )

    def doing(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        self._what, self._phase, self._done, self._total = what, "", done, total

    def phase(self, text: str) -> None:
        """Change the last line."""
        self._phase = text

    def note(self, text: str) -> None:
        """Print above the lines."""
        with suppress(OSError):
            self._live.console.print(text, highlight=False, markup=False)

    def __enter__(self) -> Self:
        """Start drawing."""
        with suppress(OSError):
            self._live.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        """Stop drawing."""
        with suppress(OSError):
            self._live.stop()

    def drawn(self) -> Group:
        """Return the lines as they are now; one that is too long is cut, and does not wrap."""
        now = self._activity.now()
        at = self._clock.monotonic()
        cells = [cell_line(cell, at) for cell in now.cells] or [self._what]
        lines = [
            *cells,
            bar_line(self._done, self._total),
            time_line(self._clock.now(), self._activity.left_s(), self._deadline),
            work_line(now),
            self._phase,
        ]
        return Group(*(Text(line, no_wrap=True, overflow="ellipsis") for line in lines if line))


def bar_line(done: int, total: int) -> str:
    """Return how many cells are done, drawn and in words."""
    full = BAR_WIDTH * done // max(1, total)
    return f"{'█' * full}{'░' * (BAR_WIDTH - full)} {done} of {total} cells are done"


def cell_line(cell: Doing, at_s: float) -> str:
    """Return who is asked what. at_s : now, on the monotonic clock."""
    took = duration(at_s - cell.began_s)
    parts = [cell.player, f"run {cell.run}", cell.task, f"turn {turn_of(cell)}", f"for {took}"]
    return DOT.join([*parts, *([f"{cell.fired} faults met"] if cell.fired else [])])


def time_line(now: datetime, left_s: float | None, deadline: datetime | None) -> str:
    """Return the estimate to the end beside the deadline, both as moments of local time."""
    parts = []
    if left_s is not None:
        end = now + timedelta(seconds=left_s)
        late = deadline is not None and end > deadline
        parts.append(f"about {duration(left_s)} to its end, {_moment(end)}")
        parts += ["which is after the deadline"] if late else []
    if deadline is not None:
        parts.append(f"deadline {_moment(deadline)}")
    return DOT.join(parts)


def work_line(now: Now) -> str:
    """Return speed, calls, tokens and faults; what is not known is left out."""
    parts = [] if now.tokens_per_s is None else [f"{now.tokens_per_s:.1f} tokens/s"]
    parts.append(f"{now.calls:,} calls")
    if now.written_tokens is not None:
        parts.append(f"{now.written_tokens:,} tokens written")
    if now.prompt_tokens is not None:
        parts.append(f"{now.prompt_tokens:,} read")
    parts.append(f"faults: {faults_text(now) or 'none'}")
    return DOT.join(parts)


def faults_text(now: Now) -> str:
    """Return the faults of the infrastructure by cause, as `stall:2, connect:1`; empty for none."""
    return ", ".join(f"{cause}:{count}" for cause, count in sorted(now.faults.items()))


def turn_of(cell: Doing) -> int:
    """Return the number of the reply that is being written."""
    return cell.replies + 1


def display(
    activity: Activity, deadline: datetime | None, clock: Clock, *, live: bool
) -> LiveDisplay | LogDisplay | QuietDisplay:
    """Return the display that fits where stderr goes; one that says nothing when live is False."""
    if not live:
        return QuietDisplay()
    if sys.stderr.isatty():
        return LiveDisplay(activity, deadline, clock)
    return LogDisplay(activity, deadline, clock)


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone():%a %H:%M}"


def _value(value: object) -> str:
    """Return a value as a field holds it: with blanks in it, in quotes."""
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if " " in text or not text else text
