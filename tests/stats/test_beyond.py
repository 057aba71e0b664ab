"""Claims beyond these tasks."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.errors import StatisticsError
from harness.stats.beyond import beyond_mean, beyond_pair

NAN = math.nan
POINTS = np.array([[8.0, 6], [3, 5], [9, 10], [1, 2]])
OTHER = np.array([[7.0, 6], [4, 5], [5, 6], [0, 2]])


def test_equal_tasks_give_the_t_interval_of_task_means() -> None:
    """With equal maxima it is the t interval of the tasks' mean points, times their number."""
    means = POINTS.mean(axis=1)
    half = 4 * stats.t.ppf(0.975, 3) * means.std(ddof=1) / 2
    claim = beyond_mean(POINTS, [10] * 4)

    assert claim.estimate == pytest.approx(means.sum())
    assert claim.interval.half == pytest.approx(half)


def test_unequal_tasks_by_hand() -> None:
    """Maxima 10 and 30, shares .8 and .6: p = .65, s² = 2 (10² .15² + 30² .05²) = 9."""
    claim = beyond_mean([[8.0], [18.0]], [10, 30])

    assert claim.estimate == pytest.approx(26)
    assert claim.interval.se == pytest.approx(3)
    assert claim.interval.df == 1


def test_pairs_are_taken_task_by_task() -> None:
    """The difficulty of a task is common to both and drops out."""
    d = (POINTS - OTHER).mean(axis=1)
    claim = beyond_pair(POINTS, OTHER, [10] * 4)

    assert claim.estimate == pytest.approx(d.sum())
    assert claim.interval.half == pytest.approx(4 * stats.t.ppf(0.975, 3) * d.std(ddof=1) / 2)


def test_more_copies_of_the_runs_do_not_narrow_it() -> None:
    """The tasks are the sample: runs repeated a hundred times say nothing about other tasks."""
    once = beyond_mean(POINTS, [10] * 4).interval.half

    assert beyond_mean(np.tile(POINTS, 100), [10] * 4).interval.half == pytest.approx(once)


def test_the_cautious_interval_is_wider() -> None:
    """When one task carries the variance, Satterthwaite leaves fewer degrees of freedom."""
    claim = beyond_mean([[0.0], [9.0], [9], [9]], [10] * 4)

    assert claim.cautious.df < 3
    assert claim.cautious.half > claim.interval.half


def test_scaling_points_scales_the_claim() -> None:
    """Ten times the points are ten times the interval."""
    one, ten = beyond_mean(POINTS, [10] * 4), beyond_mean(10 * POINTS, [100] * 4)

    assert ten.interval.high == pytest.approx(10 * one.interval.high)


def test_a_missing_cell_counts_for_neither() -> None:
    """What one model lacks is taken from the other too."""
    holed = POINTS.copy()
    holed[0, 1] = NAN
    whole = POINTS.copy(), OTHER.copy()
    whole[0][0, 1], whole[1][0, 1] = whole[0][0, 0], whole[1][0, 0]

    assert beyond_pair(holed, OTHER, [10] * 4) == beyond_pair(*whole, [10] * 4)


def test_tasks_that_agree_measure_no_spread() -> None:
    """Identical models: the difference is 0 and no interval is made of it."""
    claim = beyond_pair(POINTS, POINTS, [10] * 4)

    assert (claim.estimate, claim.interval, claim.cautious) == (0.0, None, None)


@pytest.mark.parametrize(
    ("points", "most"),
    [([[1.0, 2.0]], [10]), ([[1.0], [NAN]], [10, 10]), ([[1.0], [2.0]], [10])],
)
def test_too_few_tasks_are_refused(points: list, most: list) -> None:
    """One task, a task without a cell, a maximum that is missing."""
    with pytest.raises(StatisticsError):
        beyond_mean(points, most)


def test_two_models_need_the_same_cells() -> None:
    """Tasks and runs of both are matched by position."""
    with pytest.raises(StatisticsError):
        beyond_pair(POINTS, OTHER[:, :1], [10] * 4)
