"""Quantiles agree with a second method."""

import pytest
from scipy import stats

from harness.stats.quantiles import (
    detectable_noncentrality,
    studentized_range_quantile,
    t_quantile,
    t_test_power,
)


@pytest.mark.parametrize("df", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("p", [0.90, 0.95, 0.99])
def test_the_range_of_two_is_a_t(p: float, df: int) -> None:
    """With two models the all-pairs comparison is the t test, whatever the degrees of freedom."""
    expected = 2**0.5 * stats.t.ppf((1 + p) / 2, df)

    assert studentized_range_quantile(p, 2, df) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("models", "df"), [(15, 1), (12, 33)])
def test_the_range_agrees_with_scipy(models: int, df: int) -> None:
    """The quadrature agrees to 1e-6 with the slow reference, also where the tail is heaviest."""
    expected = stats.studentized_range.ppf(0.95, models, df)

    assert studentized_range_quantile(0.95, models, df) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("df", "effect"), [(2, 3.0), (4, 3.76106), (60, 2.8)])
def test_power_is_the_noncentral_t(df: int, effect: float) -> None:
    """Averaging the normal power over the estimated deviation is the noncentral t."""
    limit = stats.t.ppf(0.975, df)
    expected = stats.nct.sf(limit, df, effect) + stats.nct.cdf(-limit, df, effect)

    assert t_test_power(effect, df) == pytest.approx(expected, abs=1e-7)


def test_the_detectable_effect_has_the_asked_power() -> None:
    """The effect that is found is the one that was asked for, with one degree of freedom too."""
    for df in (1, 4, 50):
        assert t_test_power(detectable_noncentrality(0.8, df), df) == pytest.approx(0.8, abs=1e-8)


def test_no_effect_is_seen_as_often_as_the_error_rate() -> None:
    """Without an effect the power is the error rate."""
    assert t_test_power(0.0, 7) == pytest.approx(0.05, abs=1e-9)
    assert t_quantile(0.5, 7) == pytest.approx(0.0, abs=1e-12)
