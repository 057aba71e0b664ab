"""What more runs or tasks would buy."""

import math

import numpy as np
import pytest

from harness.errors import StatisticsError
from harness.stats.components import Components, effective_tasks
from harness.stats.dstudy import d_study, d_study_bands

FOUND = Components(0.004, 0.012, 0.0003, 0.010, 0.0002, 0.001, 0.006)


def test_absolute_error_adds_what_is_common_to_models() -> None:
    """Absolute = relative + task/T + run/R + task_run/(TR)."""
    plan = d_study(FOUND, tasks=10, runs=2, models=6)

    assert plan.absolute - plan.relative == pytest.approx(0.012 / 10 + 0.0003 / 2 + 0.001 / 20)
    assert plan.phi < plan.g


def test_endless_runs_reach_the_ceiling() -> None:
    """Beyond the ceiling GPU-hours buy nothing; only new tasks do."""
    plan = d_study(FOUND, tasks=11, runs=3, models=6)
    endless = d_study(FOUND, tasks=11, runs=math.inf, models=6)

    assert endless.g == pytest.approx(plan.ceiling_g)
    assert endless.relative_se == pytest.approx(plan.ceiling_se)
    assert endless.fixed_suite == 0
    assert plan.g < plan.ceiling_g < 1


def test_unequal_tasks_count_as_fewer() -> None:
    """A weighted total has the error of 10.85 equal tasks, not of 11."""
    weighted = effective_tasks([24, 18, 20, 18, 18, 16, 18, 16, 16, 18, 18])

    more = d_study(FOUND, tasks=weighted, runs=3, models=6)
    assert more.relative > d_study(FOUND, tasks=11, runs=3, models=6).relative


def test_few_models_earn_a_warning() -> None:
    """The model component of six models has five degrees of freedom; dozens need no warning."""
    assert "5 degrees of freedom" in d_study(FOUND, tasks=11, runs=3, models=6).warning
    assert d_study(FOUND, tasks=11, runs=3, models=24).warning == ""


def test_nothing_that_varies_has_no_coefficient() -> None:
    """0 / 0 is neither a perfect nor a useless instrument."""
    plan = d_study(Components(0, 0, 0, 0, 0, 0, 0), tasks=11, runs=3, models=6)

    assert (plan.g, plan.phi, plan.ceiling_g, plan.relative_se) == (None, None, None, 0.0)


@pytest.mark.parametrize(("tasks", "runs"), [(0, 3), (11, 0)])
def test_a_campaign_of_nothing_is_refused(tasks: int, runs: int) -> None:
    """A plan has a task and a run."""
    with pytest.raises(StatisticsError):
        d_study(FOUND, tasks=tasks, runs=runs, models=6)


def test_bands_over_models_are_wide_and_hold_the_estimate() -> None:
    """Four models drawn again give anything from a poor to a good instrument."""
    g2 = [
        [[18, 19, 17], [16, 15, 10], [14, 15, 7]],
        [[15, 17, 10], [18, 18, 11], [12, 14, 7]],
        [[14, 14, 16], [12, 8, 10], [7, 12, 10]],
        [[10, 10, 7], [12, 10, 8], [6, 11, 5]],
    ]
    bands = d_study_bands(g2, tasks=3, runs=3, rng=np.random.default_rng(4), draws=200)

    # moments of G2 in the specification: m 4.602, mt 2.565, mr 2.713, e 1.593
    g = 4.6018519 / (4.6018519 + 2.5648148 / 3 + 2.7129630 / 3 + 1.5925926 / 9)
    assert bands.g[0] < g < bands.g[1]
    assert bands.g[1] - bands.g[0] > 0.2
    assert bands.phi[0] <= bands.phi[1] <= 1
    with pytest.raises(StatisticsError):
        d_study_bands(np.ones((3, 3, 3)), tasks=3, runs=3, rng=np.random.default_rng(4), draws=5)
    with pytest.raises(StatisticsError):
        d_study_bands([[[1, math.nan], [1, 2]]], tasks=3, runs=3, rng=np.random.default_rng(4))
