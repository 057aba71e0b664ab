"""How many independent checks a total is worth."""

import math

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.effective import check_correlation, effective_checks, translate_noise

NAN = math.nan
WEIGHTS = [2.0, 2.0, 4.0, 1.0, 3.0]
TASKS = ["a", "a", "b", "b", "b"]


def test_the_sum_over_blocks_is_the_whole_matrix() -> None:
    """w'Rw with one correlation per task, here with the matrix written out."""
    r = np.eye(5)
    r[:2, :2] += 0.3 * (1 - np.eye(2))
    r[2:, 2:] += 0.6 * (1 - np.eye(3))
    w = np.array(WEIGHTS)
    found = effective_checks(WEIGHTS, TASKS, correlation=[0.3, 0.6])

    assert found.effective == pytest.approx(w.sum() ** 2 / (w @ r @ w))
    assert found.design_effect == pytest.approx(found.by_weight / found.effective)


def test_full_correlation_leaves_the_tasks() -> None:
    """Checks that always move together are as many observations as there are tasks."""
    found = effective_checks(WEIGHTS, TASKS, correlation=1.0)

    assert found.effective == pytest.approx(found.tasks)


def test_saturated_checks_do_not_count_as_live() -> None:
    """Two live checks of 2 and 4 points: 36 / 20; without the question there is no answer."""
    live = [True, False, True, False, False]

    assert effective_checks(WEIGHTS, TASKS, live=live).live == pytest.approx(36 / 20)
    assert effective_checks(WEIGHTS, TASKS, live=[False] * 5).live == 0.0
    assert effective_checks(WEIGHTS, TASKS).live is None


def test_tasks_need_not_stand_together() -> None:
    """The order of the checks does not matter."""
    shuffled = effective_checks([2.0, 4.0, 2.0], ["a", "b", "a"], correlation=[0.5, 0.1])

    assert shuffled.effective == pytest.approx(
        effective_checks([2.0, 2.0, 4.0], ["a", "a", "b"], correlation=[0.5, 0.1]).effective
    )


def test_checks_that_move_together_are_correlated() -> None:
    """Two checks of one task always agree, two of another always disagree: 1, and 0 for negative."""
    together = np.array([[1.0, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1]])
    found = check_correlation(together[None], ["x", "x", "y", "y"])

    assert found.tasks == ("x", "y")
    assert found.per_task[0] == pytest.approx(1.0)
    assert found.per_task[1] == 0.0


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        # moves (.5, .25), (-.5, .25), (0, -.5): the products cancel
        ([[1.0, 1.0], [0.0, 1.0], [0.5, 0.25]], 0.0),
        # moves (.5, .4), (-.5, -.6), (0, .2): products .5 over 3, squares .5 + .56 over 6
        ([[1.0, 1.0], [0.0, 0.0], [0.5, 0.8]], (0.5 / 3) / (1.06 / 6)),
    ],
)
def test_the_correlation_by_hand(runs: list, expected: float) -> None:
    """Mean product of two checks of a cell over the mean square of a check."""
    found = check_correlation([runs], ["x", "x"]).per_task[0]

    assert found == pytest.approx(expected, abs=1e-12)


def test_ability_and_difficulty_are_no_correlation() -> None:
    """A strong and a weak model that never change from run to run show no correlation at all."""
    steady = np.repeat(np.array([[[1.0, 1.0]], [[0.0, 0.0]]]), 3, axis=1)
    found = check_correlation(steady, ["x", "x"])

    assert found.per_task == (None,)
    assert (found.pooled, found.filled()) == (0.0, (0.0,))


def test_independent_noise_has_no_correlation() -> None:
    """Coins tossed apart come out near 0, whatever the difficulty of each (8 standard errors)."""
    rng = np.random.default_rng(3)
    coins = rng.random((40, 3, 10)) < np.linspace(0.2, 0.9, 10)
    found = check_correlation(coins.astype(float), ["x"] * 5 + ["y"] * 5)

    # 40 · 3 · 10 moves, 2,400 pairs: the standard error of the pooled correlation is near 0.02
    assert found.pooled < 0.1


def test_a_lone_check_takes_the_pooled_correlation() -> None:
    """A task with one check has no correlation of its own."""
    moves = np.array([[1.0, 1, 1], [0, 0, 1], [1, 1, 0]])
    found = check_correlation(moves[None], ["x", "x", "alone"])

    assert found.per_task[1] is None
    assert found.filled() == pytest.approx((found.pooled, found.pooled))


def test_a_missing_cell_is_left_out() -> None:
    """A run whose cell is missing takes part in no product."""
    seen = np.array([[1.0, 1.0], [0.0, 0.0], [0.5, 0.8]])
    with_gap = np.vstack([seen, [[NAN, NAN]]])

    assert check_correlation(with_gap[None], ["x", "x"]) == check_correlation(
        seen[None], ["x", "x"]
    )


def test_a_model_with_one_run_adds_nothing() -> None:
    """What one run shows is no move, and must not count as one that stood still."""
    lively = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.8, 1.0]])
    single = np.array([[1.0, 0.0, 1.0], [NAN, NAN, NAN], [NAN, NAN, NAN]])
    tasks = ["x", "x", "y"]

    assert check_correlation([lively, single], tasks) == check_correlation([lively], tasks)


def test_one_run_says_nothing_about_correlation() -> None:
    """Without a second run no check has moved."""
    with pytest.raises(StatisticsError, match="seen once"):
        check_correlation(np.ones((3, 1, 2)), ["x", "x"])


def test_more_noise_than_coins_has_no_pass_rate() -> None:
    """Beyond fair coins the checks must be correlated, and no pass rate explains them."""
    assert translate_noise(10.0, [5.0] * 2).pass_rate is None


@pytest.mark.parametrize("rate", [0.9, 0.95, 0.99])
def test_translation_goes_both_ways(rate: float) -> None:
    """The σ of independent checks at a pass rate is translated back into that rate."""
    weights = np.array(WEIGHTS)
    sigma = math.sqrt(rate * (1 - rate) * (weights**2).sum())

    assert translate_noise(sigma, weights).pass_rate == pytest.approx(rate)


@pytest.mark.parametrize(
    ("weights", "tasks", "rho"),
    [([1.0], ["a", "b"], 0.0), ([0.0], ["a"], 0.0), ([1.0], ["a"], -0.1), ([1.0], ["a"], 1.1)],
)
def test_weights_and_correlations_have_a_range(weights: list, tasks: list, rho: float) -> None:
    """One task per check, positive points, a correlation in [0, 1]."""
    with pytest.raises(StatisticsError):
        effective_checks(weights, tasks, correlation=rho)
