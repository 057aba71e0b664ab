"""Repeated passes of one check: how often all of k runs pass, or any, and what a count bounds."""

import math
from dataclasses import dataclass

from scipy import special

from harness.stats.intake import refuse


@dataclass(frozen=True)
class RateBounds:
    """Bounds on a rate after `passes` of `runs`.

    exact, jeffreys, wilson : two-sided (low, high)
    at_least, at_most : one-sided exact bounds
    """

    passes: int
    runs: int
    exact: tuple[float, float]
    at_least: float
    at_most: float
    jeffreys: tuple[float, float]
    wilson: tuple[float, float]


def pass_all(passes: int, runs: int, k: int) -> float:
    """Return the chance that k runs out of these all pass (pass^k), without bias.

    ``(passes / runs) ** k`` would be biased: 2 of 3 passes give 0 for k = 3, not 8/27.

    Examples
    --------
    >>> round(pass_all(3, 5, 2), 6), pass_all(2, 3, 3)
    (0.3, 0.0)
    """
    _refuse_impossible(passes, runs, k)
    return math.comb(passes, k) / math.comb(runs, k)


def pass_any(passes: int, runs: int, k: int) -> float:
    """Return the chance that one of k runs out of these passes (pass@k), without bias.

    Examples
    --------
    >>> round(pass_any(3, 5, 2), 6)
    0.9
    """
    _refuse_impossible(passes, runs, k)
    return 1 - math.comb(runs - passes, k) / math.comb(runs, k)


def rate_bounds(passes: int, runs: int, *, confidence: float = 0.95) -> RateBounds:
    """Return what a count of passes says about the rate behind it.

    Examples
    --------
    >>> three = rate_bounds(3, 3)
    >>> round(three.wilson[0], 4), round(three.jeffreys[0], 4), round(three.at_least, 4)
    (0.4385, 0.4644, 0.3684)
    """
    _refuse_impossible(passes, runs, 1)
    tail = (1 - confidence) / 2
    return RateBounds(
        passes=passes,
        runs=runs,
        exact=(_exact_low(passes, runs, tail), 1 - _exact_low(runs - passes, runs, tail)),
        at_least=_exact_low(passes, runs, 2 * tail),
        at_most=1 - _exact_low(runs - passes, runs, 2 * tail),
        jeffreys=(
            _jeffreys_low(passes, runs, tail),
            1 - _jeffreys_low(runs - passes, runs, tail),
        ),
        wilson=_wilson(passes, runs, tail),
    )


def _exact_low(passes: int, runs: int, tail: float) -> float:
    return float(special.betaincinv(passes, runs - passes + 1, tail)) if passes else 0.0


def _jeffreys_low(passes: int, runs: int, tail: float) -> float:
    return float(special.betaincinv(passes + 0.5, runs - passes + 0.5, tail)) if passes else 0.0


def _wilson(passes: int, runs: int, tail: float) -> tuple[float, float]:
    z = -float(special.ndtri(tail))
    rate = passes / runs
    centre = rate + z * z / (2 * runs)
    reach = z * math.sqrt(rate * (1 - rate) / runs + z * z / (4 * runs**2))
    scale = 1 + z * z / runs
    return max((centre - reach) / scale, 0.0), min((centre + reach) / scale, 1.0)


def _refuse_impossible(passes: int, runs: int, k: int) -> None:
    if not (0 <= passes <= runs and 1 <= k <= runs):
        raise refuse(
            "repeats that were not run",
            "k",
            f"{passes} passes, {runs} runs, k = {k}",
            "k at most the number of runs; more cannot be known from fewer",
        )
