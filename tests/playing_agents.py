"""Play an agent task in this process, and grade what came of it. For the tests of the tasks.

The replies go through the real machine from their visible text on; only the server is left out.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.arnes import load_arnes
from harness.errors import SuiteError
from harness.records.base import Json
from harness.records.handwritten import read_toml
from harness.records.parsed import ParsedReply
from harness.records.score import RowScore
from harness.records.world import AgentRecord, Fault
from harness.running.agent import AgentCell
from harness.stages import agent_cells
from harness.stages.forms import make_form
from harness.stages.grade import grade_reply, hash_seed_of
from harness.suite.agent_sets import Player
from harness.suite.definition import TaskDefinition
from harness.suite.forms import OPEN, Form
from harness.suite.loader import Task
from harness.suite.prompts import read_template

CONFIG = load_arnes(Path(__file__).resolve().parent.parent)
_TESTS: dict[str, Json] = {}  # what came of tests, by content
_OBSERVATIONS: dict[str, Json] = {}  # what graders observed, by content


@cache
def _open_task(folder: Path) -> Task:
    """Return a task as its folder is when it is first asked for; no test writes into one."""
    definition = read_toml(folder / "task.toml", TaskDefinition, SuiteError)
    return Task(
        folder,
        definition,
        form=make_form(folder, OPEN),
        form_id="played",
        template=read_template(folder / "prompt.md"),
    )


def task_of(folder: Path, form: Form | None = None) -> Task:
    """Return a task in a form; the open one, as `form.py` makes it now, where none is given."""
    task = _open_task(folder)
    return replace(task, form=form) if form else task


def play_cell(
    folder: Path,
    player: Player,
    run: int,
    form: Form | None = None,
    schedule: tuple[Fault, ...] | None = None,
) -> AgentCell:
    """Play one run of a task to its end and return the cell.

    schedule : another one than the run's own
    """
    task = task_of(folder, form)
    with agent_cells.runner_for(task, CONFIG, _TESTS) as runner:
        setup = agent_cells.setup_of(task, CONFIG, run, runner)
        if schedule is not None:
            setup = replace(setup, schedule=schedule)
        cell = AgentCell(setup, model="played")
        turns = player(run)
        agent_cells.play(cell, turns)
        turns.close()
        _TESTS.update(runner.remembered if runner else {})
    return cell


def play(folder: Path, player: Player, run: int, form: Form | None = None) -> AgentRecord:
    """Play one run of a task to its end and return what graders read of it."""
    return play_cell(folder, player, run, form).record()


def grade_record(
    folder: Path, record: AgentRecord, form: Form | None = None
) -> tuple[RowScore, ...]:
    """Grade a cell that has ended, and return its rows, repaired if anything was."""
    task = task_of(folder, form)
    files = record.end.files
    parsed = ParsedReply(
        parser_version="played",
        text="",
        files={path: files[path] for path in task.definition.deliverables if path in files},
        cell=record,
    )
    graded = grade_reply(task, parsed, CONFIG.sandbox, hash_seed_of("played"), _OBSERVATIONS)
    _OBSERVATIONS.update(graded.observations)
    return graded.rows
