"""Run-to-run spread of one model's totals, and how little few runs say about it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from harness.errors import Problem, StatisticsError


@dataclass(frozen=True)
class Spread:
    """The sample mean and deviation of one model's runs, in points.

    sd, sd_low, sd_high : None with one run, and when all runs agree: zero observed spread is
        no estimate of zero
    """

    runs: int
    mean: float
    sd: float | None
    sd_low: float | None
    sd_high: float | None

    @property
    def all_equal(self) -> bool:
        """True when several runs gave the very same total."""
        return self.runs > 1 and self.sd is None


def run_spread(totals: ArrayLike, *, confidence: float = 0.95) -> Spread:
    """Return mean, sample deviation (n - 1) and the deviation's own interval.

    Parameters
    ----------
    totals : array of shape (n_runs,), points
        One total per run. A run that has no total is left out by the caller, never a zero.
    confidence : float in (0, 1), default 0.95
        Two-sided confidence of the interval of the deviation.

    Raises
    ------
    StatisticsError
        If there is no run at all.

    Notes
    -----
    Interval: ``s * sqrt((n - 1) / chi2)`` at both tails, for normal totals. With three runs its
    factors are 0.52 and 6.28.

    Examples
    --------
    >>> spread = run_spread([88.50, 88.50, 81.08])
    >>> round(spread.mean, 2), round(spread.sd, 2)
    (86.03, 4.28)
    >>> round(spread.sd_low, 2), round(spread.sd_high, 1)
    (2.23, 26.9)
    """
    values = np.asarray(totals, dtype=float)
    if values.size == 0:
        raise StatisticsError(
            "no run has a total", [Problem("totals", "empty", "complete a run first")]
        )
    mean = float(values.mean())
    if values.size == 1 or np.ptp(values) == 0:
        return Spread(int(values.size), mean, None, None, None)
    sd = float(values.std(ddof=1))
    df = values.size - 1
    tail = (1 - confidence) / 2
    low, high = (sd * float(np.sqrt(df / chi2.ppf(q, df))) for q in (1 - tail, tail))
    return Spread(int(values.size), mean, sd, low, high)
