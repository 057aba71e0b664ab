"""Levels by type: scores of one level only, totals without an addition, and A alone orders."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.errors import Problem, StatisticsError
from harness.stats.intake import Array, read, refuse


@dataclass(frozen=True, eq=False)
class LevelTotals:
    """Totals of one level, shape (n_models, n_runs), points; NaN where a run has none.

    It reads as an array in every function of this room, but takes part in no arithmetic: a sum
    over two levels is a TypeError, not a number.
    """

    level: str
    values: Array
    max_points: float

    __array_ufunc__ = None  # numpy too refuses to add, compare or scale it

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        """Return a copy of the values for a function that takes an array."""
        if copy is False:
            raise ValueError("totals of a level are handed out as a copy")
        return np.array(self.values, dtype=float)


class LevelATotals(LevelTotals):
    """Totals of level A, the only ones that order models."""


@dataclass(frozen=True, eq=False)
class LevelScores:
    """Points of one level.

    points : shape (n_models, n_tasks, n_runs); NaN where a cell has no score
    max_points : shape (n_tasks,)
    """

    level: str
    points: Array
    max_points: Array

    def shares(self) -> Array:
        """Return points as shares of each task's maximum, same shape."""
        shares: Array = self.points / self.max_points[:, None]
        return shares

    def totals(self) -> LevelTotals:
        """Return the total of each run; a run with a missing cell has none."""
        kind = LevelATotals if self.level == "A" else LevelTotals
        return kind(self.level, self.points.sum(axis=1), float(self.max_points.sum()))


def level_scores(points: ArrayLike, max_points: ArrayLike, levels: Sequence[str]) -> LevelScores:
    """Return the scores of one level.

    Parameters
    ----------
    points : array of shape (n_models, n_tasks, n_runs), points
        NaN where a cell has no score.
    max_points : array of shape (n_tasks,), points
    levels : n_tasks level names
        The level each task belongs to.

    Raises
    ------
    StatisticsError
        If tasks of two levels are mixed, the shapes differ, or a score exceeds its maximum.

    Examples
    --------
    >>> scores = level_scores([[[8.0, 7.0], [1.0, float("nan")]]], [8.0, 2.0], ["A", "A"])
    >>> scores.totals().values.tolist(), scores.totals().max_points
    ([[9.0, nan]], 10.0)
    """
    cells = read(points, "points", ndim=3)
    most = read(max_points, "max_points", ndim=1, complete=True)
    if cells.shape[1] != most.size or most.size != len(levels):
        raise refuse(
            "scores, maxima and levels do not belong together",
            "points",
            f"{cells.shape[1]} tasks, {most.size} maxima, {len(levels)} levels",
            "one maximum and one level per task",
        )
    found = sorted(set(levels))
    if len(found) > 1:
        raise refuse(
            f"levels {', '.join(found)} are mixed",
            "levels",
            f"{len(found)} levels in one table",
            "one table, one axis, one sentence per level",
        )
    if (most <= 0).any() or (cells > most[:, None] + 1e-9).any() or (cells < 0).any():
        raise refuse(
            "points outside their scale",
            "points",
            "a score is below 0 or above its task's maximum",
            "give the maximum of the task that was scored",
        )
    return LevelScores(found[0], cells, most)


def refuse_mixed(*given: object) -> None:
    """Raise when the arguments carry the names of different levels; bare arrays carry none."""
    found = sorted({g.level for g in given if isinstance(g, LevelTotals)})
    if len(found) > 1:
        raise StatisticsError(
            f"levels {', '.join(found)} are mixed",
            [Problem("totals", "two levels in one comparison", "compare within one level")],
        )
