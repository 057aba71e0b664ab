"""One way through the world for every call; nothing raises, and equal inputs give equal worlds."""

import ast
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from world.acting import HARBOUR, SUITES, SaidRunner, act, fault

from harness.arnes import load_arnes
from harness.errors import InstrumentError, SuiteError
from harness.protocol.calls import CONTENT, Call
from harness.records.base import canonical_json
from harness.records.tools import TOOL_NAMES
from harness.records.world import Step, Table
from harness.world import Case, Price, Tariff, World
from harness.world.tables import ROWS_SHOWN
from harness.world.tools import LONGEST_CONTENT, TOOLS, offered

ROOT = Path(__file__).resolve().parents[2]
TOLD = re.compile(r"(?P<name>\w+)(?P<args>(?: (?:\w+|\[\w+\]),?)*)")


def test_the_tools_are_those_that_a_model_is_told_of() -> None:
    """Names and arguments in `arnes.toml` and in the table agree, and so do the limits they name."""
    told = load_arnes(ROOT).tools
    assert tuple(TOOLS) == TOOL_NAMES == tuple(told)
    for name, tool in TOOLS.items():
        head = told[name].split(":", maxsplit=1)[0].removesuffix(", and what the task names")
        match = TOLD.fullmatch(head)
        assert match is not None, head
        arguments = match["args"].replace(",", " ").split()
        signature = tool.signature
        assert match["name"] == name == signature.name
        assert [arg for arg in arguments if arg[0] != "["] == list(signature.required)
        assert [arg[1:-1] for arg in arguments if arg[0] == "["] == list(signature.optional)
    assert f"at most {LONGEST_CONTENT} characters" in told["write_file"]
    assert f"at most {ROWS_SHOWN} rows" in told["sql"]


def test_a_task_offers_its_own_tools_in_its_own_order() -> None:
    """Only `finish` differs between tasks, by the arguments that the task names."""
    tools = offered(("sql", "finish"), ("closed", "failing"))

    assert list(tools) == ["sql", "finish"]
    assert tools["finish"].required == ("summary", "closed", "failing")
    with pytest.raises(SuiteError, match="no such tool: bash"):
        offered(("bash",), ())


def test_a_world_with_tests_needs_a_runner() -> None:
    """A missing sandbox is found when the cell is set up, not by a model."""
    with pytest.raises(InstrumentError, match="nothing that runs them"):
        World(replace(HARBOUR, suites=SUITES))


def test_suites_are_named_where_one_is_asked_that_does_not_exist() -> None:
    """The names of the suites are no secret; what they expect is."""
    here = World(replace(HARBOUR, suites=SUITES), runner=SaidRunner())

    assert (
        act(here, "run_tests", suite="all").shown == "no such suite: all; suites: helpers, ticket_1"
    )
    assert act(here, "run_tests", suite=" helpers ").green == ("helpers",)
    assert act(here, "run_tests").green == ("helpers", "ticket_1")
    assert act(here, "run_tests").target == ""
    assert act(World(HARBOUR), "run_tests", suite="x").shown == "no such suite: x; suites: none"


def test_what_the_world_does_is_seen_by_the_next_call() -> None:
    """A trigger runs once the answer is fixed, sees the tables as they were, and is noted."""
    seen: list[tuple[int, int, int]] = []

    def grow(world: World, step: Step, before: dict[str, Table]) -> None:
        seen.append((world.calls, len(before["surcharge"].rows), len(world.journal)))
        if "surcharge" in step.changed_tables and not world.happened("grown"):
            world.files.put("tickets/2.md", "More.\n")
            world.tables.script("DELETE FROM surcharge")
            world.note("grown", "by a write")

    here = World(replace(HARBOUR, triggers=(grow,)))
    listing = act(here, "list_files", path="tickets")
    write = act(here, "sql", query="INSERT INTO surcharge VALUES ('E', 1)")
    after = act(here, "list_files", path="tickets")

    assert "2.md" not in listing.shown
    assert (write.shown, write.made) == ("ok: 1 rows changed", ())
    assert "2.md" in after.shown
    assert here.tables.dump()["surcharge"].rows == ()
    assert [(event.call, event.name, event.detail) for event in here.events] == [
        (2, "grown", "by a write")
    ]
    assert seen == [(1, 2, 1), (2, 2, 2), (3, 0, 3)]


def test_nothing_happens_after_the_end() -> None:
    """A change that no call could meet would only damage what the model left."""

    def wipe(world: World, _step: Step, _before: dict[str, Table]) -> None:
        world.tables.script("DELETE FROM visits")

    here = World(replace(HARBOUR, triggers=(wipe,)))
    act(here, "finish", summary="done")

    assert len(here.tables.dump()["visits"].rows) == 3


def test_a_trigger_may_change_the_tests() -> None:
    """When the world changes its form, the suites of the world change with it."""

    def move(world: World, _step: Step, _before: dict[str, Table]) -> None:
        world.suites["helpers"] = (Case("other", "dues.steps:g", ()),)

    here = World(replace(HARBOUR, suites=SUITES, triggers=(move,)), runner=SaidRunner())

    assert act(here, "run_tests", suite="helpers").shown.endswith("2 tests, 0 failing")
    assert act(here, "run_tests", suite="helpers").shown == "other ... ok\n1 tests, 0 failing"


NASTY = (
    *("", " ", "dues/steps.py", "../x", "a\0b", "é" * 300, "x" * 13_000, "@@END", "tickets"),
    *(
        "SELECT * FROM visits",
        "DROP TABLE visits",
        "DELETE FROM surcharge",
        "SELECT 1;;",
        "'",
        "--",
    ),
    *("CREATE TABLE visits(a)", "INSERT INTO visits VALUES (9e999, x'ff', NULL, 'a')", "PRAGMA x"),
    *(
        "http://port.test/v1/mooring",
        "://",
        "http://[::1]:99/x",
        "port.test",
        "helpers",
        "ticket_1",
    ),
)


def random_calls(seed: int, count: int) -> list[Call]:
    draw = random.Random(seed)
    calls = []
    for _ in range(count):
        signature = TOOLS[draw.choice(TOOL_NAMES[:-1])].signature
        keys = [*signature.required, *(key for key in signature.optional if draw.random() < 0.5)]
        args = {key: draw.choice(NASTY) for key in keys}
        body = args.pop(CONTENT, None)
        calls.append(Call(signature.name, args, body))
    return calls


@pytest.mark.parametrize("seed", range(6))
def test_any_calls_give_answers_and_equal_worlds(seed: int) -> None:
    """Whatever is called, nothing raises, records hold it, and a second world comes out the same."""
    draw = random.Random(seed)
    schedule = [
        fault(draw.randint(1, 100), "*", "timeout"),
        fault(draw.randint(1, 100), "sql", "deceptive", "stale_db"),
        fault(draw.randint(1, 100), "read_file", "deceptive", "variant"),
        fault(draw.randint(1, 100), "run_tests", "deceptive", "flip_report"),
        fault(draw.randint(1, 100), "*", "malformed", "cut"),
    ]
    scene = replace(
        HARBOUR,
        suites=SUITES,
        wrong_values={"mooring": "3"},
        tariff=Tariff({name: Price(1, 3) for name in TOOL_NAMES}, hard_stop=9_000),
    )
    worlds = [World(scene, schedule, SaidRunner(mooring="FAIL")) for _ in range(2)]

    for turn, call in enumerate(random_calls(seed, 200), 1):
        steps = [world.execute(call, turn) for world in worlds]
        assert steps[0] == steps[1]
        assert steps[0].call == turn
    states = [canonical_json(world.state()) for world in worlds]
    journals = [b"".join(map(canonical_json, world.journal)) for world in worlds]
    assert states[0] == states[1]
    assert journals[0] == journals[1]
    assert worlds[0].fates == worlds[1].fates
    assert worlds[0].spent == worlds[1].spent


def test_only_the_runner_of_tests_reaches_out() -> None:
    """Simulated means simulated: no file of the machine, no process, no socket, no clock."""
    reaching = {"sandbox", "subprocess", "socket", "pathlib", "os", "time", "clock", "random", "io"}
    for path in sorted((ROOT / "harness" / "world").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            part
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [a.name for a in node.names]
            )
            for part in name.split(".")
        }
        allowed = {"sandbox"} if path.name == "suites.py" else set()
        assert names & reaching <= allowed, path.name
