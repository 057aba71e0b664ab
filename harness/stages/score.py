"""Parsed replies → score sheets. Needs no server; idempotent to the byte."""

from dataclasses import dataclass

from harness.arnes import ArnesConfig
from harness.errors import StoreError
from harness.records.base import Json, digest
from harness.records.campaign import ChangedRow
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.records.score import (
    CellKey,
    ScoreSheet,
    Stamps,
    Unscored,
    total_of,
)
from harness.records.summary import CellSummary, RunSummary
from harness.sandbox import probe
from harness.signature import scored_now
from harness.stages.comparable import refuse_incomparable
from harness.stages.grade import NO_WALLS, Graded, grade_reply, hash_seed_of
from harness.stages.moved import keep_first, moved_rows
from harness.stages.progress import Progress, silent
from harness.stages.reparse import reparse_cell, standing_parsed
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.layout import CellFolder
from harness.suite.loader import Suite, Task


@dataclass(frozen=True)
class ScoreOutcome:
    """How many cells have a score, why the others have none, and which rows moved so far."""

    scored: int
    unscored: dict[str, int]
    moved: tuple[ChangedRow, ...] = ()


def sheet_of(
    key: CellKey, task: Task, parsed: ParsedReply, graded: Graded, stamps: Stamps
) -> ScoreSheet:
    """Return the score sheet of a graded reply."""
    as_is = graded.rows if graded.rows_as_is is None else graded.rows_as_is
    noticed = {flag for row in (*graded.rows, *as_is) for flag in row.flags}
    return ScoreSheet(
        cell=key,
        points=total_of(graded.rows),
        max_points=task.definition.max_points,
        points_as_is=total_of(as_is),
        rows=graded.rows,
        rows_as_is=graded.rows_as_is,
        repairs=graded.repairs,
        flags=tuple(sorted({*parsed.flags, *noticed})),
        cause=parsed.cause,
        ended=parsed.cell.ended if parsed.cell else None,
        evidence=digest(parsed),
        sandbox=graded.walls,
        stamps=stamps,
    )


def unscored_of(
    key: CellKey, exchange: Exchange | None, stamps: Stamps, *, skipped: str = ""
) -> Unscored:
    """Return why a cell has no score.

    exchange : the cell's last one; that of an agent cell may hold a reply, after which it stopped
    skipped : why its run was not started before the deadline
    """
    if exchange is None and skipped:
        return Unscored(cell=key, cause="deadline", detail=skipped, stamps=stamps)
    if exchange is None:
        return Unscored(cell=key, cause="not_run", stamps=stamps)
    if exchange.cause is None:
        detail = "stopped between two replies; resume goes on there"
        return Unscored(cell=key, cause="not_run", detail=detail, stamps=stamps)
    return Unscored(cell=key, cause=exchange.cause, detail=exchange.detail, stamps=stamps)


def score_cell(
    campaign: Campaign, player: str, run: int, task: Task, *, config: ArnesConfig, now: Stamps
) -> ScoreSheet | Unscored:
    """Replace the score sheet of one cell; a sheet whose rows move is kept beside it, once.

    What was run for an earlier sheet of the same reply is not run again.

    Parameters
    ----------
    now : the stamps of the present harness; what the cell ran under stays in the sheet
    """
    cell = campaign.cell(player, run, task.id)
    form_id = campaign.record.forms[task.id]
    key = CellKey(model=player, run=run, task=task.id, form_id=form_id)
    stamps = scored_now(campaign.record.stamps, now)
    parsed = standing_parsed(cell) or reparse_cell(cell, task, config, run)
    outcome: ScoreSheet | Unscored
    if parsed is None:
        skipped = campaign.skipped(player, run)
        outcome = unscored_of(key, store.last_exchange(cell), stamps, skipped=skipped)
    elif task.definition.executes and probe().name == NO_WALLS:
        outcome = Unscored(cell=key, cause="no_sandbox", detail=probe().todo, stamps=stamps)
    else:
        seed, known = hash_seed_of(key), _known(cell)
        graded = grade_reply(task, parsed, config.sandbox, seed, known)
        store.write_observations(cell, graded.observations)
        outcome = sheet_of(key, task, parsed, graded, stamps)
    keep_first(cell, outcome)
    store.write_outcome(cell, outcome)
    return outcome


def _known(cell: CellFolder) -> dict[str, Json]:
    """Return what was observed before; a damaged record is observed again."""
    try:
        known = store.read_observations(cell)
    except StoreError:
        return {}
    return known if isinstance(known, dict) else {}


def score(
    campaign: Campaign,
    suite: Suite,
    config: ArnesConfig,
    now: Stamps,
    progress: Progress = silent,
) -> ScoreOutcome:
    """Score every cell of a campaign and write the summary of every run.

    Raises
    ------
    NotComparableError
        If the suite is in other forms than those asked, or runs are of different instruments.
    """
    refuse_incomparable(campaign, suite)
    moved: list[ChangedRow] = []
    unscored: dict[str, int] = {}
    scored = 0
    cells = list(campaign.cells())
    outcomes: dict[tuple[str, int], list[ScoreSheet | Unscored]] = {}
    for done, (player, run, task_id) in enumerate(cells):
        progress("score", done, len(cells))
        outcome = score_cell(campaign, player, run, suite.task(task_id), config=config, now=now)
        outcomes.setdefault((player, run), []).append(outcome)
        moved += moved_rows(campaign.cell(player, run, task_id), outcome)
        if isinstance(outcome, ScoreSheet):
            scored += 1
        else:
            unscored[outcome.cause] = unscored.get(outcome.cause, 0) + 1
    for (player, run), sheets in outcomes.items():
        write_summary(campaign, player, run, sheets)
    progress("score", len(cells), len(cells))
    return ScoreOutcome(scored, unscored, tuple(moved))


def write_summary(
    campaign: Campaign, player: str, run: int, outcomes: list[ScoreSheet | Unscored]
) -> None:
    """Replace the summary of a run, made from the outcomes of all its cells."""
    store.write_summary(campaign.folder.run(player, run), summary_of(player, run, outcomes))


def summary_of(player: str, run: int, outcomes: list[ScoreSheet | Unscored]) -> RunSummary:
    """Return the summary of a run. A run with a missing cell has no total."""
    sheets = [o for o in outcomes if isinstance(o, ScoreSheet)]
    complete = len(sheets) == len(outcomes)
    return RunSummary(
        model=player,
        run=run,
        total=round(sum(s.points for s in sheets), 6) if complete else None,
        max_points=sum(s.max_points for s in sheets) if complete else None,
        repairs=sum(len(s.repairs) for s in sheets),
        cells=tuple(
            CellSummary(
                task=o.cell.task,
                points=o.points if isinstance(o, ScoreSheet) else None,
                cause=o.cause,
                flags=o.flags if isinstance(o, ScoreSheet) else (),
            )
            for o in outcomes
        ),
        stamps=outcomes[0].stamps,
    )
