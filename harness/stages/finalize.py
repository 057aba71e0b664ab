"""Rescore everything with the present harness, and write `FINAL.json`.

Mandatory before a report: a number that an older grader left behind never gets into a table.
Missing cells are marked missing with their cause; nothing is filled in.
"""

from collections.abc import Iterable

from harness.arnes import ArnesConfig
from harness.records.campaign import (
    EMPTY_CONTROL,
    GOLDEN_CONTROL,
    CellMetrics,
    ChangedRow,
    Final,
    FinalCell,
)
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.records.score import POINT_DECIMALS, ScoreSheet, Stamps, Unscored
from harness.stages.comparable import refuse_incomparable
from harness.stages.evidence import evidence_of
from harness.stages.hosts import warnings_within
from harness.stages.moved import moved_rows
from harness.stages.progress import Progress, silent
from harness.stages.reparse import reparse_cell
from harness.stages.score import score_cell, write_summary
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite

METRIC_DECIMALS = 3


def finalize(
    campaign: Campaign,
    suite: Suite,
    config: ArnesConfig,
    now: Stamps,
    progress: Progress = silent,
) -> Final:
    """Reparse and rescore every planned cell and write the end result.

    Parameters
    ----------
    now : the stamps of the present harness

    Raises
    ------
    NotComparableError
        If a run was made under another run-side signature than the campaign, or the present
        suite holds other forms than the ones that were asked.
    """
    refuse_incomparable(campaign, suite)
    cells: list[FinalCell] = []
    changed: list[ChangedRow] = []
    outcomes: dict[tuple[str, int], list[ScoreSheet | Unscored]] = {}
    planned = list(campaign.cells())
    for done, (player, run, task_id) in enumerate(planned):
        progress("finalize", done, len(planned))
        cell = campaign.cell(player, run, task_id)
        task = suite.task(task_id)
        parsed = reparse_cell(cell, task, config)
        after = score_cell(campaign, player, run, task, config=config, now=now)
        changed += moved_rows(cell, after)
        outcomes.setdefault((player, run), []).append(after)
        metrics = metrics_of(store.last_exchange(cell), parsed)
        cells.append(FinalCell(outcome=after, metrics=metrics))
    for (player, run), sheets in outcomes.items():
        write_summary(campaign, player, run, sheets)
    final = Final(
        campaign=campaign.record,
        stamps=cells[0].outcome.stamps,
        max_points={t: suite.task(t).definition.max_points for t in campaign.record.tasks},
        cells=tuple(cells),
        problems=tuple(control_problems(c.outcome for c in cells)),
        changed=tuple(changed),
        warnings=warnings_within(campaign),
        files=evidence_of(campaign),
    )
    store.write_final(campaign, final)
    progress("finalize", len(planned), len(planned))
    return final


def metrics_of(exchange: Exchange | None, parsed: ParsedReply | None) -> CellMetrics:
    """Return what a cell cost. Generation is from the first to the last token, in seconds."""
    if exchange is None:
        return CellMetrics()
    timings = exchange.timings
    generation = (
        round(timings.last_token_s - timings.first_token_s, METRIC_DECIMALS)
        if timings.first_token_s is not None and timings.last_token_s is not None
        else None
    )
    return CellMetrics(
        prompt_tokens=parsed.prompt_tokens if parsed else None,
        completion_tokens=parsed.completion_tokens if parsed else None,
        finish_reason=parsed.finish_reason if parsed else None,
        generation_s=generation,
        retries=len(exchange.retried),
    )


def control_problems(outcomes: Iterable[ScoreSheet | Unscored]) -> list[str]:
    """Return where a control has other points than it must: then no number of it all holds."""
    return [
        f"{o.cell.model} run {o.cell.run} {o.cell.task}: {o.points:g} points, must be {must:g}"
        for o in outcomes
        if isinstance(o, ScoreSheet)
        and o.cell.model in (GOLDEN_CONTROL, EMPTY_CONTROL)
        and abs(o.points - (must := o.max_points if o.cell.model == GOLDEN_CONTROL else 0.0))
        > 10**-POINT_DECIMALS
    ]
