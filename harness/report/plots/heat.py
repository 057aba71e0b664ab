"""Where a lead comes from: share of points by task and model, with the spread between runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from matplotlib.transforms import Affine2D, Transform

from harness.report.plots.style import (
    BLUE,
    GRID,
    INK,
    LETTER,
    LINE,
    MUTED,
    NORMAL,
    PAPER,
    SMALL,
    SMALL_LETTER,
    VERMILLION,
    Look,
    Margins,
    labels,
    styled,
)

HIGH = 0.34
STRIP = 0.09  # inches between a task's name and its cells, hatched under doubt
TITLE_LETTERS = 38
PALEST, FULLEST = 0.03, 0.55  # opacity of none and all of the points: text stays readable on both
FULL_DOT = 0.15  # share of the points: the sigma whose dot is as large as a dot gets

KEY = (
    "per cent of the task's points; a larger disc is a larger σ between runs "
    f"(largest: {100 * FULL_DOT:.0f} % and more)"
)


@dataclass(frozen=True)
class HeatCell:
    """share : mean points of the maximum, in [0, 1]; sigma : of the runs, as a share too."""

    share: float | None
    sigma: float | None


def heat_map(
    look: Look,
    models: Sequence[str],
    tasks: Sequence[str],
    cells: Sequence[Sequence[HeatCell]],
    doubtful: Sequence[bool] = (),
) -> str:
    """Return the picture.

    Parameters
    ----------
    look : of the report
    models, tasks : their names
    cells : by task, then by model
    doubtful : for each task whether its points are under doubt; none is where it is left out
    """
    with styled():
        labels = [task.split()[0] if look.narrow else _cut(task) for task in tasks]
        left = 0.2 + STRIP + SMALL_LETTER * max(len(label) for label in labels)
        right = 0.45 if look.narrow else 0.2  # slanted names lean out
        least, most = (0.46, 0.6) if look.narrow else (0.72, 1.15)
        column = min(max((look.width - left - right) / len(models), least), most)
        wide = max(look.width, left + column * len(models) + right)
        top = 0.95 if look.narrow else 0.5
        key = look.wrap(KEY, left + column * len(models))
        bottom = 0.12 + LINE * (key.count("\n") + 1)
        margins = Margins(left, wide - left - column * len(models), top, bottom)
        figure, axes = look.sheet(top + bottom + HIGH * len(tasks), margins, width=wide)
        axes.set_xlim(-0.5, len(models) - 0.5)
        axes.set_ylim(len(tasks) - 0.5, -0.5)
        ratio = column / HIGH  # so that dots are round
        for y, row in enumerate(cells):
            for x, cell in enumerate(row):
                _field(axes, x, y, cell, ratio)
            if y < len(doubtful) and doubtful[y]:
                _doubt(axes, y, STRIP / column)
        axes.set_yticks(range(len(tasks)), labels)
        axes.tick_params(axis="y", pad=3 + 72 * STRIP)
        _heads(look, axes, models, max(int(column / LETTER) - 1, 6))
        axes.tick_params(labelcolor=INK, length=0, labelsize=SMALL)
        axes.spines["bottom"].set_visible(False)
        _key(axes, key)
        return look.svg(figure)


def _heads(look: Look, axes: Axes, models: Sequence[str], letters: int) -> None:
    """Name the columns: slanted where there is little room."""
    axes.xaxis.tick_top()
    if look.narrow:
        axes.set_xticks(
            range(len(models)), look.labels(models), rotation=40, ha="left",
            rotation_mode="anchor",
        )  # fmt: skip
    else:
        axes.set_xticks(range(len(models)), labels(models, letters))


def _cut(title: str) -> str:
    return title if len(title) <= TITLE_LETTERS else f"{title[: TITLE_LETTERS - 1]}…"


def _field(axes: Axes, x: int, y: int, cell: HeatCell, ratio: float) -> None:
    box = (x - 0.48, y - 0.45)
    if cell.share is None:
        axes.add_patch(Rectangle(box, 0.96, 0.9, fill=False, ec=GRID, hatch="xxx", lw=0.7))
        axes.text(x, y, "none", ha="center", va="center", size=SMALL, color=MUTED,
                  bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1})  # fmt: skip
        return
    axes.add_patch(
        Rectangle(box, 0.96, 0.9, fc=BLUE, alpha=PALEST + (FULLEST - PALEST) * cell.share, lw=0)
    )
    axes.add_patch(Rectangle(box, 0.96, 0.9, fill=False, ec=GRID, lw=0.6))
    axes.text(x + 0.04, y, f"{100 * cell.share:.0f}", ha="right", va="center", size=NORMAL,
              color=INK)  # fmt: skip
    if cell.sigma:
        _dot(axes, x + 0.28, y, cell.sigma, ratio)


def _doubt(axes: Axes, y: int, wide: float) -> None:
    """Hatch the strip before a task's cells."""
    axes.add_patch(
        Rectangle((-0.5 - wide, y - 0.45), wide, 0.9, fill=False, ec=VERMILLION, hatch="//////",
                  lw=0.7, clip_on=False)
    )  # fmt: skip


def _dot(axes: Axes, x: float, y: float, sigma: float, ratio: float) -> None:
    """Draw a disc whose area grows with sigma."""
    radius = 0.32 * min(sigma / FULL_DOT, 1.0) ** 0.5
    disc = Circle((0, 0), radius, fc=INK, lw=0, alpha=0.5)
    disc.set_transform(_stretched(axes, x, y, ratio))
    axes.add_patch(disc)


def _stretched(axes: Axes, x: float, y: float, ratio: float) -> Transform:
    return Affine2D().scale(1 / ratio, 1).translate(x, y) + axes.transData


def _key(axes: Axes, text: str) -> None:
    axes.annotate(
        text, (1, 0), (0, -8), xycoords="axes fraction", textcoords="offset points",
        va="top", ha="right", size=SMALL, color=MUTED, annotation_clip=False,
    )  # fmt: skip
