"""Is the GPU clean? Asked between two models, so that none is measured beside what another left.

Clean is: no process of ours on any card, and each card's memory back at what it was before the
first model. Otherwise there is a wait; then what is ours is killed; then the campaign stops.
What we did not start is never touched.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from harness.backends import hardware
from harness.backends.hardware import Gpus
from harness.clock import Clock
from harness.errors import InstrumentError, Problem

MIB = 2**20
# What a desktop takes or gives while nobody measures; a CUDA context without any weights has more.
SLACK_BYTES = 128 * MIB
WAIT_S = 60.0
AFTER_KILL_S = 30.0
POLL_S = 1.0


@dataclass(frozen=True)
class Verdict:
    """What one look at the cards says.

    clean : None where there is no card to look at
    why : what is not clean, or why nothing can be said
    ours : numbers of our processes that are still there
    """

    clean: bool | None
    why: str = ""
    ours: tuple[int, ...] = ()


def judge(baseline: Gpus, now: Gpus, ours: Collection[int]) -> Verdict:
    """Compare the cards with how they were before the first model.

    Parameters
    ----------
    baseline, now : two looks at the same machine
    ours : which of the processes on the cards are ours
    """
    if not baseline.cards:
        return Verdict(None, baseline.why_unknown or "NVML sees no card")
    if len(now.cards) != len(baseline.cards):
        seen = now.why_unknown or f"{len(now.cards)} card(s)"
        return Verdict(False, f"there were {len(baseline.cards)} card(s), now: {seen}")
    problems = []
    left: list[int] = []
    for number, (before, card) in enumerate(zip(baseline.cards, now.cards, strict=True)):
        here = [pid for pid in card.processes or () if pid in ours]
        left += here
        problems += [f"card {number}: our process {pid} is still there" for pid in here]
        more = card.used_bytes - before.used_bytes
        if more > SLACK_BYTES:
            problems.append(
                f"card {number} ({card.name}): {card.used_bytes // MIB} MiB are used, "
                f"{before.used_bytes // MIB} MiB were before the first model"
            )
    return Verdict(not problems, "; ".join(problems), tuple(left))


@dataclass(frozen=True)
class Machine:
    """How cards are read and what is done about ours; a test hands in another one."""

    read: Callable[[], Gpus] = hardware.gpus
    is_ours: Callable[[int], bool] = field(
        default=lambda pid: hardware.is_marked(pid, hardware.our_mark())
    )
    kill_ours: Callable[[int], bool] = hardware.kill_ours
    name_of: Callable[[int], str] = hardware.name_of

    def look(self, baseline: Gpus) -> tuple[Verdict, Gpus]:
        """Judge the cards as they are now."""
        now = self.read()
        there = {pid for card in now.cards for pid in card.processes or ()}
        return judge(baseline, now, {pid for pid in there if self.is_ours(pid)}), now


THIS_MACHINE = Machine()


def wait_until_clean(
    baseline: Gpus,
    clock: Clock,
    *,
    wait_s: float = WAIT_S,
    machine: Machine = THIS_MACHINE,
    tell: Callable[[str], None] = lambda _what: None,
) -> str:
    """Wait until no card shows a trace of the last model; return what there is to say about it.

    Parameters
    ----------
    baseline : `hardware.gpus()` from before the first model
    clock : waits are taken from it
    wait_s : how long a driver may need to give memory back before ours are killed
    machine : how cards are read
    tell : told what is waited for

    Raises
    ------
    InstrumentError
        If a card stays dirty: nothing more can be measured on it. Who is on it is named.
    """
    verdict, now = _waited(baseline, clock, wait_s, machine, tell)
    killed: list[int] = []
    if verdict.clean is False and verdict.ours:
        killed = [pid for pid in verdict.ours if machine.kill_ours(pid)]
        verdict, now = _waited(baseline, clock, AFTER_KILL_S, machine, tell)
    if verdict.clean is None:
        return f"GPU not looked at: {verdict.why}"
    if not verdict.clean:
        raise _dirty(verdict, now, machine)
    return f"GPU clean after killing {killed}" if killed else "GPU clean"


def _waited(
    baseline: Gpus,
    clock: Clock,
    limit_s: float,
    machine: Machine,
    tell: Callable[[str], None],
) -> tuple[Verdict, Gpus]:
    """Look until the cards are clean, or the time is over."""
    deadline = clock.monotonic() + limit_s
    while True:
        verdict, now = machine.look(baseline)
        if verdict.clean is not False or clock.monotonic() >= deadline:
            return verdict, now
        tell(f"waiting for the GPU: {verdict.why}")
        clock.sleep(POLL_S)


def _dirty(verdict: Verdict, now: Gpus, machine: Machine) -> InstrumentError:
    there = sorted({pid for card in now.cards for pid in card.processes or ()})
    names = ", ".join(f"{pid} {machine.name_of(pid)}".strip() for pid in there) or "none are told"
    return InstrumentError(
        "the GPU is not clean",
        [
            Problem(
                "GPU",
                f"{verdict.why}; processes on the cards: {names}",
                "end what is not part of the campaign, then resume it",
            )
        ],
        "The campaign stops here: a model would be measured beside another one.",
    )
