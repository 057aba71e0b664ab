"""Noise and signal of single tasks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse
from harness.stats.means import PooledSigma, pooled_variance, within_models
from harness.stats.noise import SAME


@dataclass(frozen=True)
class TaskNoise:
    """One task's run-to-run deviation, pooled over models, and what it tells models apart by.

    sigma : None when no model has two runs of it, and when every model's runs agree
    runs_agree : True in the second case: "0 observed; sigma not estimable"
    between : raw variance component between models, points squared; negative means indistinct
    signal_to_noise : ``sqrt(max(0, between)) / (sigma / sqrt(n))``; None with one model or without
        sigma
    """

    sigma: PooledSigma | None
    runs_agree: bool
    between: float | None
    signal_to_noise: float | None


@dataclass(frozen=True)
class RunCovariance:
    """Does the noise of tasks add up to the noise of the total?

    sum_of_tasks, of_total : variances, points squared, both pooled over models on complete runs
    covariance : what tasks share inside a run; large when a server or the harness had trouble
    """

    sum_of_tasks: float
    of_total: float

    @property
    def covariance(self) -> float:
        """Twice the sum of all covariances between two tasks."""
        return self.of_total - self.sum_of_tasks


def task_noise(points: ArrayLike) -> tuple[TaskNoise, ...]:
    """Return noise and signal of each task.

    Parameters
    ----------
    points : array of shape (n_models, n_tasks, n_runs), points
        NaN where a cell is missing.

    Raises
    ------
    StatisticsError
        If a task has no cell at all.

    Examples
    --------
    >>> first, second = task_noise([[[8.0, 6.0], [5.0, 5.0]], [[3.0, 3.0], [4.0, 4.0]]])
    >>> round(first.sigma.sd, 6), round(first.signal_to_noise, 6), second.runs_agree
    (1.0, 3.872983, True)
    """
    cells = read(points, "points", ndim=3)
    return tuple(_one_task(cells[:, t]) for t in range(cells.shape[1]))


def run_covariance(points: ArrayLike) -> RunCovariance:
    """Compare the sum of the tasks' variances with the variance of the total.

    Parameters
    ----------
    points : array of shape (n_models, n_tasks, n_runs), points
        A run with a missing cell has no total and is left out of both.

    Raises
    ------
    StatisticsError
        If no model has two complete runs.

    Examples
    --------
    Two tasks that fail together in the second run:

    >>> run_covariance([[[8.0, 6.0], [5.0, 4.0]]])
    RunCovariance(sum_of_tasks=2.5, of_total=4.5)
    """
    cells = read(points, "points", ndim=3)
    complete = ~np.isnan(cells).any(axis=1, keepdims=True)
    kept = np.where(complete, cells, np.nan)
    _, _, ss, df = within_models(kept.sum(axis=1))
    if not df.sum():
        raise refuse(
            "no two complete runs", "points", "no model has them", "complete the missing cells"
        )
    of_tasks = sum(float(within_models(kept[:, t])[2].sum()) for t in range(cells.shape[1]))
    return RunCovariance(of_tasks / float(df.sum()), float(ss.sum() / df.sum()))


def _one_task(cells: Array) -> TaskNoise:
    n, means, ss, df = within_models(cells)
    if not n.any():
        raise refuse("a task without a cell", "points", "all missing", "leave the task out")
    if not df.sum():
        return TaskNoise(None, runs_agree=False, between=None, signal_to_noise=None)
    within = float(ss.sum() / df.sum())
    agree = within <= SAME**2
    sigma = None if agree else pooled_variance(within, float(df.sum()), floor=0.0)
    between, runs = _between(n[n > 0], means[n > 0], within)
    if between is None or agree:
        return TaskNoise(sigma, agree, between, None)
    return TaskNoise(sigma, agree, between, math.sqrt(max(between, 0.0) * runs / within))


def _between(n: Array, means: Array, within: float) -> tuple[float | None, float]:
    """Return the component between models and the number of runs that stands for all of them."""
    total = float(n.sum())
    if n.size < 2:
        return None, total
    grand = float((n * means).sum()) / total
    mean_square = float((n * (means - grand) ** 2).sum()) / (n.size - 1)
    runs = (total - float((n**2).sum()) / total) / (n.size - 1)  # n itself when all agree
    return (mean_square - within) / runs, runs
