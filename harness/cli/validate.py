"""`arnes validate`: check the instrument before it measures anything.

Exit status: 0 the instrument holds; 1 it does not; 2 it could not be checked.
"""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.terminal import (
    JsonFlag,
    ProfileOption,
    instrument_for,
    print_json,
    print_table,
    progress_bar,
    say,
)

if TYPE_CHECKING:
    from harness.records.validation import TaskValidation, Validation

ROW_TOLERANCE = 5e-4  # points of a row are written with three decimals in expected.toml

Deep = Annotated[
    bool,
    typer.Option(
        "--deep",
        help="Also: random orders, and mutants of every line that makes points (minutes).",
    ),
]


def validate(
    task: Annotated[
        list[str] | None, typer.Option(help="Only this task; repeatable.", show_default=False)
    ] = None,
    profile: ProfileOption = None,
    deep: Deep = False,
    as_json: JsonFlag = False,
) -> None:
    """Golden = maximum, defective = declared, exploits under their ceiling, empty = 0."""
    from harness.cli.strength import show as show_strength
    from harness.clock import SystemClock
    from harness.stages.instrument import narrowed
    from harness.stages.strength import Plays, publish, strength
    from harness.stages.validate import validate as validate_suite

    instrument = instrument_for(profile=profile)
    suite = narrowed(instrument.suite, tuple(task)) if task else instrument.suite
    plays = Plays()
    with progress_bar(quiet=as_json) as progress:
        outcome = validate_suite(suite, instrument.config, SystemClock(), progress, plays.watch)
        judged = deep and outcome.holds
        found = strength(suite, instrument.config, plays, progress) if judged else None
    if found:
        publish(suite, found)
    if as_json:
        more = {"strength": found.model_dump(mode="json") if found else None} if deep else {}
        print_json({**outcome.model_dump(mode="json"), **more})
    else:
        show(outcome)
        if found:
            show_strength(found)
    raise typer.Exit(0 if outcome.holds and (found is None or found.holds) else 1)


def _ladder(task: "TaskValidation") -> str:
    """Return the members' points, lowest first; of an agent task over all its runs."""
    members: dict[str, list[float]] = {}
    for found in task.defective:
        members.setdefault(found.name.partition(" run ")[0], []).append(found.scored)
    ordered = sorted(members.values(), key=lambda points: (min(points), max(points)))
    told = Counter(
        f"{min(points):.4g}"
        if max(points) - min(points) < ROW_TOLERANCE
        else f"{min(points):.4g}–{max(points):.4g}"
        for points in ordered
    )
    return ", ".join(f"{count} × {text}" if count > 1 else text for text, count in told.items())


def show(outcome: "Validation") -> None:
    """Print the table, then every problem with its file."""
    from rich.table import Table

    table = Table(title=None)
    for heading in ("Task", "Max", "Golden", "Defective ladder", "Exploit ceiling", "Empty"):
        table.add_column(heading, justify="left" if heading == "Task" else "right")
    for t in outcome.tasks:
        worst = min((g.scored for g in t.golden), default=0.0)
        off = sum(abs(d.expected - d.scored) > ROW_TOLERANCE * t.rows for d in t.defective)
        over = [e for e in t.exploits if e.scored > e.ceiling + ROW_TOLERANCE]
        ceiling = max((e.ceiling for e in t.exploits), default=0.0)
        table.add_row(
            t.id,
            f"{t.max:g}",
            f"{worst:g} (of {len(t.golden)})",
            _ladder(t) + (f"  [red]{off} off[/red]" if off else ""),
            f"{max((e.scored for e in t.exploits), default=0):g} ≤ {ceiling:g}"
            + (f"  [red]{len(over)} over[/red]" if over else ""),
            f"{t.empty:g}",
        )
    rows = sum(t.rows for t in outcome.tasks)
    observations = sum(t.observations for t in outcome.tasks)
    print_table(table)
    say(
        f"{len(outcome.tasks)} {'task' if len(outcome.tasks) == 1 else 'tasks'},"
        f" {sum(t.max for t in outcome.tasks):g} points, {rows} rows,"
        f" {observations} sub-observations."
    )
    for problem in outcome.problems:
        say(f"\n{problem}")
    say("The instrument holds." if outcome.holds else "\nThe instrument does not hold.")
