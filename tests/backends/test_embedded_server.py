"""The embedded server's process ends with whoever started it, by each of two signs alone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from harness.backends import embedded_server
from harness.clock import SystemClock

CLOCK = SystemClock()
WAIT = """
import sys
sys.path.insert(0, {folder!r})
import embedded_server
print("waiting", flush=True)
embedded_server._wait_for_the_end({parent})
"""
FOLDER = embedded_server.__file__.rpartition("/")[0]


@contextmanager
def waiting(parent: int) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-c", WAIT.format(folder=FOLDER, parent=parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"waiting\n"
            yield process
        finally:
            process.kill()


def test_it_ends_when_its_input_ends() -> None:
    """The pipe closes with the last process that holds it, at once; until then it goes on."""
    with waiting(os.getpid()) as process:
        assert process.stdin is not None
        CLOCK.sleep(0.1)
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(0.8) == 0  # less than the second between two looks at the parent


def test_it_ends_when_another_process_is_its_parent() -> None:
    """A forked sibling may hold the pipe open for ever; the parent's number still changes."""
    with waiting(os.getpid() + 1) as process:
        assert process.wait(5) == 0


def test_the_launcher_needs_nothing_of_ours() -> None:
    """It is run by its path, where only the wheels can be imported."""
    code = f"import sys; sys.path[:0] = [{FOLDER!r}]; import embedded_server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(done.stdout.split())
    assert not {name for name in loaded if name.partition(".")[0] in {"harness", "xllamacpp"}}
