"""Cells of a small agent task, as the tests of this room play them."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from playing import exchange_of

from harness.arnes import ArnesConfig, load_arnes
from harness.protocol.writing import render_call
from harness.records.response import Exchange
from harness.records.world import Fault
from harness.running.agent import AgentCell, AgentSetup
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply
from harness.suite.loader import Task
from harness.world import Scene
from harness.world.suites import Runner

ROOT = Path(__file__).resolve().parents[2]
CONFIG = load_arnes(ROOT)
TOOLS = ("list_files", "read_file", "write_file", "sql", "run_tests", "finish")
DEFINITION = TaskDefinition.model_validate(
    {
        "schema_version": 1,
        "id": "A99",
        "title": "A small world",
        "level": "A",
        "mode": "agent",
        "max_points": 1.0,
        "tools": TOOLS,
        "finish": ("closed",),
        "measures": "Nothing.",
        "does_not_measure": "Anything.",
        "limits": {"prompt_tokens": 8192},
        "rows": [
            {"id": "r", "kind": "executes", "points": 1.0, "observations": 1, "asks": "Nothing."}
        ],
    }
)
FORM = Form(task="A99", family=1, seed="open", values={"what": "the ledger"})
TASK = Task(Path("a99_small"), DEFINITION, FORM, "0" * 12, "Keep {{ what }}.\n")
SCENE = Scene(
    files={"a.py": "A = 1\n", "b.md": "b\n"}, tables="CREATE TABLE t(x); INSERT INTO t VALUES (1)"
)
READ_A = render_call("read_file", {"path": "a.py"})
READ_B = render_call("read_file", {"path": "b.md"})
INSERT = render_call("sql", {"query": "INSERT INTO t VALUES (2)"})
FINISH = render_call("finish", {"summary": "done", "closed": "1"})


def limited(**changes: object) -> ArnesConfig:
    """The config with other values; `guards` by their names."""
    return CONFIG.model_copy(update=changes)


def new_cell(
    config: ArnesConfig = CONFIG,
    scene: Scene = SCENE,
    schedule: tuple[Fault, ...] = (),
    runner: Runner | None = None,
    **options: bool,
) -> AgentCell:
    setup = AgentSetup(TASK, config, 1, scene, schedule, runner)
    return AgentCell(setup, model="played", **options)


def fed(cell: AgentCell, *replies: str | Reply) -> AgentCell:
    """Feed written replies until they or the cell end."""
    for reply in replies:
        if cell.ended is None:
            cell.take_reply(reply if isinstance(reply, Reply) else Reply(reply))
    return cell


def replayed(exchanges: Iterable[Exchange], cell: AgentCell) -> AgentCell:
    for exchange in exchanges:
        cell.take(exchange)
    return cell


def exchanges_of(*replies: str | Reply) -> list[Exchange]:
    """Return the exchanges in which a server sent these replies."""
    return [exchange_of(reply if isinstance(reply, Reply) else Reply(reply)) for reply in replies]


def cut_in_time(reply: Reply) -> Exchange:
    """Return an exchange that the whole-call limit cut."""
    return exchange_of(replace(reply, finish_reason="")).model_copy(update={"ended": "time"})
