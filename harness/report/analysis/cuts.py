"""What the deadline cut off, by which arithmetic, and what that costs in width."""

import math
from collections.abc import Iterable, Sequence

from harness.report.analysis.cells import Cell
from harness.report.analysis.parts import Cut, Standing
from harness.stats.interval import Interval
from harness.stats.quantiles import t_quantile

DEADLINE = "deadline"


def cuts_of(cells: Iterable[Cell], standings: Sequence[Standing], runs: int) -> tuple[Cut, ...]:
    """Return every run that the deadline cut, by model and run.

    Parameters
    ----------
    runs : that were planned
    """
    found: dict[tuple[str, int, str], list[Cell]] = {}
    for cell in cells:
        if cell.points is None and cell.cause == DEADLINE:
            found.setdefault((cell.model, cell.run, cell.source), []).append(cell)
    width = {standing.model: _width(standing, runs) for standing in standings}
    return tuple(
        Cut(model, run, len(lost), "; ".join(dict.fromkeys(c.detail for c in lost)), *width[model])
        for (model, run, _), lost in sorted(found.items())
    )


def _width(standing: Standing, runs: int) -> tuple[float | None, float | None]:
    interval, had = standing.shrunk, len(standing.totals)
    if interval is None or standing.copied_runs:  # copies are counted once: what is all of them?
        return interval.half if interval else None, None
    return interval.half, _with_all(interval, had, runs)


def _with_all(interval: Interval, had: int, runs: int) -> float:
    """Return the half-width at so many runs: a smaller error, and a degree of freedom for each."""
    quantile = t_quantile((1 + interval.confidence) / 2, interval.df + runs - had)
    return quantile * interval.se * math.sqrt(had / runs)
