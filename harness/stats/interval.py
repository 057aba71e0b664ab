"""A t interval, and the degrees of freedom of a sum of mean squares."""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from harness.stats.intake import read, refuse
from harness.stats.quantiles import t_quantile


@dataclass(frozen=True)
class Interval:
    """A two-sided interval, unclipped: 203 of 200 points stays visible to whoever computes on."""

    centre: float
    se: float
    df: float
    confidence: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of its width."""
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """True when the value lies outside."""
        return value < self.low or value > self.high

    def clipped(self, low: float, high: float) -> tuple[float, float]:
        """Return both ends for display on a scale that has two ends."""
        return min(max(self.low, low), high), min(max(self.high, low), high)


def t_interval(centre: float, se: float, df: float, *, confidence: float = 0.95) -> Interval:
    """Return ``centre ± t(confidence, df) * se``."""
    half = t_quantile((1 + confidence) / 2, df) * se
    return Interval(centre, se, df, confidence, centre - half, centre + half)


def satterthwaite(coefficients: ArrayLike, mean_squares: ArrayLike, dfs: ArrayLike) -> float:
    """Return the degrees of freedom of ``sum(c * MS)`` for independent mean squares.

    Parameters
    ----------
    coefficients, mean_squares, dfs : arrays of the same shape (n,)

    Raises
    ------
    StatisticsError
        If the sum is zero: no variance was seen and no degrees of freedom can be given to it.

    Examples
    --------
    Two samples of three runs, variances 3 and 1, standard error of the difference of means:

    >>> round(satterthwaite([1 / 3, 1 / 3], [3.0, 1.0], [2, 2]), 6)
    3.2
    """
    c = read(coefficients, "coefficients", ndim=1, complete=True)
    terms = c * read(mean_squares, "mean_squares", ndim=1, complete=True)
    df = read(dfs, "dfs", ndim=1, complete=True)
    total = math.fsum(terms.tolist())
    if total == 0:
        raise refuse(
            "degrees of freedom of nothing", "mean_squares", "they sum to 0", "more varied runs"
        )
    return total**2 / math.fsum((terms**2 / df).tolist())
