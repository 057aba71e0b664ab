"""A call that another thread ends: it is no reply and no fault, wherever it is just then."""

import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from models.channel import MODEL, Play, Played, request, transport

from harness.clock import SystemClock
from harness.models.chat import CallCut
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour
from harness.records.run import Endpoint

NEVER_S = 3600.0
PATIENT = {"first_byte_timeout_s": NEVER_S, "idle_timeout_s": NEVER_S, "loading_limit_s": NEVER_S}


class Asleep(SystemClock):
    """The machine's clock; says when somebody sleeps, whom it wakes as if the time had passed."""

    def __init__(self) -> None:
        self.falls_asleep = threading.Event()

    def sleep(self, seconds: float) -> None:
        """Take no time after the first second of a wait has begun."""
        assert seconds <= 1.0  # no longer, or a cut would wait for it
        self.falls_asleep.set()
        super().sleep(0.01)


def cut_when(chat: HttpChat, is_there: Callable[[], object]) -> None:
    """Send a request from a thread, and cut it when something is the case."""
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(chat.complete, request())
        try:
            is_there()
        finally:
            chat.cut()
        with pytest.raises(CallCut):
            asked.result()
    with pytest.raises(CallCut):
        chat.complete(request())


def arrived(played: Played) -> Callable[[], None]:
    """Wait until the server has a request."""

    def wait() -> None:
        pause = threading.Event()
        while not played.server.requests():
            pause.wait(0.01)

    return wait


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(content="late", first_byte_delay_s=NEVER_S),
        Behaviour(content="a b c d", chunk_words=1, stall_after_chunks=2),
    ],
    ids=["before the first byte", "in the middle of a reply"],
)
def test_a_call_in_flight_ends_at_once(play: Play, behaviour: Behaviour) -> None:
    """Nobody waits for an hour after Ctrl-C, and no retry follows."""
    played = play(behaviour, limits=transport(**PATIENT), call_timeout_s=NEVER_S)
    cut_when(played.chat, arrived(played))
    assert len(played.server.requests()) == 1


def test_a_wait_between_attempts_ends_too(play: Play) -> None:
    """A server that loads may ask for a long patience."""
    clock = Asleep()
    limits = transport(**PATIENT)
    played = play(
        Behaviour(content="ok", loading_s=NEVER_S, retry_after="900"), limits=limits, clock=clock
    )
    cut_when(played.chat, clock.falls_asleep.wait)


def test_a_connection_that_is_being_made_is_not_used() -> None:
    """The cut comes before there is a socket to shut."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", model=MODEL)
        with HttpChat(endpoint, transport(), NEVER_S, SystemClock()) as chat:
            chat._line.cut()  # the instant between two lines of a connect
            exchange = chat.complete(request())
        listener.settimeout(10)
        with listener.accept()[0] as connection:
            assert connection.recv(65536) == b""
    assert exchange.ended == "infrastructure"
