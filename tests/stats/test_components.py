"""Variance components, complete, cut and nested, each against a second method."""

import math
from dataclasses import astuple

import numpy as np
import pytest
from scipy.optimize import minimize

from harness.errors import StatisticsError
from harness.stats.components import MOST_REML_CELLS, g_study, reml_components

NAN = math.nan
TRUE = (0.004, 0.012, 0.0003, 0.010, 0.0002, 0.001, 0.006)
AXES = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))


def drawn(rng: np.random.Generator, shape: tuple[int, int, int] = (6, 11, 3)) -> np.ndarray:
    shares = np.full(shape, 0.8)
    for variance, axes in zip(TRUE, AXES, strict=True):
        size = [n if axis in axes else 1 for axis, n in enumerate(shape)]
        shares = shares + rng.normal(0, math.sqrt(variance), size)
    return shares


def cut(shares: np.ndarray) -> np.ndarray:
    """Half of the models lack the last run."""
    shares = shares.copy()
    shares[len(shares) // 2 :, :, -1] = NAN
    return shares


def similarity(seen: np.ndarray) -> list[np.ndarray]:
    return [
        np.all([seen[:, a][:, None] == seen[:, a] for a in axes], axis=0).astype(float)
        for axes in AXES
    ]


def test_moments_solve_the_trace_equations() -> None:
    """With cells missing they solve tr(P Ka P Kb) v = y'P Ka P y, here with whole matrices."""
    shares = cut(drawn(np.random.default_rng(1), (4, 3, 3)))
    seen = np.argwhere(~np.isnan(shares))
    y = shares[tuple(seen.T)]
    p = np.eye(len(y)) - 1 / len(y)
    centred = [p @ k @ p for k in similarity(seen)]
    left = [[(a * b).sum() for b in centred] for a in centred]
    expected = np.linalg.solve(left, [y @ k @ y for k in centred])

    assert astuple(g_study(shares).raw) == pytest.approx(tuple(expected), abs=1e-10)


def test_complete_data_give_the_mean_square_formulas() -> None:
    """On complete data the moments are those of the analysis of variance."""
    x = drawn(np.random.default_rng(2), (5, 4, 3))
    raw = g_study(x).raw
    mt = x.mean(axis=2)
    ms_mt = (
        3 * ((mt - mt.mean(axis=1, keepdims=True) - mt.mean(axis=0) + mt.mean()) ** 2).sum() / 12
    )
    residual = x - mt[:, :, None] - x.mean(axis=1, keepdims=True) - x.mean(axis=0)
    residual += x.mean(axis=(1, 2), keepdims=True) + x.mean(axis=(0, 2))[:, None]
    residual += x.mean(axis=(0, 1)) - x.mean()
    ms_e = (residual**2).sum() / (4 * 3 * 2)

    assert raw.error == pytest.approx(ms_e)
    assert raw.model_task == pytest.approx((ms_mt - ms_e) / 3)


@pytest.mark.parametrize("seed", range(4))
def test_reml_is_the_top_of_the_likelihood(seed: int) -> None:
    """No other components, negative ones excluded, are more likely; found by a general search."""
    shares = cut(drawn(np.random.default_rng(seed), (4, 4, 3)))
    seen = np.argwhere(~np.isnan(shares))
    y = shares[tuple(seen.T)] * 10  # near 1, as the search likes it
    kernels = similarity(seen)

    def loss(root: np.ndarray) -> float:
        v = sum(r * r * k for r, k in zip(root, kernels, strict=True)) + 1e-9 * np.eye(len(y))
        inverse = np.linalg.inv(v)
        ones = inverse.sum()
        p = inverse - np.outer(inverse.sum(axis=1), inverse.sum(axis=0)) / ones
        return (np.linalg.slogdet(v)[1] + math.log(ones) + y @ p @ y) / 2

    ours = np.sqrt(100 * np.array(astuple(g_study(shares).used)))
    found = minimize(loss, ours + 0.05, method="L-BFGS-B")

    assert loss(ours) <= found.fun + 1e-6


@pytest.mark.parametrize("seed", [7, 41, 53, 61, 65])
def test_reml_settles_where_full_steps_swing_for_ever(seed: int) -> None:
    """Small lattices on which undamped rounds go back and forth around the top without an end."""
    rng = np.random.default_rng(seed)
    shares = rng.integers(0, 3, (3, 3, 3)) / 2
    shares[rng.random(shares.shape) < 0.4] = NAN
    found = g_study(shares)

    assert found.method == "reml"
    assert 0 <= min(astuple(found.used)) <= max(astuple(found.used)) < 1


def test_reml_is_used_as_soon_as_a_cell_is_missing() -> None:
    """Complete data take moments; one missing cell takes REML, and both say so."""
    shares = drawn(np.random.default_rng(3), (4, 4, 2))
    whole = g_study(shares)
    shares[0, 0, 0] = NAN
    holed = g_study(shares)

    assert (whole.method, whole.missing) == ("moments", 0)
    assert (holed.method, holed.missing) == ("reml", 1)
    assert min(astuple(holed.used)) >= 0


def test_adding_a_constant_changes_no_component() -> None:
    """Only differences carry variance."""
    shares = cut(drawn(np.random.default_rng(4), (4, 4, 3)))

    assert astuple(g_study(shares + 7).used) == pytest.approx(
        astuple(g_study(shares).used), abs=1e-8
    )


def test_scaling_shares_scales_components_by_the_square() -> None:
    """Ten times the shares are a hundred times the variances."""
    shares = cut(drawn(np.random.default_rng(5), (4, 4, 3)))
    expected = tuple(100 * v for v in astuple(g_study(shares).used))

    assert astuple(g_study(10 * shares).used) == pytest.approx(expected, abs=1e-7)


def test_nested_runs_merge_what_they_cannot_tell_apart() -> None:
    """Without common schedules: MS of run-in-model less residual, over tasks; no run component."""
    x = drawn(np.random.default_rng(6), (5, 4, 3))
    found = g_study(x, nested=True)
    mt, mr, m = x.mean(axis=2), x.mean(axis=1), x.mean(axis=(1, 2))
    ms_runs = 4 * ((mr - m[:, None]) ** 2).sum() / (5 * 2)
    residual = x - mt[:, :, None] - mr[:, None] + m[:, None, None]
    ms_e = (residual**2).sum() / (5 * 3 * 2)

    assert found.merged == ("run", "task_run")
    assert (found.raw.run, found.raw.task_run) == (0.0, 0.0)
    assert found.raw.error == pytest.approx(ms_e)
    assert found.raw.model_run == pytest.approx((ms_runs - ms_e) / 4)


@pytest.mark.parametrize("shape", [(1, 4, 3), (4, 1, 3), (4, 3, 1)])
def test_one_of_anything_gives_no_components(shape: tuple[int, int, int]) -> None:
    """One model, one task or one run leaves a component without a second level."""
    with pytest.raises(StatisticsError, match="two of everything"):
        g_study(np.ones(shape))


def test_a_run_that_nobody_has_is_no_second_run() -> None:
    """A second run with no cell at all leaves one run."""
    shares = drawn(np.random.default_rng(7), (4, 3, 2))
    shares[:, :, 1] = NAN

    with pytest.raises(StatisticsError, match="two of everything"):
        g_study(shares)


def test_cells_that_leave_a_component_undetermined_are_refused() -> None:
    """One run of each model, another one each: run and model × run cannot be told apart."""
    shares = np.full((3, 4, 3), NAN)
    for m in range(3):
        shares[m, :, m] = np.random.default_rng(m).normal(0, 1, 4)

    with pytest.raises(StatisticsError, match="undetermined"):
        g_study(shares)


def test_cells_that_all_agree_have_no_variance_at_all() -> None:
    """All runs equal everywhere: every component 0 and marked indistinct, complete or cut."""
    shares = np.full((3, 3, 3), 0.5)
    assert len(g_study(shares).raw.indistinct) == 7
    shares[0, 0, 0] = NAN
    assert astuple(g_study(shares).used) == (0.0,) * 7


def test_too_many_cells_for_reml_are_named_as_moments() -> None:
    """A very long campaign with a hole falls back on moments and says so."""
    shares = drawn(np.random.default_rng(8), (6, 11, 16))
    shares[0, 0, 0] = NAN

    assert shares.size > MOST_REML_CELLS
    assert g_study(shares).method == "moments"


@pytest.mark.slow
def test_estimates_are_right_on_average() -> None:
    """Over 40 campaigns each estimator is within three Monte-Carlo errors of the truth."""
    rng = np.random.default_rng(11)
    data = [drawn(rng) for _ in range(40)]
    estimates = {
        "moments": [astuple(g_study(x).raw) for x in data],
        "moments, cut": [astuple(g_study(cut(x)).raw) for x in data],
        "reml": [astuple(reml_components(x)) for x in data],
        "reml, cut": [astuple(g_study(cut(x)).used) for x in data],
    }

    for name, values in estimates.items():
        error = np.std(values, axis=0, ddof=1) / math.sqrt(40)
        assert (abs(np.mean(values, axis=0) - TRUE) <= 3 * error).all(), name
