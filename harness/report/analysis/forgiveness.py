"""Hygiene: every run as it came and as repaired, with a ledger that adds up."""

from collections import Counter

from harness.records.score import ScoreSheet
from harness.report.analysis.parts import Hygiene, HygieneModel, LedgerLine
from harness.report.analysis.table import NAN, NO_TOTAL, Outcomes, Table
from harness.stats.draws import fixed_draws
from harness.stats.hygiene import RankShift, counterfactual, rank_shift, sigma_test
from harness.stats.levels import LevelATotals
from harness.stats.noise import SAME


def hygiene_of(table: Table, outcomes: Outcomes) -> Hygiene | None:
    """Return what repair changed, over complete runs.

    Raises
    ------
    StatisticsError
        If a total changed by another amount than its rows: then nothing here may be printed.
    """
    models = table.with_a_total()
    if not models:
        outcomes.absent["hygiene"] = NO_TOTAL
        return None
    shift = outcomes.attempt("hygiene_ranks", lambda: _shift(table, models))
    found = tuple(_model(table, model, k, shift) for k, model in enumerate(models))
    as_is, repaired = (
        [[table.observed(m, as_is=raw).get(r, NAN) for r in table.runs] for m in models]
        for raw in (True, False)
    )
    return Hygiene(
        models=found,
        ledger=tuple(
            LedgerLine(model.model, row.task, row.row, delta)
            for model in found
            for row, delta in zip(table.rows, model.found.rows, strict=True)
            if abs(delta) > SAME
        ),
        kinds=dict(
            Counter(
                repair.kind
                for cell in table.cells.values()
                if isinstance(cell.outcome, ScoreSheet)
                for repair in cell.outcome.repairs
            )
        ),
        touched_runs=sum(model.found.touched for model in found),
        sigma_test=outcomes.attempt("sigma_test", lambda: sigma_test(as_is, repaired)),
    )


def _shift(table: Table, models: tuple[str, ...]) -> RankShift | None:
    as_is, repaired = (table.scores(models, as_is=raw).totals() for raw in (True, False))
    if not isinstance(as_is, LevelATotals) or not isinstance(repaired, LevelATotals):
        return None
    return rank_shift(as_is, repaired, models, rng=fixed_draws(1))


def _model(table: Table, model: str, k: int, shift: RankShift | None) -> HygieneModel:
    before, after = table.observed(model, as_is=True), table.observed(model)
    deltas = [
        [_delta(table, model, run, k) if run in after else 0.0 for k in range(len(table.rows))]
        for run in table.runs
    ]
    return HygieneModel(
        model=model,
        found=counterfactual(
            [before.get(r, NAN) for r in table.runs],
            deltas,
            repaired=[after.get(r, NAN) for r in table.runs],
        ),
        as_is_ranks=shift.as_is.sets[k] if shift else None,
        repaired_ranks=shift.repaired.sets[k] if shift else None,
        as_is_place=shift.as_is.order.index(k) + 1 if shift else None,
        repaired_place=shift.repaired.order.index(k) + 1 if shift else None,
        moved=shift.moved[k] if shift else False,
    )


def _delta(table: Table, model: str, run: int, k: int) -> float:
    """Return how much repair moved one row of one complete run."""
    row = table.rows[k]
    repaired, as_is = table.row(row, model, run), table.row(row, model, run, as_is=True)
    return repaired.points - as_is.points if repaired and as_is else 0.0
