"""Stored exchanges give the same transcript and the same world again, to the byte."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from running.cells import (
    FINISH,
    INSERT,
    READ_A,
    READ_B,
    ROOT,
    SCENE,
    exchanges_of,
    fed,
    new_cell,
    replayed,
)

from harness.protocol.writing import render_call
from harness.records.base import canonical_json, digest
from harness.records.world import Fault, Step, Table
from harness.suite.forms import Reply
from harness.world import World

REPLIES = (
    Reply(f"<think>hm {FINISH}</think>I look.\n{READ_A}"),
    "Thinking aloud.",
    READ_B,
    render_call("list_files", {}),
    INSERT,
    INSERT,
    render_call("write_file", {"path": "c/d.py"}, "x = {1, 2, 3}\n"),
    render_call("sql", {"query": "SELECT * FROM t"}),
    "@@CALL read_file\n@@END",
    Reply("@@CALL write_file\npath: a.py\n@@BODY\nhalf", finish_reason="length"),
    render_call("sql", {"query": "CREATE TABLE u AS SELECT x, x * 1.5 AS y FROM t"}),
    f"{READ_A}\n{READ_B}\n{INSERT}",
    FINISH,
)
SCHEDULE = (
    Fault(from_call=2, tool="read_file", kind="deceptive", derive="variant"),
    Fault(from_call=3, tool="sql", kind="timeout"),
    Fault(from_call=5, tool="*", kind="malformed", derive="cut"),
    Fault(from_call=9, tool="http_get", kind="timeout"),
)


def _grow(world: World, step: Step, _before: dict[str, Table]) -> None:
    if "t" in step.changed_tables and not world.happened("grown"):
        world.files.put("later.md", "more\n")
        world.tables.script("INSERT INTO t VALUES (77)")
        world.note("grown")


def cell():
    scene = replace(SCENE, variants={"b.md": "c\n"}, triggers=(_grow,))
    return new_cell(scene=scene, schedule=SCHEDULE)


def stamp(played) -> str:
    """The digest of everything that a cell leaves behind."""
    lines = [canonical_json(turn) for turn in played.turns]
    return digest(b"\n".join([*lines, canonical_json(played.record())]))


def test_stored_exchanges_give_the_same_cell_again() -> None:
    """Written replies and replies that came over the wire go the same way from their text on."""
    exchanges = exchanges_of(*REPLIES)

    first, second = replayed(exchanges, cell()), replayed(exchanges, cell())
    written = fed(cell(), *REPLIES)

    assert first.record().ended == "finish"
    assert [fate.call for fate in first.record().faults] == [2, 4, 7, None]
    assert stamp(first) == stamp(second) == stamp(written)


def test_a_cell_that_was_interrupted_goes_on_as_if_it_had_not_been() -> None:
    """The world is rebuilt from the replies so far; the next request is the same, to the byte."""
    exchanges = exchanges_of(*REPLIES)
    for stop in range(len(exchanges)):
        before, again = replayed(exchanges[:stop], cell()), replayed(exchanges[:stop], cell())
        assert before.request() == again.request()
        assert stamp(replayed(exchanges[stop:], again)) == stamp(replayed(exchanges, cell()))


@pytest.mark.parametrize("seed", ["1", "2"])
def test_nothing_depends_on_the_order_of_sets(seed: str) -> None:
    """Two hash seeds give the same transcript and the same record."""
    program = (
        "from running.test_replay import REPLIES, cell, stamp\n"
        "from running.cells import exchanges_of, replayed\n"
        "print(stamp(replayed(exchanges_of(*REPLIES), cell())))\n"
    )
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert (done.stdout.strip(), done.stderr) == (
        stamp(replayed(exchanges_of(*REPLIES), cell())),
        "",
    )
