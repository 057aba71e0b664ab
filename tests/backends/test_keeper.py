"""A program of others ends with whoever started it, by each of two signs alone."""

import os
import signal
import subprocess
import sys

import psutil
from backends.processes import gone

from harness.backends import keeper
from harness.backends.process import kept

PROGRAM = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"


def test_it_ends_when_its_input_ends() -> None:
    """The pipe closes with the last process that holds it; until then the program goes on."""
    command = kept([sys.executable, "-c", PROGRAM])
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        program = int(process.stdout.readline())
        assert process.poll() is None
        process.stdin.close()
        process.wait(10)
    assert gone(program)


def test_it_ends_when_another_process_is_its_parent() -> None:
    """A forked sibling may hold the pipe open for ever; the parent's number still changes."""
    reading, writing = os.pipe()
    starter = (
        "import subprocess, sys\n"
        f"p = subprocess.Popen({kept([sys.executable, '-c', PROGRAM])!r},"
        f" stdin={reading}, stdout=subprocess.PIPE, start_new_session=True)\n"
        "print(p.pid, int(p.stdout.readline()), flush=True)\n"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", starter],
            pass_fds=[reading],
            capture_output=True,
            check=True,
            timeout=300,
        )
        pids = [int(pid) for pid in done.stdout.split()]
        assert len(pids) == 2
        assert all(gone(pid) for pid in pids)
    finally:
        os.close(reading)
        os.close(writing)


def test_what_a_wrapper_leaves_is_asked_to_end() -> None:
    """A wrapper can be killed alone; the server behind it would hold the card for nobody."""
    lasting = PROGRAM.replace("60", "600")  # longer than anybody waits for its end
    wrapper = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {lasting!r}])"
    with subprocess.Popen(
        kept([sys.executable, "-c", wrapper]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        server = int(process.stdout.readline())
        psutil.Process(server).parent().kill()
        assert gone(server)
        assert process.wait(60) == -signal.SIGKILL


def test_the_keeper_needs_nothing_of_ours() -> None:
    """It is run by its path, with nothing but Python."""
    folder = keeper.__file__.rpartition("/")[0]
    code = f"import sys; sys.path[:0] = [{folder!r}]; import keeper; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert not {name for name in done.stdout.split() if name.partition(".")[0] == "harness"}
