"""A program is believed to be up when it is ours that answers, and not before."""

import os
import sys
from pathlib import Path

import pytest
from backends.engine_stub import HEALTH
from backends.loopback import Loopback, page, refusal

from harness.backends.program import Program
from harness.backends.ready import free_port, path_of
from harness.clock import SystemClock
from harness.errors import EndpointError

SLEEPS = [sys.executable, "-c", "import time; time.sleep(60)"]


def program(folder: Path, start_limit_s: float = 20.0) -> Program:
    return Program(folder / "m.log", SystemClock(), start_limit_s, stop_wait_s=2)


def test_another_program_at_our_port_is_not_taken_for_ours(tmp_path: Path) -> None:
    """It may have taken the port between our look and the start; its health is not ours."""
    ours = program(tmp_path)
    with Loopback({HEALTH: page({"status": "ok"})}) as other:
        port = int(other.root_url.rpartition(":")[2])
        with pytest.raises(EndpointError, match="did not come up") as caught:
            ours.launch(port, SLEEPS, os.environ)
    assert f"another program answers at port {port}" in str(caught.value)
    assert ours.pid is None


def test_a_program_that_never_answers_is_given_up(tmp_path: Path) -> None:
    """The message has what its health route says, and nothing is left running."""
    ours = program(tmp_path, start_limit_s=0.2)
    with Loopback({HEALTH: lambda _body: refusal(503, "Loading model")}) as other:
        port = int(other.root_url.rpartition(":")[2])
        with pytest.raises(EndpointError, match="did not come up") as caught:
            ours.launch(port, SLEEPS, os.environ)
    assert "status 503 after 0.2 s" in str(caught.value)
    assert not ours.alive()


def test_a_free_port_can_be_taken() -> None:
    """Twice in a row gives two that can be listened at."""
    for _ in range(2):
        with Loopback({HEALTH: page("")}, free_port()) as server:
            assert server.root_url


def test_a_program_is_found_as_the_shell_would(tmp_path: Path) -> None:
    """A bare name by the path, a path as it is; what cannot be run is not found."""
    assert path_of("no-such-program-at-all") is None
    file = tmp_path / "server"
    file.write_text("#!/bin/sh\n")
    assert path_of(str(file)) is None
    file.chmod(0o755)
    assert path_of(str(file)) == str(file)
    assert path_of("sh") is not None
