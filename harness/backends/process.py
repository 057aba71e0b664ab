"""A server process of ours: started in its own session, announced, and gone when we say so.

The child gets a pipe as standard input and ends when that closes, so it cannot outlive us even
when we are killed without a chance to clean up. It has a session of its own: Ctrl-C reaches us
alone, and we stop it in order.
"""

import itertools
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.backends import keeper
from harness.backends.base import tail_of
from harness.backends.hardware import OWNER, kill_marked, our_mark, owns_port
from harness.clock import Clock
from harness.errors import EndpointError, Problem

TERM_WAIT_S = 5.0
KILL_WAIT_S = 5.0
POLL_S = 0.05
LONGEST_LINE = 4096
_numbers = itertools.count(1)


class ServerProcess:
    """One running child, with everything it starts.

    Whatever it starts inherits a mark in its environment, by which even a process that left
    the group for a session of its own is known as ours.

    Parameters
    ----------
    command : program and arguments
    environment : the child's whole environment, but for the mark
    log : file that gets what the server says; it is appended to
    clock : waits are taken from it
    term_wait_s : how long it may take to end when it is asked to
    announces : its first line on standard output is its address; else that goes to the log too
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        clock: Clock,
        term_wait_s: float = TERM_WAIT_S,
        *,
        announces: bool = True,
    ) -> None:
        self._mark = f"{our_mark()}{next(_numbers)}."
        self._log = log
        self._clock = clock
        self._term_wait_s = term_wait_s
        self._swept = False
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as sink:
            self._popen = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if announces else sink,
                stderr=sink,
                env={**environment, OWNER: self._mark},
                start_new_session=True,
                close_fds=True,
            )

    @property
    def pid(self) -> int:
        """The process id, which is also that of its session and group."""
        return self._popen.pid

    def announced(self, limit_s: float) -> str:
        """Return the first line the child writes: only the child itself can write there.

        Raises
        ------
        EndpointError
            If it ends, or is silent for too long; with the end of its log.
        """
        pipe = self._popen.stdout
        if pipe is None:
            raise EndpointError("the server's first line was read already")
        line = b""
        deadline = self._clock.monotonic() + limit_s
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while b"\n" not in line and len(line) < LONGEST_LINE:
                left = deadline - self._clock.monotonic()
                if left <= 0 or not selector.select(left):
                    raise self.failure(f"it gave no address within {limit_s:g} s")
                chunk = os.read(pipe.fileno(), LONGEST_LINE)
                if not chunk:
                    raise self.failure(self.ending())
                line += chunk
        pipe.close()
        return line.split(b"\n")[0].decode("utf-8", errors="replace").strip()

    def alive(self) -> bool:
        """True while the child runs."""
        if self._popen.poll() is None:
            return True
        self._sweep()
        return False

    def owns(self, port: int) -> bool:
        """True when the child, or what it started, listens at the port."""
        return self.alive() and owns_port(self.pid, port)

    def stop(self) -> None:
        """End the child with all that it started, and wait until none of it is left."""
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                pipe.close()
        if self._popen.poll() is None:
            self._signal(signal.SIGTERM)
            try:
                self._popen.wait(self._term_wait_s)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._popen.wait()
        self._sweep()

    def _sweep(self) -> None:
        """Kill what the child left behind, once, right after it was reaped.

        Only then does its number surely still mean its group: later the system may give it away.
        """
        if self._swept:
            return
        self._swept = True
        deadline = self._clock.monotonic() + KILL_WAIT_S
        while self._signal(signal.SIGKILL) and self._clock.monotonic() < deadline:
            self._clock.sleep(POLL_S)
        while kill_marked(self._mark) and self._clock.monotonic() < deadline:
            self._clock.sleep(POLL_S)

    def _signal(self, number: int) -> bool:
        """Send a signal to the group; False when there is nobody left in it."""
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses for zombies
            os.killpg(self.pid, number)
            return True
        return False

    def ending(self) -> str:
        """Say how the child ended; a moment is waited for it."""
        try:
            status = self._popen.wait(self._term_wait_s)
        except subprocess.TimeoutExpired:
            return "it closed its output and gave no address"
        if status < 0:
            return f"it was ended by {signal.Signals(-status).name} while it started"
        return f"it ended with exit status {status} while it started"

    def failure(self, what: str) -> EndpointError:
        """Return the error of a start that failed, with the end of the log."""
        return EndpointError(
            "the server did not come up",
            [Problem(str(self._log), f"{what}:\n{tail_of(self._log)}", "read the whole log")],
            "Nothing was run.",
        )


def kept(command: Sequence[str], wait_s: float = TERM_WAIT_S) -> list[str]:
    """Return the command of a program of others under its keeper: it cannot outlive us."""
    return [sys.executable, "-P", keeper.__file__, "--wait", f"{wait_s:g}", "--", *command]
