"""How many independent checks a total is worth, and how many coin flips its noise is."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.stats.components import effective_tasks
from harness.stats.intake import Array, read, refuse


@dataclass(frozen=True)
class EffectiveChecks:
    """How many equal independent checks would make as precise a total.

    by_weight : if the checks were independent
    effective : with their correlation inside a task
    live : the same over checks that are not saturated; None when that was not said
    design_effect : by_weight / effective
    tasks : equal tasks that weigh as these do
    """

    points: float
    checks: int
    sum_squared: float
    by_weight: float
    effective: float
    live: float | None
    design_effect: float
    tasks: float


@dataclass(frozen=True)
class CheckCorrelation:
    """Correlation of checks inside a cell, run by run, pooled over models; never below 0.

    per_task : in order of the tasks' first appearance; None where a task has one check or no check
        that ever moved
    pooled : over all tasks; 0 when no two checks of a task ever moved
    """

    tasks: tuple[Hashable, ...]
    per_task: tuple[float | None, ...]
    pooled: float

    def filled(self) -> tuple[float, ...]:
        """Return one correlation per task, the pooled one where a task has none of its own."""
        return tuple(self.pooled if rho is None else rho for rho in self.per_task)


@dataclass(frozen=True)
class NoiseTranslation:
    """A run-to-run deviation, said in checks.

    mean_variance : mean p(1 - p) that independent checks of these weights would need
    pass_rate : the rate p >= 1/2 with that variance; None above 1/4, where checks must be
        correlated
    coin_checks : how many of the checks would have to be fair coins, all others never moving
    """

    mean_variance: float
    pass_rate: float | None
    coin_checks: float


def effective_checks(
    weights: ArrayLike,
    tasks: Sequence[Hashable],
    *,
    correlation: ArrayLike = 0.0,
    live: Sequence[bool] | None = None,
) -> EffectiveChecks:
    """Return how many independent checks the total is worth.

    Answers "are these 73 observations?". Noise of a check between runs is another question, see
    `noise`.

    Parameters
    ----------
    weights : array of shape (n_checks,), points
    tasks : n_checks task names
    correlation : float, or array of shape (n_tasks,) in order of first appearance
        Correlation of two checks of one task, see `check_correlation`.
    live : n_checks booleans, optional
        False for checks that every model always passes or always fails.

    Notes
    -----
    ``(sum w)² / sum w²`` by weight, ``(sum w)² / w'Rw`` with R constant inside a task.

    Examples
    --------
    >>> found = effective_checks([2.0, 2.0, 4.0], ["a", "a", "b"], correlation=0.5)
    >>> round(found.by_weight, 4), round(found.effective, 4), round(found.design_effect, 4)
    (2.6667, 2.2857, 1.1667)
    """
    w = read(weights, "weights", ndim=1, complete=True)
    names, block = _blocks(tasks, w.size)
    rho = np.broadcast_to(np.asarray(correlation, dtype=float), (len(names),))
    if (w <= 0).any() or (rho < 0).any() or (rho > 1).any():
        raise refuse(
            "weights or correlations out of range",
            "weights",
            "weights must be positive, correlations in [0, 1]",
            "leave out checks without points; a negative correlation is taken as 0",
        )
    by_weight = _worth(w, block, np.zeros(len(names)))
    effective = _worth(w, block, rho)
    alive = None if live is None else np.asarray(live, dtype=bool)
    return EffectiveChecks(
        points=float(w.sum()),
        checks=w.size,
        sum_squared=float((w**2).sum()),
        by_weight=by_weight,
        effective=effective,
        live=None if alive is None else _worth(w[alive], block[alive], rho),
        design_effect=by_weight / effective,
        tasks=effective_tasks(np.bincount(block, weights=w)),
    )


def check_correlation(scores: ArrayLike, tasks: Sequence[Hashable]) -> CheckCorrelation:
    """Estimate how strongly checks of one task move together from run to run.

    Parameters
    ----------
    scores : array of shape (n_models, n_runs, n_checks), shares in [0, 1]
        NaN where a cell is missing.
    tasks : n_checks task names

    Raises
    ------
    StatisticsError
        If no model has two runs: what a check does from run to run is then unknown.

    Notes
    -----
    Each score counts against the mean of its own model and check, so that neither ability nor
    difficulty passes for correlation. Mean product of two checks of a cell over mean square.
    """
    x = read(scores, "scores", ndim=3)
    names, block = _blocks(tasks, x.shape[2])
    seen = ~np.isnan(x)
    runs = seen.sum(axis=1, keepdims=True)
    if runs.max() < 2:
        raise refuse("checks seen once", "scores", "no model has two runs", "run every model again")
    usable = seen & (runs >= 2)
    mean = np.where(usable, x, 0.0).sum(axis=1, keepdims=True) / np.maximum(runs, 1)
    moved = np.where(usable, x - mean, 0.0)
    parts = [_products(moved[..., block == t], usable[..., block == t]) for t in range(len(names))]
    products, pairs, squares, count = (sum(column) for column in zip(*parts, strict=True))
    return CheckCorrelation(
        tasks=names,
        per_task=tuple(_ratio(*part) for part in parts),
        pooled=_ratio(products, pairs, squares, count) or 0.0,
    )


def translate_noise(sigma: float, weights: ArrayLike) -> NoiseTranslation:
    """Say a run-to-run deviation in checks of these weights.

    Parameters
    ----------
    sigma : float, points
    weights : array of shape (n_checks,), points

    Notes
    -----
    Independent checks at pass rate p give ``sigma² = p (1 - p) * sum w²``.

    Examples
    --------
    Four checks of 5 points with σ = 5 are as noisy as four coins that would be tossed:

    >>> translate_noise(5.0, [5.0] * 4)
    NoiseTranslation(mean_variance=0.25, pass_rate=0.5, coin_checks=4.0)
    """
    w = read(weights, "weights", ndim=1, complete=True)
    variance = sigma**2 / float((w**2).sum())
    rate = (1 + math.sqrt(1 - 4 * variance)) / 2 if variance <= 0.25 else None
    return NoiseTranslation(variance, rate, w.size * variance / 0.25)


def _blocks(
    tasks: Sequence[Hashable], checks: int
) -> tuple[tuple[Hashable, ...], NDArray[np.intp]]:
    if len(tasks) != checks:
        raise refuse("checks without a task", "tasks", f"{len(tasks)} for {checks}", "one each")
    names = tuple(dict.fromkeys(tasks))
    place = {name: k for k, name in enumerate(names)}
    return names, np.array([place[task] for task in tasks], dtype=np.intp)


def _worth(w: Array, block: NDArray[np.intp], rho: Array) -> float:
    if not w.size:
        return 0.0
    own = np.bincount(block, weights=w**2, minlength=rho.size)
    whole = np.bincount(block, weights=w, minlength=rho.size) ** 2
    return float(w.sum()) ** 2 / float(((1 - rho) * own + rho * whole).sum())


def _products(moved: Array, usable: NDArray[np.bool_]) -> tuple[float, float, float, float]:
    """Return sum and number of products of two checks of a cell, then of squares."""
    size = usable.sum(axis=2)
    squares = float((moved**2).sum())
    products = float((moved.sum(axis=2) ** 2).sum()) - squares
    return products, float((size * (size - 1)).sum()), squares, float(size.sum())


def _ratio(products: float, pairs: float, squares: float, count: float) -> float | None:
    if pairs == 0 or squares <= 1e-12 * count:  # a check that moved by 1e-6 of its points did not
        return None
    return min(max(products / pairs / (squares / count), 0.0), 1.0)
