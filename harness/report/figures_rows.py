"""An analysis → the pictures of components, designs, checks and noise."""

import math

from harness.report.analysis import LevelAnalysis
from harness.report.analysis.tasks import NoiseFacts, RowFacts
from harness.report.plots import checks as plot
from harness.report.plots.style import Look
from harness.report.plots.variance import Curve, Part, Stack, design_curve, variance_bars
from harness.report.wording import percent
from harness.stats.effective import translate_noise

COMPONENTS = (
    ("model", "model", "what one wants to see"),
    ("task", "task", "the same for all models"),
    ("run", "run", "the same for all models"),
    ("model × task", "model_task", "error over further tasks"),
    ("model × run", "model_run", "error over further runs"),
    ("task × run", "task_run", "the same for all models"),
    ("rest", "error", "error over further runs"),
)
CURVE_POINTS = 60
RATES = (0.90, 0.95, 0.99)


def components(level: LevelAnalysis, look: Look) -> str | None:
    """Components as estimated, and the errors they make of today's means.

    With missing cells the moment estimates are unsteady, and the errors are made from REML's; then
    REML's are shown.
    """
    found = level.variance
    if found is None:
        return None
    used, today, cut = found.study.used, found.today, found.study.method == "reml"
    shown = used if cut else found.study.raw
    parts = [Part(name, getattr(shown, field), meaning) for name, field, meaning in COMPONENTS]
    square = today.points**2
    runs = (
        ("model × run", square * used.model_run / today.runs),
        ("rest", square * used.error / (today.tasks * today.runs)),
    )
    beyond = ("model × task", square * used.model_task / today.tasks)
    stacks = [
        Stack("further runs", runs, today.fixed_suite_se),
        Stack("further tasks", (beyond, *runs), today.relative_se),
    ]
    return variance_bars(look, parts, stacks, cut=cut)


def design(level: LevelAnalysis, look: Look) -> str | None:
    """Standard error against runs, one line per number of tasks."""
    found = level.variance
    if found is None:
        return None
    width = len(found.curve_tasks)
    times = {tasks: tasks / found.tasks for tasks in found.curve_tasks}
    curves = []
    for n, tasks in enumerate(found.curve_tasks):
        plans = found.curve[n::width]
        today = math.isclose(times[tasks], 1.0)
        label = "these tasks" if today else f"{times[tasks]:.3g} × as many"
        curves.append(
            Curve(
                label,
                found.curve_runs,
                tuple(plan.relative_se for plan in plans),
                plans[0].ceiling_se,
                today,
            )
        )
    return design_curve(look, curves, round(found.today.runs))


def check_map(level: LevelAnalysis, look: Look) -> str | None:
    """Pass rate against discrimination."""
    dots = [_dot(row) for row in level.rows if row.facts is not None]
    if not dots:
        return None
    facts = [row.facts for row in level.rows if row.facts is not None]
    bounds = [f for f in facts if f.state == "saturated" and f.bound is not None]
    worst = max(bounds, key=lambda f: f.bound or 0.0, default=None)
    bound = (
        f"full in {worst.trials} of {worst.trials} still allows {percent(worst.bound)} failures"
        if worst and worst.bound is not None
        else ""
    )
    return plot.check_map(look, dots, screening=any(f.screening_only for f in facts), bound=bound)


def _dot(row: RowFacts) -> plot.CheckDot:
    facts = row.facts
    assert facts is not None
    sign: plot.Sign = "none"
    if facts.discrimination is not None:
        sign = "+" if facts.discrimination > 0 else "-" if facts.discrimination < 0 else "none"
    return plot.CheckDot(
        name=f"{row.task}.{row.row}",
        rate=facts.rate,
        discrimination=None if facts.screening_only else facts.discrimination,
        sign=sign,
        live=facts.state == "live",
    )


def noise_translator(level: LevelAnalysis, look: Look) -> str | None:
    """Sigma against coins."""
    found = level.noise
    if found is None or found.sigma <= 0:
        return None
    weights = [row.max_points for row in level.rows]
    squares = found.effective.sum_squared
    known = [(f"all pass {100 * p:.0f} %", math.sqrt(p * (1 - p) * squares)) for p in sorted(RATES)]
    end = 1.08 * max(found.sigma, *(sigma for _, sigma in known))
    if found.high is not None:
        end = max(end, min(1.08 * found.high, 2 * end))
    curve = [
        plot.Translation(sigma, translate_noise(sigma, weights).coin_checks)
        for sigma in (end * k / CURVE_POINTS for k in range(CURVE_POINTS + 1))
    ]
    return plot.translator(look, curve, _observed(found), _span(found, weights), known)


def _observed(found: NoiseFacts) -> plot.Translation:
    return plot.Translation(found.sigma, found.translation.coin_checks)


def _span(found: NoiseFacts, weights: list[float]) -> list[plot.Translation]:
    """Return the curve over sigma's own interval."""
    if found.low is None or found.high is None:
        return []
    low, high = found.low, found.high
    return [
        plot.Translation(sigma, translate_noise(sigma, weights).coin_checks)
        for sigma in (low + (high - low) * k / CURVE_POINTS for k in range(CURVE_POINTS + 1))
    ]
