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
    from rich.table import Column, Table

    from harness.stages.instrument import Instrument
    from harness.stages.progress import Progress

SHOW_AFTER_S = 2.0
NAME_WIDTH = 14  # a name is folded to no less; it has no place to break at
WORD_WIDTH = 7

JsonFlag = Annotated[bool, typer.Option("--json", help="Machine-readable outcome on stdout.")]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A campaign folder.", show_default=False)
]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", help="A file of suite/profiles/; default: arnes.toml.")
]


def print_json(value: object) -> None:
    """Print a value as JSON, sorted, one document."""
    # Where stdout cannot hold every sign, JSON has its own way to write those that are missing.
    escaped = not (sys.stdout.encoding or "").lower().startswith("utf")
    sys.stdout.write(json.dumps(value, sort_keys=True, ensure_ascii=escaped, indent=1) + "\n")


def say(text: str = "") -> None:
    """Print a line for a person, with rich markup left alone."""
    sys.stdout.write(text + "\n")


def shortest(path: str) -> str:
    """Return a path as it was given, or from the working directory where that is shorter."""
    return min(path, os.path.relpath(path), key=len)


def print_table(table: "Table", names: tuple[str, ...] = ("Model",)) -> None:
    """Print a table in which nothing is cut, however narrow the terminal, and no number folded.

    Rich ends what does not fit with an ellipsis, and half a number is a wrong one. Where there is
    too little room, lines are broken between words, then names are folded, then other words. What
    is still too wide runs over the edge.

    Parameters
    ----------
    names : headings of the columns that hold names, whose digits are no numbers
    """
    from rich.console import Console

    console = Console()
    room = console.width - 3 * len(table.columns) - 1  # a line and two blanks for each column
    needs = [_needs(column, name=column.header in names) for column in table.columns]
    widths = [need[0] for need in needs]
    for step in (1, 2, 3):
        while sum(widths) > room and any(w > n[step] for w, n in zip(widths, needs, strict=True)):
            widest = max((w, k) for k, w in enumerate(widths) if w > needs[k][step])[1]
            widths[widest] -= 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width, column.overflow, column.no_wrap = width, "fold", False
    Console(width=console.width + max(0, sum(widths) - room)).print(table)


def _needs(column: "Column", *, name: bool) -> tuple[int, int, int, int]:
    """Return the widths of a column: whole lines, whole words, names folded, all words folded."""
    from rich.cells import cell_len
    from rich.text import Text

    cells = [Text.from_markup(str(cell)).plain for cell in (column.header, *column.cells)]
    words = [word for cell in cells for word in cell.split()]
    whole = max(map(cell_len, words), default=1)
    numbers = (cell_len(word) for word in words if any(map(str.isdigit, word)) and not name)
    folded = min(whole, NAME_WIDTH) if name else whole
    letters = max(min(folded, NAME_WIDTH if name else WORD_WIDTH), *numbers, 1)
    return max(map(cell_len, cells)), whole, folded, letters


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
