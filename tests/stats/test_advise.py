"""Advice on what to run next keeps its promise."""

import numpy as np
import pytest
from scipy.optimize import brentq

from harness.errors import StatisticsError
from harness.stats.advise import advise_runs, advise_tasks
from harness.stats.components import Components
from harness.stats.dstudy import d_study
from harness.stats.pairs import paired_analysis
from harness.stats.power import sustained_power
from harness.stats.quantiles import t_test_power

FOUND = Components(0.004, 0.012, 0.0003, 0.010, 0.0002, 0.001, 0.006)
STEADY = Components(0.004, 0.012, 0.0003, 0.0, 0.0002, 0.001, 0.006)


@pytest.mark.parametrize(("models", "runs"), [(2, 4), (4, 3), (6, 5)])
def test_the_advised_number_reaches_eighty_per_cent(models: int, runs: int) -> None:
    """A gap that needs exactly so many runs is called sustained in 80 ± 3 % of campaigns."""
    gap = brentq(lambda d: sustained_power(d, 2.0, models=models, runs=runs) - 0.8001, 1.0, 60.0)
    advice = advise_runs(gap, 2.0, models=models, runs=2, ceiling=5)
    assert (advice.needed, advice.way) == (runs, "runs")

    rng = np.random.default_rng([models, runs])
    found = 0
    for _ in range(1500):  # standard error 1 %
        totals = rng.normal(0, 2.0, (models, runs)) + rng.normal(0, 6.0, runs)
        totals[0] += gap
        pair = paired_analysis(totals, rng=rng).pairs[0]
        found += pair.verdict == "sustained" and pair.difference > 0
    assert found / 1500 == pytest.approx(0.80, abs=0.03)


def test_the_number_is_the_smallest() -> None:
    """One run fewer does not reach the power."""
    advice = advise_runs(6.0, 3.0, models=6, runs=2, ceiling=5)

    assert advice.power_needed >= 0.80
    assert sustained_power(6.0, 3.0, models=6, runs=advice.needed - 1) < 0.80


def test_more_runs_than_schedules_are_named_as_such() -> None:
    """Beyond the written schedules the advice says what must be written."""
    advice = advise_runs(2.0, 1.5, models=6, runs=3, ceiling=5)

    assert advice.way == "schedules"
    assert advice.needed > 5
    assert "only 5 schedules are written" in advice.sentence


def test_enough_is_said_when_it_is_enough() -> None:
    """A wide gap needs nothing more."""
    advice = advise_runs(40.0, 1.5, models=6, runs=3, ceiling=5)

    assert (advice.way, advice.needed, advice.power_now) == ("enough", 3, pytest.approx(1.0))


def test_a_hair_between_two_models_is_left_to_new_tasks() -> None:
    """Where a thousand runs do not do, no number of runs is advised."""
    advice = advise_runs(0.01, 5.0, models=6, runs=3, ceiling=5)

    assert (advice.way, advice.needed) == ("tasks", None)


def test_no_difference_is_not_chased() -> None:
    """Equal models are not separated by runs or tasks."""
    assert advise_runs(0.0, 2.0, models=4, runs=3, ceiling=5).way == "none"
    assert advise_tasks(0.0, FOUND, tasks=11, runs=3, models=4).way == "none"


def test_the_sign_of_the_difference_does_not_matter() -> None:
    """Who leads is not part of the question."""
    forth = advise_runs(6.0, 3.0, models=6, runs=2, ceiling=5)

    assert advise_runs(-6.0, 3.0, models=6, runs=2, ceiling=5) == forth


def test_one_run_has_no_power_yet() -> None:
    """With one run nothing can be sustained, whatever the gap."""
    assert advise_runs(50.0, 2.0, models=6, runs=1, ceiling=5).power_now == 0.0


@pytest.mark.parametrize(("sigma", "models", "runs"), [(0.0, 6, 3), (2.0, 1, 3), (2.0, 6, 0)])
def test_what_cannot_be_planned_is_refused(sigma: float, models: int, runs: int) -> None:
    """No σ, one model, no run."""
    with pytest.raises(StatisticsError):
        advise_runs(5.0, sigma, models=models, runs=runs, ceiling=5)


def test_only_new_tasks_help_when_tasks_are_the_noise() -> None:
    """Endless runs of these tasks stay short of the power; the advised number of tasks has it."""
    advice = advise_tasks(12.0, FOUND, tasks=11, runs=3, models=6)
    endless = d_study(FOUND, tasks=11, runs=1e12, models=6).relative_se
    planned = d_study(FOUND, tasks=advice.needed, runs=3, models=6).relative_se

    assert advice.way == "tasks"
    assert "only new tasks would help" in advice.sentence
    assert t_test_power(12.0 / (2**0.5 * endless), 10) < 0.80
    assert t_test_power(12.0 / (2**0.5 * planned), advice.needed - 1) >= 0.80


def test_runs_help_where_tasks_agree() -> None:
    """Without model × task noise more runs of these tasks would do."""
    advice = advise_tasks(8.0, STEADY, tasks=11, runs=2, models=6)

    assert advice.way == "runs"
    assert advise_tasks(30.0, STEADY, tasks=11, runs=3, models=6).way == "enough"


def test_nothing_that_varies_needs_no_more_tasks() -> None:
    """Without any noise the present tasks show every difference."""
    still = Components(0.004, 0, 0, 0, 0, 0, 0)

    assert advise_tasks(1.0, still, tasks=11, runs=3, models=6).way == "enough"


def test_more_tasks_than_anyone_writes_are_not_counted() -> None:
    """Beyond ten thousand tasks the number is left out."""
    advice = advise_tasks(0.01, FOUND, tasks=11, runs=3, models=6)

    assert (advice.way, advice.needed) == ("tasks", None)
    assert "more than 10000" in advice.sentence


def test_one_task_is_no_sample_of_tasks() -> None:
    """A single task has no cluster to be compared with."""
    with pytest.raises(StatisticsError):
        advise_tasks(5.0, FOUND, tasks=1, runs=3, models=6)
