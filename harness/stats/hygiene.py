"""Every run scored twice, as it is and repaired: what forgiveness changed, to the last point."""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from harness.stats.intake import Array, read, refuse
from harness.stats.levels import LevelATotals, refuse_mixed
from harness.stats.noise import SAME, Spread, run_spread
from harness.stats.ranks import Ranking, rank

BALANCE = 1e-6  # points; scores are rounded to this
TOUCHED_RUNS, TOUCHED_MODELS = 5, 3  # with fewer a test of two deviations has nothing to go by


@dataclass(frozen=True)
class VarianceIdentity:
    """``as_is = repaired + delta + cross``, points squared; cross is -2 Cov(repaired, delta)."""

    as_is: float
    repaired: float
    delta: float
    cross: float


@dataclass(frozen=True)
class SpreadRatio:
    """Two deviations of the same runs.

    reduction : share of the deviation that repair removes
    f : ratio of the variances
    nominal_p : one-sided; nominal because both samples are the same runs
    """

    reduction: float
    f: float
    nominal_p: float


@dataclass(frozen=True)
class Counterfactual:
    """One model's runs as they are and repaired.

    rows : total change of each row over the runs, points; they add up to the change of the totals
    touched : runs in which any row changed
    delta_sd, identity, p : None with one run; p also when no or every run changed by the same
    ratio : None unless both deviations were observed
    """

    as_is: Spread
    repaired: Spread
    rows: tuple[float, ...]
    touched: int
    delta_mean: float
    delta_sd: float | None
    p: float | None
    identity: VarianceIdentity | None
    ratio: SpreadRatio | None


@dataclass(frozen=True)
class SigmaTest:
    """Pitman and Morgan's test that repair leaves the run-to-run deviation alone.

    p : two-sided; None when the test is refused, and refused then says why
    """

    touched_runs: int
    touched_models: int
    correlation: float | None
    p: float | None
    refused: str


@dataclass(frozen=True)
class RankShift:
    """The order under both scorings; moved marks models whose rank set or place depends on it."""

    as_is: Ranking
    repaired: Ranking
    moved: tuple[bool, ...]


def counterfactual(
    as_is: ArrayLike, row_deltas: ArrayLike, *, repaired: ArrayLike | None = None
) -> Counterfactual:
    """Return what repair changed in one model's runs.

    An exact rescoring of these runs, not the estimate of a law.

    Parameters
    ----------
    as_is : array of shape (n_runs,), points
        NaN where a run has no total.
    row_deltas : array of shape (n_runs, n_rows), points
        Repaired minus as-is of each row.
    repaired : array of shape (n_runs,), points, optional
        Totals under repair as they were scored; held against the rows. Without them the rows say
        what they are.

    Raises
    ------
    StatisticsError
        If a total changes by another amount than its rows: the ledger is then not the whole story.

    Examples
    --------
    >>> changed = counterfactual([88.50, 88.50, 81.08], [[0.0], [0.0], [4.80]])
    >>> round(changed.repaired.mean, 2), round(changed.ratio.reduction, 3)
    (87.63, 0.647)
    """
    a = read(as_is, "as_is", ndim=1)
    deltas = read(row_deltas, "row_deltas", ndim=2)
    if len(deltas) != a.size:
        raise refuse("a ledger of other runs", "row_deltas", f"{len(deltas)}, not {a.size}", "")
    kept = ~np.isnan(a)
    a, deltas = a[kept], deltas[kept]
    if np.isnan(deltas).any():
        raise refuse("a ledger with holes", "row_deltas", "a row is missing", "score all rows")
    p = a + deltas.sum(axis=1)
    if repaired is not None:
        _refuse_unbalanced(a, p, read(repaired, "repaired", ndim=1)[kept])
    d = p - a
    return Counterfactual(
        as_is=run_spread(a),
        repaired=run_spread(p),
        rows=tuple(deltas.sum(axis=0).tolist()),
        touched=int((np.abs(deltas) > SAME).any(axis=1).sum()),
        delta_mean=float(d.mean()),
        delta_sd=float(d.std(ddof=1)) if d.size > 1 else None,
        p=_paired_p(d),
        identity=_identity(a, p, d),
        ratio=_ratio(run_spread(a), run_spread(p)),
    )


def sigma_test(as_is: ArrayLike, repaired: ArrayLike) -> SigmaTest:
    """Test whether repair changes the run-to-run deviation, over all models.

    Parameters
    ----------
    as_is, repaired : arrays of shape (n_models, n_runs), points
        NaN where a run has no total.

    Notes
    -----
    Correlation of sum and difference within models, on ``runs - models - 1`` degrees of freedom.
    Refused below 5 touched runs or 3 touched models, and when sum and difference lie on a line.
    """
    refuse_mixed(as_is, repaired)
    a, p = read(as_is, "as_is", ndim=2), read(repaired, "repaired", ndim=2)
    if a.shape != p.shape:
        raise refuse("two scorings of other runs", "repaired", f"{p.shape}, not {a.shape}", "")
    seen = ~(np.isnan(a) | np.isnan(p))
    changed = seen & (np.abs(np.where(seen, p - a, 0.0)) > SAME)
    runs, models = int(changed.sum()), int(changed.any(axis=1).sum())
    if runs < TOUCHED_RUNS or models < TOUCHED_MODELS:
        needs = f"needs {TOUCHED_RUNS} touched runs over {TOUCHED_MODELS} models"
        return SigmaTest(runs, models, None, None, f"{needs}; here {runs} over {models}")
    total, difference = _within(a + p, seen), _within(a - p, seen)
    scale = math.sqrt(float((total**2).sum() * (difference**2).sum()))
    correlation = float((total * difference).sum()) / scale if scale else 0.0
    df = int(seen.sum()) - int(seen.any(axis=1).sum()) - 1
    if df < 1 or 1 - abs(correlation) < 1e-9:
        return SigmaTest(runs, models, correlation, None, "sum and difference lie on a line")
    t = correlation * math.sqrt(df / (1 - correlation**2))
    return SigmaTest(runs, models, correlation, 2 * float(special.stdtr(df, -abs(t))), "")


def rank_shift(
    as_is: LevelATotals, repaired: LevelATotals, ids: Sequence[str], *, rng: np.random.Generator
) -> RankShift:
    """Order the models under both scorings and mark whose rank leans on forgiveness."""
    # The same draws for both: a simulated quantile must not make a rank move.
    before = rank(as_is, ids, rng=copy.deepcopy(rng))
    after = rank(repaired, ids, rng=rng)
    moved = tuple(
        before.sets[m] != after.sets[m] or before.order.index(m) != after.order.index(m)
        for m in range(len(ids))
    )
    return RankShift(before, after, moved)


def _refuse_unbalanced(as_is: Array, by_rows: Array, scored: Array) -> None:
    gap = scored - by_rows
    wrong = np.flatnonzero(~(np.abs(gap) <= BALANCE))
    if wrong.size:
        k = int(wrong[0])
        raise refuse(
            f"the ledger does not balance in {wrong.size} run(s)",
            f"run {k + 1}",
            f"total {as_is[k]:.2f} → {scored[k]:.2f} changes by {scored[k] - as_is[k]:+.2f}, "
            f"its rows by {by_rows[k] - as_is[k]:+.2f}: {gap[k]:+.2f} unaccounted for",
            "list every row that changed",
        )


def _within(values: Array, seen: np.ndarray) -> Array:
    filled = np.where(seen, values, 0.0)
    mean = filled.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.where(seen, values - mean, 0.0)


def _paired_p(d: Array) -> float | None:
    if d.size < 2 or np.ptp(d) <= SAME:
        return None
    t = float(d.mean()) / float(d.std(ddof=1)) * math.sqrt(d.size)
    return 2 * float(special.stdtr(d.size - 1, -abs(t)))


def _identity(a: Array, p: Array, d: Array) -> VarianceIdentity | None:
    if a.size < 2:
        return None
    covariance = float(((p - p.mean()) * (d - d.mean())).sum()) / (a.size - 1)
    return VarianceIdentity(
        as_is=float(a.var(ddof=1)),
        repaired=float(p.var(ddof=1)),
        delta=float(d.var(ddof=1)),
        cross=-2 * covariance,
    )


def _ratio(as_is: Spread, repaired: Spread) -> SpreadRatio | None:
    if as_is.sd is None or repaired.sd is None:
        return None
    f, df = (as_is.sd / repaired.sd) ** 2, as_is.runs - 1
    return SpreadRatio(
        reduction=1 - repaired.sd / as_is.sd,
        f=f,
        nominal_p=float(special.fdtrc(df, df, f)),
    )
