"""Grade several replies at once, in processes of their own.

A group is graded in one process, one member after another, so that what the first leaves behind
would be seen in the second. Groups share nothing, and what they are given comes back in their own
order, so that no result depends on how many cores there are.
"""

import os
import signal
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context

from harness.arnes import SandboxLimits
from harness.errors import InstrumentError, Problem
from harness.records.parsed import ParsedReply
from harness.sandbox.inside.wall import die_with
from harness.stages.grade import Graded, grade_reply, hash_seed_of
from harness.stages.progress import Progress, silent
from harness.suite.loader import Task


@dataclass(frozen=True)
class Group:
    """Replies to one task, name by name, that are graded after one another."""

    task: Task
    members: tuple[tuple[str, ParsedReply], ...]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def usual_processes() -> int:
    """Return how many groups are graded at once: one core is left for others, of three or more.

    Of two cores both are used, since a process that grades waits for its sandbox most of the time.
    """
    return max(cores() - 1, min(cores(), 2))


def grade_groups(
    groups: Sequence[Group],
    limits: SandboxLimits,
    progress: Progress = silent,
    processes: int | None = None,
) -> list[list[Graded]]:
    """Return what the members of each group are given; groups that run code are spread.

    Parameters
    ----------
    processes : instead of the usual number; with one, everything is graded in this process

    Raises
    ------
    GraderError, InstrumentError
        As a group raises them, or if a process is lost. What was begun beside it comes to its end,
        and nothing else begins.
    """
    total = sum(len(group.members) for group in groups)
    spread = [n for n, group in enumerate(groups) if group.task.definition.executes]
    at_once = min(usual_processes() if processes is None else processes, len(spread))
    alone = [n for n in range(len(groups)) if at_once < 2 or n not in spread]
    found: dict[int, list[Graded]] = {}
    done = 0
    for number, graded in chain(
        ((number, _graded(groups[number], limits)) for number in alone),
        _from_processes({n: groups[n] for n in spread}, limits, at_once) if at_once > 1 else (),
    ):
        found[number] = graded
        done += len(graded)
        progress(f"validate {groups[number].task.id}", done, total)
    return [found[number] for number in range(len(groups))]


def _from_processes(
    groups: Mapping[int, Group], limits: SandboxLimits, at_once: int
) -> Iterator[tuple[int, list[Graded]]]:
    """Yield what groups are given as they come to their end."""
    waiting = deque(groups.items())
    running: dict[Future[list[Graded]], int] = {}
    # Spawned, not forked: a fork would have our threads' locks, and a server's sockets.
    context = get_context("spawn")
    with ProcessPoolExecutor(at_once, context, _begin, (os.getpid(),)) as pool:
        while waiting or running:
            # No more than can run, so that nothing is left in a queue when this loop is left.
            while waiting and len(running) < at_once:
                number, group = waiting.popleft()
                running[_submitted(pool, group, limits)] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(future)
                try:
                    yield number, future.result()
                except BrokenProcessPool as error:
                    raise InstrumentError(
                        f"a process that grades {groups[number].task.id} was ended from outside",
                        [Problem("memory", "perhaps there was too little", "close other programs")],
                    ) from error


def _submitted(
    pool: ProcessPoolExecutor, group: Group, limits: SandboxLimits
) -> Future[list[Graded]]:
    """Let a process grade a group; one that is started for it is deaf to Ctrl-C until it does."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return pool.submit(_graded_inside, group, limits)
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(parent: int) -> None:
    """Bind a process of the pool to ours, however ours ends."""
    die_with(parent)


def _graded_inside(group: Group, limits: SandboxLimits) -> list[Graded]:
    """Grade in a process of the pool; there Ctrl-C ends the work and its walls, not the process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return _graded(group, limits)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _graded(group: Group, limits: SandboxLimits) -> list[Graded]:
    return [
        grade_reply(group.task, parsed, limits, hash_seed_of(name))
        for name, parsed in group.members
    ]
