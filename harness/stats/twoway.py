"""Model × schedule: what remains of the noise once both are taken out, complete or not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse
from harness.stats.interval import satterthwaite
from harness.stats.means import LATTICE_FLOOR, PooledSigma, pooled_variance

PAIRING_IS_WORTH = 1.2  # a gain below this is printed as "pairing bought nothing"


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Least-squares fit of ``total = model + schedule + residual``.

    effects : shape (n_models,), points; adjusted for the schedules a model did not meet
    covariance : shape (n_models, n_models); times the residual variance it is the covariance of
        the effects, valid for differences inside one group
    groups : shape (n_models,); models that no chain of common schedules links differ here
    ms_error, df_error : residual mean square (unfloored)
    ms_within, df_within : mean square within models, schedules ignored
    schedule : raw variance component of the schedule, negative when it is indistinct from none
    """

    runs: tuple[int, ...]
    effects: Array
    covariance: Array
    groups: tuple[int, ...]
    balanced: bool
    ms_error: float
    df_error: int
    ms_within: float
    df_within: int
    schedule: float
    schedule_weight: float
    floor: float

    @property
    def error_variance(self) -> float:
        """Residual variance that is believed, points squared."""
        return max(self.ms_error, self.floor)

    @property
    def pairing_gain(self) -> float:
        """How many times the variance of a difference would be larger without pairing."""
        return max(self.ms_within, self.floor) / self.error_variance

    @property
    def pairing_helps(self) -> bool:
        """False when "pairing bought nothing" must be printed; the analysis stays paired."""
        return self.pairing_gain >= PAIRING_IS_WORTH


def fit_two_way(totals: ArrayLike, *, floor: float = LATTICE_FLOOR) -> TwoWay:
    """Fit models and schedules to totals, balanced or not.

    Parameters
    ----------
    totals : array of shape (n_models, n_runs), points
        Column r is run number r of the same schedule file for every model; NaN where a run has no
        total. A schedule that one model alone finished drops out by itself.

    Raises
    ------
    StatisticsError
        If there is one model, a model without a run, or no residual degree of freedom (one run).

    Notes
    -----
    Schedules are eliminated first: each total counts against the mean of its own run, so adding a
    constant to a run changes nothing. The schedule's component is Henderson's third method, which
    is ``(MS_schedule - MS_error) / n_models`` on complete data.
    """
    y = read(totals, "totals", ndim=2)
    seen = ~np.isnan(y)
    _refuse_unusable(seen)
    weight = seen.astype(float)
    n, k = weight.sum(axis=1), weight.sum(axis=0)
    share = weight / np.maximum(k, 1)
    normal = np.diag(n) - weight @ share.T
    covariance = np.linalg.pinv(normal, rcond=1e-10, hermitian=True)
    effects = covariance @ _centred(y, seen, axis=0).sum(axis=1)
    residual = _centred(y - effects[:, None], seen, axis=0)
    within = _centred(y, seen, axis=1)
    groups = _linked(seen)
    df_within = int(n.sum()) - n.size
    df_error = df_within - int((k > 0).sum()) + len(set(groups))
    if df_error < 1:
        raise refuse(
            "no residual to judge by",
            "totals",
            f"{n.size} models, {[int(i) for i in n]} runs: no common second run",
            "complete a second run with the same schedule",
        )
    ss_error, ss_within = float((residual**2).sum()), float((within**2).sum())
    df_runs = df_within - df_error
    spread = float((k - (weight / n[:, None]).sum(axis=0)).sum())
    ms_runs = (ss_within - ss_error) / df_runs
    return TwoWay(
        runs=tuple(int(i) for i in n),
        effects=_anchored(effects, y, groups),
        covariance=covariance,
        groups=groups,
        balanced=bool(seen[:, k > 0].all()),
        ms_error=ss_error / df_error,
        df_error=df_error,
        ms_within=ss_within / df_within,
        df_within=df_within,
        schedule=df_runs / spread * (ms_runs - ss_error / df_error),
        schedule_weight=df_runs / spread,
        floor=floor,
    )


def schedule_sigma(fit: TwoWay) -> PooledSigma:
    """Return the run-to-run deviation with degrees of freedom that know of common schedules.

    Notes
    -----
    The variance is schedule + residual, a weighted sum of two mean squares; its degrees of freedom
    are Satterthwaite's, which lie far below those of the pooled σ when schedules matter.
    """
    df_runs = fit.df_within - fit.df_error
    ss_runs = fit.ms_within * fit.df_within - fit.ms_error * fit.df_error
    parts = [fit.schedule_weight, 1 - fit.schedule_weight]
    squares = [ss_runs / df_runs, fit.ms_error]
    variance = sum(p * s for p, s in zip(parts, squares, strict=True))
    if variance <= fit.floor:
        return pooled_variance(variance, fit.df_within, floor=fit.floor)
    return pooled_variance(
        variance, satterthwaite(parts, squares, [df_runs, fit.df_error]), floor=fit.floor
    )


def _refuse_unusable(seen: np.ndarray) -> None:
    if seen.shape[0] < 2:
        raise refuse("one model has no pair", "totals", "1 model", "compare two or more")
    empty = np.flatnonzero(~seen.any(axis=1))
    if empty.size:
        raise refuse(
            f"{empty.size} model(s) without a run",
            "totals",
            f"rows {empty.tolist()} hold no total",
            "leave these models out",
        )


def _centred(y: Array, seen: np.ndarray, *, axis: int) -> Array:
    """Return y minus its mean over the axis, 0 where a value is missing."""
    filled = np.where(seen, y, 0.0)
    count = np.maximum(seen.sum(axis=axis, keepdims=True), 1)
    return np.where(seen, y - filled.sum(axis=axis, keepdims=True) / count, 0.0)


def _linked(seen: np.ndarray) -> tuple[int, ...]:
    """Number the models by group: two are linked when a chain of common runs joins them."""
    joined = (seen.astype(int) @ seen.T.astype(int)) > 0
    group = list(range(seen.shape[0]))
    for i, j in zip(*np.nonzero(joined), strict=True):
        old, new = max(group[i], group[j]), min(group[i], group[j])
        group = [new if g == old else g for g in group]
    return tuple(group)


def _anchored(effects: Array, y: Array, groups: tuple[int, ...]) -> Array:
    """Lift the effects of each group to the scale of its models' own means."""
    means = np.nanmean(y, axis=1)
    lifted = effects.copy()
    for group in set(groups):
        members = [m for m, g in enumerate(groups) if g == group]
        lifted[members] += (means[members] - effects[members]).mean()
    return lifted
