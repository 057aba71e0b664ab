"""How small a gap this campaign could have seen."""

import math
from dataclasses import dataclass

from harness.stats.intake import refuse
from harness.stats.noise import sigma_factors
from harness.stats.quantiles import (
    detectable_noncentrality,
    studentized_range_quantile,
    t_quantile,
)


@dataclass(frozen=True)
class Resolution:
    """Three gaps between two mean totals, in points.

    critical : smallest observed gap of one declared pair that would count
    critical_all_pairs : the same when all pairs are looked at
    detectable : smallest true gap of one declared pair that one would usually catch
    power : how often "usually" is
    """

    sigma: float
    runs: int
    models: int
    df: float
    critical: float
    critical_all_pairs: float
    detectable: float
    power: float


def resolution(
    sigma: float,
    *,
    runs: int,
    models: int,
    df: float,
    power: float = 0.80,
    confidence: float = 0.95,
) -> Resolution:
    """Return critical and detectable differences for a run-to-run deviation.

    Parameters
    ----------
    sigma : float, points
        Residual deviation of one run: of the two-way fit in a paired design.
    runs, models : int
    df : float
        Degrees of freedom sigma was estimated on.

    Notes
    -----
    ``critical = t * sigma * sqrt(2 / runs)``, ``critical_all_pairs = q * sigma / sqrt(runs)``,
    ``detectable = lambda * sigma * sqrt(2 / runs)`` with lambda from the noncentral t.

    Examples
    --------
    Two points of 200 are not sustained by three runs at σ = 1.5, even for two models alone:

    >>> seen = resolution(1.5, runs=3, models=2, df=4)
    >>> round(seen.critical, 3), round(seen.detectable, 3)
    (3.4, 4.606)
    """
    if sigma <= 0 or runs < 1 or models < 2 or df <= 0:
        raise refuse(
            "no resolution to compute",
            "sigma",
            f"sigma {sigma}, {runs} runs, {models} models, {df} degrees of freedom",
            "a positive sigma from two runs of two models",
        )
    se = sigma * math.sqrt(2 / runs)
    studentized = studentized_range_quantile(confidence, models, df)
    return Resolution(
        sigma=sigma,
        runs=runs,
        models=models,
        df=df,
        critical=t_quantile((1 + confidence) / 2, df) * se,
        critical_all_pairs=studentized * sigma / math.sqrt(runs),
        detectable=detectable_noncentrality(power, df, confidence) * se,
        power=power,
    )


def resolution_band(
    sigma: float, *, runs: int, models: int, df: float, power: float = 0.80
) -> tuple[Resolution, Resolution, Resolution]:
    """Return the resolution at the lower end of σ's interval, at σ, and at the upper end."""
    low, high = sigma_factors(df)
    at_low, at_sigma, at_high = (
        resolution(sigma * factor, runs=runs, models=models, df=df, power=power)
        for factor in (low, 1.0, high)
    )
    return at_low, at_sigma, at_high
