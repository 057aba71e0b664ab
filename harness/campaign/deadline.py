"""When a campaign has to be over, and how long it is until then."""

import math
from datetime import UTC, datetime, timedelta

from harness.campaign.durations import duration
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
        self._ends = math.inf  # on the monotonic clock: the soonest that the wall has said so far
        self.left_s()

    def left_s(self) -> float:
        """Return the seconds that are left; infinite without a deadline, negative after it.

        It never grows: who was told how long a call may take would find time left at its end, and
        take what the deadline cut for what the model was too slow for.
        """
        now = self._clock.monotonic()
        self._ends = min(self._ends, now + self._by_the_wall())
        return self._ends - now

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
        moment.astimezone(UTC)  # as it is written down: not every last date of a zone has one
    except (ValueError, OverflowError) as error:
        problem = Problem("deadline", f"{text!r} is no time: {error}", HOW)
        raise PlanError("the deadline cannot be read", [problem], "Nothing was run.") from error
    if moment <= now:
        ago = duration((now - moment).total_seconds())
        problem = Problem("deadline", f"{text!r} was {ago} ago; it is {now:%Y-%m-%dT%H:%M}", HOW)
        raise PlanError("the deadline has passed", [problem], "Nothing was run.")
    return moment


def _moment(text: str, now: datetime) -> datetime:
    if len(text) == len("07:00"):
        at = datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007 (the day comes from `now`)
        moment = _here(datetime.combine(now.date(), at), now)
        tomorrow = now.date() + timedelta(days=1)
        return moment if moment > now else _here(datetime.combine(tomorrow, at), now)
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else _here(moment, now)


def _here(moment: datetime, now: datetime) -> datetime:
    """Return what a clock on the wall shows as a moment; the wall is where `now` was read.

    What this machine calls local time has one offset in the evening and another in the morning
    of the night in which clocks are changed, so its own rules are asked, and not the evening's.
    """
    if now.astimezone().utcoffset() == now.utcoffset():
        return moment.astimezone()
    return moment.replace(tzinfo=now.tzinfo)
