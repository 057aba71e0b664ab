"""The thread that watches one measure from outside: clocks, memory of the whole tree, output.

It only looks and asks for the end; it never reads what the measure says. A thread, because the
one that serves the measure's questions may be blocked in a read.
"""

import os
import selectors
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.arnes import SandboxLimits
from harness.clock import Clock
from harness.sandbox.inside.processes import descendants
from harness.sandbox.inside.wall import IS_LINUX
from harness.sandbox.observation import KilledBy

LOOK_S = 0.05
HANG_UP_S = 5.0
MIB = 1 << 20
KIB = 1 << 10


@dataclass(frozen=True)
class Tree:
    """What the processes of a measure hold and have used at one moment."""

    memory_bytes: int
    cpu_s: float
    processes: int


def look_at(root: int, apart_from: frozenset[int]) -> Tree:
    """Sum over the processes below root, apart from those that were there before.

    Memory is what belongs to the process alone or is shared memory: pages of files are not it.
    What a process shares with the one it was forked from counts twice; see `memory_shared_once`.
    """
    if not IS_LINUX:
        return _look_elsewhere(root, apart_from)
    memory, ticks, count = 0, 0, 0
    for pid in _tree_of(root, apart_from):
        with suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123 (a hot path)
                for line in file:
                    if line.startswith((b"RssAnon:", b"RssShmem:")):
                        memory += int(line.split()[1]) * KIB
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (a hot path)
                fields = file.read().rpartition(b")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])
            count += 1
    return Tree(memory, ticks / os.sysconf("SC_CLK_TCK"), count)


def memory_shared_once(root: int, apart_from: frozenset[int]) -> int:
    """Return the bytes that the tree holds, with every page counted once however many share it.

    The kernel walks the page tables for this, so it is asked only when the quick sum is too large:
    forty forks of a small program hold little more than the program.
    """
    if not IS_LINUX:
        return _look_elsewhere(root, apart_from).memory_bytes
    memory = 0
    for pid in _tree_of(root, apart_from):
        with suppress(ProcessLookupError, FileNotFoundError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
            for line in rollup.splitlines():
                if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")):
                    memory += int(line.split()[1]) * KIB
    return memory


def _tree_of(root: int, apart_from: frozenset[int]) -> list[int]:
    return [pid for pid in descendants(root) if pid not in apart_from]


def _look_elsewhere(root: int, apart_from: frozenset[int]) -> Tree:
    memory, cpu_s, count = 0, 0.0, 0
    with suppress(psutil.Error):
        for process in psutil.Process(root).children(recursive=True):
            if process.pid not in apart_from:
                with suppress(psutil.Error):
                    memory += process.memory_info().rss
                    times = process.cpu_times()
                    cpu_s += times.user + times.system
                    count += 1
    return Tree(memory, cpu_s, count)


class Watch:
    """Watches one measure until `finish`.

    Parameters
    ----------
    root : process on the host above all processes of the sandbox
    apart_from : those below it that were there before the measure
    output, errors : read ends of the measure's standard streams; closed by this class
    kill : asks for the end of the measure; called once
    hang_up : called when the measure did not end for a while after that: whoever waits for its
        word must not wait for ever
    """

    def __init__(
        self,
        limits: SandboxLimits,
        *,
        root: int,
        apart_from: frozenset[int],
        silence_s: float | None,
        output: int,
        errors: int,
        kill: Callable[[], None],
        hang_up: Callable[[], None],
        clock: Clock,
    ) -> None:
        self._thread = threading.Thread(target=self._run, name="sandbox-watch", daemon=True)
        self.cause: KilledBy = ""
        self.texts = {output: bytearray(), errors: bytearray()}
        self._root = root
        self._apart = apart_from
        self._limits = limits
        self._silence_s = silence_s
        self._kill = kill
        self._hang_up = hang_up
        self._ended = 0.0
        self._clock = clock
        self._started = clock.monotonic()
        self._heard = self._started
        self._due: float | None = None
        self._stop_read, self._stop_write = os.pipe()
        self._lock = threading.Lock()
        for end in (output, errors):
            os.set_blocking(end, False)

    @property
    def wall_s(self) -> float:
        """Seconds since the measure began."""
        return self._clock.monotonic() - self._started

    def heard(self) -> None:
        """The measure said something on its channel."""
        self._heard = self._clock.monotonic()

    def expect(self, within_s: float | None) -> None:
        """From now on an answer is due within that time; None when nothing is due."""
        self._due = None if within_s is None else self._clock.monotonic() + within_s

    def end(self, cause: KilledBy) -> None:
        """Ask for the end of the measure; the first cause stands."""
        with self._lock:
            if self.cause:
                return
            self.cause = cause
            self._ended = self._clock.monotonic()
        self._kill()

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def _run(self) -> None:
        """Look every twentieth of a second, and whenever there is output."""
        next_look = self._started + LOOK_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._stop_read, selectors.EVENT_READ)
            for end in self.texts:
                selector.register(end, selectors.EVENT_READ)
            while True:
                ready = selector.select(max(0.0, next_look - self._clock.monotonic()))
                for key, _ in ready:
                    if key.fd == self._stop_read:
                        return
                    if not self._read(key.fd):
                        selector.unregister(key.fd)
                if self._clock.monotonic() >= next_look:
                    self._look()
                    next_look = self._clock.monotonic() + LOOK_S

    def finish(self) -> tuple[bytes, bytes]:
        """Stop looking; return what was printed, up to the limit."""
        os.close(self._stop_write)
        self._thread.join()
        os.close(self._stop_read)
        for end in self.texts:
            while self._room() > 0 and self._read(end):
                pass
            os.close(end)
        output, errors = (bytes(text) for text in self.texts.values())
        return output, errors

    def _room(self) -> int:
        return self._limits.output_kib * KIB - sum(map(len, self.texts.values()))

    def _read(self, end: int) -> bool:
        """Take what is there, up to the limit; False at the end."""
        room = self._room()
        if room <= 0:
            self.end("output")
            return False
        try:
            chunk = os.read(end, min(room, 65536))
        except BlockingIOError:
            return False
        self.texts[end] += chunk
        self._heard = self._clock.monotonic()
        return bool(chunk)

    def _look(self) -> None:
        now = self._clock.monotonic()
        due = self._due
        if self.cause:
            if now - self._ended > HANG_UP_S:
                self._hang_up()
        elif now - self._started > self._limits.wall_s or (due is not None and now > due):
            self.end("wall")
        elif self._silence_s is not None and now - self._heard > self._silence_s:
            self.end("silence")
        else:
            tree = look_at(self._root, self._apart)
            if tree.processes > self._limits.processes:
                self.end("processes")
            elif self._too_much(tree):
                self.end("memory")
            elif tree.cpu_s > self._limits.cpu_s:
                self.end("cpu")

    def _too_much(self, tree: Tree) -> bool:
        """Compare with the limit; where the kernel refuses the exact sum, the quick one decides."""
        limit = self._limits.memory_mib * MIB
        if tree.memory_bytes <= limit:
            return False
        try:
            return memory_shared_once(self._root, self._apart) > limit
        except OSError:
            return True


def below(root: int) -> frozenset[int]:
    """Return the processes below one."""
    if IS_LINUX:
        return frozenset(descendants(root))
    with suppress(psutil.Error):
        return frozenset(p.pid for p in psutil.Process(root).children(recursive=True))
    return frozenset()
