"""Rank sets, which are a claim, and rank probabilities, which are a description only."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from harness.report.plots.style import (
    BLUE,
    GRID,
    INK,
    MUTED,
    NORMAL,
    PAPER,
    PURPLE,
    SMALL,
    VERMILLION,
    Look,
    Margins,
    note,
    rows_of,
    styled,
)

ROW = 0.36


def rank_strip(
    look: Look,
    names: Sequence[str],
    sets: Sequence[tuple[int, int]],
    chances: Sequence[Sequence[float]],
    doubtful: Sequence[bool],
) -> str:
    """Return the picture: sets at the left, probabilities of every rank at the right.

    Parameters
    ----------
    look : of the report
    names, sets, doubtful : one of each model, in the order of the ranking; sets from low to high
    chances : model by rank, in [0, 1]; empty where there are none
    """
    with styled():
        left, rows = look.room_for(names), ROW * len(names)
        room = look.width - left - 0.25
        beside = bool(chances) and not look.narrow
        half = (room - 0.35) / 2 if beside else room
        under = rows + 0.85 if chances and look.narrow else 0.0
        margins = Margins(left, look.width - left - half, 0.35, 0.5 + under)
        figure, axes = look.sheet(rows + 0.85 + under, margins)
        _sets(axes, sets, doubtful)
        rows_of(look, axes, names)
        note(axes, 0.0, "rank set, jointly 95 %: the claim", lift=3)
        if chances:
            place, (wide, high) = axes.get_position(), figure.get_size_inches()
            corner = ((left + half + 0.35) / wide, place.y0) if beside else (place.x0, 0.5 / high)
            other = figure.add_axes((*corner, place.width, place.height))
            _chances(other, chances)
            note(other, 0.0, "chance of each rank, %: a picture only", lift=3)
            if look.narrow:
                other.set_yticks(range(len(names)), look.labels(names))
                other.tick_params(axis="y", labelsize=NORMAL, labelcolor=INK)
        return look.svg(figure)


def _sets(axes: Axes, sets: Sequence[tuple[int, int]], doubtful: Sequence[bool]) -> None:
    for n, ((low, high), doubt) in enumerate(zip(sets, doubtful, strict=True)):
        axes.axhline(n, color=GRID, lw=0.6)
        box = Rectangle(
            (low - 0.3, n - 0.22), high - low + 0.6, 0.44, lw=0.9,
            facecolor="none" if doubt else BLUE, edgecolor=VERMILLION if doubt else BLUE,
            hatch="////" if doubt else None, zorder=2,
        )  # fmt: skip
        axes.add_patch(box)
        words = f"{low}" if low == high else f"{low}–{high}"
        axes.text((low + high) / 2, n, words, ha="center", va="center", size=SMALL, weight="bold",
                  color=INK if doubt else PAPER, zorder=3,
                  bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1} if doubt else None,
                  )  # fmt: skip
    axes.set_xlim(0.4, len(sets) + 0.6)
    axes.set_xticks(range(1, len(sets) + 1))
    axes.set_xlabel("rank")


def _chances(axes: Axes, chances: Sequence[Sequence[float]]) -> None:
    for n, row in enumerate(chances):
        for k, chance in enumerate(row, start=1):
            box = (k - 0.48, n - 0.46)
            axes.add_patch(Rectangle(box, 0.96, 0.92, fc=PURPLE, alpha=0.6 * chance, lw=0))
            axes.add_patch(Rectangle(box, 0.96, 0.92, fill=False, ec=GRID, lw=0.6))
            if chance >= 0.005:
                axes.text(k, n, f"{100 * chance:.0f}", ha="center", va="center", size=SMALL,
                          color=INK)  # fmt: skip
    axes.set_ylim(len(chances) - 0.5, -0.5)
    axes.set_xlim(0.4, len(chances[0]) + 0.6)
    axes.set_xticks(range(1, len(chances[0]) + 1))
    axes.set_yticks([])
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xlabel("rank", color=MUTED)
