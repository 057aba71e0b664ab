"""Run the command line in processes that are killed at a chosen instant.

One parent has imported everything and forks: a campaign begins at once, so that the instants fall
into its work and not into imports. It kills its own child, which it has not waited for yet, so a
number that the system has given to another process is never hit.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from forking import end_with

ROOT = Path(__file__).resolve().parent.parent


class Killer:
    """Commands in a checkout, one after another.

    Parameters
    ----------
    checkout : the folder in which the commands are given
    log : what they print
    """

    def __init__(self, checkout: Path, log: Path) -> None:
        self._checkout = checkout
        self.log = log

    def run(
        self, *arguments: str, kill_after_s: float | None = None, marker: Path | None = None
    ) -> tuple[int, float]:
        """Run one command; return its status (negative: the signal) and the seconds it took.

        marker : the time to the kill is counted from when this file is there
        """
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps([arguments, kill_after_s, str(marker or "")]) + "\n")
        self._parent.stdin.flush()
        status, seconds = json.loads(self._parent.stdout.readline())
        return status, seconds

    def __enter__(self) -> Self:
        self._parent = subprocess.Popen(
            [sys.executable, __file__, str(self.log)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._checkout,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()


def _serve(log: Path) -> None:
    import harness.campaign.night  # noqa: F401, PLC0415 (loaded once, for all children)
    from harness.cli import main  # noqa: PLC0415

    for line in sys.stdin:
        arguments, kill_after_s, marker = json.loads(line)
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            with log.open("a") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
            sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 (it is the child's to its end)
            sys.argv = ["arnes", *arguments]
            end_with(main, crashed=70)  # no status of a command's own
        if kill_after_s is not None:
            if marker:
                _wait_for(Path(marker), child)
            else:
                kill_after_s += began - time.monotonic()
            time.sleep(max(0.0, kill_after_s))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(
            json.dumps([os.waitstatus_to_exitcode(status), time.monotonic() - began]) + "\n"
        )
        sys.stdout.flush()


def _wait_for(marker: Path, child: int) -> None:
    """Wait for a file, or for the end of a child; its number is kept until it is waited for."""
    ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while not marker.exists() and os.waitid(os.P_PID, child, ended) is None:
        time.sleep(0.001)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
