"""Means of models with intervals that few runs can carry (universe U2: further schedules)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse
from harness.stats.interval import Interval, t_interval
from harness.stats.noise import Spread, run_spread, sigma_factors

# Declared before any score was seen, never estimated: six variances on 2 df each cannot say how
# strongly they should be pulled together, and estimating it covered no better.
PRIOR_DF = 4.0

# Half a point, squared. Totals of a few agreeing runs lie on a lattice; no instrument that scores
# in steps of a quarter point knows a variance below this.
LATTICE_FLOOR = 0.25


@dataclass(frozen=True)
class PooledSigma:
    """One deviation for several models, in points.

    low, high : None when nothing but the lattice floor was seen
    """

    sd: float
    df: float
    low: float | None
    high: float | None
    floored: bool


@dataclass(frozen=True)
class ModelMean:
    """One model's mean total.

    raw : t interval from its own deviation; None with one run and when all runs agree
    shrunk : the default interval; None when no model at all has a second run
    """

    runs: int
    mean: float
    spread: Spread
    raw: Interval | None
    shrunk: Interval | None

    @property
    def shrunk_sd(self) -> float | None:
        """The deviation behind the default interval, to be printed where none was observed."""
        return None if self.shrunk is None else self.shrunk.se * math.sqrt(self.runs)


def pooled_variance(variance: float, df: float, *, floor: float = LATTICE_FLOOR) -> PooledSigma:
    """Return a variance on `df` degrees of freedom as a deviation, floored at the lattice."""
    if variance <= floor:
        return PooledSigma(math.sqrt(floor), df, None, None, floored=True)
    sd = math.sqrt(variance)
    low, high = sigma_factors(df)
    return PooledSigma(sd, df, sd * low, sd * high, floored=False)


def pooled_sigma(totals: ArrayLike, *, floor: float = LATTICE_FLOOR) -> PooledSigma:
    """Pool the run-to-run deviation over models: ``SS_within / sum(n_m - 1)``.

    Parameters
    ----------
    totals : array of shape (n_models, n_runs), points
        NaN where a run has no total.
    floor : float, points squared
        Smallest variance that is believed.

    Raises
    ------
    StatisticsError
        If no model has two runs.

    Notes
    -----
    The degrees of freedom are overstated when schedules matter, because all models share them;
    `twoway.schedule_sigma` is then the one to print.
    """
    _, _, ss, df = within_models(read(totals, "totals", ndim=2))
    if not df.sum():
        raise refuse(
            "sigma from one run", "totals", "no model has two runs", "run every model again"
        )
    return pooled_variance(float(ss.sum() / df.sum()), float(df.sum()), floor=floor)


def shrink_variances(
    variances: ArrayLike,
    dfs: ArrayLike,
    *,
    prior_df: float = PRIOR_DF,
    floor: float = LATTICE_FLOOR,
) -> tuple[float, ...]:
    """Pull each model's variance towards the pooled one.

    Parameters
    ----------
    variances, dfs : arrays of shape (n_models,)
        A model with 0 degrees of freedom gets the pooled variance.

    Notes
    -----
    ``(d0 * pooled + df * s²) / (d0 + df)`` with d0 = 4 fixed and declared.

    Examples
    --------
    >>> [round(v, 4) for v in shrink_variances([1.0, 4.0, 16.0, 0.0], [2, 2, 2, 2])]
    [3.8333, 4.8333, 8.8333, 3.5]
    """
    s2 = read(variances, "variances", ndim=1, complete=True)
    df = read(dfs, "dfs", ndim=1, complete=True)
    if not df.sum():
        raise refuse("nothing to pool", "dfs", "all are 0", "run every model again")
    pooled = max(float((s2 * df).sum() / df.sum()), floor)
    shrunk = (prior_df * pooled + df * s2) / (prior_df + df)
    return tuple(shrunk.tolist())


def model_means(
    totals: ArrayLike,
    *,
    confidence: float = 0.95,
    prior_df: float = PRIOR_DF,
    floor: float = LATTICE_FLOOR,
) -> tuple[ModelMean, ...]:
    """Return each model's mean with its shrunken-variance interval and its raw t interval.

    Answers "where would this model's mean over further schedules of this kind lie?". It says
    nothing about other tasks (see `beyond`) and is no test between two models (see `pairs`).

    Parameters
    ----------
    totals : array of shape (n_models, n_runs), points
        NaN where a run has no total, never a zero; every model needs one run at least.

    Raises
    ------
    StatisticsError
        If a model has no run at all.

    Notes
    -----
    The shrunken interval has ``d0 + n - 1`` degrees of freedom, but never more than all models
    together hold: one model alone has nobody to borrow from, and its two intervals agree.
    One run: pooled variance on d0 degrees of freedom; no interval if nobody has a second run.

    Examples
    --------
    >>> mean, = model_means([[88.50, 88.50, 81.08]])
    >>> round(mean.mean, 2), round(mean.raw.half, 2), round(mean.shrunk.half, 2)
    (86.03, 10.64, 10.64)
    """
    values = read(totals, "totals", ndim=2)
    n, _, ss, df = within_models(values)
    if not n.all():
        raise refuse(
            f"{int((n == 0).sum())} model(s) without a run",
            "totals",
            f"rows {np.flatnonzero(n == 0).tolist()} hold no total",
            "leave these models out",
        )
    own = np.where(df > 0, ss / np.maximum(df, 1), 0.0)
    known = float(df.sum())
    shrunk = shrink_variances(own, df, prior_df=prior_df, floor=floor) if known else [None] * n.size
    return tuple(
        _model_mean(row, int(n_m), s2, min(prior_df + n_m - 1, known), confidence)
        for row, n_m, s2 in zip(values, n.tolist(), shrunk, strict=True)
    )


def _model_mean(
    row: Array, runs: int, variance: float | None, df: float, confidence: float
) -> ModelMean:
    spread = run_spread(row, confidence=confidence)
    raw = shrunk = None
    if spread.sd is not None:
        raw = t_interval(spread.mean, spread.sd / math.sqrt(runs), runs - 1, confidence=confidence)
    if variance is not None:
        shrunk = t_interval(spread.mean, math.sqrt(variance / runs), df, confidence=confidence)
    return ModelMean(runs, spread.mean, spread, raw, shrunk)


def within_models(values: Array) -> tuple[Array, Array, Array, Array]:
    """Return per model: runs, mean (NaN without a run), sum of squares, degrees of freedom."""
    seen = ~np.isnan(values)
    n = seen.sum(axis=1).astype(float)
    filled = np.where(seen, values, 0.0)
    mean = np.where(n > 0, filled.sum(axis=1) / np.maximum(n, 1), np.nan)
    centred = np.where(seen, values - mean[:, None], 0.0)
    return n, mean, (centred**2).sum(axis=1), np.maximum(n - 1, 0)
