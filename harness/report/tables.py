"""`FINAL.json` and statistics → rows of tables. A score cannot be had without its repairs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.records.campaign import GOLDEN_CONTROL, Final, FinalCell
from harness.records.score import POINT_DECIMALS, RowScore, ScoreSheet
from harness.stats.noise import Spread, run_spread


@dataclass(frozen=True)
class ModelRow:
    """One player's line.

    max_points : of all tasks asked, whether or not this player has a score in each
    must_be : the total that a control has to reach; None for a model
    totals : points of every complete run; a run with a missing cell has no total
    spread : None when no run is complete; spread_as_is the same without any repair
    unscored : cause → number of cells without a score (never a zero)
    causes : cause → number of scored cells that ended early (truncated, time, empty, …)
    flags : integrity mark → number of cells that have it; it never changes points
    """

    player: str
    control: bool
    max_points: float
    must_be: float | None
    totals: dict[int, float]
    spread: Spread | None
    spread_as_is: Spread | None
    repairs: int
    repair_kinds: dict[str, int]
    unscored: dict[str, int]
    causes: dict[str, int]
    flags: dict[str, int]
    prompt_tokens: int | None
    completion_tokens: int | None
    tokens_per_s: float | None


@dataclass(frozen=True)
class TaskRow:
    """One player's points in one task, run by run; None where the cell has no score."""

    player: str
    task: str
    max_points: float
    points: dict[int, float | None]
    causes: dict[int, str]


@dataclass(frozen=True)
class LostRow:
    """Where one player lost points: a row, over all scored runs.

    mean : mean points of the row, over the runs that have a score
    reason : the commonest reason of an observation that did not hold, empty where none has one;
        it may quote answers
    """

    player: str
    task: str
    row: str
    max_points: float
    mean: float
    reason: str


def model_rows(final: Final) -> list[ModelRow]:
    """Return a line per player, models by falling mean, controls last.

    In a result of several campaigns a control is shown as the first of them had it; where one is
    out of its place in any, `Final.problems` says so.
    """
    first = final.sources[0].name if final.sources else ""
    highest = sum(final.max_points.values())
    players = [model.id for model in final.campaign.plan.models] + list(final.campaign.controls)
    rows = [
        _model_row(
            player,
            [
                c
                for c in final.cells
                if c.outcome.cell.model == player
                and (player not in final.campaign.controls or c.source == first)
            ],
            control=player in final.campaign.controls,
            highest=highest,
        )
        for player in players
    ]
    return sorted(rows, key=lambda r: (r.control, -(r.spread.mean if r.spread else -1.0), r.player))


def task_rows(final: Final) -> list[TaskRow]:
    """Return a line per player and task, in the campaign's order."""
    rows: dict[tuple[str, str], list[FinalCell]] = {}
    for cell in final.cells:
        rows.setdefault((cell.outcome.cell.task, cell.outcome.cell.model), []).append(cell)
    return [
        TaskRow(
            player=player,
            task=task,
            max_points=final.max_points[task],
            points={
                c.outcome.cell.run: c.outcome.points if isinstance(c.outcome, ScoreSheet) else None
                for c in cells
            },
            causes={c.outcome.cell.run: c.outcome.cause for c in cells if c.outcome.cause},
        )
        for (task, player), cells in sorted(rows.items())
    ]


def lost_rows(final: Final) -> list[LostRow]:
    """Return a line per model, task and row that lost anything; controls are left out."""
    controls = set(final.campaign.controls)
    sheets: dict[tuple[str, str], list[ScoreSheet]] = {}
    for cell in final.cells:
        outcome = cell.outcome
        if isinstance(outcome, ScoreSheet) and outcome.cell.model not in controls:
            sheets.setdefault((outcome.cell.model, outcome.cell.task), []).append(outcome)
    rows = [
        _lost_row(player, task, [s.rows[n] for s in found])
        for (player, task), found in sorted(sheets.items())
        for n in range(len(found[0].rows))
    ]
    return [row for row in rows if row.mean < row.max_points - 10**-POINT_DECIMALS / 2]


def _lost_row(player: str, task: str, rows: list[RowScore]) -> LostRow:
    reasons = Counter(
        o.reason for row in rows for o in row.observations if o.credit < 1 and o.reason
    )
    commonest, count = reasons.most_common(1)[0] if reasons else ("", 0)
    seen = sum(len(row.observations) for row in rows)
    return LostRow(
        player=player,
        task=task,
        row=rows[0].id,
        max_points=rows[0].max_points,
        mean=sum(row.points for row in rows) / len(rows),
        reason=f"{commonest} ({count} of {seen})" if commonest else "",
    )


def _model_row(player: str, cells: list[FinalCell], *, control: bool, highest: float) -> ModelRow:
    sheets = [c.outcome for c in cells if isinstance(c.outcome, ScoreSheet)]
    missing = [c.outcome for c in cells if not isinstance(c.outcome, ScoreSheet)]
    incomplete = {o.cell.run for o in missing}
    complete = [sheet for sheet in sheets if sheet.cell.run not in incomplete]
    totals: dict[int, float] = {}
    as_is: dict[int, float] = {}
    for sheet in complete:
        run = sheet.cell.run
        totals[run] = round(totals.get(run, 0.0) + sheet.points, POINT_DECIMALS)
        as_is[run] = round(as_is.get(run, 0.0) + sheet.points_as_is, POINT_DECIMALS)
    must_be = highest if player == GOLDEN_CONTROL else 0.0
    return ModelRow(
        player=player,
        control=control,
        max_points=highest,
        must_be=must_be if control else None,
        totals=totals,
        spread=run_spread(list(totals.values())) if totals else None,
        spread_as_is=run_spread(list(as_is.values())) if as_is else None,
        repair_kinds=dict(Counter(r.kind for s in sheets for r in s.repairs)),
        repairs=sum(len(s.repairs) for s in sheets),
        unscored=dict(Counter(o.cause for o in missing)),
        causes=dict(Counter(s.cause for s in sheets if s.cause)),
        flags=dict(Counter(flag for s in sheets for flag in s.flags)),
        prompt_tokens=_sum(c.metrics.prompt_tokens for c in cells),
        completion_tokens=_sum(c.metrics.completion_tokens for c in cells),
        tokens_per_s=_tokens_per_s(cells),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of what was counted; None where nothing was."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _tokens_per_s(cells: list[FinalCell]) -> float | None:
    timed = [
        (c.metrics.completion_tokens, c.metrics.generation_s)
        for c in cells
        if c.metrics.completion_tokens and c.metrics.generation_s
    ]
    return sum(t for t, _ in timed) / sum(s for _, s in timed) if timed else None
