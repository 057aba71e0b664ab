"""The loop behind a real server: what the channel tries again has no effect of its own."""

from collections.abc import Iterator

import pytest
from models.channel import transport
from running.cells import FINISH, INSERT, READ_A, SCENE, new_cell, replayed

from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, Script, ScriptedServer
from harness.records.response import Exchange
from harness.records.run import Endpoint
from harness.records.world import AgentRecord
from harness.running.agent import AgentCell, run_agent


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(Script()) as started:
        yield started


def played(
    server: ScriptedServer, *behaviours: Behaviour, call_timeout_s: float = 30
) -> tuple[AgentCell, list[Exchange], Exchange | None]:
    """Run a cell against a server that plays these behaviours; its exchanges and what stopped it."""
    server.play(Script(default=behaviours))
    endpoint = Endpoint(base_url=server.base_url, model="played")
    kept: list[Exchange] = []
    with HttpChat(endpoint, transport(), call_timeout_s, SystemClock()) as chat:
        cell = new_cell()
        stopped = run_agent(chat, cell, kept.append)
    return cell, kept, stopped


def said(*contents: str) -> list[Behaviour]:
    return [Behaviour(content=content) for content in contents]


def finished(cell: AgentCell) -> AgentRecord:
    assert cell.ended == "finish"
    return cell.record()


def test_a_cell_is_played_over_the_wire(server: ScriptedServer) -> None:
    """Each exchange is kept before it is read, and the kept ones give the same cell again."""
    cell, kept, stopped = played(server, *said(READ_A, "Hm.", INSERT, FINISH))

    assert (stopped, len(kept)) == (None, 4)
    record = finished(cell)
    assert record.end.tables["t"].rows == ((1,), (2,))
    assert replayed(kept, new_cell()).record() == record
    assert replayed(kept, new_cell()).turns == cell.turns


@pytest.mark.parametrize(
    "trouble",
    [
        Behaviour(status=500, error="CUDA error"),
        Behaviour(close_before_reply=True),
        Behaviour(content=INSERT, chunk_words=1, close_after_chunks=2),
    ],
)
def test_what_is_tried_again_is_no_turn_and_has_no_effect(
    server: ScriptedServer, trouble: Behaviour
) -> None:
    """A reply that was lost on its way is asked for again; the statement in it is run once."""
    cell, kept, stopped = played(server, *said(READ_A), trouble, *said(INSERT, FINISH))

    assert stopped is None
    assert [len(exchange.retried) for exchange in kept] == [0, 1, 0]
    record = finished(cell)
    assert [step.turn for step in record.steps] == [1, 2, 3]
    assert record.end.tables["t"].rows == ((1,), (2,))
    bodies = [seen.body for seen in server.requests()]
    assert bodies[1] == bodies[2]


def test_the_infrastructure_stops_a_cell_without_ending_it(server: ScriptedServer) -> None:
    """No reply, no score: the exchange that stopped it is kept, and the cell can go on later."""
    broken = [Behaviour(status=500, error="CUDA error")] * 3
    cell, kept, stopped = played(server, *said(INSERT), *broken)

    assert stopped is kept[-1]
    assert (stopped.ended, stopped.cause, cell.ended) == ("infrastructure", "server_error", None)
    assert len(cell.turns) == 1
    resumed = replayed(kept[:-1], new_cell())
    assert resumed.request() == cell.request()


def test_native_calls_stop_the_cell(server: ScriptedServer) -> None:
    """A server that reads calls out of the text cannot be measured; nothing is run."""
    native = Behaviour.model_validate({"native_calls": [{"name": "sql"}]})
    cell, _, stopped = played(server, native, native, native)

    assert stopped is not None
    assert (stopped.cause, cell.turns) == ("native_tools", ())


def test_a_reply_that_flows_too_long_is_the_last(server: ScriptedServer) -> None:
    """The whole-call limit cuts it; what was written is read, and the model is out of time."""
    flowing = Behaviour(content=f"{INSERT}\n" + "word " * 400, chunk_words=4, chunk_delay_s=0.05)
    cell, _, stopped = played(server, flowing, call_timeout_s=1)

    assert (stopped, cell.ended) == (None, "time")
    assert cell.record().end.tables["t"].rows == ((1,), (2,))


def test_an_empty_reply_is_idle_and_never_sent_as_an_empty_message(server: ScriptedServer) -> None:
    """Templates refuse an empty message: it is sent again as words."""
    cell, kept, _ = played(server, *said("", FINISH))

    assert finished(cell).steps[0].kind == "idle"
    assert kept[1].request.messages[2].content == "(empty reply)"
    assert SCENE.files == cell.record().end.files
