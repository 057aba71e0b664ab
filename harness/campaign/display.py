"""What a person sees of a running campaign: a live line on a terminal, log lines elsewhere."""

import sys
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


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


class LogDisplay:
    """One line per event on stderr: for files and pipes."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def doing(self, what: str, done: int, total: int) -> None:
        """Print `12/24 what`."""
        self.note(f"{done}/{total} {what}")

    def phase(self, text: str) -> None:
        """Print a line."""
        self.note(text)

    def note(self, text: str) -> None:
        """Print a line."""
        if not self._quiet:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        """Nothing is set up."""
        return self

    def __exit__(self, *_exception: object) -> None:
        """Nothing is left."""


class LiveDisplay:
    """A bar with elapsed time and an estimate; notes scroll above it."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("starting")

    def doing(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        self._progress.update(self._task, description=what, completed=done, total=total)

    def phase(self, text: str) -> None:
        """Change the bar's words."""
        self._progress.update(self._task, description=text)

    def note(self, text: str) -> None:
        """Print above the bar."""
        self._progress.console.print(text, highlight=False, markup=False)

    def __enter__(self) -> Self:
        """Start drawing."""
        self._progress.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        """Stop drawing."""
        self._progress.stop()


def display(*, live: bool) -> LiveDisplay | LogDisplay:
    """Return the display that fits where stderr goes; quiet when live is False."""
    if live and sys.stderr.isatty():
        return LiveDisplay()
    return LogDisplay(quiet=not live)
