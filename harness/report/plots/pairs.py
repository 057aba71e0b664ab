"""What may be claimed of each two models, and which gaps could have been seen at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from harness.report.plots.style import (
    BLUE,
    GRID,
    INK,
    MUTED,
    NORMAL,
    ORANGE,
    PAPER,
    SMALL,
    VERMILLION,
    Look,
    Margins,
    labels,
    styled,
)

Verdict = Literal["sustained", "fragile", "tied", "unlinked"]
SIDE, NARROW_SIDE, HIGH = 0.82, 0.5, 0.46  # inches of a cell
STRONG = 0.9  # opacity of a sustained cell
TIGHT = 0.55  # share of the ruler from which a name stands at the left of its mark


@dataclass(frozen=True)
class PairCell:
    """Column model minus row model, in points; half is that of the simultaneous interval."""

    row: int
    column: int
    difference: float | None
    half: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Mark:
    """A gap with a name; band is the same at both ends of sigma's interval."""

    name: str
    gap: float
    band: tuple[float, float] | None = None


def pair_matrix(look: Look, names: Sequence[str], cells: Sequence[PairCell]) -> str:
    """Return the picture: the model of the column against the model of the row."""
    with styled():
        left = look.room_for(names)
        size = len(names) - 1
        side = NARROW_SIDE if look.narrow else SIDE
        wide = max(look.width, left + side * size + 0.15)
        columns = min((wide - left - 0.15) / max(size, 1), 1.25)
        bottom = 0.95 if look.narrow else 0.35
        margins = Margins(left, wide - left - columns * size, 0.3, bottom)
        figure, axes = look.sheet(0.3 + bottom + HIGH * size, margins, width=wide)
        axes.set_xlim(-0.5, size - 0.5)
        axes.set_ylim(size - 0.5, -0.5)
        for cell in cells:
            _cell(axes, cell)
        letters = max(int(columns / 0.085), 6)
        if look.narrow:
            axes.set_xticks(
                range(size), look.labels(names)[:-1], rotation=40, ha="right",
                rotation_mode="anchor",
            )  # fmt: skip
        else:
            axes.set_xticks(range(size), labels(names, letters)[:-1])
        axes.set_yticks(range(size), look.labels(names)[1:])
        axes.tick_params(labelsize=NORMAL, labelcolor=INK, length=0)
        axes.tick_params(axis="x", labelsize=SMALL)
        axes.spines["bottom"].set_visible(False)
        _verdict_key(axes)
        return look.svg(figure)


FILL: dict[Verdict, tuple[str, float, str]] = {
    "sustained": (BLUE, STRONG, ""),
    "fragile": (ORANGE, 0.45, "////"),
    "tied": (PAPER, 0.0, ""),
    "unlinked": (GRID, 0.6, "xxxx"),
}


def _cell(axes: Axes, cell: PairCell) -> None:
    """Draw one cell; the matrix lacks the first row and the last column, which would be empty."""
    x, y = cell.column, cell.row - 1
    colour, alpha, hatch = FILL[cell.verdict]
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=colour, alpha=alpha, lw=0))
    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, fill=False, edgecolor=GRID, lw=0.7))
    if hatch:
        axes.add_patch(
            Rectangle((x - 0.48, y + 0.28), 0.96, 0.18, fill=False, ec=MUTED, hatch=hatch, lw=0)
        )
    if cell.difference is None:
        axes.text(x, y - 0.06, "not linked", ha="center", va="center", size=SMALL, color=MUTED)
        return
    ink = PAPER if cell.verdict == "sustained" else INK
    weight = "bold" if cell.verdict in ("sustained", "fragile") else "normal"
    axes.text(
        x, y - 0.2, f"{cell.difference:+.1f}".replace("-", "−"), ha="center", va="center",
        size=NORMAL, color=ink, weight=weight,
    )  # fmt: skip
    half = "" if cell.half is None else f"± {cell.half:.1f}"
    axes.text(x, y + 0.16, half, ha="center", va="center", size=SMALL, color=ink)


def _verdict_key(axes: Axes) -> None:
    texts: dict[Verdict, str] = {
        "sustained": "sustained",
        "fragile": "fragile",
        "tied": "not separated",
    }
    handles = [
        Rectangle((0, 0), 1, 1, fc=to_rgba(FILL[v][0], FILL[v][1]), hatch=FILL[v][2], ec=MUTED,
                  lw=0.7)  # the edge is seen also where the field is empty
        for v in texts
    ]  # fmt: skip
    axes.legend(
        handles, list(texts.values()), loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3,
        bbox_transform=axes.transAxes, columnspacing=1.0, frameon=False, fontsize=SMALL,
        handlelength=1.2, borderaxespad=0.0, labelcolor=MUTED,
    )  # fmt: skip


def ruler(look: Look, marks: Sequence[Mark], gaps: Sequence[tuple[float, Verdict]]) -> str:
    """Return the picture: every observed gap as a tick on a line, and what could be seen."""
    with styled():
        figure, axes = look.sheet(1.0 + 0.28 * len(marks), Margins(0.35, 0.35, top=0.25))
        top = max([m.gap for m in marks] + [g for g, _ in gaps] + [1.0])
        axes.set_xlim(0, 1.06 * top)
        axes.set_ylim(-1.35, len(marks) + 0.1)
        axes.axhline(0, color=INK, lw=0.9)
        for gap, verdict in gaps:
            separated = verdict in ("sustained", "fragile")
            axes.plot(
                [gap, gap], [-0.62, 0], color=BLUE if separated else MUTED,
                lw=1.8 if separated else 1.0, ls=":" if verdict == "fragile" else "-",
            )  # fmt: skip
        axes.text(0, -0.78, "observed gaps: thick where separated, dotted where fragile",
                  size=SMALL, color=MUTED, va="top")  # fmt: skip
        for n, one in enumerate(sorted(marks, key=lambda m: m.gap)):
            _mark(axes, n + 0.55, one, top)
        axes.set_yticks([])
        axes.set_xlabel("gap between two mean totals, points")
        return look.svg(figure)


def _mark(axes: Axes, y: float, mark: Mark, top: float) -> None:
    axes.plot([mark.gap, mark.gap], [0, y], color=VERMILLION, lw=1.1)
    if mark.band:
        low, high = mark.band[0], min(mark.band[1], 1.06 * top)
        axes.plot([low, high], [y, y], color=VERMILLION, lw=5, alpha=0.25, solid_capstyle="butt")
    axes.plot(mark.gap, y, "o", ms=5, color=VERMILLION)
    low, high = mark.band or (mark.gap, mark.gap)
    right = high > TIGHT * top
    axes.annotate(
        f"{mark.name} {mark.gap:.1f}", (min(mark.gap, low) if right else max(mark.gap, high), y),
        (-7 if right else 7, 0), textcoords="offset points", ha="right" if right else "left",
        va="center", size=SMALL,
    )  # fmt: skip
