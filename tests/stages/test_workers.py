"""Processes beside ours: deaf to Ctrl-C until they work, and gone when ours goes on without them."""

import os
import signal
import threading
from pathlib import Path

import psutil
import pytest
from campaigning import wait_until

from harness.stages.workers import Workers


def touched(path: Path) -> int:
    """Say who does the work."""
    path.write_text("here")
    return os.getpid()


def hang(begun: Path, cleared: Path) -> None:
    """Work until somebody interrupts, and clear up, as a sandbox is cleared up."""
    try:
        begun.write_text(str(os.getpid()))
        threading.Event().wait()
    finally:
        cleared.write_text("cleared")


def test_an_idle_process_survives_ctrl_c(tmp_path: Path) -> None:
    """A terminal sends it to the whole group; what is idle has nothing to end."""
    with Workers(1) as workers:
        process = workers.submit(touched, tmp_path / "one").result()
        os.kill(process, signal.SIGINT)
        assert workers.submit(touched, tmp_path / "two").result() == process


def test_an_interruption_of_ours_is_not_lost_while_a_process_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is held back for the moment in which the child is made, and delivered after it."""
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `&` ignores it
    try:
        _interrupt_a_start(monkeypatch, tmp_path)
    finally:
        signal.signal(signal.SIGINT, heard)


def _interrupt_a_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with Workers(1) as workers:
        pool = workers._pool  # to strike in the middle of its work
        submit = pool.submit

        def interrupted(*given: object) -> object:
            os.kill(os.getpid(), signal.SIGINT)
            return submit(*given)

        monkeypatch.setattr(pool, "submit", interrupted)

        def submitted() -> None:
            workers.submit(touched, tmp_path / "one")
            wait_until(lambda: False)  # another thread may take the signal, a moment later

        with pytest.raises(KeyboardInterrupt):
            submitted()
        monkeypatch.undo()
        assert psutil.pid_exists(workers.submit(touched, tmp_path / "two").result())


def test_an_error_ends_what_is_being_done_with_what_it_opened(tmp_path: Path) -> None:
    """Ctrl-C at 23:00 does not wait for a deliverable that hangs until 23:10."""
    begun, cleared = tmp_path / "begun", tmp_path / "cleared"

    def work_and_fail() -> None:
        with Workers(1) as workers:
            workers.submit(hang, begun, cleared)
            wait_until(lambda: begun.is_file() and bool(begun.read_text()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_and_fail()
    assert cleared.is_file()
    assert not psutil.pid_exists(int(begun.read_text()))
