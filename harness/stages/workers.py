"""Processes of our own that grade beside this one."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import active_children, get_context
from multiprocessing.process import BaseProcess
from multiprocessing.resource_tracker import ensure_running
from types import TracebackType
from typing import Self, TypeVar, TypeVarTuple

from harness.sandbox.inside.wall import die_with

Given = TypeVarTuple("Given")
Found = TypeVar("Found")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Processes that do what they are given, and end with ours, however ours ends.

    They are spawned, not forked: a fork would have our threads' locks, and a server's sockets.
    They start with the first work. Ctrl-C, which a terminal sends to all of a group, ends the
    work of a process and its walls, not the process. Left by an error, what is running is ended
    too; left in order, it is waited for.

    Parameters
    ----------
    processes : how many
    """

    def __init__(self, processes: int) -> None:
        # None is made to stand back for others: what is graded has limits of wall time, too.
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (os.getpid(),))
        self._children: list[BaseProcess] = []

    def submit(self, work: Callable[[*Given], Found], *given: *Given) -> "Future[Found]":
        """Let a process do some work, as soon as one is free.

        Raises
        ------
        BrokenProcessPool
            If a process was lost.
        """
        before = active_children()
        try:
            with _children_deaf_to_ctrl_c():
                return self._pool.submit(_inside, partial(work, *given))
        finally:
            self._children += [child for child in active_children() if child not in before]

    def end(self) -> None:
        """End what is being done, with its walls, and every process."""
        for child in self._children:
            if child.is_alive() and child.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(child.pid, signal.SIGINT)
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.end()
        self._pool.shutdown()


@contextmanager
def _children_deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes with the signal held back, until they have said what to do with it.

    This process loses none: one that came meanwhile is delivered at the end.
    """
    ensure_running()  # a helper of the pool, which would end the block when it is started inside
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """Bind a process of the pool to ours, however ours ends."""
    die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _inside(work: Callable[[], Found]) -> Found:
    """Do the work in a process of the pool, where Ctrl-C ends it."""
    signal.signal(signal.SIGINT, _interrupt_once)
    try:
        return work()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt_once(_number: int, _frame: object) -> None:
    """End the work; a second Ctrl-C does not disturb how its walls are taken down."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt
