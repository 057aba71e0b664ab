"""Scheduled faults: an answer is replaced, an effect never.

A fault is armed from an executed call on and fires at the first call after that which matches:

- its tool, or any tool that observes where it says `*`;
- for malformed and deceptive ones, an answer that is no error;
- a shown answer that differs from the honest one: a lie fires only where it is one.

The executed call right behind one that met a fault is always honest. Where two are armed for the
same call, the order of the schedule decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from harness.records.world import Derive, Fault, FaultFate
from harness.world.scene import Scene
from harness.world.suites import Outcome, Report
from harness.world.tables import Tables

ANY_OBSERVING = "*"
TIMEOUT_TEXT = "timeout: the tool did not answer"
CUT_PERCENT = 55  # of the characters of an answer are left


@dataclass(frozen=True)
class Seen:
    """An honest answer, and what a lie about it is made from.

    observes : the tool is one that `*` matches
    query : the statement, where it was one that only reads
    report : the outcomes of a test run
    """

    call: int
    turn: int
    tool: str
    target: str
    ok: bool
    text: str
    observes: bool = False
    query: str = ""
    report: Report | None = None


@dataclass(frozen=True)
class Shown:
    """What the model is shown. fault : number in the schedule, from 1; None if it is honest."""

    ok: bool
    text: str
    fault: int | None = None


class FaultInjector:
    """Applies one run's schedule to a stream of executed calls."""

    def __init__(self, schedule: Sequence[Fault], scene: Scene) -> None:
        self._scene = scene
        self._fates = [FaultFate(fault=fault) for fault in schedule]
        self._last_call = 0  # the last one that met a fault

    @property
    def fates(self) -> tuple[FaultFate, ...]:
        """What became of every fault, in the order of the schedule; unfired ones have no call."""
        return tuple(self._fates)

    def intercept(self, seen: Seen) -> Shown:
        """Return what is shown for an answer: the answer itself, or what a fault makes of it."""
        honest = Shown(seen.ok, seen.text)
        if self._last_call and seen.call == self._last_call + 1:
            return honest
        for place, fate in enumerate(self._fates):
            if fate.call is not None or not _matches(fate.fault, seen):
                continue
            shown = self._corrupted(fate.fault, seen)
            if shown is None or shown == honest:
                continue
            self._fates[place] = fate.model_copy(
                update={"call": seen.call, "turn": seen.turn, "target": seen.target}
            )
            self._last_call = seen.call
            return Shown(shown.ok, shown.text, place + 1)
        return honest

    def _corrupted(self, fault: Fault, seen: Seen) -> Shown | None:
        """Return the answer that a fault shows, or None where it has none."""
        if fault.kind == "timeout":
            return Shown(ok=False, text=TIMEOUT_TEXT)
        if not seen.ok or fault.derive is None:
            return None
        text = self._derived(fault.derive, seen)
        return None if text is None else Shown(ok=True, text=text)

    def _derived(self, derive: Derive, seen: Seen) -> str | None:
        match derive:
            case "cut":
                return seen.text[: len(seen.text) * CUT_PERCENT // 100]
            case "variant":
                return self._scene.variants.get(seen.target)
            case "stale_db":
                return _stale(self._scene.stale_tables, seen.query)
            case "flip_report":
                return _flipped(seen.report, self._scene)
            case _:
                assert_never(derive)


def _matches(fault: Fault, seen: Seen) -> bool:
    tool_fits = seen.observes if fault.tool == ANY_OBSERVING else fault.tool == seen.tool
    return tool_fits and seen.call >= fault.from_call


def _stale(script: str, query: str) -> str | None:
    """Return the answer of the second database, if the query only reads and is answered there."""
    if not query:
        return None
    tables = Tables(script)
    try:
        answer = tables.ask(query)
    finally:
        tables.close()
    return answer.text if answer.ok else None


def _flipped(report: Report | None, scene: Scene) -> str | None:
    """Return a report that says the opposite: all green, or one test failing."""
    if report is None:
        return None
    if report.failing:
        return Report(tuple(Outcome(one.name, "ok") for one in report.outcomes)).text
    wrong = next((one for one in report.outcomes if one.name in scene.wrong_values), None)
    if wrong is None:
        return None
    failed = Outcome(wrong.name, "FAIL", scene.wrong_values[wrong.name])
    return Report(tuple(failed if one is wrong else one for one in report.outcomes)).text
