"""Sandboxes shared by tests: each call is a fork of its own, so sharing one changes nothing."""

import json
import os
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest
from sandbox.attacking import ATTACKS, AVAILABLE, LIMITS

from harness.clock import SystemClock
from harness.sandbox import PYTHON_COMMAND, Candidate, CommandRun, Tier, Worker, run_command
from harness.sandbox.launch import session_prefix
from harness.sandbox.worker import PRELOAD, PRELOAD_FOR_TESTS

Workers = Callable[[Mapping[str, str]], Worker]
OpenWorker = Callable[[Tier, Mapping[str, str], bool], Worker]


@pytest.fixture(params=AVAILABLE, ids=lambda tier: tier.name)
def tier(request: pytest.FixtureRequest) -> Tier:
    """Every tier that this machine has."""
    return request.param


@pytest.fixture(scope="session")
def pool() -> Iterator[OpenWorker]:
    """One warm sandbox for each tier and set of files."""
    open_workers: dict[str, Worker] = {}
    with ExitStack() as stack:

        def worker(tier: Tier, files: Mapping[str, str], for_tests: bool) -> Worker:
            key = json.dumps([tier.name, dict(files), for_tests])
            if key not in open_workers:
                candidate = Candidate(files=files, hash_seed=1, limits=LIMITS)
                preload = (*PRELOAD, *(PRELOAD_FOR_TESTS if for_tests else ()))
                made = Worker(candidate, tier, preload, SystemClock())
                stack.callback(made.close)
                open_workers[key] = made
            return open_workers[key]

        yield worker


@pytest.fixture
def worker_of(tier: Tier, pool: OpenWorker) -> Workers:
    """A warm sandbox of the current tier with these files in it."""
    return lambda files: pool(tier, files, False)


@pytest.fixture
def best_worker_of(pool: OpenWorker) -> Workers:
    """As `worker_of`, of the best tier alone: for what no wall has a part in."""
    if not AVAILABLE:
        pytest.skip("no tier is available here")
    return lambda files: pool(AVAILABLE[0], files, False)


@pytest.fixture
def attacker(worker_of: Workers) -> Worker:
    """A warm sandbox with the hostile functions in it."""
    return worker_of({"attacks.py": ATTACKS.read_text()})


@pytest.fixture
def attack_program(tier: Tier) -> Callable[..., CommandRun]:
    """Run one attack as a program, which may start processes, behind the current tier."""

    def run(name: str, host: Mapping[str, object], **changes: object) -> CommandRun:
        loopback = bool(changes.pop("loopback", False))
        return run_command(
            {"attacks.py": ATTACKS.read_text()},
            [*PYTHON_COMMAND, "attacks.py", json.dumps([name, host])],
            tier,
            LIMITS.model_copy(update=changes),
            loopback=loopback,
        )

    return run


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder of ours that every user may enter: only the walls keep foreign code out of it."""
    with tempfile.TemporaryDirectory(prefix="arnes-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def ports() -> Iterator[dict[str, object]]:
    """Listening sockets of every kind, ours, on this host."""
    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        found: dict[str, object] = {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1]}
        found |= {"abstract": f"arnes-{os.getpid()}", "path": f"{folder}/socket"}
        for address in (f"\0{found['abstract']}", str(found["path"])):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX))
            unix.bind(address)
            unix.listen()
        Path(str(found["path"])).chmod(0o777)
        Path(folder).chmod(0o755)
        yield found


@pytest.fixture(scope="session", autouse=True)
def nothing_left() -> Iterator[None]:
    """After the last test of this folder no process and no folder of ours is left."""
    yield
    alive = psutil.wait_procs(ours(), timeout=60)[1]
    assert not alive, f"left behind: {alive}"
    places = {Path(tempfile.gettempdir()), Path("/tmp")}
    assert not [p for place in places for p in place.glob(f"{session_prefix()}*")]


def ours() -> list[psutil.Process]:
    """The processes below this one that belong to a sandbox."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "arnes_code" in "".join(process.cmdline()) or process.name() == "bwrap":
                found.append(process)
    return found
