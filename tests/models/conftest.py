"""A scripted server and a channel to it, for one test."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from models.channel import MODEL, Play, Played, transport

from harness.arnes import Transport
from harness.clock import Clock, SystemClock
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, Script, ScriptedServer
from harness.records.run import Endpoint


@pytest.fixture(scope="session")
def stage() -> Iterator[ScriptedServer]:
    """One server for all tests: starting a process for each would cost more than the tests."""
    with ScriptedServer(Script()) as server:
        yield server


@pytest.fixture
def play(stage: ScriptedServer) -> Iterator[Play]:
    """Let the server play these behaviours in order, from now on, and open a channel to it."""
    with ExitStack() as stack:

        def start(
            *behaviours: Behaviour,
            limits: Transport | None = None,
            call_timeout_s: float = 60,
            clock: Clock | None = None,
            key: str | None = None,
            **endpoint: object,
        ) -> Played:
            stage.play(Script(default=behaviours))
            address = Endpoint.model_validate(
                {"base_url": stage.base_url, "model": MODEL} | endpoint
            )
            chat = HttpChat(
                address, limits or transport(), call_timeout_s, clock or SystemClock(), key
            )
            return Played(stage, stack.enter_context(chat))

        yield start
