"""Level C: the differences that passed every gate. Those that failed one are not drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.plots.style import (
    BAND,
    BLUE,
    INK,
    PAPER,
    Look,
    Margins,
    note,
    rows_of,
    styled,
)

ROW = 0.36


@dataclass(frozen=True)
class DeltaRow:
    """Early items minus late ones, as a share of the maximum, with its 95 % interval."""

    name: str
    delta: float
    low: float
    high: float


def split_deltas(look: Look, rows: Sequence[DeltaRow], margin: float) -> str:
    """Return the picture; margin is half the band inside which two halves count as equal."""
    with styled():
        names = [row.name for row in rows]
        figure, axes = look.sheet(0.95 + ROW * len(rows), Margins(look.room_for(names), 0.35))
        axes.axvspan(-100 * margin, 100 * margin, color=BAND, lw=0)
        axes.axvline(0, color=INK, lw=0.8)
        for n, row in enumerate(rows):
            axes.plot([100 * row.low, 100 * row.high], [n, n], color=BLUE, lw=4,
                      solid_capstyle="butt")  # fmt: skip
            axes.plot(100 * row.delta, n, "o", ms=6.5, color=INK, mec=PAPER, mew=1.2)
        rows_of(look, axes, names)
        axes.set_xlabel("early minus late items, per cent of the maximum")
        note(axes, 0.0, "shaded: equal for all purposes")
        return look.svg(figure)
