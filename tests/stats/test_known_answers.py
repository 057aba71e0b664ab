"""Numbers of the specification, each from the public function the report calls, to 1e-6."""

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.checks import item_rest_correlation
from harness.stats.components import Components, effective_tasks, g_study, reml_components
from harness.stats.dstudy import d_study
from harness.stats.effective import effective_checks, translate_noise
from harness.stats.equivalence import equivalence, matched_difference
from harness.stats.hygiene import counterfactual
from harness.stats.interval import satterthwaite
from harness.stats.levels import level_scores
from harness.stats.means import model_means, shrink_variances
from harness.stats.multiple import holm
from harness.stats.pairs import paired_analysis
from harness.stats.quantiles import studentized_range_quantile
from harness.stats.ranks import rank_sets
from harness.stats.repeats import pass_all, pass_any, rate_bounds
from harness.stats.resolution import resolution
from harness.stats.twoway import fit_two_way
from harness.stats.unpaired import unpaired_analysis

TOLERANCE = 1e-6  # the specification prints seven decimals

V2 = [88.50, 88.50, 81.08]
HYGIENE = [88.50, 88.50, 85.88]
POINTS = [24, 18, 20, 18, 18, 16, 18, 16, 16, 18, 18]
CHECKS = [6, 4, 4, 6, 8, 7, 5, 19, 4, 5, 5]
DEFECTIVE = [0, 0, 0, 1, 3, 2, 0, 11.8, 3, 11, 6.75]
TASKS = [f"A{t + 1:02}" for t, checks in enumerate(CHECKS) for _ in range(checks)]
WEIGHTS = [p / c for p, c in zip(POINTS, CHECKS, strict=True) for _ in range(c)]
W = [[171, 166, 176], [168, 160, 171], [150, 147, 159], [149, 141, 151]]
G1 = [
    [[9, 8], [6, 7], [3, 5]],
    [[8, 9], [4, 4], [4, 2]],
    [[5, 6], [5, 3], [1, 1]],
    [[9, 9], [8, 6], [5, 6]],
]
G2 = [
    [[18, 19, 17], [16, 15, 10], [14, 15, 7]],
    [[15, 17, 10], [18, 18, 11], [12, 14, 7]],
    [[14, 14, 16], [12, 8, 10], [7, 12, 10]],
    [[10, 10, 7], [12, 10, 8], [6, 11, 5]],
]
PLANNED = Components(0.004, 0.012, 0.0003, 0.010, 0.0002, 0.001, 0.006)


def near(expected: object) -> object:
    return pytest.approx(expected, abs=TOLERANCE)


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize(
    ("totals", "moments", "half", "ends"),
    [
        (V2, (86.0266667, 4.2839390, 2.4733333), 10.6418944, (2.2304683, 26.9234201)),
        (HYGIENE, (87.6266667, 1.5126577, 0.8733333), 3.7576501, (0.7875777, 9.5066524)),
    ],
)
def test_01_to_04_mean_and_sigma_of_three_runs(
    totals: list[float], moments: tuple, half: float, ends: tuple
) -> None:
    """The published campaign as it was and repaired: mean, σ, standard error and both intervals."""
    (found,) = model_means([totals])

    assert (found.mean, found.spread.sd, found.raw.se) == near(moments)
    assert found.raw.half == near(half)
    assert (found.spread.sd_low, found.spread.sd_high) == near(ends)


def test_05_and_06_what_repair_changed() -> None:
    """65 % less deviation is one event: F(2, 2) = 8.02 with a nominal p of 0.11."""
    changed = counterfactual(V2, [[0.0], [0.0], [4.80]], repaired=HYGIENE)

    assert changed.ratio.reduction == near(0.6469003)
    assert changed.ratio.f == near(8.0205699)
    assert changed.ratio.nominal_p == near(0.1108577)
    assert changed.delta_mean == near(1.6)
    assert changed.delta_sd == near(2.7712813)
    assert changed.p == near(0.4226497)
    identity = changed.identity
    assert (identity.as_is, identity.repaired) == near((18.352133, 2.288133))
    assert (identity.delta, identity.cross) == near((7.68, 8.384))


def test_07_the_ledger_that_adds_up() -> None:
    """A task that moves from 1.70 to 8.50 moves the total to 87.88, and σ to 0.358."""
    changed = counterfactual(V2, [[0.0], [0.0], [8.50 - 1.70]])

    assert changed.repaired.mean == near((88.5 + 88.5 + 87.88) / 3)
    assert changed.repaired.sd == near(0.3579572)


def test_08_effective_tasks_and_checks_by_weight() -> None:
    """73 checks of 200 points weigh as 58.83 equal ones, 11 tasks as 10.85."""
    found = effective_checks(WEIGHTS, TASKS)

    assert found.tasks == near(10.8459870)
    assert effective_tasks(POINTS) == near(10.8459870)
    assert found.sum_squared == near(679.9451128)
    assert found.by_weight == near(58.8282778)


@pytest.mark.parametrize(
    ("rho", "expected"), [(0.1, 40.7850884), (0.2, 31.2120556), (0.5, 18.3152485)]
)
def test_09_effective_checks_with_correlation(rho: float, expected: float) -> None:
    """Correlation inside a task costs observations."""
    assert effective_checks(WEIGHTS, TASKS, correlation=rho).effective == near(expected)


def test_10_a_sigma_said_in_checks() -> None:
    """σ = 1.5 is the noise of less than one fair coin among 73 checks."""
    said = translate_noise(1.5, WEIGHTS)

    assert said.mean_variance == near(0.0033091)
    assert said.pass_rate == near(0.9966799)
    assert said.coin_checks == near(0.9662545)


@pytest.mark.parametrize(("models", "df", "critical"), [(2, 4, 3.4004369), (6, 12, 2.6684898)])
def test_11_critical_difference(models: int, df: int, critical: float) -> None:
    """Two points of 200 are not sustained by three runs at σ = 1.5."""
    assert resolution(1.5, runs=3, models=models, df=df).critical == near(critical)


@pytest.mark.parametrize(("df", "expected"), [(4, 4.6063384), (12, 3.7387266), (10, 3.8089175)])
def test_12_detectable_difference(df: int, expected: float) -> None:
    """The smallest true gap that is usually caught is wider than the critical one."""
    assert resolution(1.5, runs=3, models=6, df=df).detectable == near(expected)


@pytest.mark.parametrize(
    ("models", "df", "quantile", "critical"),
    [
        (4, 6, 4.8955992, 4.2397133),
        (4, 8, 4.5288096, 3.9220642),
        (6, 10, 4.9120157, 4.2539304),
        (6, 12, 4.7502314, 4.1138211),
    ],
)
def test_13_and_14_all_pairs(models: int, df: int, quantile: float, critical: float) -> None:
    """The studentized range, and the gap that counts when all pairs are looked at."""
    assert studentized_range_quantile(0.95, models, df) == near(quantile)
    seen = resolution(1.5, runs=3, models=models, df=df)
    assert seen.critical_all_pairs == near(critical)


def test_15_satterthwaite() -> None:
    """Degrees of freedom of two samples of three runs."""
    variances = [np.var(V2, ddof=1), np.var(HYGIENE, ddof=1)]

    assert satterthwaite([1 / 3, 1 / 3], variances, [2, 2]) == near(2.4910838)


def test_16_shrunken_variances() -> None:
    """A wild model is pulled down, a silent one up."""
    shrunk = shrink_variances([1, 4, 16, 0], [2, 2, 2, 2], prior_df=4)

    assert (shrunk[2], shrunk[3]) == near((8.8333333, 3.5))


def test_17_holm() -> None:
    """Adjusted p values never fall along the list."""
    found = holm([0.001, 0.012, 0.020, 0.041, 0.30, 0.04])

    assert found == near((0.006, 0.06, 0.08, 0.12, 0.30, 0.12))


def test_18_two_way_fit() -> None:
    """Pairing removes the schedules: eleven times less variance."""
    fit = fit_two_way(W)

    assert (fit.ms_error, fit.ms_within) == near((2.75, 31.0833333))
    assert (fit.schedule, fit.pairing_gain) == near((28.3333333, 11.3030303))


def test_19_critical_difference_paired_and_not() -> None:
    """The same totals resolve 4.7 points paired and 14.6 when schedules are ignored."""
    assert paired_analysis(W, rng=rng()).critical == near(4.6871794)
    assert unpaired_analysis(W).critical == near(14.5776404)


def test_20_rank_sets_paired_and_not() -> None:
    """The same means give two more separations when they are paired."""
    paired = rank_sets(paired_analysis(W, rng=rng()).above())
    unpaired = rank_sets(unpaired_analysis(W).above())

    assert [str(s) for s in paired] == ["1-2", "1-2", "3", "4"]
    assert [str(s) for s in unpaired] == ["1-2", "1-3", "2-4", "3-4"]


def test_21_components_may_be_negative() -> None:
    """Raw moment estimates are handed out as they are, three of them negative."""
    raw = g_study(G1).raw

    assert tuple(vars(raw).values()) == near(
        (2.5, 5.0277778, 0.0277778, -0.1111111, -0.3194444, -0.1666667, 1.3333333)
    )
    assert raw.indistinct == ("model_task", "model_run", "task_run")


def test_22_d_study_from_truncated_components_only() -> None:
    """Truncated components give a G below 1; the raw ones would give 1.03 and are refused."""
    found = g_study(G1)
    plan = d_study(found.used, tasks=11, runs=3, models=4)

    assert (plan.relative, plan.g, plan.phi) == near((0.0404040, 0.9840954, 0.8314670))
    with pytest.raises(StatisticsError, match=r"1\.0314291"):
        d_study(found.raw, tasks=11, runs=3, models=4)


def test_23_moments_and_reml_agree_on_complete_data() -> None:
    """Where every component is positive the two estimators are one."""
    expected = (4.6018519, 2.5879630, 2.6064815, 2.5648148, 2.7129630, 1.5601852, 1.5925926)

    assert tuple(vars(g_study(G2).raw).values()) == near(expected)
    assert tuple(vars(reml_components(G2)).values()) == near(expected)


@pytest.mark.parametrize(
    ("tasks", "runs", "relative"),
    [
        (11, 1, 8.1352208),
        (11, 3, 6.8046330),
        (11, 10, 6.2725955),
        (22, 3, 4.9482167),
        (44, 3, 3.6845295),
    ],
)
def test_24_relative_error_in_points(tasks: int, runs: int, relative: float) -> None:
    """New tasks lower the error where runs no longer do."""
    plan = d_study(PLANNED, tasks=tasks, runs=runs, models=6)

    assert plan.relative_se == near(relative)


def test_25_fixed_suite_error_and_g() -> None:
    """On a fixed suite runs help on."""
    plans = [
        d_study(PLANNED, tasks=t, runs=r, models=6)
        for t, r in ((11, 1), (11, 3), (11, 10), (22, 3), (44, 3))
    ]

    assert [p.fixed_suite_se for p in plans] == near(
        [5.4606027, 3.1526804, 1.7267942, 2.5105837, 2.1177461]
    )
    assert (plans[1].g, plans[4].g) == near((0.7755582, 0.9217877))


def test_26_repeats_without_bias() -> None:
    """pass^3 of two passes in three runs is 0, not 8/27."""
    assert (pass_all(3, 5, 2), pass_any(3, 5, 2), pass_all(2, 3, 3)) == near((0.3, 0.9, 0.0))


def test_27_bounds_of_three_runs() -> None:
    """Three agreeing runs leave most rates possible."""
    none, all_ = rate_bounds(0, 3), rate_bounds(3, 3)

    assert (none.exact[1], none.at_most) == near((0.7075982, 0.6315969))
    assert (all_.jeffreys[0], all_.wilson[0]) == near((0.4644168, 0.4385030))


def test_28_equivalence() -> None:
    """Two one-sided tests against a margin of 3."""
    found = equivalence(0.4, 0.9, 10, margin=3.0)

    assert (found.p, found.interval.high) == near((0.0080689, 2.0312150))


def test_29_matched_pairs() -> None:
    """Four pairs are far too few: the half-width is 11 % of the maximum."""
    found = matched_difference([0.90, 0.80, 0.70, 0.95], [0.80, 0.82, 0.60, 0.81]).interval

    assert (found.centre, found.se, found.half) == near((0.08, 0.0346410, 0.1102432))


def test_30_check_against_the_rest() -> None:
    """A check is correlated with the total without itself."""
    totals = [180, 171, 165, 160, 150, 149]

    assert item_rest_correlation([1, 1, 0, 1, 0, 0], totals, 3.0) == near(0.6322804)


def test_31_points_checks_and_the_defective_total() -> None:
    """200 points are 73 checks; the defective set scores 38.55."""
    found = effective_checks(WEIGHTS, TASKS)
    totals = level_scores([[[points] for points in DEFECTIVE]], POINTS, ["A"] * 11).totals()

    assert (found.points, found.checks) == near((200, 73))
    assert totals.max_points == near(200)
    assert totals.values == near(np.array([[38.55]]))
