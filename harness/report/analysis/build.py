"""`Final` → `Analysis`: one section per level, each made alone."""

from harness.records.campaign import Final
from harness.report.analysis.cells import cells_of, controls_of, endings_of, hosts_of
from harness.report.analysis.claims import claims_of
from harness.report.analysis.cuts import cuts_of
from harness.report.analysis.forgiveness import hygiene_of
from harness.report.analysis.pairing import pair_table, pairing_of
from harness.report.analysis.parts import Analysis, Hatched, LevelAnalysis
from harness.report.analysis.split import split_of
from harness.report.analysis.standings import standings_of
from harness.report.analysis.table import NO_TOTAL, Outcomes, Table, tables_of
from harness.report.analysis.tasks import noise_facts, row_facts, task_facts
from harness.report.analysis.variance import variance_of
from harness.stats.draws import fixed_draws
from harness.stats.levels import LevelATotals
from harness.stats.ranks import Ranking, rank
from harness.stats.tasks import RunCovariance, run_covariance
from harness.stats.twoway import TwoWay, fit_two_way

CONFIDENCE = 0.95


def analyse(final: Final) -> Analysis:
    """Return everything a report says about an end result; the same for the same result.

    Parameters
    ----------
    final : a finalized campaign, or several as one

    Raises
    ------
    StatisticsError
        Only where the result contradicts itself, as when a repair's ledger does not add up. Too
        few models, runs or cells are no error: `LevelAnalysis.absent` then says what is not there.
    """
    tables = tables_of(final)
    return Analysis(
        name=final.campaign.name,
        simulated=final.campaign.simulated,
        development=final.stamps.arnes_version.endswith("-dev"),
        confidence=CONFIDENCE,
        levels=tuple(_level(final, table) for table in tables),
        controls=controls_of(final),
        hatched=hatched_of(final),
        hosts=hosts_of(final),
        split=split_of(tables),
        problems=final.problems,
        warnings=final.warnings,
    )


def hatched_of(final: Final) -> tuple[Hatched, ...]:
    """Return the tasks and rows that a person, or a control, put under doubt."""
    parts = [(*name.partition("."), reason) for name, reason in sorted(final.hatched.items())]
    return tuple(Hatched(task, row or None, reason) for task, _, row, reason in parts)


def _level(final: Final, table: Table) -> LevelAnalysis:
    outcomes = Outcomes()
    models = table.with_a_total()
    ranking = _ranking(table, models, outcomes)
    fit = _fit(table, models, outcomes)
    pairs = pair_table(table, models, ranking.analysis, outcomes) if ranking else None
    standings = standings_of(table, ranking, outcomes)
    rows = row_facts(table, final.hatched)
    cells = cells_of(table, final)
    complete = not (table.level == "A" and final.campaign.subset)
    return LevelAnalysis(
        level=table.level,
        complete=complete,
        ranked=ranking is not None,
        tasks=task_facts(table, final.hatched),
        max_points=table.points,
        runs=len(table.runs),
        standings=standings,
        tiers=tuple(tuple(models[k] for k in tier) for tier in ranking.tiers) if ranking else (),
        pairs=pairs,
        pairing=pairing_of(fit, models) if fit else None,
        variance=variance_of(table, outcomes),
        run_covariance=_covariance(table, models, outcomes),
        noise=noise_facts(table, rows, fit, outcomes),
        rows=rows,
        hygiene=hygiene_of(table, outcomes),
        cells=cells,
        endings=endings_of(cells),
        cuts=cuts_of(cells, standings, len(table.runs)),
        absent=outcomes.absent,
        claims=claims_of(
            table.level, standings, pairs, points=table.points,
            simulated=final.campaign.simulated, complete=complete, absent=outcomes.absent,
            doubted=tuple(n for n in final.hatched if n.partition(".")[0] in table.tasks),
        ),
    )  # fmt: skip


def _ranking(table: Table, models: tuple[str, ...], outcomes: Outcomes) -> Ranking | None:
    if table.level != "A":
        outcomes.absent["ranking"] = "Only level A orders models."
        return None
    if not models:
        outcomes.absent["ranking"] = NO_TOTAL
        return None
    totals = table.scores(models).totals()
    assert isinstance(totals, LevelATotals)
    return outcomes.attempt("ranking", lambda: rank(totals, models, rng=fixed_draws(1)))


def _fit(table: Table, models: tuple[str, ...], outcomes: Outcomes) -> TwoWay | None:
    if not models:
        outcomes.absent["pairing"] = NO_TOTAL
        return None
    totals = table.scores(models).totals()
    return outcomes.attempt("pairing", lambda: fit_two_way(totals))


def _covariance(table: Table, models: tuple[str, ...], outcomes: Outcomes) -> RunCovariance | None:
    if not models:
        outcomes.absent["run_covariance"] = NO_TOTAL
        return None
    points = table.scores(models).points
    return outcomes.attempt("run_covariance", lambda: run_covariance(points))
