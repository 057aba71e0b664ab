"""Calls cost what the tariff says, by what they really answered."""

from dataclasses import replace

import pytest
from world.acting import HARBOUR, act, fault

from harness.world import Price, Scene, Tariff, World
from harness.world.ledger import Ledger

TARIFF = Tariff(
    prices={
        "list_files": Price(1),
        "read_file": Price(2, step=200),
        "search": Price(4),
        "sql": Price(3, step=10, of="rows"),
        "http_get": Price(5),
    },
    hard_stop=20,
)
SCENE = replace(
    HARBOUR,
    files={"one": "", "two": "x", "full": "x" * 200, "more": "x" * 201},
    tables="CREATE TABLE n(x); INSERT INTO n VALUES (1)" + ",(1)" * 59,
    tariff=TARIFF,
)


@pytest.mark.parametrize(
    ("tool", "args", "price"),
    [
        ("list_files", {}, 1),
        ("read_file", {"path": "one"}, 2),
        ("read_file", {"path": "two"}, 3),
        ("read_file", {"path": "full"}, 3),
        ("read_file", {"path": "more"}, 4),
        ("search", {"text": "nowhere"}, 4),
        ("sql", {"query": "SELECT x FROM n LIMIT 0"}, 3),
        ("sql", {"query": "SELECT x FROM n LIMIT 10"}, 4),
        ("sql", {"query": "SELECT x FROM n LIMIT 11"}, 5),
        ("sql", {"query": "SELECT x FROM n"}, 8),
        ("sql", {"query": "DELETE FROM n"}, 3),
        ("http_get", {"url": "port.test/v1/waste"}, 5),
        ("write_file", {"path": "out", "content": "x"}, 0),
        ("finish", {"summary": "x"}, 0),
    ],
)
def test_each_tool_has_its_price(tool: str, args: dict[str, str], price: int) -> None:
    """A base, and one more for each started step of what was answered; what is not listed is free."""
    world = World(SCENE)

    assert act(world, tool, **args).price == price
    assert world.spent == price


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "nowhere"}),
        ("sql", {"query": "SELECT * FROM lots"}),
        ("http_get", {"url": "elsewhere.test"}),
    ],
)
def test_a_refused_call_is_free(tool: str, args: dict[str, str]) -> None:
    """An error costs its turn and nothing more."""
    assert act(World(SCENE), tool, **args).price == 0


def test_the_same_question_is_charged_each_time() -> None:
    """Nothing is remembered for the model: two equal reads are run twice and cost twice."""
    world = World(SCENE)

    steps = [act(world, "read_file", path="two") for _ in range(2)]

    assert [(step.shown, step.price, step.call) for step in steps] == [("x", 3, 1), ("x", 3, 2)]
    assert world.spent == 6


def test_a_fault_costs_as_much_as_the_honest_answer() -> None:
    """What was done is charged, not what was shown of it."""
    cut = World(SCENE, [fault(1, "read_file", "malformed", "cut")])
    lost = World(SCENE, [fault(1, "sql", "timeout")])

    assert act(cut, "read_file", path="more").price == 4
    assert act(lost, "sql", query="SELECT x FROM n").price == 8


def test_at_the_hard_stop_only_some_tools_are_run() -> None:
    """The sum stands still above it: a refused call is free, has no effect, and is journaled."""
    world = World(SCENE, [fault(6, "*", "timeout")])
    for _ in range(4):
        act(world, "http_get", url="port.test/v1/waste")
    before = world.state()

    refused = act(world, "sql", query="DELETE FROM n")
    fault_is_due = act(world, "sql", query="SELECT 1")

    text = "the budget's hard stop is reached; only write_file and finish are run now"
    assert (refused.kind, refused.call, refused.ok, refused.price) == ("call", 5, False, 0)
    assert refused.shown == fault_is_due.shown == text
    assert fault_is_due.fault is None
    assert (world.spent, world.state()) == (20, before)
    assert act(world, "write_file", path="out", content="x").ok is True
    assert act(world, "finish", summary="x").ok is True


def test_a_world_without_a_tariff_has_no_prices() -> None:
    """Free is not the same as costing nothing."""
    world = World(Scene())

    assert act(world, "list_files").price is None
    assert world.spent is None
    assert Ledger(None).refusal("sql") == ""
