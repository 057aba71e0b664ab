"""What a point cost: tokens, calls, seconds and joules of a model's complete runs, by level.

Levels are never added to each other. Controls cost nothing that says anything.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.records.campaign import Final, FinalCell
from harness.records.sample import RunEnergy
from harness.records.score import POINT_DECIMALS, ScoreSheet


@dataclass(frozen=True)
class PointCost:
    """What one model's points of one level cost, over its complete runs.

    runs, points : how many runs are complete, and what they scored together
    tokens, calls, seconds : written tokens by the servers' counts, exchanges, generation time;
        None where any cell of a complete run has none
    joules : of `measured_runs` complete runs: those whose power was sampled by the same meters
    measured_points : what those runs scored
    measured : the meters: `gpu`, `cpu`, `battery`
    gap_s : seconds of those runs whose power is not known; the joules are without them
    """

    model: str
    level: str
    runs: int
    points: float
    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None
    joules: float | None = None
    measured_runs: int = 0
    measured_points: float = 0.0
    measured: tuple[str, ...] = ()
    gap_s: float = 0.0

    @property
    def tokens_per_point(self) -> float | None:
        """None without a count, and without a point."""
        return _each(self.tokens, self.points)

    @property
    def calls_per_point(self) -> float | None:
        """None without a count, and without a point."""
        return _each(self.calls, self.points)

    @property
    def seconds_per_point(self) -> float | None:
        """None where no time is known, and without a point."""
        return _each(self.seconds, self.points)

    @property
    def joules_per_point(self) -> float | None:
        """None where no power was sampled, and without a point."""
        return _each(self.joules, self.measured_points)


def point_costs(final: Final) -> tuple[PointCost, ...]:
    """Return what points cost, a line per level and model, models without a complete run left out.

    A run is complete where every task of the level has a score; a run without one has no total.
    """
    cells: dict[tuple[str, str], dict[int, list[FinalCell]]] = {}
    for cell in final.cells:
        key = cell.outcome.cell
        if key.model not in final.campaign.controls:
            of = cells.setdefault((final.level_of(key.task), key.model), {})
            of.setdefault(key.run, []).append(cell)
    energies = {(e.level, e.model, e.run): e for e in final.energy}
    found = []
    for (level, model), runs in sorted(cells.items()):
        complete = {run: of for run, of in runs.items() if _points(of) is not None}
        if complete:
            sampled = [e for run in complete if (e := energies.get((level, model, run)))]
            alike = [e for e in sampled if e.measured == sampled[0].measured]
            found.append(_cost(level, model, complete, alike))
    return tuple(found)


def _cost(
    level: str, model: str, complete: dict[int, list[FinalCell]], sampled: Sequence[RunEnergy]
) -> PointCost:
    metrics = [cell.metrics for of in complete.values() for cell in of]
    totals = {run: _points(of) or 0.0 for run, of in complete.items()}
    tokens, calls = (
        _all(values)
        for values in ([m.completion_tokens for m in metrics], [m.calls for m in metrics])
    )
    return PointCost(
        model=model,
        level=level,
        runs=len(complete),
        points=_rounded(totals.values()),
        tokens=None if tokens is None else int(tokens),
        calls=None if calls is None else int(calls),
        seconds=_all([m.generation_s for m in metrics]),
        joules=_rounded(e.joules for e in sampled) if sampled else None,
        measured_runs=len(sampled),
        measured_points=_rounded(totals[e.run] for e in sampled),
        measured=sampled[0].measured if sampled else (),
        gap_s=_rounded(e.gap_s for e in sampled),
    )


def _points(cells: Iterable[FinalCell]) -> float | None:
    """Return the points of a run's cells; None where one has no score."""
    points = []
    for cell in cells:
        if not isinstance(cell.outcome, ScoreSheet):
            return None
        points.append(cell.outcome.points)
    return _rounded(points)


def _all(values: Sequence[float | None]) -> float | None:
    """Return the sum where every part is known: a sum of some looks cheaper than it was."""
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _rounded(values: Iterable[float]) -> float:
    return round(math.fsum(values), POINT_DECIMALS)


def _each(amount: float | None, points: float) -> float | None:
    return None if amount is None or points <= 0 else amount / points
