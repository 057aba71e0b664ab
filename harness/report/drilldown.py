"""From a mean to its cells, their rows, and the files on disk."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.report.analysis import LevelAnalysis
from harness.report.analysis.cells import Cell, CellRow
from harness.report.level_tables import cell_anchor, model_anchor
from harness.report.sources import Sources, of_cell
from harness.report.view import Column, Entry, Line, Table, word
from harness.report.wording import number, readable

# Letters of one reason on the page; `arnes explain` has the whole. Where there are many they share
# what keeps the page of a large campaign under two megabytes.
MOST_LETTERS, LEAST_LETTERS, ALL_LETTERS = 280, 48, 400_000


@dataclass(frozen=True)
class Remark:
    """Why a row has the points it has, in one run."""

    row: str
    run: int
    text: str


@dataclass(frozen=True)
class Trail:
    """Where one cell's evidence lies, and how it ended."""

    run: int
    facts: str
    path: str
    digest: str
    command: str


@dataclass(frozen=True)
class TaskCells:
    """One model's cells of one task."""

    anchor: str
    title: str
    summary: str
    table: Table
    remarks: tuple[Remark, ...]
    trails: tuple[Trail, ...]


@dataclass(frozen=True)
class ModelCells:
    """One model's drill-down."""

    anchor: str
    model: str
    tasks: tuple[TaskCells, ...]


def drilldown(
    level: LevelAnalysis, sources: Sources, files: dict[str, str], titles: dict[str, str]
) -> tuple[ModelCells, ...]:
    """Return every cell of every model, models as they stand in the ranking.

    Parameters
    ----------
    level : one level
    sources : collects the numbers
    files : path in the campaign → digest
    titles : task → title, as far as they are known
    """
    setting = _Setting(level.level, sources, files, _letters(level))
    found = []
    for standing in level.standings:
        model = standing.model
        tasks = []
        for task in level.tasks:
            cells = [c for c in level.cells if (c.model, c.task) == (model, task.task)]
            title = f"{task.task} {titles.get(task.task, '')}".rstrip()
            if cells:
                tasks.append(_task(cells, title, setting))
        found.append(ModelCells(model_anchor(level.level, model), model, tuple(tasks)))
    return tuple(found)


@dataclass(frozen=True)
class _Setting:
    """What all cells of a level share; letters is the room for one reason."""

    level: str
    sources: Sources
    files: dict[str, str]
    letters: int


def _letters(level: LevelAnalysis) -> int:
    """Return how long one reason may be, so that all together stay within their room."""
    lost = sum(row.fraction < 1 for cell in level.cells for row in cell.rows)
    return max(LEAST_LETTERS, min(MOST_LETTERS, ALL_LETTERS // max(lost, 1)))


def _task(cells: list[Cell], title: str, setting: _Setting) -> TaskCells:
    first = cells[0]
    shown = ", ".join(number(c.points) if c.points is not None else "none" for c in cells)
    rows: dict[str, dict[int, CellRow]] = {}
    for n, cell in enumerate(cells):
        for row in cell.rows:
            rows.setdefault(row.row, {})[n] = row
    lines = tuple(_row(name, found, cells, setting) for name, found in rows.items())
    columns = (
        Column("Row", numeric=False),
        Column("Of"),
        *(Column(f"Run {_run(cell)}") for cell in cells),
    )
    name = cell_anchor(first.model, first.task)
    remarks = tuple(
        Remark(row, cells[n].run, _cut(_why(found), setting.letters))
        for row, by_run in rows.items()
        for n, found in by_run.items()
        if _why(found) and found.fraction < 1
    )
    return TaskCells(
        anchor=name,
        title=title,
        summary=f"{shown} of {first.max_points:g}",
        table=Table(f"table-{name}", f"{first.model}, {title}: points by row", columns, lines),
        remarks=remarks,
        trails=tuple(_trail(cell, setting.files) for cell in cells),
    )


def _run(cell: Cell) -> str:
    return f"{cell.run}, {cell.source}" if cell.source else f"{cell.run}"


def _row(name: str, found: dict[int, CellRow], cells: list[Cell], setting: _Setting) -> Line:
    most = next(iter(found.values())).max_points
    entries = [word(name), Entry(f"{most:g}", most)]
    for n, cell in enumerate(cells):
        row = found.get(n)
        text = number(row.points) if row else "–"
        if row and row.points != row.points_as_is:
            text += f" ({number(row.points_as_is)} as it came)"
        ident = ".".join(
            p
            for p in (
                setting.level,
                "cell",
                cell.source,
                cell.model,
                f"{cell.run}",
                cell.task,
                name,
            )
            if p
        )
        entries.append(
            setting.sources.number(ident, row.points if row else None, text, of_cell(cell))
        )
    return Line(tuple(entries))


def _why(row: CellRow) -> str:
    gate = f"gate {row.gate:g}: {row.gate_reason}" if row.gate_reason else ""
    return " ".join(part for part in (row.reason, gate) if part)


def _cut(text: str, letters: int = MOST_LETTERS) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _trail(cell: Cell, files: dict[str, str]) -> Trail:
    facts = [readable(cell.ended)]
    if cell.cause and cell.cause not in cell.ended:
        facts.append(readable(cell.cause))
    if cell.detail:
        facts.append(_cut(cell.detail))
    if cell.repairs:
        facts.append(f"repaired: {', '.join(readable(kind) for kind in cell.repairs)}")
    if cell.flags:
        facts.append(f"flags: {', '.join(cell.flags)}")
    if cell.completion_tokens is not None:
        facts.append(f"{cell.completion_tokens:,} tokens out")
    path = cell.evidence or ""
    where = cell.source or "DIR"
    model = PurePosixPath(cell.sheet).parts[-4]  # its id there, which several campaigns may share
    return Trail(
        run=cell.run,
        facts="; ".join(facts),
        path=path,
        digest=files.get(path, ""),
        command=f"arnes explain {where} {model} {cell.run} {cell.task}",
    )
