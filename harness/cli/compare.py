"""`arnes compare A B`: what changed against a baseline, and what is noise."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.terminal import (
    JsonFlag,
    one_thread_of_algebra,
    print_json,
    print_table,
    say,
    shortest,
)

if TYPE_CHECKING:
    from harness.report.compare import Comparison, Side

Place = Annotated[str, typer.Argument(metavar="DIR[:MODEL]", show_default=False)]


def compare(baseline: Place, other: Place, as_json: JsonFlag = False) -> None:
    """Compare a finalized campaign, or one model of it, with a baseline.

    Paired by run number where both met the same schedules. What was not made by one instrument is
    refused, with the parts that differ.
    """
    one_thread_of_algebra()
    from harness.report.compare import compare as compare_sides

    found = compare_sides(_side(baseline), _side(other))
    if as_json:
        print_json(asdict(found))
    else:
        _show(found)


def _side(place: str) -> "Side":
    """Read a side: a folder, or a folder and a model behind the last colon."""
    from harness.report.compare import Side
    from harness.stages.evidence import refuse_stale_in
    from harness.store import campaign as store

    folder, model = Path(place), None
    if not folder.exists() and ":" in place:
        before, _, model = place.rpartition(":")
        folder = Path(before)
    final = store.read_final(folder)
    refuse_stale_in(folder, final)
    return Side(place, final, model)


def _show(found: "Comparison") -> None:
    from rich.table import Table

    from harness.report.wording import number

    if found.simulated:
        say("SIMULATED: the replies were written, and no model is meant.")
    sides = f"{shortest(found.other)} against {shortest(found.baseline)}"
    table = Table(title=f"{sides}, of {found.max_points:g} points")
    table.add_column("Model")
    for heading in ("Before", "Now", "Change", "Counts from", "Verdict"):
        table.add_column(heading, justify="right")
    for pair in found.pairs:
        change = "–" if pair.difference is None else f"{pair.difference:+.2f}"
        table.add_row(
            pair.name,
            number(pair.baseline_mean),
            number(pair.other_mean),
            change,
            number(pair.threshold),
            pair.verdict,
        )
    print_table(table)
    say(found.how)
    for pair in found.pairs:
        say(pair.sentence)
    if found.alone:
        say(f"Only on one side, not compared: {', '.join(found.alone)}")
