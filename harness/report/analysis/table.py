"""One level of an end result as arrays: models × tasks × runs, NaN where a cell has no score."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from harness.errors import StatisticsError
from harness.records.campaign import Final, FinalCell
from harness.records.score import POINT_DECIMALS, RowScore, ScoreSheet
from harness.stats.copies import Copies, find_copies
from harness.stats.levels import LevelScores, level_scores

LEVELS = ("A", "B", "C", "M")
NAN = math.nan
NO_TOTAL = "No run is complete: nothing has a total."
Result = TypeVar("Result")
Grid = list[list[list[float]]]


@dataclass
class Outcomes:
    """What could be computed, and in one sentence why the rest could not."""

    absent: dict[str, str] = field(default_factory=dict)

    def attempt(self, name: str, compute: Callable[[], Result]) -> Result | None:
        """Return what is computed; where the data are too few, note why and return None."""
        try:
            return compute()
        except StatisticsError as error:
            self.absent[name] = sentence_of(error)
            return None


def sentence_of(error: StatisticsError) -> str:
    """Return an error of a statistic as the sentence that stands in the number's place."""
    found = "; ".join(p.what for p in error.problems)
    todo = "; ".join(dict.fromkeys(p.todo for p in error.problems if p.todo))
    text = f"{error.headline[:1].upper()}{error.headline[1:]}"
    return f"{text} ({found}){f': {todo}' if todo else ''}."


@dataclass(frozen=True)
class Row:
    """A row of a task, by both names."""

    task: str
    row: str
    points: float


@dataclass(frozen=True)
class Table:
    """The planned cells of one level's tasks, models only.

    cells : (model, task, run) → cell
    copies : model → which of its runs hold the same transcripts; positions, not run numbers
    rows : the rows of every task that has a scored cell
    """

    level: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    max_points: tuple[float, ...]
    runs: tuple[int, ...]
    cells: dict[tuple[str, str, int], FinalCell]
    copies: dict[str, Copies]
    rows: tuple[Row, ...]

    @property
    def points(self) -> float:
        """The maximum of the level's tasks that were asked."""
        return math.fsum(self.max_points)

    def sheet(self, model: str, task: str, run: int) -> ScoreSheet | None:
        """Return a cell's score sheet, None where it has no score."""
        cell = self.cells.get((model, task, run))
        outcome = cell.outcome if cell else None
        return outcome if isinstance(outcome, ScoreSheet) else None

    def grid(self, value: Callable[[ScoreSheet], float], models: Sequence[str]) -> Grid:
        """Return a value of every cell of some models."""
        sheet = self.sheet
        return [
            [[value(s) if (s := sheet(m, t, r)) else NAN for r in self.runs] for t in self.tasks]
            for m in models
        ]

    def scores(self, models: Sequence[str], *, as_is: bool = False) -> LevelScores:
        """Return the points of some models, as the statistics take them.

        A run that only repeats an earlier one is left out: it was not observed.
        """
        grid = self.grid(lambda s: s.points_as_is if as_is else s.points, models)
        for model, of_model in zip(models, grid, strict=True):
            for run in self.repeated(model):
                for of_task in of_model:
                    of_task[self.runs.index(run)] = NAN
        return level_scores(grid, self.max_points, [self.level] * len(self.tasks))

    def totals(self, model: str, *, as_is: bool = False) -> dict[int, float]:
        """Return the totals of a model's complete runs, copies among them."""
        found = {}
        for run in self.runs:
            sheets = [self.sheet(model, task, run) for task in self.tasks]
            points = [s.points_as_is if as_is else s.points for s in sheets if s]
            if len(points) == len(self.tasks):
                found[run] = round(math.fsum(points), POINT_DECIMALS)
        return found

    def repeated(self, model: str) -> frozenset[int]:
        """Return the complete runs of a model that only repeat an earlier complete one."""
        whole = self.totals(model)
        pairs = ((self.runs[i], self.runs[j]) for i, j in self.copies[model].pairs)
        return frozenset(later for one, later in pairs if one in whole and later in whole)

    def observed(self, model: str, *, as_is: bool = False) -> dict[int, float]:
        """Return the totals of a model's complete runs, each copied one once."""
        repeated = self.repeated(model)
        totals = self.totals(model, as_is=as_is)
        return {run: total for run, total in totals.items() if run not in repeated}

    def with_a_total(self) -> tuple[str, ...]:
        """Return the models that have a complete run."""
        return tuple(model for model in self.models if self.totals(model))

    def with_a_cell(self) -> tuple[str, ...]:
        """Return the models that have a scored cell."""
        scored = {m for (m, _, _), c in self.cells.items() if isinstance(c.outcome, ScoreSheet)}
        return tuple(model for model in self.models if model in scored)

    def row(self, row: Row, model: str, run: int, *, as_is: bool = False) -> RowScore | None:
        """Return a row of a cell, None where the cell has no score."""
        sheet = self.sheet(model, row.task, run)
        if sheet is None:
            return None
        rows = sheet.rows_as_is if as_is and sheet.rows_as_is is not None else sheet.rows
        return next((found for found in rows if found.id == row.row), None)

    def fractions(self, rows: Sequence[Row]) -> Grid:
        """Return shares of rows, shape (models, runs, rows)."""
        return [
            [
                [found.fraction if (found := self.row(c, m, r)) else NAN for c in rows]
                for r in self.runs
            ]
            for m in self.models
        ]


def tables_of(final: Final) -> tuple[Table, ...]:
    """Return a table for every level that was asked, A first."""
    controls = set(final.campaign.controls)
    cells = {
        (key.model, key.task, key.run): cell
        for cell in final.cells
        if (key := cell.outcome.cell).model not in controls
    }
    found = [
        _table(final, level, cells)
        for level in LEVELS
        if any(final.level_of(task) == level for task in final.campaign.tasks)
    ]
    return tuple(found)


def _table(final: Final, level: str, cells: dict[tuple[str, str, int], FinalCell]) -> Table:
    tasks = tuple(task for task in final.campaign.tasks if final.level_of(task) == level)
    models = tuple(model.id for model in final.campaign.plan.models)
    runs = tuple(range(1, final.campaign.runs + 1))
    here = {key: cell for key, cell in cells.items() if key[1] in tasks}
    agent = [final.modes.get(task) == "agent" for task in tasks]
    return Table(
        level=level,
        models=models,
        tasks=tasks,
        max_points=tuple(final.max_points[task] for task in tasks),
        runs=runs,
        cells=here,
        copies={
            m: find_copies(_transcripts(here, m, tasks, runs), scheduled=agent) for m in models
        },
        rows=_rows(here, tasks),
    )


def _transcripts(
    cells: dict[tuple[str, str, int], FinalCell],
    model: str,
    tasks: Sequence[str],
    runs: Sequence[int],
) -> list[list[str | None]]:
    return [
        [
            outcome.evidence
            if (cell := cells.get((model, task, run)))
            and isinstance(outcome := cell.outcome, ScoreSheet)
            else None
            for task in tasks
        ]
        for run in runs
    ]


def _rows(cells: dict[tuple[str, str, int], FinalCell], tasks: Sequence[str]) -> tuple[Row, ...]:
    first: dict[str, ScoreSheet] = {}
    for (_, task, _), cell in cells.items():
        if isinstance(cell.outcome, ScoreSheet):
            first.setdefault(task, cell.outcome)
    return tuple(
        Row(task, row.id, row.max_points) for task in tasks if task in first
        for row in first[task].rows
    )  # fmt: skip
