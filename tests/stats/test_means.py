"""Means and their intervals, from one run of one model upwards."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.errors import StatisticsError
from harness.stats.means import model_means, pooled_sigma, shrink_variances

NAN = math.nan
LIVELY = np.array([[171.0, 160, 176], [168, 160, 171], [150, 147, 159], [149, 141, 151]])


def test_the_shrunken_interval_by_hand() -> None:
    """Variances 1 and 9 on two df each: pooled 5, shrunk (4·5 + 2·1)/6 and (4·5 + 2·9)/6, t(4)."""
    calm, wild = model_means([[9.0, 10, 11], [17, 20, 23]])
    t = stats.t.ppf(0.975, 4)  # 4 + 2 would be more than the two models hold

    assert calm.shrunk.half == pytest.approx(t * math.sqrt(22 / 6 / 3))
    assert wild.shrunk.half == pytest.approx(t * math.sqrt(38 / 6 / 3))
    assert calm.shrunk.df == 4


def test_many_models_give_the_declared_degrees_of_freedom() -> None:
    """With enough others the interval has d0 + n - 1 degrees of freedom."""
    assert {m.shrunk.df for m in model_means(LIVELY)} == {6.0}


def test_one_model_has_nobody_to_borrow_from() -> None:
    """Alone, the shrunken interval is the raw one."""
    (alone,) = model_means(LIVELY[:1])

    assert alone.shrunk.half == pytest.approx(alone.raw.half)


def test_one_run_each_gives_means_without_intervals() -> None:
    """Nobody has a second run: no deviation, no interval, no zero."""
    for model in model_means([[171.0], [168.0]]):
        assert (model.runs, model.raw, model.shrunk, model.shrunk_sd) == (1, None, None, None)


def test_a_model_with_one_run_borrows_all_of_its_deviation() -> None:
    """Its interval is the pooled deviation itself, on the declared d0."""
    single = model_means(np.vstack([[155.0, NAN, NAN], LIVELY]))[0]
    pooled = pooled_sigma(LIVELY)

    assert single.raw is None
    assert (single.shrunk.se, single.shrunk.df) == (pytest.approx(pooled.sd), 4.0)


def test_two_runs_have_both_intervals() -> None:
    """Two runs suffice for both, the raw one on one degree of freedom."""
    first = model_means(LIVELY[:, :2])[0]

    assert (first.raw.df, first.shrunk.df) == (1, 4.0)
    assert first.raw.half > first.shrunk.half


def test_runs_that_agree_have_the_lattice_for_an_interval() -> None:
    """All runs of all models equal: no raw interval, and half a point as the pooled σ."""
    models = model_means([[170.0] * 3, [150.0] * 3])
    pooled = pooled_sigma([[170.0] * 3, [150.0] * 3])

    assert all(m.raw is None and m.spread.all_equal for m in models)
    assert (pooled.sd, pooled.floored, pooled.low) == (0.5, True, None)
    # the shrunken variance mixes the floor with an observed 0: (4 · 0.25 + 2 · 0) / 6
    assert models[0].shrunk.se == pytest.approx(math.sqrt(1 / 6 / 3))
    assert models[0].shrunk_sd == pytest.approx(math.sqrt(1 / 6))


def test_a_missing_run_leaves_the_others_alone() -> None:
    """NaN is neither a zero nor a run."""
    gap = LIVELY.copy()
    gap[0, 2] = NAN
    first = model_means(gap)[0]

    assert (first.runs, first.mean) == (2, pytest.approx(165.5))


def test_a_run_missing_for_all_is_a_shorter_campaign() -> None:
    """A third pass nobody finished changes nothing."""
    gap = LIVELY.copy()
    gap[:, 2] = NAN

    assert model_means(gap) == model_means(LIVELY[:, :2])


def test_scaling_points_scales_every_interval() -> None:
    """Ten times the points are ten times every end, the floor scaled with them."""
    for one, ten in zip(model_means(LIVELY), model_means(10 * LIVELY, floor=25.0), strict=True):
        assert ten.shrunk.high == pytest.approx(10 * one.shrunk.high)
        assert ten.raw.low == pytest.approx(10 * one.raw.low)
        assert ten.spread.sd_high == pytest.approx(10 * one.spread.sd_high)


def test_display_is_clipped_and_the_computation_is_not() -> None:
    """An interval may pass the maximum; only what is drawn stops there."""
    shrunk = model_means([[199.0, 190, 200], [150, 147, 159]])[0].shrunk

    assert shrunk.high > 200
    assert shrunk.clipped(0, 200) == (shrunk.low, 200)


def test_pooled_sigma_has_its_own_interval() -> None:
    """Pooled over four models of three runs: 8 degrees of freedom and their chi-squared ends."""
    pooled = pooled_sigma(LIVELY)

    assert pooled.df == 8
    assert pooled.high == pytest.approx(pooled.sd * math.sqrt(8 / stats.chi2.ppf(0.025, 8)))


@pytest.mark.parametrize("totals", [[[NAN, NAN], [1.0, 2.0]], [[]], [1.0, 2.0], [[math.inf, 1.0]]])
def test_what_cannot_be_summarised_is_refused(totals: list) -> None:
    """A model without a run, an empty table, another shape, an infinite total."""
    with pytest.raises(StatisticsError):
        model_means(totals)


def test_nothing_is_pooled_from_single_runs() -> None:
    """No second run anywhere, no deviation."""
    with pytest.raises(StatisticsError, match="one run"):
        pooled_sigma([[1.0], [2.0]])
    with pytest.raises(StatisticsError):
        shrink_variances([1.0, 2.0], [0, 0])
