"""Rescore everything with the present harness, and write `FINAL.json`.

Mandatory before a report: a number that an older grader left behind never gets into a table.
Missing cells are marked missing with their cause; nothing is filled in.
"""

from pathlib import Path

from harness.arnes import ArnesConfig
from harness.errors import NotComparableError, Problem
from harness.records.base import digest
from harness.records.campaign import CellMetrics, ChangedRow, Final, FinalCell
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.records.score import ScoreSheet, Stamps, Unscored
from harness.signature import changed_parts
from harness.stages.hosts import warnings_within
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
    _refuse_other_forms(campaign, suite)
    _refuse_mixed_runs(campaign)
    cells, changed = [], []
    outcomes: dict[tuple[str, int], list[ScoreSheet | Unscored]] = {}
    planned = list(campaign.cells())
    for done, (player, run, task_id) in enumerate(planned):
        progress("finalize", done, len(planned))
        cell = campaign.cell(player, run, task_id)
        task = suite.task(task_id)
        before = store.read_outcome(cell)
        parsed = reparse_cell(cell, task, config)
        after = score_cell(campaign, player, run, task, config=config, now=now)
        changed += changed_rows(before, after)
        outcomes.setdefault((player, run), []).append(after)
        metrics = metrics_of(store.last_exchange(cell), parsed)
        cells.append(FinalCell(outcome=after, metrics=metrics))
    for (player, run), sheets in outcomes.items():
        write_summary(campaign, player, run, sheets)
    final = Final(
        campaign=campaign.record,
        stamps=cells[0].outcome.stamps,
        cells=tuple(cells),
        changed=tuple(changed),
        warnings=warnings_within(campaign),
        files=_read_files(campaign),
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


def changed_rows(
    before: ScoreSheet | Unscored | None, after: ScoreSheet | Unscored
) -> list[ChangedRow]:
    """Return the rows whose points moved between two score sheets of a cell, and by which parts."""
    if before is None:
        return []
    was = {row.id: row.points for row in before.rows} if isinstance(before, ScoreSheet) else {}
    is_now = {row.id: row.points for row in after.rows} if isinstance(after, ScoreSheet) else {}
    parts = changed_parts(before.stamps.parts, after.stamps.parts, "score")
    return [
        ChangedRow(
            cell=after.cell, row=row, before=was.get(row), after=is_now.get(row), parts=parts
        )
        for row in dict.fromkeys([*was, *is_now])
        if was.get(row) != is_now.get(row)
    ]


def _refuse_other_forms(campaign: Campaign, suite: Suite) -> None:
    problems = [
        Problem(
            f"form of {task}",
            f"asked in {form_id}, the suite holds {suite.forms.get(task, 'no such task')}",
            "check out the suite that was asked, or set `form` in arnes.toml",
        )
        for task, form_id in campaign.record.forms.items()
        if suite.forms.get(task) != form_id
    ]
    if problems:
        raise NotComparableError(
            "this campaign was asked in other forms", problems, "Nothing was rescored."
        )


def _refuse_mixed_runs(campaign: Campaign) -> None:
    problems = []
    for player in campaign.players:
        for run in range(1, campaign.record.runs + 1):
            info = store.read_run_info(campaign.folder.run(player, run))
            if info is None:
                continue
            parts = changed_parts(campaign.record.stamps.parts, info.stamps.parts, "run")
            if parts:
                problems.append(
                    Problem(
                        f"{player} run {run}",
                        f"ran under other {', '.join(parts)}",
                        "run it again in a campaign of its own",
                    )
                )
    if problems:
        raise NotComparableError(
            "runs of different run-side signatures never mix", problems, "Nothing was rescored."
        )


def _read_files(campaign: Campaign) -> dict[str, str]:
    """Return the digest of every file the result was made from, by its path in the campaign."""
    root: Path = campaign.folder.path
    paths = [campaign.folder.record]
    for player, run, task in campaign.cells():
        run_info = campaign.folder.run(player, run).info
        paths += [run_info] if run_info.is_file() and run_info not in paths[-1:] else []
        paths += campaign.cell(player, run, task).raws()
    return {path.relative_to(root).as_posix(): digest(path.read_bytes()) for path in set(paths)}
