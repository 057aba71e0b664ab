"""Who is sustained above whom: means, their intervals, rank sets, tiers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from harness.report.plots.style import (
    BAND,
    BLUE,
    INK,
    MUTED,
    NORMAL,
    PAPER,
    SMALL,
    VERMILLION,
    Look,
    Margins,
    note,
    rows_of,
    styled,
)

ROW = 0.38  # inches of a row
RIGHT, RANKS, REPAIRS = 1.25, 0.08, 0.72  # inches: beside the axes, and where columns begin
APART = 0.2  # rows: the thin bar stands under the thick one, so that neither hides the other


@dataclass(frozen=True)
class ForestRow:
    """One model.

    mean : points; None where no run is complete
    runs_bar, tasks_bar : 95 % intervals over further runs, and over further tasks too
    ranks : the rank set as text
    tier : from 0; rows of one tier share a band
    doubtful : the rank rests on something under doubt, and is hatched
    repairs : how many helped the mean, which is never shown without them
    """

    name: str
    mean: float | None
    runs_bar: tuple[float, float] | None
    tasks_bar: tuple[float, float] | None
    ranks: str
    tier: int
    doubtful: bool = False
    repairs: int = 0


def forest(look: Look, rows: Sequence[ForestRow], highest: float) -> str:
    """Return the picture; highest is the end of the scale, in points."""
    with styled():
        names = [row.name for row in rows]
        window = _window(rows, highest)
        label = f"mean points of {highest:g}"
        if window[0] > 0:
            label += " (the axis does not begin at 0)"
        margins = Margins(look.room_for(names), RIGHT, look.above(keys=3), look.below(label))
        height = ROW * len(rows) + margins.top + margins.bottom
        figure, axes = look.sheet(height, margins)
        for n, row in enumerate(rows):
            if row.tier % 2 == 1:
                axes.axhspan(n - 0.5, n + 0.5, color=BAND, lw=0)
            _row(axes, n, row, highest)
        _tier_cuts(axes, rows)
        rows_of(look, axes, names)
        axes.set_xlim(*window)
        axes.grid(axis="x")
        axes.set_xlabel(look.wrap(label))
        _key(look, axes)
        _beside(look, axes, rows)
        return look.svg(figure)


def _row(axes: Axes, n: int, row: ForestRow, highest: float) -> None:
    if row.mean is None:
        axes.text(
            0.02, n, "no complete run", transform=axes.get_yaxis_transform(), va="center",
            size=SMALL, color=MUTED, style="italic",
        )  # fmt: skip
        return
    if row.tasks_bar:
        low, high = (min(max(v, 0.0), highest) for v in row.tasks_bar)
        y = n + APART
        axes.plot([low, high], [y, y], color=MUTED, lw=1.0, marker="|", ms=5, mew=1.0)
    if row.runs_bar:
        low, high = (min(max(v, 0.0), highest) for v in row.runs_bar)
        y = n - APART / 2
        axes.plot([low, high], [y, y], color=BLUE, lw=6.0, solid_capstyle="butt")
    axes.plot(row.mean, n - APART / 2, "o", ms=5, color=INK, mec=PAPER, mew=1, zorder=5)


def _beside(look: Look, axes: Axes, rows: Sequence[ForestRow]) -> None:
    """Write rank sets and repairs beside the axes; what is under doubt is hatched."""
    inch = 1 / (look.width * axes.get_position().width)
    ranks, repairs = 1 + RANKS * inch, 1 + REPAIRS * inch
    place = axes.get_yaxis_transform()
    note(axes, ranks, "rank set")
    note(axes, repairs, "repairs")
    for n, row in enumerate(rows):
        if row.doubtful:
            box = Rectangle(
                (ranks - 0.04 * inch, n - 0.36), 0.54 * inch, 0.72, transform=place, clip_on=False,
                facecolor="none", edgecolor=VERMILLION, hatch="////", lw=0.7,
            )  # fmt: skip
            axes.add_patch(box)
        ground = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5} if row.doubtful else None
        axes.text(ranks, n, row.ranks, transform=place, va="center", size=NORMAL, weight="bold",
                  bbox=ground)  # fmt: skip
        axes.text(repairs + 0.2 * inch, n, f"{row.repairs}", transform=place, va="center",
                  ha="center", size=NORMAL)  # fmt: skip


def _tier_cuts(axes: Axes, rows: Sequence[ForestRow]) -> None:
    for n, (above, below) in enumerate(pairwise(rows)):
        if above.tier != below.tier:
            axes.axhline(n + 0.5, color=INK, lw=1.1)


def _window(rows: Sequence[ForestRow], highest: float) -> tuple[float, float]:
    """Return the part of the scale that holds every bar, a little wider, inside the scale."""
    ends = [v for r in rows for bar in (r.runs_bar, r.tasks_bar) if bar for v in bar]
    ends += [r.mean for r in rows if r.mean is not None]
    if not ends:
        return 0.0, highest
    low, high = max(min(ends), 0.0), min(max(ends), highest)
    pad = max(0.03 * (high - low), 0.01 * highest)
    return max(low - pad, -0.01 * highest), min(high + pad, 1.01 * highest)


def _key(look: Look, axes: Axes) -> None:
    handles = [
        Line2D([], [], color=INK, marker="o", ms=5.5, lw=0),
        Line2D([], [], color=BLUE, lw=5),
        Line2D([], [], color=MUTED, lw=1, marker="|", ms=6),
    ]
    texts = ["mean", "95 %: further runs", "95 %: further tasks"]
    look.key(axes, handles, texts)
