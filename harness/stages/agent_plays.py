"""What is played against an agent task: every member under every fault schedule, as written turns.

A member in one run is told like a member of a single task, by the name `NAME run N`. Goldens of
the open form play their frozen turns; every other member is played in process first, to get the
turns that it writes under that run's faults. The turns are then played by the scripted server
through the real loop.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.arnes import ArnesConfig, load_arnes
from harness.errors import FormError, InstrumentError, Problem
from harness.models.chat import ChatModel
from harness.protocol.writing import render_call
from harness.records.base import Json, readable_json
from harness.records.parsed import ParsedReply
from harness.records.tools import FINISH
from harness.running.agent import AgentCell, run_agent
from harness.running.scenes import read_schedules
from harness.stages.agent_cells import parsed_of, play, runner_for, setup_of
from harness.stages.forms import make_form, make_players
from harness.store.files import replace_folder, write_whole
from harness.suite.agent_sets import (
    AgentDefective,
    AgentExploit,
    AgentGolden,
    AgentSets,
    Player,
    Turns,
)
from harness.suite.forms import OPEN, Defective, Exploit, Golden, Reply, Sets
from harness.suite.loader import OPEN_FORM_FILE, Task, read_task
from harness.suite.sets import read_agent_expected, read_turns
from harness.world.suites import SuiteRunner

UNCAPPED = 1_000_000  # written turns are judged by what they do, not by a profile's cap
EMPTY = "empty"


@dataclass(frozen=True)
class Written:
    """A member in one run: what it writes, turn by turn."""

    run: int
    turns: tuple[Reply, ...]


@dataclass(frozen=True)
class Plays:
    """All members of a task, in all runs.

    sets : of an agent task each member is told as `NAME run N`, with an empty reply
    written : kind and name, as in `golden/look_around run 2` → what it writes
    test_runs : what `run_tests` gave while it was written, so that it is not run again
    """

    sets: Sets
    written: dict[str, Written]
    test_runs: Mapping[str, Json] = field(default_factory=dict)


def agent_plays(task: Task, config: ArnesConfig) -> Plays:
    """Return everything that is played against a task's form.

    Raises
    ------
    SuiteError, FormError
        If its schedules, its policy or what is frozen of them cannot be used.
    """
    sets = agent_sets_of(task)
    written: dict[str, Written] = {}
    golden: list[Golden] = []
    defective: list[Defective] = []
    exploits: list[Exploit] = []
    nothing = Reply("")
    with runner_for(task, config) as runner:
        for run in range(1, len(read_schedules(task.folder)) + 1):
            for kind, member in _members(sets):
                told = f"{member.name} run {run}"
                turns = _turns(task, config, run, runner, (kind, member.name, member.play))
                written[f"{kind}/{told}"] = Written(run, turns)
                match member:
                    case AgentGolden():
                        golden.append(Golden(told, nothing))
                    case AgentDefective(rows=rows, shows=shows):
                        defective.append(Defective(told, nothing, rows[run - 1], None, shows))
                    case AgentExploit(ceiling=ceiling, trick=trick):
                        exploits.append(Exploit(told, nothing, ceiling, trick))
                        first = f"golden/{sets.golden[0].name} run {run}"
                        written[f"after/{told}"] = written[first]
        test_runs = runner.remembered if runner else {}
    sets_of_all = Sets(tuple(golden), tuple(defective), tuple(exploits))
    return Plays(sets_of_all, written, test_runs)


def _members(
    sets: AgentSets,
) -> Iterator[tuple[str, AgentGolden | AgentDefective | AgentExploit]]:
    yield from (("golden", member) for member in sets.golden)
    yield from (("defective", member) for member in sets.defective)
    yield from (("exploits", member) for member in sets.exploits)


def golden_turns(task: Task, config: ArnesConfig, run: int) -> tuple[Reply, ...]:
    """Return what the first golden writes in a run."""
    first = make_players(task.folder, task.form).golden[0]
    with runner_for(task, config) as runner:
        return _turns(task, config, run, runner, ("golden", first.name, first.play))


def _turns(
    task: Task,
    config: ArnesConfig,
    run: int,
    runner: SuiteRunner | None,
    member: tuple[str, str, Player],
) -> tuple[Reply, ...]:
    kind, name, player = member
    if kind == "golden" and task.form.seed == OPEN:
        return tuple(Reply(text) for text in read_turns(task.folder, name, run))
    return play(uncapped_cell(task, config, run, runner), player(run))


def uncapped_cell(
    task: Task, config: ArnesConfig, run: int, runner: SuiteRunner | None, model: str = "written"
) -> AgentCell:
    """Return a cell in which no written reply counts as cut."""
    caps = {"max_tokens": UNCAPPED, "max_tokens_of_task": {}}
    return AgentCell(setup_of(task, config.model_copy(update=caps), run, runner), model=model)


def agent_sets_of(task: Task) -> AgentSets:
    """Return the players of a task's form, those that every agent task has included.

    The open form's points are those of the hand-written `expected.toml`, not the policy's.
    """
    made = make_players(task.folder, task.form)
    if task.form.seed == OPEN:
        made = replace(made, defective=_as_expected(task, made))
    runs = len(read_schedules(task.folder))
    known = {member.name for member in made.defective}
    common = tuple(
        AgentDefective(name, player, ({},) * runs, shows)
        for name, player, shows in _common(task)
        if name not in known
    )
    return replace(made, defective=(*made.defective, *common))


def _as_expected(task: Task, made: AgentSets) -> tuple[AgentDefective, ...]:
    expected, ceilings = read_agent_expected(task.folder)
    played = {d.name: d for d in made.defective}
    problems = [
        Problem(
            f"{task.folder.name}/{kind}/{name}",
            "has points but no player in policy.py"
            if name in written
            else "has a player in policy.py but no expected.toml",
            "write the other",
        )
        for kind, written, players in (
            ("defective", expected.keys(), played.keys()),
            ("exploits", ceilings.keys(), {e.name for e in made.exploits}),
        )
        for name in sorted(written ^ players)
    ]
    problems += [
        Problem(
            f"{task.folder.name}/exploits/{e.name}",
            f"its ceiling is {e.ceiling:g} in policy.py, {ceilings[e.name].ceiling:g} as written",
            "correct one of them",
        )
        for e in made.exploits
        if e.name in ceilings and ceilings[e.name].ceiling != e.ceiling
    ]
    if problems:
        raise FormError(f"the players of {task.id} are not those of its folder", problems)
    return tuple(
        replace(played[name], rows=tuple(dict(run.rows) for run in found.run), shows=found.shows)
        for name, found in expected.items()
    )


def _common(task: Task) -> Iterator[tuple[str, Player, str]]:
    """Yield what no agent task may reward: none of them does any work."""

    def silent(_run: int) -> Turns:
        while True:
            yield ""

    def talks(_run: int) -> Turns:
        while True:
            yield "First I would look at the files. Then I would do what they ask. It is done."

    def finishes(_run: int) -> Turns:
        told = {"summary": "All of it is done.", **dict.fromkeys(task.definition.finish, "12")}
        yield render_call(FINISH, told)

    yield EMPTY, silent, "the zero point"
    yield "talks", talks, "says what it would do, and calls nothing"
    yield "finish_at_once", finishes, "nothing broken is not work done"


def freeze_agent(folder: Path) -> None:
    """Write the open form and the turns of its goldens into an agent task's folder.

    `expected.toml` is not written: points are put there by hand, from the specification.
    """
    config = load_arnes(folder.parents[2])
    form = make_form(folder, OPEN)
    sets = make_players(folder, form)
    task = read_task(folder, form)
    turns: dict[str, dict[str, bytes]] = {}
    with runner_for(task, config) as runner:
        for golden in sets.golden:
            for run in range(1, len(read_schedules(folder)) + 1):
                written = play(uncapped_cell(task, config, run, runner), golden.play(run))
                for number, reply in enumerate(written, start=1):
                    place = turns.setdefault(golden.name, {})
                    place[f"run_{run}/{number:02d}.md"] = reply.text.encode("utf-8")
    write_whole(folder / OPEN_FORM_FILE, readable_json(form))
    for name, files in turns.items():
        replace_folder(folder / "golden" / name, files)


def parsed_cells(
    chat: ChatModel, task: Task, config: ArnesConfig, plays: Plays
) -> dict[str, ParsedReply]:
    """Let a server say what every member writes, play it through the real loop, read each end.

    Raises
    ------
    InstrumentError
        If the infrastructure stops a cell: a written reply cannot fail.
    """
    found = {}
    with runner_for(task, config, plays.test_runs) as runner:
        for name, member in plays.written.items():
            told = f"{task.id}/{name}"
            cell = uncapped_cell(task, config, member.run, runner, model=told)
            stopped = run_agent(chat, cell, lambda _exchange: None)
            if stopped is not None:
                raise InstrumentError(f"{told} was stopped by {stopped.cause}: {stopped.detail}")
            found[told] = parsed_of(task, cell)
    return found
