"""When a campaign has to be over, and how long it is until then."""

import math
from datetime import datetime, timedelta

from harness.clock import Clock
from harness.errors import PlanError, Problem
from harness.records.campaign import CampaignPlan

HOW = 'write "07:00" (the next time it is so late here) or "2026-11-30T07:00"; a plan: hours = 9'


UNTIL = "until "  # before the deadline of a pass, in the journal


class Countdown:
    """The time until a deadline, by two clocks: never more than either of them allows.

    A wall clock that is set back does not put the deadline off, because the monotonic clock goes
    on. A machine that slept has lost the time, because its wall clock was set forward meanwhile.

    Parameters
    ----------
    deadline : aware; None if there is none
    clock : read now, and at each question
    """

    def __init__(self, deadline: datetime | None, clock: Clock) -> None:
        self._deadline = deadline
        self._clock = clock
        self._began = clock.monotonic()
        self._at_first_s = self._by_the_wall()

    def left_s(self) -> float:
        """Return the seconds that are left; infinite without a deadline, negative after it."""
        by_the_pulse = self._at_first_s - (self._clock.monotonic() - self._began)
        return min(self._by_the_wall(), by_the_pulse)

    def _by_the_wall(self) -> float:
        if self._deadline is None:
            return math.inf
        return (self._deadline - self._clock.now()).total_seconds()


def until_text(deadline: datetime | None) -> str:
    """Return what the journal says of the deadline of a pass; empty without one."""
    return "" if deadline is None else UNTIL + deadline.isoformat(timespec="seconds")


def deadline_of(plan: CampaignPlan, now: datetime) -> datetime | None:
    """Return the moment that a plan names, or None.

    Parameters
    ----------
    now : aware, in local time

    Raises
    ------
    PlanError
        If it is no moment, has passed already, or lies beyond the calendar.
    """
    if plan.hours is not None:
        try:
            return now + timedelta(hours=plan.hours)
        except OverflowError as error:
            problem = Problem("hours", f"{plan.hours:g} hours end after the last year", HOW)
            raise PlanError("the deadline cannot be read", [problem], "Nothing was run.") from error
    return None if plan.deadline is None else moment_of(plan.deadline, now)


def moment_of(text: str, now: datetime) -> datetime:
    """Return the moment that a text names: a time of day is the next such one.

    Raises
    ------
    PlanError
        If it is no moment, or has passed already.
    """
    try:
        moment = _moment(text, now)
    except ValueError as error:
        problem = Problem("deadline", f"{text!r} is no time: {error}", HOW)
        raise PlanError("the deadline cannot be read", [problem], "Nothing was run.") from error
    if moment <= now:
        problem = Problem("deadline", f"{text!r} was {now - moment} ago", HOW)
        raise PlanError("the deadline has passed", [problem], "Nothing was run.")
    return moment


def _moment(text: str, now: datetime) -> datetime:
    if len(text) == len("07:00"):
        at = datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 (the day comes from `now`)
        moment = datetime.combine(now.date(), at, tzinfo=now.tzinfo)
        return moment if moment > now else moment + timedelta(days=1)
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
