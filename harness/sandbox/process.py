"""One running sandbox: started, asked for measures one at a time, and gone when we say so.

The control socket is the life line: when it closes, for whatever reason, the zygote ends its tree.
bubblewrap in addition dies with the thread that started it, so a sandbox is used and closed by one
thread.
"""

import contextlib
import json
import marshal
import math
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Self

import psutil

from harness.arnes import SandboxLimits
from harness.clock import Clock
from harness.errors import InstrumentError, Problem
from harness.records.base import Json
from harness.sandbox.inside import wall
from harness.sandbox.inside.codec import ARMED, LENGTH
from harness.sandbox.launch import Launch, inside_code
from harness.sandbox.measure import Measure
from harness.sandbox.watch import Watch, below

START_S = 30.0
CLOSE_S = 5.0
SHARED_FACTOR = 8
STDERR_SHOWN = 2000


@dataclass(frozen=True)
class Terms:
    """Under what a measure runs.

    silence_s : longest time without output or a message; None for no such limit
    spawn : it may start processes and programs
    loopback : it may use sockets of its private network; only where a tier gives one
    """

    limits: SandboxLimits
    silence_s: float | None = None
    spawn: bool = False
    loopback: bool = False


class Sandbox:
    """A zygote behind one tier's walls.

    Parameters
    ----------
    launch : what the tier decided
    files : the candidate's files, by relative path; sent when the user was dropped
    preload : trusted modules of the standard library that every fork finds imported
    clock : waits and limits are taken from it

    Raises
    ------
    InstrumentError
        If it does not come up; with the end of what it said.
    """

    def __init__(
        self, launch: Launch, files: Mapping[str, str], preload: tuple[str, ...], clock: Clock
    ) -> None:
        self._launch = launch
        self._clock = clock
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close)
        self._lock = threading.Lock()
        self._lines = bytearray()
        self._number = 0
        self.broken = False
        self._base: frozenset[int] = frozenset()
        self._popen: subprocess.Popen[bytes] | None = None
        self._control, theirs = socket.socketpair()
        try:
            with theirs:
                self._popen = self._start(theirs)
            self._greet(files, preload)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    @property
    def pid(self) -> int:
        """The process on the host above all of this sandbox."""
        assert self._popen is not None
        return self._popen.pid

    @property
    def python(self) -> str:
        """The interpreter's path inside."""
        return self._launch.setup.python

    def begin(self, terms: Terms) -> Measure:
        """Fork one measure; finish it before the next one begins.

        Raises
        ------
        InstrumentError
            If the zygote is gone.
        """
        self._number += 1
        number = self._number
        ours, theirs = socket.socketpair()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        given = [theirs.fileno(), out_write, err_write]
        try:
            text = json.dumps(self._start_message(terms)).encode() + b"\n"
            with self._lock:
                socket.send_fds(self._control, [text], given)
        except OSError as error:
            self.broken = True
            ours.close()
            os.close(out_read)
            os.close(err_read)
            raise self._failure("the sandbox ended before a measure") from error
        finally:
            theirs.close()
            os.close(out_write)
            os.close(err_write)
        watch = Watch(
            terms.limits,
            root=self.pid,
            apart_from=self._base,
            silence_s=terms.silence_s,
            output=out_read,
            errors=err_read,
            kill=lambda: self.tell({"kill": number}),
            hang_up=lambda: hang_up(ours),
            clock=self._clock,
        )
        return self._armed(Measure(self, number, ours, watch, terms.limits))

    def _start_message(self, terms: Terms) -> dict[str, Json]:
        limits = terms.limits
        return {
            "start": self._number,
            "memory_mib": limits.memory_mib,
            "cpu_s": math.ceil(limits.cpu_s) + 1,  # the watch ends it earlier, to the tenth
            "file_mib": limits.file_mib,
            "scratch_mib": limits.scratch_mib,
            "processes": self._process_limit(terms),
            "spawn": terms.spawn,
            "loopback": terms.loopback,
        }

    def _armed(self, measure: Measure) -> Measure:
        """Return the measure once its walls are up; until then every failure is ours."""
        if measure.receive() != ARMED:
            ending = measure.finish()
            self.broken = True
            raise self._failure("a measure did not come up", ending.stderr)
        return measure

    def tell(self, message: dict[str, Json]) -> None:
        """Send the zygote one message; when it is gone there is nothing left to tell."""
        with self._lock, contextlib.suppress(OSError):
            self._control.sendall(json.dumps(message).encode() + b"\n")

    def report(self, key: str, number: int, limit_s: float) -> dict[str, Json] | None:
        """Wait for the zygote's message of that key and measure; None if it does not come."""
        deadline = self._clock.monotonic() + limit_s
        while True:
            line = self._line(deadline)
            if line is None:
                self.broken = True
                return None
            message: dict[str, Json] = json.loads(line)
            if message.get(key) == number or (key == "ready" and "ready" in message):
                return message

    def close(self) -> None:
        """End everything below, wait until none of it is left, and remove its folder."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        self._control.close()
        if self._popen is not None:
            try:
                self._popen.wait(CLOSE_S)
            except subprocess.TimeoutExpired:
                self._end_tree(self._popen)
        self._errors.close()
        if self._launch.session is not None:
            shutil.rmtree(self._launch.session, ignore_errors=True)

    def destroy(self) -> None:
        """End everything below at once; the sandbox is of no use afterwards."""
        self.broken = True
        if self._popen is not None:
            self._end_tree(self._popen)

    def _end_tree(self, popen: subprocess.Popen[bytes]) -> None:
        """Stop and kill from the leaves up: an orphan is adopted by the zygote, so it goes last."""
        below: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            below = psutil.Process(popen.pid).children(recursive=True)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in reversed(below):
                with contextlib.suppress(psutil.Error):
                    process.send_signal(number)
        popen.kill()
        popen.wait()
        psutil.wait_procs(below, timeout=CLOSE_S)

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        descriptors: tuple[int, ...] = ()
        read_end = None
        if self._launch.arguments:
            read_end, write_end = os.pipe()
            os.write(write_end, self._launch.arguments)  # far below a pipe's 64 KiB
            os.close(write_end)
            descriptors = (read_end,)
        command = [part.replace("{fd}", str(read_end)) for part in self._launch.command]
        try:
            return subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=self._launch.environment,
                cwd="/" if self._launch.session is None else str(self._launch.session),
                close_fds=True,
                pass_fds=descriptors,
                start_new_session=True,
            )
        finally:
            if read_end is not None:
                os.close(read_end)

    def _greet(self, files: Mapping[str, str], preload: tuple[str, ...]) -> None:
        setup = asdict(self._launch.setup) | {"preload": preload}
        first = marshal.dumps({"code": inside_code(), "setup": setup})
        self._control.settimeout(START_S)
        try:
            for text in (first, json.dumps(dict(files)).encode("ascii")):
                self._control.sendall(LENGTH.pack(len(text)) + text)
        except OSError as error:
            raise self._failure("the sandbox ended while it started") from error
        finally:
            self._control.settimeout(None)
        if self.report("ready", 0, START_S) is None:
            raise self._failure("the sandbox did not come up")
        self._base = frozenset([self.pid, *below(self.pid)])

    def _process_limit(self, terms: Terms) -> int | None:
        """Return the kernel's limit. It counts per user; a sandbox without one of its own shares.

        There the watch counts, so that two sandboxes do not take each other's places, and the
        kernel's limit only stops what is faster than the watch.
        """
        if not terms.spawn or not wall.IS_LINUX:
            return None  # the filter lets none start
        setup = self._launch.setup
        if setup.uid is not None or setup.own_processes:
            return terms.limits.processes
        return _threads_of_user(os.getuid()) + SHARED_FACTOR * terms.limits.processes

    def _line(self, deadline: float) -> bytes | None:
        while b"\n" not in self._lines:
            left = deadline - self._clock.monotonic()
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            if left <= 0 or not poll.poll(math.ceil(left * 1000)):
                return None
            try:
                chunk = self._control.recv(65536)
            except OSError:
                return None
            if not chunk:
                return None
            self._lines += chunk
        line, _, rest = bytes(self._lines).partition(b"\n")
        self._lines = bytearray(rest)
        return line

    def _failure(self, what: str, said_by_measure: bytes = b"") -> InstrumentError:
        self._errors.seek(0)
        said = (
            (self._errors.read() + said_by_measure)
            .decode("utf-8", "replace")[-STDERR_SHOWN:]
            .strip()
        )
        return InstrumentError(
            what,
            [Problem(self._launch.command[0], said or "it said nothing", "run: arnes doctor")],
            "Nothing of this measure is counted.",
        )


def hang_up(sock: socket.socket) -> None:
    """Wake whoever waits at a socket of ours: nothing more will come."""
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _threads_of_user(uid: int) -> int:
    """Count what the kernel counts against a user's process limit: threads."""
    count = 0
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.uids().real == uid:
                count += process.num_threads()
    return count
