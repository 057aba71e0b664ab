"""Matched differences, and the proof that one is small: not significant is not equivalent."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness.stats.intake import read, refuse
from harness.stats.interval import Interval, t_interval


@dataclass(frozen=True)
class MatchedDifference:
    """Mean difference of matched items, first minus second.

    clusters : independent groups of pairs (templates); the interval has one df less
    p : two-sided, of no difference
    """

    pairs: int
    clusters: int
    interval: Interval
    p: float


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests that a difference lies inside ±margin.

    interval : at confidence ``1 - 2 * alpha``; equivalent when it lies inside the margin
    p : the larger of the two
    """

    margin: float
    p: float
    interval: Interval
    equivalent: bool


def matched_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> MatchedDifference:
    """Return the mean difference of matched items, clustered by template.

    Parameters
    ----------
    first, second : arrays of shape (n_pairs,), shares of the maximum
    clusters : n_pairs template ids, optional
        Pairs of one template are one observation; without them each pair is its own.

    Raises
    ------
    StatisticsError
        With fewer than two clusters, or when all differences agree: no precision was observed.

    Notes
    -----
    ``SE² = G / (G - 1) * sum over clusters of (sum of d - mean)² / K²``, which is ``s² / K`` when
    each pair is its own cluster.

    Examples
    --------
    >>> found = matched_difference([0.90, 0.80, 0.70, 0.95], [0.80, 0.82, 0.60, 0.81])
    >>> round(found.interval.centre, 4), round(found.interval.se, 4), round(found.interval.half, 4)
    (0.08, 0.0346, 0.1102)
    """
    one, other = (read(x, "pairs", ndim=1, complete=True) for x in (first, second))
    names = list(range(one.size)) if clusters is None else list(clusters)
    if one.size != other.size or one.size != len(names):
        raise refuse(
            "items that do not match",
            "pairs",
            f"{one.size} first, {other.size} second, {len(names)} templates",
            "one of each per pair",
        )
    d = one - other
    place = {name: k for k, name in enumerate(dict.fromkeys(names))}
    sums = np.bincount([place[name] for name in names], weights=d - d.mean())
    if len(place) < 2 or float(np.abs(sums).max()) <= 1e-12:
        raise refuse(
            "no precision was observed",
            "pairs",
            f"{len(place)} template(s), differences {'all equal' if len(place) > 1 else 'of one'}",
            "more templates, none of them solved by all or by none",
        )
    variance = float((sums**2).sum()) * len(place) / (len(place) - 1) / d.size**2
    se, df = math.sqrt(variance), len(place) - 1
    centre = float(d.mean())
    return MatchedDifference(
        pairs=d.size,
        clusters=len(place),
        interval=t_interval(centre, se, df, confidence=confidence),
        p=2 * float(special.stdtr(df, -abs(centre) / se)),
    )


def equivalence(
    estimate: float, se: float, df: float, *, margin: float, alpha: float = 0.05
) -> Equivalence:
    """Test that a difference lies inside ±margin (two one-sided t tests).

    Examples
    --------
    >>> small = equivalence(0.4, 0.9, 10, margin=3.0)
    >>> round(small.p, 5), round(small.interval.high, 3), small.equivalent
    (0.00807, 2.031, True)
    """
    if se <= 0 or df <= 0 or margin <= 0:
        raise refuse(
            "equivalence cannot be tested",
            "se",
            f"standard error {se}, {df} degrees of freedom, margin {margin}",
            "differences that vary, and a margin declared before seeing them",
        )
    p = float(special.stdtr(df, (abs(estimate) - margin) / se))
    interval = t_interval(estimate, se, df, confidence=1 - 2 * alpha)
    inside = -margin < interval.low and interval.high < margin
    return Equivalence(margin, p, interval, inside)
