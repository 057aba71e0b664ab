"""One picture to share: the ranking, its signature, and what may be claimed."""

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from harness.report.plots.forest import ForestRow
from harness.report.plots.style import (
    BAND,
    BLUE,
    GRID,
    INK,
    MUTED,
    PAPER,
    VERMILLION,
    labels,
    styled,
)

WIDE, HIGH, DPI = 12.0, 6.3, 100  # 1200 by 630 pixels, what link previews show
MOST = 8  # models on the card; the report has them all
LEFT = 0.045  # share of the width
LINE_LETTERS = 118
MOST_LINES = 4
Saved = tuple[str, bytes]


@dataclass(frozen=True)
class Words:
    """The card's texts, one line each; claims say what may be claimed and what may not."""

    title: str
    subtitle: str
    claims: tuple[str, ...]
    footer: str


def card(words: Words, rows: Sequence[ForestRow], highest: float, *, simulated: bool) -> Saved:
    """Return the card as SVG text and as PNG.

    Parameters
    ----------
    words : its texts
    rows : models in the order of the ranking
    highest : end of the scale, points
    simulated : whether the card has to say so
    """
    with styled():
        figure = Figure(figsize=(WIDE, HIGH), dpi=DPI)
        figure.text(LEFT, 0.92, words.title, size=22, weight="bold", va="center")
        figure.text(LEFT, 0.855, words.subtitle, size=11.5, color=MUTED, va="center")
        if simulated:
            figure.text(0.962, 0.92, "SIMULATED", size=20, weight="bold", color=VERMILLION,
                        ha="right", va="center")  # fmt: skip
        shown = rows[:MOST]
        figure.text(LEFT, 0.785, "rank set", size=10.5, color=MUTED)
        figure.text(LEFT + 0.085, 0.785, "model", size=10.5, color=MUTED)
        figure.text(0.88, 0.785, "mean", size=10.5, color=MUTED, ha="right")
        figure.text(0.955, 0.785, "repairs", size=10.5, color=MUTED, ha="right")
        axes = figure.add_axes((0.34, 0.31, 0.46, 0.46))
        _ranking(axes, shown, highest)
        if len(rows) > MOST:
            figure.text(LEFT + 0.085, 0.275, f"and {len(rows) - MOST} more", size=10, color=MUTED)
        lines = [line for claim in words.claims for line in textwrap.wrap(claim, LINE_LETTERS)]
        for n, line in enumerate(lines[:MOST_LINES]):
            figure.text(LEFT, 0.205 - 0.042 * n, line, size=11.5)
        figure.text(LEFT, 0.028, words.footer, size=9, color=MUTED, family="monospace")
        return _saved(figure)


def _ranking(axes: Axes, rows: Sequence[ForestRow], highest: float) -> None:
    names = labels([row.name for row in rows], 27)
    for n, row in enumerate(rows):
        if row.tier % 2 == 1:
            axes.axhspan(n - 0.5, n + 0.5, xmin=-0.67, xmax=1.36, color=BAND, lw=0, clip_on=False,
                         zorder=-2)  # fmt: skip
        _texts(axes, n, row, names[n])
        if row.mean is None:
            continue
        if row.runs_bar:
            low, high = (min(max(v, 0.0), highest) for v in row.runs_bar)
            axes.plot([low, high], [n, n], color=BLUE, lw=9, solid_capstyle="butt")
        axes.plot(row.mean, n, "o", ms=9, color=INK, mec=PAPER, mew=1.6, zorder=5)
    axes.set_ylim(max(len(rows), 3) - 0.5, -0.5)
    axes.set_xlim(0, highest)
    axes.set_yticks([])
    axes.grid(axis="x", color=GRID)
    axes.tick_params(labelsize=10)
    axes.spines["bottom"].set_visible(False)


def _texts(axes: Axes, n: int, row: ForestRow, name: str) -> None:
    place = axes.get_yaxis_transform()
    mark = "*" if row.doubtful else ""
    axes.text(-0.641, n, row.ranks + mark, transform=place, va="center", size=15, weight="bold",
              color=VERMILLION if row.doubtful else INK)  # fmt: skip
    axes.text(-0.457, n, name, transform=place, va="center", size=12.5)
    mean = "–" if row.mean is None else f"{row.mean:.1f}"
    axes.text(1.174, n, mean, transform=place, va="center", ha="right", size=13, weight="bold")
    axes.text(1.337, n, f"{row.repairs}", transform=place, va="center", ha="right", size=12.5)


def _saved(figure: Figure) -> Saved:
    vector, raster = io.BytesIO(), io.BytesIO()
    FigureCanvasSVG(figure)
    figure.savefig(vector, format="svg", metadata={"Date": None, "Creator": None})
    FigureCanvasAgg(figure)
    figure.savefig(raster, format="png", metadata={"Software": None})
    return vector.getvalue().decode("utf-8"), raster.getvalue()
