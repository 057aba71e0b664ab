"""Forgiveness is accounted for to the last point."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.errors import StatisticsError
from harness.stats.hygiene import counterfactual, rank_shift, sigma_test
from harness.stats.levels import LevelATotals, level_scores

NAN = math.nan


def level_a(totals: list[list[float]]) -> LevelATotals:
    return level_scores(np.array(totals)[:, None, :], [200.0], ["A"]).totals()


def test_a_ledger_that_does_not_balance_is_refused_with_the_gap() -> None:
    """A task that gains 6.80 in a total that gains 4.80 leaves 2.00 points to be explained."""
    with pytest.raises(StatisticsError, match="does not balance") as refused:
        counterfactual(
            [88.50, 88.50, 81.08], [[0.0], [0.0], [6.80]], repaired=[88.50, 88.50, 85.88]
        )
    assert "run 3" in str(refused.value)
    assert "-2.00 unaccounted for" in str(refused.value)


def test_rows_add_up_to_the_change_of_the_totals() -> None:
    """Two rows in two runs: the ledger by row is the ledger by run."""
    deltas = np.array([[1.0, 0.5], [0.0, 0.0], [2.0, -0.5]])
    changed = counterfactual([10.0, 12, 9], deltas, repaired=[11.5, 12, 10.5])

    assert changed.rows == (3.0, 0.0)
    assert sum(changed.rows) == pytest.approx(3 * changed.delta_mean)
    assert changed.touched == 2


def test_the_identity_of_variances_holds() -> None:
    """Var(a) = Var(p) + Var(D) - 2 Cov(p, D), whatever was repaired."""
    rng = np.random.default_rng(1)
    found = counterfactual(rng.normal(150, 5, 6), rng.normal(1, 1, (6, 4))).identity

    assert found.as_is == pytest.approx(found.repaired + found.delta + found.cross)


def test_nothing_repaired_changes_nothing() -> None:
    """Without a repair both scorings agree, and there is no p value of nothing."""
    found = counterfactual([88.5, 88.5, 81.08], np.zeros((3, 2)))

    assert (found.touched, found.delta_mean, found.p) == (0, 0.0, None)
    assert found.as_is == found.repaired
    assert found.ratio.reduction == 0.0


def test_runs_that_repair_made_equal_have_no_ratio() -> None:
    """A deviation of 0 observed is no reduction by 100 %."""
    found = counterfactual([88.5, 88.5, 81.08], [[0.0], [0.0], [7.42]])

    assert found.repaired.all_equal
    assert found.ratio is None


def test_one_run_has_a_change_and_no_deviation() -> None:
    """One run: the exact change, and nothing about spread."""
    found = counterfactual([81.08], [[4.80]])

    assert found.delta_mean == pytest.approx(4.80)
    assert (found.delta_sd, found.p, found.identity, found.ratio) == (None, None, None, None)


def test_a_missing_run_is_left_out_of_the_ledger() -> None:
    """A run without a total has no ledger."""
    with_gap = counterfactual([88.5, NAN, 81.08], [[0.0], [NAN], [4.8]])

    assert with_gap == counterfactual([88.5, 81.08], [[0.0], [4.8]])


@pytest.mark.parametrize("deltas", [[[0.0]], [[0.0], [NAN]]])
def test_a_ledger_with_holes_is_refused(deltas: list) -> None:
    """Every run that has a total has all of its rows."""
    with pytest.raises(StatisticsError):
        counterfactual([88.5, 81.08], deltas)


def test_sigmas_are_not_tested_on_one_event() -> None:
    """One touched run of one model is no sample: the test is refused, not made."""
    found = sigma_test([[88.5, 88.5, 81.08]], [[88.5, 88.5, 85.88]])

    assert found.p is None
    assert (found.touched_runs, found.touched_models) == (1, 1)
    assert "needs 5 touched runs over 3 models" in found.refused


def test_sigmas_are_tested_within_models() -> None:
    """Pitman and Morgan: correlation of sum and difference, model means removed, 9 - 3 - 1 df."""
    rng = np.random.default_rng(6)
    repaired = rng.normal(150, 3, (3, 3)) + np.array([[0.0], [10], [20]])
    as_is = repaired - rng.uniform(1, 6, (3, 3))
    total = (as_is + repaired) - (as_is + repaired).mean(axis=1, keepdims=True)
    gap = (as_is - repaired) - (as_is - repaired).mean(axis=1, keepdims=True)
    r = np.corrcoef(total.ravel(), gap.ravel())[0, 1]
    expected = 2 * stats.t.sf(abs(r) * math.sqrt(5 / (1 - r * r)), 5)
    found = sigma_test(as_is, repaired)

    assert found.correlation == pytest.approx(r)
    assert found.p == pytest.approx(expected)
    assert found.refused == ""


def test_sums_and_differences_on_a_line_are_refused() -> None:
    """Where the change is a fixed share of the total nothing is left to test."""
    as_is = np.array([[10.0, 20, 30], [11, 22, 36], [10, 25, 31]])
    found = sigma_test(as_is, 1.1 * as_is)

    assert found.p is None
    assert "line" in found.refused


def test_scorings_of_other_runs_are_refused() -> None:
    """Both scorings are of the same runs."""
    with pytest.raises(StatisticsError):
        sigma_test([[1.0, 2.0]], [[1.0, 2.0, 3.0]])


def test_a_rank_that_depends_on_repair_is_marked() -> None:
    """The model that repair lifts over another moves, and so does the other; the third does not."""
    as_is = [[150.0, 152, 151], [170, 172, 171], [100, 101, 102]]
    repaired = [[190.0, 192, 191], [170, 172, 171], [100, 101, 102]]
    shift = rank_shift(
        level_a(as_is), level_a(repaired), ["a", "b", "c"], rng=np.random.default_rng(1)
    )

    assert shift.moved == (True, True, False)


def test_simulation_moves_no_rank() -> None:
    """With a run missing, equal scorings give equal ranks: both use the same draws."""
    totals = level_a([[150.0, 152, NAN], [153, 149, 151], [151, 150, 153]])
    shift = rank_shift(totals, totals, ["a", "b", "c"], rng=np.random.default_rng(1))

    assert shift.moved == (False, False, False)
    assert shift.as_is == shift.repaired
