"""A child of ours announces itself and is gone, with everything it started, when we say so."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from backends.processes import gone

from harness.backends.process import ServerProcess, kept
from harness.clock import SystemClock
from harness.errors import EndpointError

CLOCK = SystemClock()


def child(code: str, folder: Path, term_wait_s: float = 60.0) -> ServerProcess:
    command = [sys.executable, "-c", code]
    return ServerProcess(command, os.environ, folder / "server.log", CLOCK, term_wait_s)


WAITS = "print('here', flush=True); import time; time.sleep(60)"


def test_the_first_line_is_what_the_child_says(tmp_path: Path) -> None:
    """Only the child can write into its pipe, so its address cannot be somebody else's."""
    process = child(WAITS, tmp_path)
    try:
        assert process.announced(60) == "here"
        assert process.alive()
    finally:
        process.stop()


def test_a_child_that_ends_at_once_is_an_error_with_its_log(tmp_path: Path) -> None:
    """The reason stands in what the server wrote; nobody should have to look for the file."""
    process = child("import sys; sys.exit('no such weights')", tmp_path)
    with pytest.raises(EndpointError) as caught:
        process.announced(60)
    process.stop()

    assert "exit status 1" in str(caught.value)
    assert "no such weights" in str(caught.value)


def test_a_reason_before_an_explanation_is_told(tmp_path: Path) -> None:
    """llama-server says which argument is wrong, and ends with seven lines about that argument."""
    said = ["error while handling argument --threads: stoi", *["about it"] * 7]
    process = child(f"import sys; sys.exit({chr(10).join(said)!r})", tmp_path)
    with pytest.raises(EndpointError) as caught:
        process.announced(60)
    process.stop()
    assert said[0] in str(caught.value)


def test_a_child_killed_by_a_signal_is_named_so(tmp_path: Path) -> None:
    """An illegal instruction must not read as an ordinary exit."""
    process = child("import os, signal; os.kill(os.getpid(), signal.SIGILL)", tmp_path)
    with pytest.raises(EndpointError) as caught:
        process.announced(60)
    process.stop()
    assert "SIGILL" in str(caught.value)


def test_a_silent_child_is_given_up(tmp_path: Path) -> None:
    """A server that hangs while it loads does not hang the night."""
    process = child("import time; time.sleep(60)", tmp_path)
    try:
        with pytest.raises(EndpointError, match="did not come up") as caught:
            process.announced(0.2)
    finally:
        process.stop()
    assert "no address within 0.2 s" in str(caught.value)
    assert gone(process.pid)


def test_stop_takes_the_children_of_the_child_too(tmp_path: Path) -> None:
    """A server's workers would go on holding memory and the port."""
    code = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(p.pid, flush=True)\n"
        "p.wait()\n"
    )
    process = child(code, tmp_path)
    grandchild = int(process.announced(60))
    process.stop()

    assert gone(grandchild)
    assert not process.alive()


def test_workers_of_a_child_that_died_by_itself_are_swept(tmp_path: Path) -> None:
    """Noticing the death is the last moment at which its group is surely its own."""
    code = (
        "import subprocess, sys, os\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(p.pid, flush=True)\n"
        "os._exit(3)\n"
    )
    process = child(code, tmp_path)
    grandchild = int(process.announced(60))
    while process.alive():
        CLOCK.sleep(0.02)
    assert gone(grandchild)
    process.stop()


def test_a_child_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    """Some servers answer SIGTERM only when a generation is over."""
    code = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {WAITS}"
    process = child(code, tmp_path, term_wait_s=0.2)
    process.announced(60)
    process.stop()
    assert gone(process.pid)


def test_the_child_is_out_of_reach_of_ctrl_c(tmp_path: Path) -> None:
    """Ctrl-C goes to the whole foreground group; the child is stopped in order instead."""
    process = child(WAITS, tmp_path)
    try:
        process.announced(60)
        assert os.getsid(process.pid) != os.getsid(0)
        assert os.getpgid(process.pid) == process.pid
    finally:
        process.stop()


def test_the_log_is_kept_from_start_to_start(tmp_path: Path) -> None:
    """The log of the death is what a person needs after the restart."""
    for word in ("first", "second"):
        process = child(f"import sys; sys.stderr.write('{word}\\n'); {WAITS}", tmp_path)
        process.announced(60)
        process.stop()
    assert (tmp_path / "server.log").read_text() == "first\nsecond\n"


def test_a_port_belongs_to_who_listens_on_it(tmp_path: Path) -> None:
    """Another program on the same port was once taken for our server."""
    code = (
        "import socket, time\n"
        "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n"
        "print(s.getsockname()[1], flush=True); time.sleep(60)\n"
    )
    process = child(code, tmp_path)
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        ours.listen()
        try:
            theirs = int(process.announced(60))
            assert process.owns(theirs)
            assert not process.owns(ours.getsockname()[1])
        finally:
            process.stop()
    assert not process.owns(theirs)


def test_standard_input_ends_when_the_parent_is_killed(tmp_path: Path) -> None:
    """A child that watches its input cannot outlive us, even if nothing of ours ran at the end."""
    waits_for_end = "import sys; print('here', flush=True); sys.stdin.read()"
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from harness.backends.process import ServerProcess\n"
        "from harness.clock import SystemClock\n"
        f"p = ServerProcess([sys.executable, '-c', {waits_for_end!r}], os.environ,"
        " Path(sys.argv[1]), SystemClock())\n"
        "p.announced(60); print(p.pid, flush=True)\n"
        "SystemClock().sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "server.log")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.send_signal(signal.SIGKILL)
    assert gone(pid)


def test_what_left_the_group_is_ended_by_its_mark(tmp_path: Path) -> None:
    """A session of its own does not help a worker to stay: the mark is inherited."""
    code = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = child(code, tmp_path)
    stray = int(process.announced(60))
    assert os.getsid(stray) != process.pid
    process.stop()
    assert gone(stray)


def test_another_child_of_ours_goes_on(tmp_path: Path) -> None:
    """The mark names one server; two may run at once."""
    first, second = child(WAITS, tmp_path), child(WAITS, tmp_path)
    try:
        for process in (first, second):
            process.announced(60)
        first.stop()
        assert second.alive()
    finally:
        second.stop()


# A program of others under its keeper


def kept_child(code: str, folder: Path, term_wait_s: float = 60.0) -> ServerProcess:
    command = kept([sys.executable, "-c", code], term_wait_s)
    return ServerProcess(command, os.environ, folder / "server.log", CLOCK, term_wait_s)


def test_a_kept_program_may_end_in_order(tmp_path: Path) -> None:
    """It gets SIGTERM and the time to take its engine down; the keeper waits for it."""
    done = tmp_path / "done"
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n"
        f"    time.sleep(0.3); open({str(done)!r}, 'w').close(); sys.exit(0)\n"
        f"signal.signal(signal.SIGTERM, end); {WAITS}"
    )
    process = kept_child(code, tmp_path)
    process.announced(60)
    process.stop()
    assert done.exists()


def test_a_kept_program_that_is_missing_is_told(tmp_path: Path) -> None:
    """It may have been there when it was looked for."""
    command = kept([str(tmp_path / "no-such-program")])
    process = ServerProcess(command, os.environ, tmp_path / "server.log", CLOCK)
    with pytest.raises(EndpointError) as caught:
        process.announced(60)
    process.stop()
    assert "exit status 127" in str(caught.value)
    assert "no-such-program: No such file" in str(caught.value)
