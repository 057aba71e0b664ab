"""Which checks still measure."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.errors import StatisticsError
from harness.stats.checks import CheckFacts, check_analysis, item_rest_correlation, unseen_bound

NAN = math.nan
TOTALS = np.array([[18.0, 17], [15, 16], [11, 12]])


def facts(*columns: list[list[float]]) -> tuple[CheckFacts, ...]:
    return check_analysis(np.stack(columns, axis=-1), [2.0] * len(columns), TOTALS)


def test_states_of_a_check() -> None:
    """Always full, always nothing, always the same part, or alive."""
    found = facts(
        [[1, 1], [1, 1], [1, 1]],
        [[0, 0], [0, 0], [0, 0]],
        [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]],
        [[1, 1], [1, 0], [0, 0]],
    )

    assert [f.state for f in found] == ["saturated", "floor", "constant", "live"]
    assert [f.rate for f in found] == [1.0, 0.0, 0.5, 0.5]


def test_a_saturated_check_has_an_exact_bound() -> None:
    """18 of 18 still allows a failure rate of 15.3 %: the one-sided beta quantile."""
    assert unseen_bound(18) == pytest.approx(stats.beta.ppf(0.95, 1, 18))
    saturated, live = facts([[1, 1], [1, 1], [1, 1]], [[1, 1], [1, 0], [0, 0]])
    assert saturated.bound == pytest.approx(stats.beta.ppf(0.95, 1, 6))
    assert live.bound is None


def test_few_models_show_a_sign_only() -> None:
    """With three models discrimination is for screening; its sign is what may be printed."""
    up, down, flat = facts(
        [[1, 1], [1, 0], [0, 0]], [[0, 0], [0, 1], [1, 1]], [[1, 1], [1, 1], [1, 1]]
    )

    assert (up.sign, down.sign, flat.sign) == ("+", "-", "none")
    assert flat.discrimination is None
    assert all(f.screening_only for f in (up, down, flat))


def test_discrimination_is_over_model_means_without_the_check() -> None:
    """Mean share of each model against its mean total less what the check brought."""
    (found,) = facts([[1, 1], [1, 0], [0, 0]])
    share = np.array([1, 0.5, 0])
    rest = TOTALS.mean(axis=1) - 2 * share

    assert found.discrimination == pytest.approx(np.corrcoef(share, rest)[0, 1])


def test_a_check_does_not_discriminate_through_itself() -> None:
    """Totals that differ by the check alone have no rest to be correlated with."""
    assert item_rest_correlation([1, 1, 0], [13.0, 13, 10], 3.0) is None


def test_missing_cells_are_no_trials() -> None:
    """A missing run lowers the number of trials, not the rate."""
    (found,) = facts([[1, NAN], [1, 1], [1, NAN]])

    assert (found.trials, found.rate, found.state) == (4, 1.0, "saturated")


def test_one_model_has_no_discrimination() -> None:
    """Nobody to tell apart."""
    (found,) = check_analysis([[[1.0], [0.0]]], [2.0], [[18.0, 15.0]])

    assert (found.state, found.discrimination, found.sign) == ("live", None, "none")


@pytest.mark.parametrize(
    ("scores", "points", "totals"),
    [
        ([[[1.0], [1.0]]], [2.0], [[18.0]]),
        ([[[1.0]]], [2.0, 3.0], [[18.0]]),
        ([[[NAN]]], [2.0], [[18.0]]),
    ],
)
def test_checks_that_cannot_be_judged_are_refused(scores: list, points: list, totals: list) -> None:
    """Other runs, other checks, a check nobody tried."""
    with pytest.raises(StatisticsError):
        check_analysis(scores, points, totals)
