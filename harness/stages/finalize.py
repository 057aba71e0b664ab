"""Rescore everything with the present harness, and write `FINAL.json`.

Mandatory before a report: a number that an older grader left behind never gets into a table.
Missing cells are marked missing with their cause; nothing is filled in.
"""

from collections.abc import Iterable

from harness.arnes import ArnesConfig
from harness.records.campaign import (
    EMPTY_CONTROL,
    GOLDEN_CONTROL,
    ChangedRow,
    Final,
    FinalCell,
    RunHost,
)
from harness.records.score import POINT_DECIMALS, ScoreSheet, Stamps, Unscored
from harness.stages.comparable import refuse_incomparable
from harness.stages.energy import energy_of
from harness.stages.evidence import evidence_of
from harness.stages.hatched import doubts
from harness.stages.hosts import warnings_within
from harness.stages.metrics import metrics_of
from harness.stages.moved import moved_rows
from harness.stages.progress import Progress, silent
from harness.stages.reparse import rebuild_cell
from harness.stages.score import score_cell, write_summary
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite

STRAYED = "its replay is not the transcript that its run wrote"


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
    cells, changed, strayed = _rescored(campaign, suite, config, now, progress)
    definitions = {task: suite.task(task).definition for task in campaign.record.tasks}
    levels = {task: d.level for task, d in definitions.items()}
    final = Final(
        campaign=campaign.record,
        stamps=cells[0].outcome.stamps,
        max_points={task: d.max_points for task, d in definitions.items()},
        cells=cells,
        problems=(
            *control_problems(c.outcome for c in cells),
            *strayed,
            *changed_models(campaign),
        ),
        changed=changed,
        warnings=warnings_within(campaign),
        files=evidence_of(campaign),
        levels=levels,
        modes={task: d.mode for task, d in definitions.items()},
        hosts=hosts_of(campaign),
        hatched=doubts(campaign, suite),
        energy=energy_of(campaign, levels),
    )
    store.write_final(campaign, final)
    progress("finalize", len(cells), len(cells))
    return final


def _rescored(
    campaign: Campaign, suite: Suite, config: ArnesConfig, now: Stamps, progress: Progress
) -> tuple[tuple[FinalCell, ...], tuple[ChangedRow, ...], tuple[str, ...]]:
    """Return every planned cell as it is scored now, rows that moved, and replays that strayed."""
    cells: list[FinalCell] = []
    strayed: list[str] = []
    changed: list[ChangedRow] = []
    outcomes: dict[tuple[str, int], list[ScoreSheet | Unscored]] = {}
    planned = list(campaign.cells())
    for done, (player, run, task_id) in enumerate(planned):
        progress("finalize", done, len(planned))
        cell = campaign.cell(player, run, task_id)
        task = suite.task(task_id)
        rebuilt = rebuild_cell(cell, task, config, run)
        if rebuilt.strayed:
            strayed.append(f"{player} run {run} {task_id}: {STRAYED}")
        after = score_cell(campaign, player, run, task, config=config, now=now)
        changed += moved_rows(cell, after)
        outcomes.setdefault((player, run), []).append(after)
        cells.append(
            FinalCell(outcome=after, metrics=metrics_of(store.exchanges(cell), rebuilt.parsed))
        )
    for (player, run), sheets in outcomes.items():
        write_summary(campaign, player, run, sheets)
    return tuple(cells), tuple(changed), tuple(strayed)


def changed_models(campaign: Campaign) -> list[str]:
    """Return the runs during which another model, or another server, came to be served.

    That a later pass went on with such a run, and found nothing, takes nothing back.
    """
    infos = [store.read_run_info(campaign.folder.run(*which)) for which in campaign.runs()]
    return [
        f"{info.model} run {info.run}: what was served changed during it: {one.changed}"
        for info in infos
        if info is not None
        for one in info.passes
        if one.changed
    ]


def hosts_of(campaign: Campaign) -> tuple[RunHost, ...]:
    """Return where every run that was begun was made; of a run that moved, where it ended."""
    found = []
    for player, run in campaign.runs():
        info = store.read_run_info(campaign.folder.run(player, run))
        if info is not None:
            host, server = info.host, info.server
            found.append(
                RunHost(
                    model=player,
                    run=run,
                    host=host.hostname_digest,
                    machine=f"{host.cpu}, {host.cores} cores, {host.platform}",
                    engine=f"{server.engine} {server.build}".strip(),
                )
            )
    return tuple(found)


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
