"""Rebuild deliverables from stored replies. No server, no network; idempotent to the byte."""

from dataclasses import dataclass

from harness.arnes import ArnesConfig
from harness.errors import StoreError
from harness.parsing.reply import parse_reply
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.stages.comparable import refuse_incomparable
from harness.stages.progress import Progress, silent
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.files import replace_folder
from harness.store.layout import CellFolder
from harness.suite.loader import Suite, Task


@dataclass(frozen=True)
class ReparseOutcome:
    """How many cells were parsed, how many came out different, how many have no reply."""

    parsed: int
    changed: tuple[str, ...]
    without_reply: int


def parse_for(task: Task, exchange: Exchange, config: ArnesConfig) -> ParsedReply:
    """Parse one reply for what a task asks."""
    return parse_reply(
        exchange,
        keys=task.form.keys,
        files=task.definition.deliverables,
        tags=config.reasoning.tags,
    )


def reparse_cell(cell: CellFolder, task: Task, config: ArnesConfig) -> ParsedReply | None:
    """Replace a cell's parsed reply; None, and nothing left of an older parse, without a reply."""
    exchange = store.last_exchange(cell)
    if exchange is None or exchange.ended == "infrastructure":
        replace_folder(cell.parsed, {})
        return None
    parsed = parse_for(task, exchange, config)
    store.write_parsed(cell, parsed)
    return parsed


def standing_parsed(cell: CellFolder) -> ParsedReply | None:
    """Return the parsed reply that can be made again; a damaged one counts as none."""
    try:
        return store.read_parsed(cell)
    except StoreError:
        return None


def reparse(
    campaign: Campaign, suite: Suite, config: ArnesConfig, progress: Progress = silent
) -> ReparseOutcome:
    """Reparse every cell of a campaign.

    Raises
    ------
    NotComparableError
        If the suite is in other forms than those asked, or runs are of different instruments.
    """
    refuse_incomparable(campaign, suite)
    changed, parsed_count, without = [], 0, 0
    cells = list(campaign.cells())
    for done, (player, run, task_id) in enumerate(cells):
        progress("reparse", done, len(cells))
        cell = campaign.cell(player, run, task_id)
        before = standing_parsed(cell)
        after = reparse_cell(cell, suite.task(task_id), config)
        if after is None:
            without += 1
            continue
        parsed_count += 1
        if before is not None and before != after:
            changed.append(f"{player} run {run} {task_id}")
    progress("reparse", len(cells), len(cells))
    return ReparseOutcome(parsed_count, tuple(changed), without)
