"""Load a task's `grader.py` and grade one deliverable with it, row by row.

A row function that raises is *our* fault: `GraderError`, the run stops, no model pays.
"""

import inspect
from functools import cache
from pathlib import Path

from harness.errors import GraderError, Problem
from harness.grading.deliverable import Deliverable
from harness.grading.verdict import ROW_ATTRIBUTE, RowFunction, Verdict
from harness.records.score import RowScore, points_of
from harness.suite.definition import RowDefinition, TaskDefinition
from harness.suite.source import load_source


@cache
def row_functions(folder: Path) -> dict[str, RowFunction]:
    """Return row id → function of a task folder's grader.

    Raises
    ------
    GraderError
        If the grader cannot be loaded.
    """
    path = folder / "grader.py"
    try:
        module = load_source(path, f"arnes_suite.{folder.name}.grader")
    except Exception as error:
        raise GraderError(
            f"{folder.name}/grader.py cannot be loaded",
            [Problem(str(path), f"{type(error).__name__}: {error}", "correct the grader")],
            "Nothing was scored.",
        ) from error
    return {
        getattr(function, ROW_ATTRIBUTE): function
        for _, function in inspect.getmembers(module, inspect.isfunction)
        if hasattr(function, ROW_ATTRIBUTE)
    }


def grade(folder: Path, definition: TaskDefinition, work: Deliverable) -> tuple[RowScore, ...]:
    """Grade every row of a task on one deliverable, in the order of `task.toml`.

    Raises
    ------
    GraderError
        If a row function is missing or raises, or yields other observations than declared.
    """
    functions = row_functions(folder)
    return tuple(_grade_row(folder, definition, row, functions, work) for row in definition.rows)


def _grade_row(
    folder: Path,
    definition: TaskDefinition,
    row: RowDefinition,
    functions: dict[str, RowFunction],
    work: Deliverable,
) -> RowScore:
    where = f"{folder.name}/grader.py: {row.id}"
    try:
        verdict: Verdict = functions[row.id](work)
        _refuse_no_shares(verdict.fraction, verdict.gate)
    except Exception as error:
        raise GraderError(
            f"a row function of {definition.id} failed",
            [Problem(where, f"{type(error).__name__}: {error}", "correct the grader")],
            "No model loses a point; the cell stays unscored. Score again with: arnes score DIR",
        ) from error
    if len(verdict.observations) != row.observations:
        raise GraderError(
            f"a row of {definition.id} is not what task.toml declares",
            [
                Problem(
                    where,
                    f"{len(verdict.observations)} observations, {row.observations} declared",
                    "correct the grader or task.toml",
                )
            ],
        )
    return RowScore(
        id=row.id,
        points=points_of(row.points, verdict.fraction),
        max_points=row.points,
        fraction=verdict.fraction,
        reason=verdict.reason,
        gate=verdict.gate,
        gate_reason=verdict.gate_reason,
        observations=verdict.observations,
        flags=verdict.flags,
    )


def _refuse_no_shares(*numbers: object) -> None:
    """A share is a number in [0, 1]: no truth value, no text, no NaN."""
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
            raise ValueError(f"{number!r} is no number in [0, 1]")
