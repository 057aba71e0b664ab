"""One line per model of a level: mean, intervals, sigma, rank set, and what the line leans on."""

import math
import statistics
from collections import Counter

from harness.records.score import ScoreSheet
from harness.report.analysis.parts import Standing
from harness.report.analysis.table import Outcomes, Table
from harness.report.wording import counted, sigma_text
from harness.stats.beyond import BeyondTasks, beyond_mean
from harness.stats.draws import fixed_draws
from harness.stats.means import ModelMean, model_means
from harness.stats.noise import Spread, few_runs_sentence, run_spread
from harness.stats.ranks import Ranking, rank_probabilities

NO_RUN = "no complete run: it has no total"


def standings_of(table: Table, ranking: Ranking | None, outcomes: Outcomes) -> tuple[Standing, ...]:
    """Return the lines of a level: by place where it is ordered, else by id.

    A model without a complete run stands last.
    """
    models = table.with_a_total()
    means: dict[str, ModelMean] = {}
    if models:
        totals = table.scores(models).totals()
        means = dict(zip(models, model_means(totals), strict=True))
    chances = _chances(models, means, ranking)
    lines = [
        _standing(
            table,
            model,
            means.get(model),
            ranking,
            chances=chances.get(model, ()),
            outcomes=outcomes,
        )
        for model in table.models
    ]
    return tuple(sorted(lines, key=lambda s: (s.place or math.inf, s.mean is None, s.model)))


def _chances(
    models: tuple[str, ...], means: dict[str, ModelMean], ranking: Ranking | None
) -> dict[str, tuple[float, ...]]:
    if ranking is None:
        return {}
    intervals = [means[m].shrunk for m in models]
    errors = [interval.se for interval in intervals if interval]
    if len(errors) < len(models):
        return {}
    centres = [means[m].mean for m in models]
    return dict(zip(models, rank_probabilities(centres, errors, rng=fixed_draws(3)), strict=True))


def _standing(
    table: Table,
    model: str,
    mean: ModelMean | None,
    ranking: Ranking | None,
    *,
    chances: tuple[float, ...],
    outcomes: Outcomes,
) -> Standing:
    cells = [cell for (m, _, _), cell in table.cells.items() if m == model]
    sheets = [c.outcome for c in cells if isinstance(c.outcome, ScoreSheet)]
    missing = [str(c.outcome.cause) for c in cells if not isinstance(c.outcome, ScoreSheet)]
    copied, spread = table.copies[model].pairs, _spread(table, model, mean)
    k = table.with_a_total().index(model) if mean and ranking else None
    return Standing(
        model=model,
        place=ranking.order.index(k) + 1 if ranking and k is not None else None,
        mean=mean.mean if mean else None,
        shrunk=mean.shrunk if mean else None,
        raw=mean.raw if mean and not copied else None,
        spread=spread,
        sigma_text="copies of one run: refused" if copied else sigma_text(spread),
        sigma_sentence=_sigma_sentence(spread),
        shrunk_sd=mean.shrunk_sd if mean else None,
        ranks=ranking.sets[k] if ranking and k is not None else None,
        tier=_tier(ranking, k),
        letters=ranking.letters[k] if ranking and k is not None else "",
        fragile=ranking.fragile[k] if ranking and k is not None else False,
        rank_chances=chances,
        beyond=_beyond(table, model, outcomes) if mean else None,
        totals=table.totals(model),
        totals_as_is=table.totals(model, as_is=True),
        copied_runs=tuple((table.runs[i], table.runs[j]) for i, j in copied),
        repairs=sum(len(sheet.repairs) for sheet in sheets),
        truncated=sum(sheet.cause == "truncated" for sheet in sheets),
        unscored=len(missing),
        planned=len(cells),
        hatched=_hatched(missing, complete=mean is not None, copied=bool(copied)),
        tokens=_sum([c.metrics.completion_tokens for c in cells]),
        seconds_per_run=_seconds_per_run(table, model),
    )


def _spread(table: Table, model: str, mean: ModelMean | None) -> Spread | None:
    if mean is None:
        return None
    if table.copies[model].sigma_refused:
        return run_spread(list(table.totals(model).values()), copied=True)
    return mean.spread


def _sigma_sentence(spread: Spread | None) -> str:
    if spread is None:
        return NO_RUN
    if spread.all_equal:
        return f"{spread.sentence}; {few_runs_sentence(spread.runs)}"
    return spread.sentence


def _tier(ranking: Ranking | None, k: int | None) -> int | None:
    if ranking is None or k is None:
        return None
    return next(n for n, tier in enumerate(ranking.tiers, start=1) if k in tier)


def _hatched(missing: list[str], *, complete: bool, copied: bool) -> tuple[str, ...]:
    reasons = []
    if not complete:
        reasons.append(NO_RUN)
    if missing:
        reasons.append(f"cells without a score: {counted(Counter(missing))}")
    if copied:
        reasons.append("runs hold the same transcripts: counted once, sigma refused")
    return tuple(reasons)


def _beyond(table: Table, model: str, outcomes: Outcomes) -> BeyondTasks | None:
    points = table.scores((model,)).points[0]
    return outcomes.attempt("beyond", lambda: beyond_mean(points, table.max_points))


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _seconds_per_run(table: Table, model: str) -> float | None:
    """Return the mean generation time of the runs in which every cell was timed."""
    runs = []
    for run in table.totals(model):
        cells = [table.cells[model, task, run] for task in table.tasks]
        times = [c.metrics.generation_s for c in cells if c.metrics.generation_s is not None]
        if len(times) == len(cells):
            runs.append(math.fsum(times))
    return statistics.fmean(runs) if runs else None
