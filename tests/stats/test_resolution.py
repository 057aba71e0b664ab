"""What a campaign could have seen."""

import pytest

from harness.errors import StatisticsError
from harness.stats.interval import satterthwaite, t_interval
from harness.stats.noise import sigma_factors
from harness.stats.resolution import resolution, resolution_band


def test_the_three_gaps_stand_in_order() -> None:
    """What is usually caught is wider than what would count for one declared pair."""
    seen = resolution(2.0, runs=3, models=6, df=10)

    assert seen.critical < seen.detectable
    assert seen.critical < seen.critical_all_pairs


def test_both_ends_of_sigma_are_shown() -> None:
    """The resolution is as uncertain as σ."""
    low, at, high = resolution_band(2.0, runs=3, models=6, df=10)
    factors = sigma_factors(10)

    assert low.critical / at.critical == pytest.approx(factors[0])
    assert high.detectable / at.detectable == pytest.approx(factors[1])


def test_two_points_need_six_runs_at_a_sigma_of_one_and_a_half() -> None:
    """For two models alone the critical difference passes below 2 points at six runs."""
    critical = {n: resolution(1.5, runs=n, models=2, df=2 * (n - 1)).critical for n in (5, 6)}

    assert critical[5] > 2 > critical[6]


@pytest.mark.parametrize(
    ("sigma", "runs", "models", "df"), [(0, 3, 6, 10), (1, 0, 6, 10), (1, 3, 1, 10), (1, 3, 6, 0)]
)
def test_nothing_to_resolve_is_refused(sigma: float, runs: int, models: int, df: float) -> None:
    """No σ, no run, one model, no degree of freedom."""
    with pytest.raises(StatisticsError):
        resolution(sigma, runs=runs, models=models, df=df)


def test_an_interval_excludes_what_lies_outside() -> None:
    """Ends belong to the interval."""
    interval = t_interval(10.0, 1.0, 10)

    assert not interval.excludes(interval.low)
    assert interval.excludes(interval.low - 1e-9)
    assert interval.excludes(interval.high + 1e-9)


def test_satterthwaite_lies_between_the_parts_and_their_sum() -> None:
    """Equal parts have the sum of the degrees of freedom, one part alone its own."""
    assert satterthwaite([1, 1], [5.0, 5.0], [2, 2]) == pytest.approx(4)
    assert satterthwaite([1, 1], [5.0, 0.0], [2, 7]) == pytest.approx(2)
    with pytest.raises(StatisticsError):
        satterthwaite([1, 1], [0.0, 0.0], [2, 2])
