"""Noise and signal of single tasks."""

import math

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.tasks import run_covariance, task_noise

NAN = math.nan
POINTS = np.array([[[8.0, 6, 7], [5, 5, 5]], [[3.0, 4, 5], [2, 2, 2]]])


def test_signal_and_noise_of_a_task_by_hand() -> None:
    """Means 7 and 4, variance 1: between (13.5 - 1) / 3, ratio √(12.5 / 3 · 3)."""
    first, _ = task_noise(POINTS)

    assert first.sigma.sd == pytest.approx(1.0)
    assert first.sigma.df == 4
    assert first.between == pytest.approx(12.5 / 3)
    assert first.signal_to_noise == pytest.approx(math.sqrt(12.5))


def test_a_task_whose_runs_agree_has_no_sigma() -> None:
    """Zero observed is not estimable, and no signal is divided by it."""
    _, second = task_noise(POINTS)

    assert (second.sigma, second.runs_agree, second.signal_to_noise) == (None, True, None)
    assert second.between == pytest.approx(4.5)


def test_models_that_agree_have_no_signal() -> None:
    """A negative component between models is shown, and counts as no signal."""
    (task,) = task_noise([[[8.0, 6.0]], [[6.0, 8.0]]])

    assert task.between < 0
    assert task.signal_to_noise == 0.0


def test_one_model_has_noise_without_signal() -> None:
    """Nobody to tell apart, but a deviation all the same."""
    first, _ = task_noise(POINTS[:1])

    assert first.sigma.sd == pytest.approx(1.0)
    assert (first.between, first.signal_to_noise) == (None, None)


def test_one_run_has_neither() -> None:
    """A single run of a task shows no noise, and no noise to compare a signal with."""
    first, _ = task_noise(POINTS[:, :, :1])

    assert (first.sigma, first.runs_agree, first.between) == (None, False, None)


def test_missing_cells_are_left_out() -> None:
    """Two runs of one model and three of another: 1.5 over 3 df, and 2.4 runs stand for both."""
    (task,) = task_noise([[[8.0, 7.0, NAN]], [[3.0, 4.0, 5.0]]])

    assert task.sigma.sd == pytest.approx(math.sqrt(2.5 / 3))
    mean_square = 2 * (7.5 - 5.4) ** 2 + 3 * (4 - 5.4) ** 2
    assert task.between == pytest.approx((mean_square - 2.5 / 3) / 2.4)


def test_tasks_that_fail_together_add_covariance() -> None:
    """The variance of a total is more than the sum of its tasks' when they fail together."""
    together = run_covariance([[[8.0, 6.0], [5.0, 4.0]]])
    apart = run_covariance([[[8.0, 6.0], [4.0, 5.0]]])

    assert together.covariance == pytest.approx(2.0)
    assert apart.covariance == pytest.approx(-2.0)


def test_a_run_with_a_missing_cell_is_in_neither_sum() -> None:
    """Both sides of the comparison are over the same complete runs."""
    holed = np.array([[[8.0, 6.0, 1.0], [5.0, 4.0, NAN]]])

    assert run_covariance(holed) == run_covariance(holed[:, :, :2])


def test_too_little_is_refused() -> None:
    """A task without a cell; no two complete runs."""
    with pytest.raises(StatisticsError):
        task_noise([[[NAN, NAN]]])
    with pytest.raises(StatisticsError):
        run_covariance([[[1.0, NAN], [2.0, 3.0]]])
