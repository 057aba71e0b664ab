"""Which checks still measure: saturation, floor, discrimination."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse
from harness.stats.noise import SAME

# Below this many models a correlation over model means is a sign and no more.
SCREENING_MODELS = 12

State = Literal["saturated", "floor", "constant", "live"]


@dataclass(frozen=True)
class CheckFacts:
    """One check over all models and runs.

    rate : mean share of its points
    state : saturated: always full; floor: always nothing; constant: always the same part of its
        points; live: anything else
    bound : one-sided exact bound on what was never seen: the failure rate of a saturated check,
        the pass rate of one on the floor; None for the others
    discrimination : correlation with the total without this check, over model means; None where
        one of the two does not vary
    screening_only : True when too few models were measured to print more than its sign
    """

    trials: int
    rate: float
    state: State
    bound: float | None
    discrimination: float | None
    screening_only: bool

    @property
    def sign(self) -> str:
        """What may be printed of the discrimination when it is for screening only."""
        if self.discrimination is None:
            return "none"
        return "+" if self.discrimination > 0 else "-" if self.discrimination < 0 else "0"


def check_analysis(
    scores: ArrayLike, points: ArrayLike, totals: ArrayLike, *, confidence: float = 0.95
) -> tuple[CheckFacts, ...]:
    """Return what each check still measures.

    A saturated check is not dropped: the scale would change with the models on it.

    Parameters
    ----------
    scores : array of shape (n_models, n_runs, n_checks), shares in [0, 1]
        NaN where a cell is missing.
    points : array of shape (n_checks,), points
    totals : array of shape (n_models, n_runs), points
        NaN where a run has no total; such a run does not enter the discrimination.
    confidence : float in (0, 1), default 0.95
        One-sided confidence of the bound.

    Raises
    ------
    StatisticsError
        If the shapes differ or a check was never tried.

    Examples
    --------
    Passed by both models in all three runs each, and what that leaves open:

    >>> always, = check_analysis(np.ones((2, 3, 1)), [4.0], [[9.0, 8.0, 9.0], [6.0, 7.0, 6.0]])
    >>> always.state, round(always.bound, 3)
    ('saturated', 0.393)
    """
    x = read(scores, "scores", ndim=3)
    worth = read(points, "points", ndim=1, complete=True)
    y = read(totals, "totals", ndim=2)
    trials = (~np.isnan(x)).sum(axis=(0, 1))
    if y.shape != x.shape[:2] or worth.size != x.shape[2] or not trials.all():
        raise refuse(
            "checks cannot be judged",
            "scores",
            f"scores {x.shape}, totals {y.shape}, {worth.size} checks, trials {trials.tolist()}",
            "one total per model and run, one trial of each check at least",
        )
    return tuple(
        _facts(x[..., c], float(worth[c]), y, int(trials[c]), confidence) for c in range(worth.size)
    )


def item_rest_correlation(scores: ArrayLike, totals: ArrayLike, points: float) -> float | None:
    """Correlate a check with the total without it (corrected point-biserial).

    Parameters
    ----------
    scores : array of shape (n_models,), shares in [0, 1]
    totals : array of shape (n_models,), points
        Totals that contain the check.
    points : float
        What the check is worth.

    Returns
    -------
    float or None
        None where the check or the rest does not vary.

    Examples
    --------
    >>> passes, totals = [1, 1, 0, 1, 0, 0], [180, 171, 165, 160, 150, 149]
    >>> round(item_rest_correlation(passes, totals, 3.0), 6)
    0.63228
    """
    x = read(scores, "scores", ndim=1, complete=True)
    rest = read(totals, "totals", ndim=1, complete=True) - points * x
    x, rest = x - x.mean(), rest - rest.mean()
    scale = float(np.sqrt((x @ x) * (rest @ rest)))
    return float(x @ rest) / scale if scale > 1e-12 else None


def _facts(x: Array, points: float, totals: Array, trials: int, confidence: float) -> CheckFacts:
    values = x[~np.isnan(x)]
    state = _state(values)
    return CheckFacts(
        trials=trials,
        rate=float(values.mean()),
        state=state,
        bound=unseen_bound(trials, confidence=confidence)
        if state in ("saturated", "floor")
        else None,
        discrimination=_discrimination(x, points, totals),
        screening_only=len(x) < SCREENING_MODELS,
    )


def _state(values: Array) -> State:
    if np.ptp(values) > SAME:
        return "live"
    if values[0] >= 1 - SAME:
        return "saturated"
    return "floor" if values[0] <= SAME else "constant"


def unseen_bound(trials: int, *, confidence: float = 0.95) -> float:
    """Return the largest rate at which an event can still be missed in so many trials.

    Examples
    --------
    >>> round(unseen_bound(18), 3)
    0.153
    """
    return 1.0 - float((1 - confidence) ** (1 / trials))


def _discrimination(x: Array, points: float, totals: Array) -> float | None:
    both = ~np.isnan(x) & ~np.isnan(totals)
    models = both.any(axis=1)
    if models.sum() < 2:
        return None
    mask = both[models]
    runs = mask.sum(axis=1)
    means = np.where(mask, x[models], 0.0).sum(axis=1) / runs
    of_totals = np.where(mask, totals[models], 0.0).sum(axis=1) / runs
    return item_rest_correlation(means, of_totals, points)
