"""Where differences come from (G-study), and what more runs or tasks would buy (D-study)."""

from dataclasses import dataclass

from harness.report.analysis.table import Outcomes, Table
from harness.stats.components import GStudy, effective_tasks, g_study
from harness.stats.draws import fixed_draws
from harness.stats.dstudy import Bands, DStudy, d_study, d_study_bands


@dataclass(frozen=True)
class Variance:
    """Components of share = model × task × run, and the designs one could run.

    study : components raw and as used, with the method
    tasks : effective number of equal tasks that weigh as these do
    today : this campaign's design; fixed_suite of it is U2, relative is U3
    curve : designs over runs (outer) and tasks (inner), for a curve
    curve_runs, curve_tasks : their axes; `curve[i * len(curve_tasks) + j]`
    bands : of G and phi over resampled models; None with missing cells, absent says why
    sentence : runs or tasks: what to buy next
    """

    study: GStudy
    tasks: float
    today: DStudy
    curve: tuple[DStudy, ...]
    curve_runs: tuple[int, ...]
    curve_tasks: tuple[float, ...]
    bands: Bands | None
    sentence: str


CURVE_RUNS = (1, 2, 3, 4, 5, 6, 8, 10)
CURVE_TIMES = (1, 2, 4)  # as many tasks as today, twice, four times
BAND_DRAWS = 200  # the bands of few models are wide: their ends need no third digit
MOST_OF_THE_ERROR = 0.75  # of a comparison's variance: above it, runs are not what to buy


def variance_of(table: Table, outcomes: Outcomes) -> Variance | None:
    """Return components and designs of a level, from every scored cell."""
    models = table.with_a_cell()
    if not models:
        outcomes.absent["variance"] = "No cell has a score: nothing varies that was seen."
        return None
    shares = table.scores(models).shares()
    study = outcomes.attempt("variance", lambda: g_study(shares))
    if study is None:
        return None
    tasks, runs = effective_tasks(table.max_points), len(table.runs)

    def design(of_tasks: float, of_runs: float) -> DStudy:
        return d_study(
            study.used, tasks=of_tasks, runs=of_runs, models=study.models, points=table.points
        )

    axis = tuple(times * tasks for times in CURVE_TIMES)
    today = design(tasks, runs)
    return Variance(
        study=study,
        tasks=tasks,
        today=today,
        curve=tuple(design(t, r) for r in CURVE_RUNS for t in axis),
        curve_runs=CURVE_RUNS,
        curve_tasks=axis,
        bands=_bands(table, study, outcomes),
        sentence=_sentence(today),
    )


def _bands(table: Table, study: GStudy, outcomes: Outcomes) -> Bands | None:
    """Return bands of G and phi over resampled models; resampling needs complete data."""
    if study.missing:
        outcomes.absent["bands"] = f"{study.missing} cell(s) missing: no bands of G and phi."
        return None
    shares = table.scores(table.with_a_cell()).shares()
    tasks, runs = effective_tasks(table.max_points), len(table.runs)
    return outcomes.attempt(
        "bands",
        lambda: d_study_bands(shares, tasks=tasks, runs=runs, rng=fixed_draws(2), draws=BAND_DRAWS),
    )


def _sentence(today: DStudy) -> str:
    if today.relative == 0:
        return "Nothing varied: neither runs nor tasks can be judged."
    beyond = (
        f"Beyond these tasks the standard error of a model's total is {today.relative_se:.1f} "
        f"points, and no number of runs brings it below {today.ceiling_se:.1f}"
    )
    if (today.ceiling_se / today.relative_se) ** 2 > MOST_OF_THE_ERROR:
        return f"{beyond}: only new tasks help there. On these tasks it is {_fixed(today)}."
    return f"{beyond}: more runs still help. On these tasks it is {_fixed(today)}."


def _fixed(today: DStudy) -> str:
    return f"{today.fixed_suite_se:.1f} points, and falls with the root of the number of runs"
