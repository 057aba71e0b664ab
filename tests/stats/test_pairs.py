"""Which differences are sustained, complete or with missing runs."""

import math

import numpy as np
import pytest
from scipy import stats

from harness.errors import StatisticsError
from harness.stats.multiple import holm, max_t_quantile
from harness.stats.pairs import PairAnalysis, paired_analysis
from harness.stats.quantiles import studentized_range_quantile
from harness.stats.twoway import fit_two_way, schedule_sigma
from harness.stats.unpaired import unpaired_analysis

NAN = math.nan
W = np.array([[171.0, 166, 176], [168, 160, 171], [150, 147, 159], [149, 141, 151]])


def paired(totals: object, **options: float) -> PairAnalysis:
    return paired_analysis(totals, rng=np.random.default_rng(5), **options)


def with_gaps(totals: np.ndarray, *gaps: tuple[int, int]) -> np.ndarray:
    y = totals.copy()
    for gap in gaps:
        y[gap] = NAN
    return y


def least_squares(y: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, int]:
    """Fit by dummy variables: model effects, residual mean square, their covariance factor."""
    models, runs = y.shape
    seen = np.argwhere(~np.isnan(y))
    x = np.zeros((len(seen), models + runs))
    x[np.arange(len(seen)), seen[:, 0]] = 1
    x[np.arange(len(seen)), models + seen[:, 1]] = 1
    values = y[tuple(seen.T)]
    beta = np.linalg.lstsq(x, values, rcond=None)[0]
    df = len(seen) - np.linalg.matrix_rank(x)
    ms = ((values - x @ beta) ** 2).sum() / df
    return beta[:models], ms, np.linalg.pinv(x.T @ x)[:models, :models], df


def test_the_second_gate_by_hand() -> None:
    """Models 3 and 4 of W: s² = 13 and 2 MS_e = 5.5 shrink to 8, so 5.0 points do not suffice."""
    last = paired(W).pairs[-1]

    assert (last.difference, last.verdict) == (pytest.approx(5.0), "fragile")
    expected = studentized_range_quantile(0.95, 4, 6) / math.sqrt(2) * math.sqrt(8 / 3)
    assert last.shrunk_half == pytest.approx(expected)
    assert last.own.half == pytest.approx(stats.t.ppf(0.975, 2) * math.sqrt(13 / 3))


def test_fragile_pairs_can_be_left_out() -> None:
    """The robust matrix holds sustained pairs alone."""
    analysis = paired(W)

    assert analysis.above()[2, 3]
    assert not analysis.above(robust=True)[2, 3]
    assert analysis.above(robust=True)[0, 2]


def test_a_constant_added_to_a_pass_changes_nothing_paired() -> None:
    """A schedule that is easier for everyone is no advantage for anyone."""
    shifted = paired(W + np.array([0.0, 25.0, -7.5]))

    for before, after in zip(paired(W).pairs, shifted.pairs, strict=True):
        assert after.verdict == before.verdict
        assert after.difference == pytest.approx(before.difference)
        assert after.half == pytest.approx(before.half)
        assert after.shrunk_half == pytest.approx(before.shrunk_half)


def test_a_pass_missing_for_all_is_a_shorter_campaign() -> None:
    """A third pass nobody finished leaves what two passes say."""
    assert paired(with_gaps(W, *((m, 2) for m in range(4)))) == paired(W[:, :2])


def test_a_pass_that_one_model_alone_finished_drops_out() -> None:
    """Nothing pairs with it, so no difference and no residual changes."""
    alone = np.column_stack([W, [199.0, NAN, NAN, NAN]])
    with_it, without = fit_two_way(alone), fit_two_way(W)

    assert (with_it.ms_error, with_it.df_error) == (pytest.approx(without.ms_error), 6)
    assert np.diff(with_it.effects) == pytest.approx(np.diff(without.effects))


def test_scaling_points_scales_every_difference() -> None:
    """Ten times the points are ten times every gap and half-width."""
    for one, ten in zip(paired(W).pairs, paired(10 * W, floor=25.0).pairs, strict=True):
        assert ten.half == pytest.approx(10 * one.half)
        assert ten.shrunk_half == pytest.approx(10 * one.shrunk_half)
        assert ten.own.half == pytest.approx(10 * one.own.half)
        assert ten.verdict == one.verdict


def test_identical_models_never_separate() -> None:
    """All runs of all models equal: the lattice stands for σ, and every pair is tied."""
    analysis = paired(np.full((4, 3), 150.0))

    assert {pair.verdict for pair in analysis.pairs} == {"tied"}
    assert all(pair.half > 0 and pair.own is None for pair in analysis.pairs)
    assert analysis.variance == 0.25


def test_constant_models_separate_only_beyond_the_lattice() -> None:
    """With no spread at all a gap of one point is still no order."""
    verdicts = [p.verdict for p in paired([[150.0] * 3, [151.0] * 3, [170.0] * 3]).pairs]

    assert verdicts == ["tied", "sustained", "sustained"]


@pytest.mark.parametrize("seed", range(6))
def test_uneven_data_agree_with_dummy_variables(seed: int) -> None:
    """Effects, residual and covariance are those of ordinary least squares."""
    rng = np.random.default_rng(seed)
    y = rng.normal(150, 5, (5, 4)) + rng.normal(0, 8, 4)
    y[rng.random(y.shape) < 0.25] = NAN
    y[:, 0] = rng.normal(150, 5, 5)  # so that all models stay linked
    fit = fit_two_way(y)
    effects, ms, covariance, df = least_squares(y)

    assert (fit.ms_error, fit.df_error) == (pytest.approx(ms), df)
    assert np.diff(fit.effects) == pytest.approx(np.diff(effects))
    contrast = np.array([1.0, -1, 0, 0, 0])
    assert contrast @ fit.covariance @ contrast == pytest.approx(contrast @ covariance @ contrast)


def test_uneven_pairs_have_uneven_widths() -> None:
    """The model with a missing run is known less well than the others."""
    analysis = paired(with_gaps(W, (0, 2)))
    halves = {(p.first, p.second): p.half for p in analysis.pairs}

    assert analysis.critical is None
    assert halves[0, 1] > halves[1, 2]
    assert [p.common_runs for p in analysis.pairs] == [2, 2, 2, 3, 3, 3]


def test_a_missing_hard_pass_is_no_advantage() -> None:
    """A model that skipped the hardest schedule is compared with what it would have met."""
    y = np.array([[100.0, 60, 100], [100, 60, 100], [100, 60, 101]])
    y[0, 1] = NAN

    assert paired(y).pairs[0].difference == pytest.approx(0.0, abs=0.5)


def test_models_without_a_common_schedule_are_unlinked() -> None:
    """No chain of schedules joins the two groups: no difference is made up."""
    y = [[150.0, 152, NAN, NAN], [149, 153, NAN, NAN], [NAN, NAN, 120, 125], [NAN, NAN, 121, 122]]
    pairs = {(p.first, p.second): p for p in paired(y).pairs}

    assert pairs[0, 2].verdict == pairs[1, 3].verdict == "unlinked"
    assert pairs[0, 2].difference is None
    assert pairs[0, 1].difference is not None
    assert not paired(y).above()[0, 2]


def test_simulated_quantile_is_tukeys_when_all_is_even() -> None:
    """Max-T and the studentized range are one on complete data (0.07 % of coverage apart)."""
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    found = max_t_quantile(np.eye(6), pairs, 10, rng=np.random.default_rng(3))

    # 100,000 draws: the quantile itself has a standard error of 0.007
    assert found == pytest.approx(studentized_range_quantile(0.95, 6, 10) / math.sqrt(2), abs=0.025)


def test_the_same_generator_gives_the_same_result() -> None:
    """Missing runs bring in simulation, which is reproducible from its seed."""
    y = with_gaps(W, (0, 2), (3, 1))

    assert paired(y) == paired(y)


def test_two_models_have_one_gate() -> None:
    """Two models alone: both gates, the t test of their differences, are the same."""
    (pair,) = paired(W[[0, 2]]).pairs

    assert pair.half == pytest.approx(pair.shrunk_half)
    assert pair.half == pytest.approx(pair.own.half)


def test_two_runs_can_sustain_a_difference() -> None:
    """Two runs leave few degrees of freedom, but large gaps still count."""
    analysis = paired([[171.0, 168], [168, 166], [60, 55], [58, 54]])

    assert analysis.df == 3
    assert analysis.above()[0, 2]


@pytest.mark.parametrize(
    "totals",
    [
        [[171.0, 166, 176]],
        [[171.0], [160.0]],
        [[171.0, NAN], [NAN, 160.0]],
        [[171.0, 166], [NAN, NAN]],
    ],
)
def test_too_little_for_a_pair_is_refused(totals: list) -> None:
    """One model, one run, no common second run, a model without a run."""
    with pytest.raises(StatisticsError):
        paired(totals)


def test_pairing_gain_is_told_when_it_bought_nothing() -> None:
    """Schedules that do not matter bring no gain; the analysis stays paired all the same."""
    flat = np.array([[10.0, 14, 12], [22, 20, 24], [33, 31, 29]])

    assert fit_two_way(W).pairing_helps
    assert not fit_two_way(flat).pairing_helps


def test_common_schedules_cost_degrees_of_freedom() -> None:
    """Where schedules matter, pooled σ claims 8 degrees of freedom and has hardly more than 2."""
    sigma = schedule_sigma(fit_two_way(W))
    variance = 28.3333333 + 2.75
    ms_runs = 4 * 28.3333333 + 2.75
    df = variance**2 / ((ms_runs / 4) ** 2 / 2 + (0.75 * 2.75) ** 2 / 6)

    assert sigma.sd == pytest.approx(math.sqrt(variance), abs=1e-6)
    assert sigma.df == pytest.approx(df, abs=1e-6)
    assert 2 < sigma.df < 3


def test_schedule_sigma_of_constant_models_is_the_lattice() -> None:
    """No spread at all: the floor, and no interval."""
    sigma = schedule_sigma(fit_two_way(np.full((3, 3), 10.0)))

    assert (sigma.sd, sigma.floored, sigma.low) == (0.5, True, None)


def test_unpaired_second_gate_uses_both_models() -> None:
    """Two calm models among wild ones, by hand: pooled 5, shrunk 22/6 each, t as the range of 4."""
    y = [[9.0, 10, 11], [29, 30, 31], [17, 20, 23], [47, 50, 53]]
    pair = unpaired_analysis(y).pairs[0]
    q = studentized_range_quantile(0.95, 4, 6) / math.sqrt(2)

    assert pair.shrunk_half == pytest.approx(q * math.sqrt(2 * 22 / 6 / 3))
    assert pair.own is None


def test_unpaired_runs_need_not_be_as_many() -> None:
    """Tukey–Kramer: the pair with fewer runs is wider."""
    analysis = unpaired_analysis([[9.0, 10, 11], [29, 30, NAN], [17, 20, 23]])

    assert analysis.critical is None
    assert analysis.pairs[0].half > analysis.pairs[1].half


@pytest.mark.parametrize("totals", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 2.0], [NAN, NAN]]])
def test_too_little_for_an_unpaired_comparison_is_refused(totals: list) -> None:
    """One model, one run, a model without a run."""
    with pytest.raises(StatisticsError):
        unpaired_analysis(totals)


def test_holm_keeps_to_probabilities() -> None:
    """Adjusted values stop at 1, and what is no probability is refused."""
    assert holm([0.9, 0.8]) == (1.0, 1.0)
    with pytest.raises(StatisticsError):
        holm([0.5, 1.5])


def test_a_declared_list_is_adjusted_for_its_own_length() -> None:
    """Each against an incumbent named before: Holm over those pairs, in either order."""
    analysis = paired(W)
    p = {(q.first, q.second): q.p for q in analysis.pairs}

    assert analysis.declared([(3, 0), (3, 1)]) == holm([p[0, 3], p[1, 3]])
    # the gap of 5 points of models 3 and 4, by hand as above: t = 5 / √(8/3) on 6 df
    assert p[2, 3] == pytest.approx(2 * stats.t.sf(5 / math.sqrt(8 / 3), 6))


def test_a_declared_pair_must_have_a_difference() -> None:
    """Models that no schedule joins cannot be on a declared list."""
    y = [[150.0, 152, NAN, NAN], [149, 153, NAN, NAN], [NAN, NAN, 120, 125], [NAN, NAN, 121, 122]]

    with pytest.raises(StatisticsError, match="declared"):
        paired(y).declared([(0, 1), (0, 2)])


def test_unlinked_groups_agree_with_dummy_variables() -> None:
    """Each group keeps its own scale and costs one degree of freedom."""
    y = np.array(
        [[150.0, 152, NAN, NAN], [149, 153, NAN, NAN], [NAN, NAN, 120, 125], [NAN, NAN, 121, 122]]
    )
    fit = fit_two_way(y)
    _, ms, _, df = least_squares(y)

    assert (fit.ms_error, fit.df_error) == (pytest.approx(ms), df)
    assert fit.effects == pytest.approx(np.array([151, 151, 122.5, 121.5]))


def test_the_schedule_component_of_uneven_data_by_projections() -> None:
    """Henderson's third method with whole matrices: SS(run | model) over its own expectation."""
    y = with_gaps(W, (0, 2), (3, 1))
    seen = np.argwhere(~np.isnan(y))
    values = y[tuple(seen.T)]
    models, runs = np.eye(4)[seen[:, 0]], np.eye(3)[seen[:, 1]]
    off_models = np.eye(10) - models @ np.linalg.pinv(models)
    both = np.hstack([models, runs])
    off_both = np.eye(10) - both @ np.linalg.pinv(both)
    fit = fit_two_way(y)
    ss = values @ (off_models - off_both) @ values
    expected = (ss - 2 * fit.ms_error) / np.trace(runs.T @ off_models @ runs)

    assert fit.schedule == pytest.approx(expected)


def test_unpaired_degrees_of_freedom_are_never_more_than_there_are() -> None:
    """Two models of three runs hold four degrees of freedom, whatever the declared prior."""
    (pair,) = unpaired_analysis([[9.0, 10, 11], [17, 20, 23]]).pairs

    assert pair.shrunk.df == 4
