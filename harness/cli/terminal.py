"""What the verbs share: options, JSON on stdout, and a progress bar where it helps.

The bar is shown only on a terminal and only for work that takes more than two seconds.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.stages.instrument import Instrument
    from harness.stages.progress import Progress

SHOW_AFTER_S = 2.0

JsonFlag = Annotated[bool, typer.Option("--json", help="Machine-readable outcome on stdout.")]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A campaign folder.", show_default=False)
]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", help="A file of suite/profiles/; default: arnes.toml.")
]


def print_json(value: object) -> None:
    """Print a value as JSON, sorted, one document."""
    sys.stdout.write(json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n")


def say(text: str = "") -> None:
    """Print a line for a person, with rich markup left alone."""
    sys.stdout.write(text + "\n")


def one_thread_of_algebra() -> None:
    """Keep the matrices of the statistics on one thread; call it before numpy is loaded.

    They are small: handing them around among threads takes thirty times as long as computing. It
    is set in the verbs that compute, not for all, because servers that we start inherit it.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def instrument_for(folder: Path | None = None, profile: str | None = None) -> "Instrument":
    """Load the instrument: of a campaign's own profile, of a named one, or arnes.toml."""
    from harness.stages.instrument import find_root, load_instrument
    from harness.store import campaign as store

    root = find_root(Path.cwd())
    if folder is not None:
        profile = store.load(folder).record.stamps.profile
    return load_instrument(root, profile)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator["Progress"]:
    """Yield a progress callback; a bar with an estimate appears where it takes its time."""
    if quiet or not sys.stderr.isatty():
        from harness.stages.progress import silent

        yield silent
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from harness.clock import SystemClock

    clock = SystemClock()
    begun = clock.monotonic()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("")

    def advance(what: str, done: int, total: int) -> None:
        if not bar.live.is_started and clock.monotonic() - begun > SHOW_AFTER_S:
            bar.start()
        bar.update(task, description=what, completed=done, total=total)

    try:
        yield advance
    finally:
        bar.stop()
