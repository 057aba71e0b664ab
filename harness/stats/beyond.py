"""Claims beyond these tasks (universe U3): the tasks are the sample, so they are the clusters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse
from harness.stats.interval import Interval, t_interval


@dataclass(frozen=True)
class BeyondTasks:
    """A mean or a difference of total points, as a statement about tasks of this kind.

    interval : t with one degree of freedom less than there are tasks; None when all tasks agree
        to the last digit, which says that nothing was measured, not that nothing varies
    cautious : the same with Satterthwaite's degrees of freedom, wider when few tasks carry most
        of the variance
    """

    tasks: int
    estimate: float
    interval: Interval | None
    cautious: Interval | None


def beyond_mean(
    points: ArrayLike, max_points: ArrayLike, *, confidence: float = 0.95
) -> BeyondTasks:
    """Return one model's total with an interval for further tasks of this kind.

    Parameters
    ----------
    points : array of shape (n_tasks, n_runs), points
        NaN where a cell is missing; every task needs one cell at least.
    max_points : array of shape (n_tasks,), points

    Raises
    ------
    StatisticsError
        With one task, or a task without a cell.

    Notes
    -----
    ``s² = T / (T - 1) * sum((P_t / P)² (p_t - p)²)`` with p_t the mean share of task t and p the
    weighted mean share; more runs of the same tasks narrow it only as far as the tasks allow.

    Examples
    --------
    >>> claim = beyond_mean([[8.0, 8.0], [3.0, 5.0], [6.0, 6.0]], [10.0, 10.0, 10.0])
    >>> round(claim.estimate, 1), round(claim.interval.half, 2)
    (18.0, 14.9)
    """
    cells, most = _read(points, max_points)
    return _clustered(_task_means(cells), most, confidence)


def beyond_pair(
    first: ArrayLike, second: ArrayLike, max_points: ArrayLike, *, confidence: float = 0.95
) -> BeyondTasks:
    """Return the difference of two models with an interval for further tasks of this kind.

    Parameters
    ----------
    first, second : arrays of shape (n_tasks, n_runs), points
        Paired by task and run; a cell that one of them lacks counts for neither.
    max_points : array of shape (n_tasks,), points
    """
    one, most = _read(first, max_points)
    other, _ = _read(second, max_points)
    if one.shape != other.shape:
        raise refuse(
            "two models with different cells",
            "first",
            f"shapes {one.shape} and {other.shape}",
            "the same tasks and run numbers, NaN where a cell is missing",
        )
    return _clustered(_task_means(one - other), most, confidence)


def _read(points: ArrayLike, max_points: ArrayLike) -> tuple[Array, Array]:
    cells = read(points, "points", ndim=2)
    most = read(max_points, "max_points", ndim=1, complete=True)
    if most.size != len(cells) or most.size < 2:
        raise refuse(
            "tasks cannot be clusters",
            "points",
            f"{len(cells)} task(s) with {most.size} maxima",
            "two tasks at least, one maximum each",
        )
    return cells, most


def _task_means(cells: Array) -> Array:
    empty = np.isnan(cells).all(axis=1)
    if empty.any():
        raise refuse(
            f"{int(empty.sum())} task(s) without a common cell",
            "points",
            f"rows {np.flatnonzero(empty).tolist()}",
            "complete a run of every task",
        )
    means: Array = np.nanmean(cells, axis=1)
    return means


def _clustered(means: Array, most: Array, confidence: float) -> BeyondTasks:
    tasks, total = most.size, float(most.sum())
    share = float(means.sum()) / total
    squares = (means - most * share) ** 2  # P_t² (p_t - p)²
    variance = float(squares.sum()) * tasks / (tasks - 1)
    estimate = share * total
    if variance <= 1e-18 * total**2:  # rounding of equal shares
        return BeyondTasks(tasks, estimate, None, None)
    df = float(squares.sum()) ** 2 / float((squares**2).sum()) * (tasks - 1) / tasks
    se = float(np.sqrt(variance))
    return BeyondTasks(
        tasks=tasks,
        estimate=estimate,
        interval=t_interval(estimate, se, tasks - 1, confidence=confidence),
        cautious=t_interval(estimate, se, max(df, 1.0), confidence=confidence),
    )
