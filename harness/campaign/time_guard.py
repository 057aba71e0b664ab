"""Does the next run fit before the deadline? A pure function of history.

A run that cannot end in time is not started: half a run has no total, and the hours would be
taken from nobody's sleep for nothing.
"""

from dataclasses import dataclass

GROWTH = 1.15  # a run may take this much longer than the one before
RESERVE_S = 15 * 60.0  # for a slow start, a last long reply, and the stop


@dataclass(frozen=True)
class Fit:
    """Whether a run fits, and the arithmetic that says so.

    fits : True when there is no deadline
    needed_s, remaining_s : None where there is no deadline
    why : one line for the journal and for people
    """

    fits: bool
    needed_s: float | None
    remaining_s: float | None
    why: str


def next_run_fits(
    remaining_s: float | None, *, previous_s: float | None, estimate_s: float | None
) -> Fit:
    """Say whether a model's next run ends before the deadline.

    Parameters
    ----------
    remaining_s : until the deadline, from now; None without one
    previous_s : what this model's previous run took, from server start to server stop
    estimate_s : for its first run, a conservative estimate from measured speeds; None where
        nothing was measured: then the first run is started as long as any time beyond the
        reserve remains

    Returns
    -------
    Fit
    """
    if remaining_s is None:
        return Fit(fits=True, needed_s=None, remaining_s=None, why="no deadline")
    expected_s = previous_s if previous_s is not None else estimate_s
    basis = "its previous run took" if previous_s is not None else "it is estimated to take"
    if expected_s is None:
        needed_s = RESERVE_S
        told = f"nothing is known of its speed: {_hours(needed_s)} in reserve"
    else:
        needed_s = expected_s * GROWTH + RESERVE_S
        total = f"{_hours(needed_s)} with {GROWTH:g} × and {_hours(RESERVE_S)} in reserve"
        told = f"{basis} {_hours(expected_s)}: {total}"
    fits = needed_s <= remaining_s
    left = f"{'≤' if fits else '>'} {_hours(remaining_s)} left"
    if remaining_s <= 0:
        left = f"are needed, and the deadline passed {_hours(-remaining_s)} ago"
    return Fit(fits=fits, needed_s=needed_s, remaining_s=remaining_s, why=f"{told} {left}")


def _hours(seconds: float) -> str:
    """Return a duration as hours and minutes, seconds where it is short."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
