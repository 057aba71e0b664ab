"""Agent cells: set one up, let a player play it, replay stored replies, and read the result.

A replay feeds stored replies through the same machine, world and schedule as the run did. So a
cell that was interrupted goes on where it stopped, and no effect is ever doubled: the world is
not stored, it is rebuilt.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from harness.arnes import ArnesConfig
from harness.parsing import PARSER_VERSION
from harness.protocol.elision import longest_conversation
from harness.protocol.writing import system_text
from harness.records.base import Json, canonical_json
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.records.score import ModelCause
from harness.records.tools import RUN_TESTS
from harness.records.world import AgentRecord, EndedBy
from harness.running.agent import AgentCell, AgentSetup
from harness.running.scenes import load_scene, schedule_of
from harness.running.single import cap_of
from harness.stages.grade import walls_for
from harness.suite.agent_sets import Turns
from harness.suite.forms import Reply
from harness.suite.loader import Task
from harness.world.suites import SuiteRunner

DENSE = "18 | Halden | 2026-03-14 | 4125 | 317\n"  # as the tables of a world are: most tokens
CAUSES: Mapping[EndedBy, ModelCause] = {"tokens": "truncated", "time": "time"}


@contextmanager
def runner_for(
    task: Task, config: ArnesConfig, remembered: Mapping[str, Json] | None = None
) -> Iterator[SuiteRunner | None]:
    """Open what runs the tests of a task's worlds; None for a task that offers no `run_tests`.

    Raises
    ------
    InstrumentError
        If there is no sandbox on this machine.
    """
    if RUN_TESTS not in task.definition.tools:
        yield None
        return
    tier = walls_for(task)
    assert tier is not None  # the loader holds that such a task has a row that executes
    with SuiteRunner(tier, config.sandbox, remembered) as runner:
        yield runner


def setup_of(task: Task, config: ArnesConfig, run: int, runner: SuiteRunner | None) -> AgentSetup:
    """Return what a cell is played in: the scene of its form and run, and its fault schedule.

    Raises
    ------
    SuiteError
        If the run has no schedule.
    """
    return AgentSetup(
        task=task,
        config=config,
        run=run,
        scene=load_scene(task.folder, task.form, run),
        schedule=schedule_of(task.folder, run),
        runner=runner,
    )


def replay(setup: AgentSetup, exchanges: Iterable[Exchange], model: str = "replay") -> AgentCell:
    """Feed stored exchanges through a new cell; those without a reply never were a turn."""
    cell = AgentCell(setup, model=model)
    for exchange in exchanges:
        if exchange.ended != "infrastructure":
            cell.take(exchange)
    return cell


def play(cell: AgentCell, turns: Turns) -> tuple[Reply, ...]:
    """Let a player play a cell to its end; return what it wrote."""
    written: list[Reply] = []
    answer: str | None = None
    while cell.ended is None:
        try:
            said = next(turns) if answer is None else turns.send(answer)
        except StopIteration:
            said = ""
        written.append(said if isinstance(said, Reply) else Reply(said))
        cell.take_reply(written[-1])
        answer = cell.answer
    return tuple(written)


def parsed_of(task: Task, cell: AgentCell) -> ParsedReply:
    """Return what graders read of a cell that came to its end."""
    record = cell.record()
    return ParsedReply(
        parser_version=PARSER_VERSION,
        text="",
        files={
            path: record.end.files[path]
            for path in task.definition.deliverables
            if path in record.end.files
        },
        flags=tuple(sorted({flag for step in record.steps for flag in step.flags})),
        cause=CAUSES.get(record.ended),
        cell=record,
    )


def transcript_of(cell: AgentCell) -> bytes:
    """Return the transcript of a cell that ended: a line per turn, and one for the end."""
    record = cell.record()
    end = record.model_copy(update={"steps": ()})
    lines = [*cell.turns, end]
    return b"".join(canonical_json(line) + b"\n" for line in lines)


def longest_text(task: Task, config: ArnesConfig) -> str:
    """Return the longest conversation that this task can send, of text that is dense in numbers."""
    scene = load_scene(task.folder, task.form, 1)
    told = scene.tariff.told if scene.tariff else None
    talk = longest_conversation(
        system_text(config, task.definition.tools, told),
        task.prompt(cap_of(task, config)),
        config.context,
        replies=config.max_agent_turns,
        filler=DENSE,
    )
    return "\n".join(str(message.content) for message in talk.messages())


def ended_as(record: AgentRecord) -> str:
    """Return how a cell ended, in a few words."""
    return f"{record.ended} ({record.guard})" if record.guard else record.ended
