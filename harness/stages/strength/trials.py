"""Run the trials of several tasks at once, each in an interpreter of its own."""

import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from harness.errors import InstrumentError, Problem
from harness.signature import PACKAGE
from harness.stages.at_once import usual_processes
from harness.stages.progress import Progress, silent
from harness.stages.strength.trial import Opening, Trial, Tried

CHUNK = 1 << 16
STDERR_SHOWN = 2000
OTHER_HASH_SEED = "1"  # rows must be the same under any; ours is usually a random one


@dataclass
class Found:
    """What one trial printed."""

    opening: Opening
    tried: list[Tried]


@dataclass
class _Running:
    """A process, and the lines that it has printed."""

    trial: Trial
    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    lines: list[bytes] = field(default_factory=list)
    rest: bytes = b""

    @property
    def output(self) -> IO[bytes]:
        """Where it prints."""
        assert self.process.stdout is not None
        return self.process.stdout

    def read(self) -> bool:
        """Take in what there is; False at the end."""
        more = os.read(self.output.fileno(), CHUNK)
        *lines, self.rest = (self.rest + more).split(b"\n")
        self.lines += lines
        return bool(more)

    @property
    def awaited(self) -> int:
        """How many mutants it will judge, as far as it has said so."""
        return Opening.model_validate_json(self.lines[0]).judged if self.lines else 0

    def close(self) -> None:
        """End it, if it has not ended, and wait for it."""
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.errors.close()

    def found(self) -> Found:
        """Return what it found.

        Raises
        ------
        InstrumentError
            If it did not come to its end.
        """
        status = self.process.wait()
        try:
            found = Found(
                Opening.model_validate_json(self.lines[0]),
                [Tried.model_validate_json(line) for line in self.lines[1:]],
            )
        except (IndexError, ValidationError):
            found = None
        if found is None or status != 0 or len(found.tried) != found.opening.judged:
            self.errors.seek(0)
            written = self.errors.read().decode("utf-8", errors="replace")[-STDERR_SHOWN:]
            raise InstrumentError(
                f"the mutants of {self.trial.task} were not judged to the end",
                [Problem("harness.stages.strength", written.strip() or f"exit status {status}")],
            )
        return found


def run_trials(trials: Sequence[Trial], progress: Progress = silent) -> list[Found]:
    """Run all trials, as many at once as the cores allow, begun in their order.

    Raises
    ------
    InstrumentError
        If one of them does not come to its end.
    """
    running: list[_Running] = []
    with tempfile.TemporaryDirectory(prefix="arnes-strength-") as folder:
        try:
            _read_all(trials, Path(folder), running, progress)
            return [one.found() for one in running]
        finally:
            for one in running:
                one.close()


def _read_all(
    trials: Sequence[Trial], folder: Path, running: list[_Running], progress: Progress
) -> None:
    """Start one after another and read what they print, until all have closed their output."""
    at_once = usual_processes()
    with selectors.DefaultSelector() as open_ones:
        while len(running) < len(trials) or open_ones.get_map():
            while len(running) < len(trials) and len(open_ones.get_map()) < at_once:
                running.append(_start(trials[len(running)], folder))
                open_ones.register(running[-1].output, selectors.EVENT_READ, running[-1])
            for key, _ in open_ones.select():
                if not key.data.read():
                    open_ones.unregister(key.fileobj)
            done = sum(max(0, len(one.lines) - 1) for one in running)
            progress("strength", done, max(done, sum(one.awaited for one in running)))


def _start(trial: Trial, folder: Path) -> _Running:
    path = folder / f"{trial.task}.json"
    path.write_text(trial.model_dump_json(), encoding="utf-8")
    errors = (folder / f"{trial.task}.stderr").open("w+b")
    process = subprocess.Popen(
        [sys.executable, "-m", "harness.stages.strength", str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=PACKAGE.parent,
        env={**os.environ, "PYTHONHASHSEED": OTHER_HASH_SEED},
        start_new_session=True,  # Ctrl-C is for whoever started it, who then ends it
    )
    return _Running(trial, process, errors)
