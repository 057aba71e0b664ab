"""Tasks and rows: what each still measures, how noisy it is, and what repeats of it say."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from harness.report.analysis.table import NO_TOTAL, Outcomes, Row, Table
from harness.stats.checks import CheckFacts, check_analysis
from harness.stats.effective import (
    CheckCorrelation,
    EffectiveChecks,
    NoiseTranslation,
    check_correlation,
    effective_checks,
    translate_noise,
)
from harness.stats.means import PooledSigma, pooled_sigma
from harness.stats.noise import SAME
from harness.stats.repeats import pass_all, pass_any, rate_bounds
from harness.stats.tasks import TaskNoise, task_noise
from harness.stats.twoway import TwoWay, schedule_sigma


@dataclass(frozen=True)
class TaskFacts:
    """One task.

    points : model → run → points; None where the cell has no score
    means : model → mean points over its scored runs; None where there is none
    sds : model → deviation over its runs; None where fewer than two, or all agree
    noise : pooled over models; None when no cell of the task has a score
    cells, scored : planned and scored cells
    hatched : why the task is under doubt, empty when it is not
    """

    task: str
    max_points: float
    points: dict[str, dict[int, float | None]]
    means: dict[str, float | None]
    sds: dict[str, float | None]
    noise: TaskNoise | None
    cells: int
    scored: int
    hatched: str


@dataclass(frozen=True)
class Repeats:
    """One model's passes of one row: `passes` of `runs` scored cells gave its full points.

    all_of, any_of : k → chance that all k runs pass (pass^k), that any does (pass@k); k <= runs
    exact : two-sided exact bounds of the pass rate
    """

    model: str
    passes: int
    runs: int
    all_of: dict[int, float]
    any_of: dict[int, float]
    exact: tuple[float, float]


@dataclass(frozen=True)
class RowFacts:
    """One row over all models and runs.

    facts : saturation, floor, discrimination; None when the row was never scored
    fractions : model → run → share of its points; None where the cell has no score
    repeats : per model with a scored run
    hatched : why the row is under doubt, empty when it is not
    """

    task: str
    row: str
    max_points: float
    facts: CheckFacts | None
    fractions: dict[str, dict[int, float | None]]
    repeats: tuple[Repeats, ...]
    hatched: str


@dataclass(frozen=True)
class NoiseFacts:
    """How many observations a total is worth, and what its noise amounts to.

    effective : checks by weight, with correlation, and live ones only
    correlation : of checks inside a task
    sigma : pooled run-to-run deviation; low and high its interval, None when only the floor of
        the lattice was seen
    translation : sigma, said in coin-flip checks
    all_equal : True when the runs of every model agree: "0 observed; sigma not estimable"
    """

    effective: EffectiveChecks
    correlation: CheckCorrelation
    sigma: float
    df: float
    low: float | None
    high: float | None
    translation: NoiseTranslation
    all_equal: bool
    sentence: str


def task_facts(table: Table, hatched: Mapping[str, str]) -> tuple[TaskFacts, ...]:
    """Return points, noise and signal of every task of a level."""
    return tuple(
        _task(table, task, max_points, hatched.get(task, ""))
        for task, max_points in zip(table.tasks, table.max_points, strict=True)
    )


def _task(table: Table, task: str, max_points: float, hatched: str) -> TaskFacts:
    points = {
        m: {r: s.points if (s := table.sheet(m, task, r)) else None for r in table.runs}
        for m in table.models
    }
    scored = {m: [p for p in of.values() if p is not None] for m, of in points.items()}
    of_task = table.tasks.index(task)
    models = table.with_a_cell()
    noise = None
    if any(scored.values()):
        grid = table.scores(models).points[:, of_task : of_task + 1]
        (noise,) = task_noise(grid)
    return TaskFacts(
        task=task,
        max_points=max_points,
        points=points,
        means={m: statistics.fmean(p) if p else None for m, p in scored.items()},
        sds={m: _sd(p) for m, p in scored.items()},
        noise=noise,
        cells=len(table.models) * len(table.runs),
        scored=sum(map(len, scored.values())),
        hatched=hatched,
    )


def _sd(points: list[float]) -> float | None:
    if len(points) < 2 or max(points) - min(points) <= SAME:
        return None
    return statistics.stdev(points)


def row_facts(table: Table, hatched: Mapping[str, str]) -> tuple[RowFacts, ...]:
    """Return what every row of a level still measures."""
    if not table.rows:
        return ()
    scores = table.fractions(table.rows)
    totals = [[table.totals(m).get(r, float("nan")) for r in table.runs] for m in table.models]
    facts = check_analysis(scores, [row.points for row in table.rows], totals)
    return tuple(
        _row_facts(table, row, found, hatched) for row, found in zip(table.rows, facts, strict=True)
    )


def _row_facts(table: Table, row: Row, facts: CheckFacts, hatched: Mapping[str, str]) -> RowFacts:
    fractions = {
        m: {r: c.fraction if (c := table.row(row, m, r)) else None for r in table.runs}
        for m in table.models
    }
    whole = hatched.get(row.task, "")
    return RowFacts(
        task=row.task,
        row=row.row,
        max_points=row.points,
        facts=facts,
        fractions=fractions,
        repeats=tuple(
            _repeats(model, seen)
            for model, of in fractions.items()
            if (seen := [f for f in of.values() if f is not None])
        ),
        hatched=hatched.get(f"{row.task}.{row.row}", whole),
    )


def _repeats(model: str, fractions: list[float]) -> Repeats:
    runs, passes = len(fractions), sum(f >= 1 - SAME for f in fractions)
    ks = range(1, runs + 1)
    return Repeats(
        model=model,
        passes=passes,
        runs=runs,
        all_of={k: pass_all(passes, runs, k) for k in ks},
        any_of={k: pass_any(passes, runs, k) for k in ks},
        exact=rate_bounds(passes, runs).exact,
    )


def noise_facts(
    table: Table, rows: tuple[RowFacts, ...], fit: TwoWay | None, outcomes: Outcomes
) -> NoiseFacts | None:
    """Return what a total of the level is worth in checks, and its noise in coin flips."""
    models = table.with_a_total()
    if not models:
        outcomes.absent["noise"] = NO_TOTAL
        return None

    def compute() -> NoiseFacts:
        totals = table.scores(models).totals()
        plain = pooled_sigma(totals)
        sigma = plain if fit is None or plain.floored else schedule_sigma(fit)
        weights, tasks = [r.max_points for r in rows], [r.task for r in rows]
        correlation = check_correlation(table.fractions(table.rows), tasks)
        live = [r.facts is not None and r.facts.state == "live" for r in rows]
        effective = effective_checks(weights, tasks, correlation=correlation.filled(), live=live)
        agree = all(_sd(list(table.observed(m).values())) is None for m in models)
        translation = translate_noise(sigma.sd, weights)
        text = _noise_sentence(sigma, translation, effective, agree=agree)
        return NoiseFacts(
            effective=effective,
            correlation=correlation,
            sigma=sigma.sd,
            df=sigma.df,
            low=sigma.low,
            high=sigma.high,
            translation=translation,
            all_equal=agree,
            sentence=text,
        )

    return outcomes.attempt("noise", compute)


def _noise_sentence(
    sigma: PooledSigma, found: NoiseTranslation, effective: EffectiveChecks, *, agree: bool
) -> str:
    worth = (
        f"{effective.checks} rows are worth {effective.effective:.1f} independent ones of equal "
        "weight"
    )
    if agree:
        return f"All runs of each model agree: 0 observed, not estimable. {worth}."
    known = "" if sigma.low is None else f" [{sigma.low:.1f}–{sigma.high:.1f}]"
    return (
        f"A run's σ of {sigma.sd:.2f}{known} points is the noise of {found.coin_checks:.1f} "
        f"coin flips among them. {worth}."
    )
