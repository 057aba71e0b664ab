"""Grade several replies at once, in processes of their own.

A group is graded in one process, one member after another, so that what the first leaves behind
would be seen in the second. Groups share nothing, and what they are given comes back in their own
order, so that no result depends on how many cores there are.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain

from harness.arnes import SandboxLimits
from harness.errors import InstrumentError, Problem
from harness.records.parsed import ParsedReply
from harness.stages.grade import Graded, grade_reply, hash_seed_of
from harness.stages.progress import Progress, silent
from harness.stages.workers import Workers, cores
from harness.suite.loader import Task


@dataclass(frozen=True)
class Group:
    """Replies to one task, name by name, that are graded after one another."""

    task: Task
    members: tuple[tuple[str, ParsedReply], ...]


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
        As a group raises them, or if a process is lost. What was begun beside it is ended, and
        nothing else begins.
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
    with Workers(at_once) as workers:
        while waiting or running:
            # No more than can run, so that nothing is left in a queue when this loop is left.
            while waiting and len(running) < at_once:
                number, group = waiting.popleft()
                running[workers.submit(_graded, group, limits)] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                number = running.pop(future)
                try:
                    yield number, future.result()
                except BrokenProcessPool as error:
                    raise InstrumentError(
                        f"a process that grades {groups[number].task.id} was ended from outside",
                        [Problem("memory", "perhaps there was too little", "close other programs")],
                    ) from error


def _graded(group: Group, limits: SandboxLimits) -> list[Graded]:
    return [
        grade_reply(group.task, parsed, limits, hash_seed_of(name))
        for name, parsed in group.members
    ]
