"""Repeated passes, without bias and with bounds."""

import itertools

import pytest
from scipy import stats

from harness.errors import StatisticsError
from harness.stats.repeats import pass_all, pass_any, rate_bounds


@pytest.mark.parametrize(("passes", "runs", "k"), [(3, 5, 2), (4, 6, 3), (0, 4, 2), (4, 4, 4)])
def test_all_and_any_by_trying_every_choice(passes: int, runs: int, k: int) -> None:
    """The share of choices of k runs in which all, or any, pass."""
    outcomes = [True] * passes + [False] * (runs - passes)
    choices = list(itertools.combinations(outcomes, k))

    assert pass_all(passes, runs, k) == pytest.approx(sum(map(all, choices)) / len(choices))
    assert pass_any(passes, runs, k) == pytest.approx(sum(map(any, choices)) / len(choices))


@pytest.mark.parametrize(("passes", "runs", "k"), [(2, 3, 4), (4, 3, 1), (-1, 3, 1), (1, 3, 0)])
def test_more_repeats_than_runs_are_refused(passes: int, runs: int, k: int) -> None:
    """What k runs would do cannot be known from fewer."""
    with pytest.raises(StatisticsError):
        pass_all(passes, runs, k)
    with pytest.raises(StatisticsError):
        pass_any(passes, runs, k)


@pytest.mark.parametrize("passes", range(6))
def test_bounds_agree_with_scipy(passes: int) -> None:
    """Exact and Wilson bounds are those of a second implementation."""
    found = rate_bounds(passes, 5)
    exact = stats.binomtest(passes, 5).proportion_ci(0.95, "exact")
    wilson = stats.binomtest(passes, 5).proportion_ci(0.95, "wilson")

    assert found.exact == pytest.approx((exact.low, exact.high))
    assert found.wilson == pytest.approx((wilson.low, wilson.high), abs=1e-12)
    assert found.at_least == pytest.approx(
        stats.binomtest(passes, 5, alternative="greater").proportion_ci(0.95, "exact").low
    )


def test_failures_mirror_passes() -> None:
    """Bounds on k passes are those on k failures, turned round."""
    two, three = rate_bounds(2, 5), rate_bounds(3, 5)

    for low, high in ((two.exact, three.exact), (two.jeffreys, three.jeffreys)):
        assert low == pytest.approx((1 - high[1], 1 - high[0]))
    assert two.at_most == pytest.approx(1 - three.at_least)


def test_no_passes_bound_from_above_only() -> None:
    """0 of n says nothing about how low the rate is, n of n nothing about how high."""
    assert rate_bounds(0, 3).exact[0] == rate_bounds(0, 3).jeffreys[0] == 0.0
    assert rate_bounds(3, 3).exact[1] == rate_bounds(3, 3).jeffreys[1] == 1.0
