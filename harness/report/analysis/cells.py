"""Drill-down: every cell with its rows, how it ended, and where its evidence lies."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.records.campaign import GOLDEN_CONTROL, Final, FinalCell
from harness.records.score import POINT_DECIMALS, RowScore, ScoreSheet
from harness.report.analysis.table import Table
from harness.store.layout import SCORE_SHEET

COMPLETE = "complete"
HOST_SHOWN = 12  # hexadecimal digits of a machine's digest


@dataclass(frozen=True)
class CellRow:
    """One row of a cell.

    points, fraction : of the repaired copy; the _as_is ones before any repair
    gate : factor of a condition over the whole row; gate_reason is empty where it is 1
    reason : may quote answers: leave it out where a report is redacted
    """

    row: str
    points: float
    max_points: float
    fraction: float
    points_as_is: float
    fraction_as_is: float
    gate: float
    gate_reason: str
    reason: str


@dataclass(frozen=True)
class Cell:
    """One model × task × run.

    points : None where the cell has no score, never a zero
    cause : why a scored reply holds less than was asked, or why there is no score; empty when
        neither
    ended : how the reply ended, as `Ending.ended`
    repairs : kinds, one entry per repair
    evidence : path of the exchange that counts, inside the campaign; None when there is none
    sheet : path of its score sheet
    source : which campaign folder, for results of several; empty for one
    """

    model: str
    task: str
    run: int
    points: float | None
    points_as_is: float | None
    max_points: float
    cause: str
    detail: str
    ended: str
    rows: tuple[CellRow, ...]
    repairs: tuple[str, ...]
    flags: tuple[str, ...]
    evidence: str | None
    sheet: str
    source: str
    completion_tokens: int | None
    generation_s: float | None


@dataclass(frozen=True)
class Ending:
    """How many cells of a model ended this way.

    ended : `complete`, a cause of the model (`truncated`, `time`, `empty`, …), an agent's own
        ending where there is one, or `unscored: <cause>`
    """

    model: str
    ended: str
    cells: int


@dataclass(frozen=True)
class Control:
    """One run of a control player in one level; it must reach `must_be`, cell by cell.

    points : None where a cell has no score; off : cells at other points than they must be
    """

    player: str
    level: str
    run: int
    source: str
    points: float | None
    must_be: float
    unscored: int
    off: int

    @property
    def holds(self) -> bool:
        """True when every cell has a score, the one it must have."""
        return not self.unscored and not self.off


@dataclass(frozen=True)
class HostFacts:
    """Where one run was made.

    host : digest of the machine's name, shortened; the name itself is in no record
    source : which campaign folder, empty for a result of one
    """

    player: str
    run: int
    host: str
    source: str
    machine: str
    engine: str


def cells_of(table: Table, final: Final) -> tuple[Cell, ...]:
    """Return every planned cell of a level: by model, task and run."""
    evidence = Evidence(final)
    return tuple(
        _cell(cell, evidence, table)
        for model in table.models
        for task in table.tasks
        for run in table.runs
        if (cell := table.cells.get((model, task, run)))
    )


class Evidence:
    """Where files of a cell lie, inside the campaign or below the folders of several."""

    def __init__(self, final: Final) -> None:
        self._last: dict[str, str] = {}
        for path in sorted(final.files):
            folder, raw, _ = path.rpartition("/raw/")
            if raw:
                self._last[folder] = path
        self._named = {
            (source.name, new): old
            for source in final.sources
            for old, new in source.renamed.items()
        }

    def folder(self, cell: FinalCell) -> str:
        """Return the folder of a cell."""
        key = cell.outcome.cell
        model = self._named.get((cell.source, key.model), key.model)
        inside = f"{model}/run_{key.run}/{key.task}"
        return f"{cell.source}/{inside}" if cell.source else inside

    def exchange(self, cell: FinalCell) -> str | None:
        """Return the exchange that counts, None where there is none."""
        return self._last.get(self.folder(cell))


def _cell(cell: FinalCell, evidence: Evidence, table: Table) -> Cell:
    outcome = cell.outcome
    sheet = outcome if isinstance(outcome, ScoreSheet) else None
    key = outcome.cell
    return Cell(
        model=key.model,
        task=key.task,
        run=key.run,
        points=sheet.points if sheet else None,
        points_as_is=sheet.points_as_is if sheet else None,
        max_points=table.max_points[table.tasks.index(key.task)],
        cause=outcome.cause or "",
        detail="" if isinstance(outcome, ScoreSheet) else outcome.detail,
        ended=ended(cell),
        rows=_rows(sheet) if sheet else (),
        repairs=tuple(repair.kind for repair in sheet.repairs) if sheet else (),
        flags=sheet.flags if sheet else (),
        evidence=evidence.exchange(cell),
        sheet=f"{evidence.folder(cell)}/{SCORE_SHEET}",
        source=cell.source,
        completion_tokens=cell.metrics.completion_tokens,
        generation_s=cell.metrics.generation_s,
    )


def ended(cell: FinalCell) -> str:
    """Return how a cell ended: a cause, else the ending of an agent's work, else complete."""
    outcome = cell.outcome
    if not isinstance(outcome, ScoreSheet):
        return f"unscored: {outcome.cause}"
    return outcome.cause or outcome.ended or COMPLETE


def _rows(sheet: ScoreSheet) -> tuple[CellRow, ...]:
    as_is = {row.id: row for row in sheet.rows_as_is or sheet.rows}
    return tuple(_row(row, as_is.get(row.id, row)) for row in sheet.rows)


def _row(row: RowScore, as_is: RowScore) -> CellRow:
    return CellRow(
        row=row.id,
        points=row.points,
        max_points=row.max_points,
        fraction=row.fraction,
        points_as_is=as_is.points,
        fraction_as_is=as_is.fraction,
        gate=row.gate,
        gate_reason=row.gate_reason,
        reason=row.reason,
    )


def endings_of(cells: Iterable[Cell]) -> tuple[Ending, ...]:
    """Count how the cells of each model ended."""
    counts = Counter((cell.model, cell.ended) for cell in cells)
    return tuple(Ending(model, how, n) for (model, how), n in sorted(counts.items()))


def controls_of(final: Final) -> tuple[Control, ...]:
    """Return where the controls landed, run by run and level by level."""
    groups: dict[tuple[str, str, int, str], list[FinalCell]] = {}
    for cell in final.cells:
        key = cell.outcome.cell
        if key.model in final.campaign.controls:
            level = final.level_of(key.task)
            groups.setdefault((level, key.model, key.run, cell.source), []).append(cell)
    return tuple(_control(final, key, cells) for key, cells in sorted(groups.items()))


def _control(final: Final, key: tuple[str, str, int, str], cells: list[FinalCell]) -> Control:
    level, player, run, source = key
    golden = player == GOLDEN_CONTROL
    sheets = [c.outcome for c in cells if isinstance(c.outcome, ScoreSheet)]
    must = {t: final.max_points[t] if golden else 0.0 for t in final.max_points}
    off = sum(abs(s.points - must[s.cell.task]) > 10**-POINT_DECIMALS for s in sheets)
    whole = len(sheets) == len(cells)
    return Control(
        player=player,
        level=level,
        run=run,
        source=source,
        points=round(sum(s.points for s in sheets), POINT_DECIMALS) if whole else None,
        must_be=sum(must[c.outcome.cell.task] for c in cells),
        unscored=len(cells) - len(sheets),
        off=off,
    )


def hosts_of(final: Final) -> tuple[HostFacts, ...]:
    """Return where each run was made."""
    return tuple(
        HostFacts(h.model, h.run, h.host[:HOST_SHOWN], h.source, h.machine, h.engine)
        for h in final.hosts
    )
