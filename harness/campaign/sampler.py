"""Samples of the machine during a night: one row of `metrics.csv` every five seconds."""

import errno
import signal
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, Self

from harness.backends.readings import Reading
from harness.campaign.activity import Activity
from harness.clock import Clock
from harness.errors import StoreError
from harness.records.sample import SAMPLE_EVERY_S, Sample
from harness.store import samples

END_LIMIT_S = 30.0  # for its last row; a driver that hangs may never answer its last question


class Reader(Protocol):
    """What reads the machine; `Meter` of `backends/readings.py`."""

    def read(self) -> Reading:
        """Return what can be read now."""
        ...


class Sampler:
    """A thread that samples from its entry to its exit. It never stops a night.

    path : `metrics.csv` of the campaign
    tell : told once if a row could not be written; later rows are tried nevertheless
    every_s : between two rows, on the machine's own clock, whatever `clock` is
    end_limit_s : how long its end is waited for
    """

    def __init__(
        self,
        path: Path,
        activity: Activity,
        clock: Clock,
        meter: Reader,
        *,
        tell: Callable[[str], None] = lambda _text: None,
        every_s: float = SAMPLE_EVERY_S,
        end_limit_s: float = END_LIMIT_S,
    ) -> None:
        self._path, self._activity, self._clock, self._meter = path, activity, clock, meter
        self._tell, self._every_s = tell, every_s
        self._told, self._end_limit_s = False, end_limit_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def sample(self) -> bool:
        """Append one row; False where it could not be written."""
        try:
            samples.append(self._path, self._row())
        except (OSError, StoreError) as error:
            self._tell_once(error)
            return False
        return True

    def __enter__(self) -> Self:
        """Begin with a row."""
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        """End with a row, so that even a short run has two; a meter that hangs is left behind."""
        self._ended.set()
        self._thread.join(self._end_limit_s)

    def _run(self) -> None:
        # Ctrl-C belongs to the thread that asks, whose call it has to end.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self.sample()
        while not self._ended.wait(self._every_s):
            self.sample()
        self.sample()

    def _row(self) -> Sample:
        now = self._activity.now()
        return Sample(
            at=self._clock.now(),
            **asdict(self._meter.read()),
            model=now.player,
            run=now.run,
            task=" ".join(doing.task for doing in now.cells) or None,
            calls=now.calls,
            prompt_tokens=now.prompt_tokens,
            written_tokens=now.written_tokens,
            faults=sum(now.faults.values()),
        )

    def _tell_once(self, error: OSError | StoreError) -> None:
        if self._told:
            return
        self._told = True
        full = isinstance(error, OSError) and error.errno == errno.ENOSPC
        why = "the disk is full" if full else str(error).splitlines()[0]
        self._tell(f"{self._path.name} cannot be written, the night goes on without it: {why}")
