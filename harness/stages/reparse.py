"""Rebuild deliverables from stored replies. No server, no network; idempotent to the byte.

An agent cell is replayed through its world. A transcript that comes out different from the one
that the run wrote is reported, and never overwritten.
"""

from dataclasses import dataclass

from harness.arnes import ArnesConfig
from harness.errors import StoreError
from harness.parsing.reply import parse_reply
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.running.agent import AgentCell
from harness.stages.agent_cells import parsed_of, replay, runner_for, setup_of, transcript_of
from harness.stages.comparable import refuse_incomparable
from harness.stages.progress import Progress, silent
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.files import replace_folder
from harness.store.layout import CellFolder
from harness.suite.loader import Suite, Task


@dataclass(frozen=True)
class ReparseOutcome:
    """How many cells were parsed, how many came out different, how many have no reply.

    strayed : agent cells whose replay is not the transcript that their run wrote
    """

    parsed: int
    changed: tuple[str, ...]
    without_reply: int
    strayed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rebuilt:
    """A cell's parsed reply, if it has one.

    strayed : an agent's replay is not the transcript that its run wrote
    """

    parsed: ParsedReply | None
    strayed: bool = False


def parse_for(task: Task, exchange: Exchange, config: ArnesConfig) -> ParsedReply:
    """Parse one reply for what a task asks."""
    return parse_reply(
        exchange,
        keys=task.form.keys,
        files=task.definition.deliverables,
        tags=config.reasoning.tags,
    )


def reparse_cell(cell: CellFolder, task: Task, config: ArnesConfig, run: int) -> ParsedReply | None:
    """Replace a cell's parsed reply; None, and nothing left of an older parse, without a reply."""
    return rebuild_cell(cell, task, config, run).parsed


def rebuild_cell(cell: CellFolder, task: Task, config: ArnesConfig, run: int) -> Rebuilt:
    """Replace a cell's parsed reply, and say whether an agent's replay strayed."""
    if task.is_agent:
        rebuilt = _agent(cell, task, config, run)
    else:
        rebuilt = Rebuilt(_single(cell, task, config))
    if rebuilt.parsed is None:
        replace_folder(cell.parsed, {})
    else:
        store.write_parsed(cell, rebuilt.parsed)
    return rebuilt


def _single(cell: CellFolder, task: Task, config: ArnesConfig) -> ParsedReply | None:
    exchange = store.last_exchange(cell)
    if exchange is None or exchange.ended == "infrastructure":
        return None
    return parse_for(task, exchange, config)


def _agent(cell: CellFolder, task: Task, config: ArnesConfig, run: int) -> Rebuilt:
    """Replay an agent cell; there is nothing to parse where it did not come to its end."""
    written = store.read_transcript(cell)
    if written is None:
        return Rebuilt(None)
    played = replayed(cell, task, config, run)
    if played.ended is None:
        return Rebuilt(None, strayed=True)
    return Rebuilt(parsed_of(task, played), strayed=written != transcript_of(played))


def replayed(cell: CellFolder, task: Task, config: ArnesConfig, run: int) -> AgentCell:
    """Replay what is stored of an agent cell; what its tests gave is remembered, not run again."""
    with runner_for(task, config, store.read_test_runs(cell)) as runner:
        return replay(setup_of(task, config, run, runner), store.exchanges(cell))


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
    changed, strayed, parsed_count, without = [], [], 0, 0
    cells = list(campaign.cells())
    for done, (player, run, task_id) in enumerate(cells):
        progress("reparse", done, len(cells))
        cell = campaign.cell(player, run, task_id)
        before = standing_parsed(cell)
        task = suite.task(task_id)
        rebuilt = rebuild_cell(cell, task, config, run)
        if rebuilt.strayed:
            strayed.append(f"{player} run {run} {task_id}")
        if rebuilt.parsed is None:
            without += 1
            continue
        parsed_count += 1
        if before is not None and before != rebuilt.parsed:
            changed.append(f"{player} run {run} {task_id}")
    progress("reparse", len(cells), len(cells))
    return ReparseOutcome(parsed_count, tuple(changed), without, tuple(strayed))
