"""Grade one parsed reply, as it came and repaired, with a bench where the task runs code."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.arnes import SandboxLimits
from harness.errors import GraderError, InstrumentError, Problem
from harness.grading.bench import Bench
from harness.grading.deliverable import Deliverable
from harness.grading.grader import grade
from harness.grading.hygiene import repair
from harness.records.base import Json, digest
from harness.records.parsed import ParsedReply
from harness.records.score import Repair, RowScore, total_of
from harness.sandbox import Tier, probe
from harness.suite.loader import Task

NO_WALLS = "none"
LEDGER_TOLERANCE = 1e-6  # rows are rounded to six decimals each


@dataclass(frozen=True)
class Graded:
    """A reply's rows, and what they were made with.

    rows_as_is : the rows without any repair; None when nothing was repaired
    walls : what stood around the code that was run; empty when none was
    observations : key → observation, to be kept beside the score sheet
    """

    rows: tuple[RowScore, ...]
    rows_as_is: tuple[RowScore, ...] | None = None
    repairs: tuple[Repair, ...] = ()
    walls: str = ""
    observations: Mapping[str, Json] = field(default_factory=dict)


def hash_seed_of(key: object) -> int:
    """Return the PYTHONHASHSEED of a cell: part of its key, so that scoring again is the same."""
    return int(digest(key)[:8], 16)


def walls_for(task: Task) -> Tier | None:
    """Return the walls that a task needs: None if it runs nothing.

    Raises
    ------
    InstrumentError
        If it runs code and this machine gives no walls.
    """
    if not task.definition.executes:
        return None
    tier = probe()
    if tier.name == NO_WALLS:
        raise InstrumentError(
            f"{task.id} runs what models write, and this machine has no sandbox for it",
            [Problem("sandbox", tier.details or "no tier works here", tier.todo)],
            "Nothing was run. See: arnes doctor",
        )
    return tier


def grade_reply(
    task: Task,
    parsed: ParsedReply,
    limits: SandboxLimits,
    hash_seed: int,
    remembered: Mapping[str, Json] | None = None,
) -> Graded:
    """Grade a parsed reply.

    Parameters
    ----------
    limits, hash_seed : of what is run
    remembered : observations of an earlier scoring of the same reply

    Raises
    ------
    GraderError
        If a row function of ours fails, or the ledger of the repairs does not balance.
    InstrumentError
        If the task runs code and there is no sandbox.
    """
    tier = walls_for(task)
    if tier is None:
        return Graded(grade(task.folder, task.definition, Deliverable(parsed, task.form)))
    with Bench(tier, limits, hash_seed, remembered) as bench:
        as_is = grade(task.folder, task.definition, Deliverable(parsed, task.form, bench))
        copy = repair(parsed.files, task.definition.deliverables, bench.facts)
        if not copy.changes:
            return Graded(as_is, walls=bench.walls, observations=bench.remembered)
        work = Deliverable(parsed, task.form, bench, copy.files, copy.changes)
        rows = grade(task.folder, task.definition, work)
        _balance(task, as_is, rows)
        return Graded(rows, as_is, copy.changes, bench.walls, bench.remembered)


def _balance(task: Task, before: tuple[RowScore, ...], after: tuple[RowScore, ...]) -> None:
    """Hold that a counterfactual's change in total is the sum of its rows' changes."""
    rows = math.fsum(b.points - a.points for a, b in zip(before, after, strict=True))
    total = total_of(after) - total_of(before)
    if abs(rows - total) > LEDGER_TOLERANCE:
        raise GraderError(
            f"the ledger of repairs in {task.id} does not balance",
            [Problem("total", f"moved by {total:g}, its rows by {rows:g}", "correct the sums")],
        )
