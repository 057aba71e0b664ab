"""`FINAL.json` and statistics → rows of tables. A score cannot be had without its repairs."""

from collections import Counter
from dataclasses import dataclass

from harness.records.campaign import Final, FinalCell
from harness.records.score import ScoreSheet
from harness.stats.noise import Spread, run_spread


@dataclass(frozen=True)
class ModelRow:
    """One player's line.

    totals : points of every complete run; a run with a missing cell has no total
    spread : None when no run is complete
    unscored : cause → number of cells without a score (never a zero)
    causes : cause → number of scored cells that ended early (truncated, time, empty, …)
    """

    player: str
    control: bool
    max_points: float
    totals: dict[int, float]
    spread: Spread | None
    repairs: int
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


def model_rows(final: Final) -> list[ModelRow]:
    """Return a line per player, models by falling mean, controls last."""
    controls = set(final.campaign.controls)
    players = [model.id for model in final.campaign.plan.models] + list(final.campaign.controls)
    rows = [
        _model_row(player, [c for c in final.cells if c.outcome.cell.model == player], controls)
        for player in players
    ]
    return sorted(rows, key=lambda r: (r.control, -(r.spread.mean if r.spread else -1.0), r.player))


def task_rows(final: Final) -> list[TaskRow]:
    """Return a line per player and task, in the campaign's order."""
    rows: dict[tuple[str, str], list[FinalCell]] = {}
    for cell in final.cells:
        rows.setdefault((cell.outcome.cell.task, cell.outcome.cell.model), []).append(cell)
    maximum = {
        c.outcome.cell.task: c.outcome.max_points
        for c in final.cells
        if isinstance(c.outcome, ScoreSheet)
    }
    return [
        TaskRow(
            player=player,
            task=task,
            max_points=maximum.get(task, float("nan")),
            points={
                c.outcome.cell.run: c.outcome.points if isinstance(c.outcome, ScoreSheet) else None
                for c in cells
            },
            causes={c.outcome.cell.run: c.outcome.cause for c in cells if c.outcome.cause},
        )
        for (task, player), cells in sorted(rows.items())
    ]


def _model_row(player: str, cells: list[FinalCell], controls: set[str]) -> ModelRow:
    sheets = [c.outcome for c in cells if isinstance(c.outcome, ScoreSheet)]
    missing = [c.outcome for c in cells if not isinstance(c.outcome, ScoreSheet)]
    incomplete = {o.cell.run for o in missing}
    totals: dict[int, float] = {}
    for sheet in sheets:
        if sheet.cell.run not in incomplete:
            totals[sheet.cell.run] = round(totals.get(sheet.cell.run, 0.0) + sheet.points, 6)
    first_run = min((s.cell.run for s in sheets), default=0)
    prompt = [c.metrics.prompt_tokens for c in cells if c.metrics.prompt_tokens is not None]
    timed = [
        (c.metrics.completion_tokens, c.metrics.generation_s)
        for c in cells
        if c.metrics.completion_tokens and c.metrics.generation_s
    ]
    written = [
        c.metrics.completion_tokens for c in cells if c.metrics.completion_tokens is not None
    ]
    return ModelRow(
        player=player,
        control=player in controls,
        max_points=sum(s.max_points for s in sheets if s.cell.run == first_run),
        totals=totals,
        spread=run_spread(list(totals.values())) if totals else None,
        repairs=sum(len(s.repairs) for s in sheets),
        unscored=dict(Counter(o.cause for o in missing)),
        causes=dict(Counter(s.cause for s in sheets if s.cause)),
        flags=dict(Counter(flag for s in sheets for flag in s.flags)),
        prompt_tokens=sum(prompt) if prompt else None,
        completion_tokens=sum(written) if written else None,
        tokens_per_s=sum(t for t, _ in timed) / sum(s for _, s in timed) if timed else None,
    )
