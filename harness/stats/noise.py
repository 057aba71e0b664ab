"""Run-to-run spread of one model's totals, and how little few runs say about it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import Problem, StatisticsError
from harness.stats.quantiles import chi2_quantile

# Scores are rounded to 1e-6 points; a smaller range is rounding inside a sum, not spread.
SAME = 1e-9


@dataclass(frozen=True)
class Spread:
    """The sample mean and deviation of one model's runs, in points.

    sd, sd_low, sd_high : None with one run, when the runs are copies of each other, and when all
        runs agree: zero observed spread is no estimate of zero
    copied : True when two runs hold the same transcripts
    """

    runs: int
    mean: float
    sd: float | None
    sd_low: float | None
    sd_high: float | None
    copied: bool = False

    @property
    def all_equal(self) -> bool:
        """True when several runs gave the very same total."""
        return self.runs > 1 and self.sd is None and not self.copied

    @property
    def sentence(self) -> str:
        """What must be printed beside σ."""
        if self.runs == 1:
            return "from one run nothing is known about sigma"
        if self.copied:
            return "runs are copies of each other; sigma refused"
        if self.sd is None:
            return "0 observed; sigma not estimable"
        return few_runs_sentence(self.runs)


def run_spread(totals: ArrayLike, *, confidence: float = 0.95, copied: bool = False) -> Spread:
    """Return mean, sample deviation (n - 1) and the deviation's own interval.

    Parameters
    ----------
    totals : array of shape (n_runs,), points
        One total per run; NaN where a run has no total, never a zero.
    confidence : float in (0, 1), default 0.95
        Two-sided confidence of the interval of the deviation.
    copied : bool
        True when two of the runs hold the same transcripts (see `copies`): σ is then refused.

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
    values = values[~np.isnan(values)]
    if values.size == 0:
        raise StatisticsError(
            "no run has a total", [Problem("totals", "empty", "complete a run first")]
        )
    mean = float(values.mean())
    if copied or values.size == 1 or np.ptp(values) <= SAME:
        return Spread(int(values.size), mean, None, None, None, copied=copied)
    sd = float(values.std(ddof=1))
    low, high = sigma_factors(values.size - 1, confidence=confidence)
    return Spread(int(values.size), mean, sd, sd * low, sd * high)


def sigma_factors(df: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return what an observed deviation is multiplied by at both ends of its interval.

    Examples
    --------
    >>> [round(f, 6) for f in sigma_factors(2)]
    [0.520658, 6.284735]
    """
    tail = (1 - confidence) / 2
    return (
        math.sqrt(df / chi2_quantile(1 - tail, df)),
        math.sqrt(df / chi2_quantile(tail, df)),
    )


def df_for_upper_factor(factor: float, *, confidence: float = 0.95) -> int:
    """Return how many degrees of freedom bring the upper end of σ below `factor` times itself.

    Examples
    --------
    >>> df_for_upper_factor(1.5), df_for_upper_factor(1.25)
    (17, 48)
    """
    if factor <= 1:
        raise StatisticsError(
            "no number of runs is enough",
            [Problem("factor", f"{factor}", "the upper end always lies above sigma itself")],
        )
    df = 1
    while sigma_factors(df, confidence=confidence)[1] >= factor:
        df += 1
    return df


def few_runs_sentence(runs: int) -> str:
    """Return the sentence that a σ from this many runs deserves.

    Examples
    --------
    >>> few_runs_sentence(3)
    'from 3 runs, sigma is known only to between half and six times the printed value'
    >>> few_runs_sentence(5)
    'from 5 runs, sigma is known only to between 0.60 and 2.87 times the printed value'
    """
    low, high = sigma_factors(runs - 1)
    ends = "half and six" if runs == 3 else f"{low:.2f} and {high:.2f}"  # 0.52 and 6.28
    return f"from {runs} runs, sigma is known only to between {ends} times the printed value"
