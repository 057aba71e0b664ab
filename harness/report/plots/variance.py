"""Runs or tasks: what to buy next. Components of variance, and what more of each would give."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from harness.report.plots.style import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    NORMAL,
    ORANGE,
    PAPER,
    RUN_COLOURS,
    SMALL,
    VERMILLION,
    Look,
    Margins,
    note,
    styled,
)

COMPONENTS = "variance of a cell's share of its points"
NEGATIVE = f"{COMPONENTS} (hatched: negative, not told from 0)"
ERRORS = "error variance of one mean total as measured here, points squared"
MEASURE = "standard error of a mean total over further tasks, points; dashed: endless runs"
ROW, STACK_ROW, BETWEEN = 0.28, 0.42, 0.62  # inches
SHOWN = 5e-5  # what four decimals can show
SE_ROOM = 1.1  # inches beside the widest stack, for its standard error
LABEL_STEP = 0.062  # of the height: two labels nearer than this would touch
ROOMY = 0.16  # share of the widest stack from which a part's name fits into it


@dataclass(frozen=True)
class Part:
    """A component as it was estimated, in shares squared, and what it does to a comparison.

    value : negative where an estimate may be; 0 where it may not, and would have been
    """

    name: str
    value: float
    meaning: str


@dataclass(frozen=True)
class Stack:
    """The error variance of a mean total, in points squared, taken apart; se in points."""

    name: str
    parts: tuple[tuple[str, float], ...]
    se: float


@dataclass(frozen=True)
class Curve:
    """Standard error against runs for one number of tasks; ceiling is that of endless runs."""

    label: str
    runs: tuple[int, ...]
    errors: tuple[float, ...]
    ceiling: float
    today: bool


COLOURS = {"model": INK, "model × task": ORANGE, "model × run": GREEN, "rest": BLUE}


def variance_bars(
    look: Look, parts: Sequence[Part], stacks: Sequence[Stack], *, cut: bool = False
) -> str:
    """Return the picture: components as estimated above, errors of today's means below.

    Parameters
    ----------
    cut : cells are missing, so that the estimates are those of REML, none of them negative
    """
    told = f"{COMPONENTS} (REML, for cells are missing)" if cut else NEGATIVE
    with styled():
        upper, lower = ROW * len(parts), STACK_ROW * len(stacks)
        bottom, top = look.below(ERRORS), look.above(told)
        height = top + upper + BETWEEN + lower + bottom
        left, right = (1.15, 0.6) if look.narrow else (1.25, 1.9)
        figure, axes = look.sheet(height, Margins(left, right, top, bottom + lower + BETWEEN))
        _components(look, axes, parts, told)
        wide, high = figure.get_size_inches()
        size = ((wide - left - SE_ROOM) / wide, lower / high)
        below = figure.add_axes((left / wide, bottom / high, *size))
        _stacks(look, below, stacks)
        return look.svg(figure)


def _components(look: Look, axes: Axes, parts: Sequence[Part], told: str) -> None:
    for n, part in enumerate(parts):
        if part.value < 0:
            axes.barh(n, part.value, 0.62, facecolor="none", edgecolor=VERMILLION, hatch="/////",
                      lw=0.8)  # fmt: skip
        else:
            axes.barh(n, part.value, 0.62, color=COLOURS.get(part.name, MUTED), lw=0)
        number = (
            f"{part.value:.4f}".replace("-", "−") if abs(part.value) >= SHOWN else "not told from 0"
        )
        axes.annotate(
            number, (max(part.value, 0.0), n), (4, 0),
            textcoords="offset points", va="center", size=SMALL,
        )  # fmt: skip
        if not look.narrow:
            axes.text(1.07, n, part.meaning, transform=axes.get_yaxis_transform(), va="center",
                      size=SMALL, color=MUTED)  # fmt: skip
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_ylim(len(parts) - 0.4, -0.6)
    axes.set_yticks(range(len(parts)), [part.name for part in parts])
    axes.tick_params(axis="y", labelsize=NORMAL, labelcolor=INK)
    axes.margins(x=0.08)
    axes.locator_params(axis="x", nbins=3 if look.narrow else 5)
    note(axes, 0.0, look.wrap(told), lift=3)


def _stacks(look: Look, axes: Axes, stacks: Sequence[Stack]) -> None:
    widest = max((sum(v for _, v in s.parts) for s in stacks), default=1.0) or 1.0
    for n, stack in enumerate(stacks):
        left = 0.0
        for name, value in stack.parts:
            axes.barh(n, value, 0.62, left=left, color=COLOURS.get(name, MUTED), lw=0.8,
                      edgecolor=PAPER)  # fmt: skip
            if value > ROOMY * widest:
                axes.text(left + value / 2, n, name, ha="center", va="center", size=SMALL,
                          color=PAPER if name != "model × task" else "#000001")  # fmt: skip
            left += value
        axes.annotate(f"SE {stack.se:.1f} points", (left, n), (5, 0), textcoords="offset points",
                      va="center", size=NORMAL, weight="bold", annotation_clip=False)  # fmt: skip
    axes.set_ylim(len(stacks) - 0.4, -0.6)
    axes.set_yticks(range(len(stacks)), [stack.name for stack in stacks])
    axes.tick_params(axis="y", labelsize=NORMAL, labelcolor=INK)
    axes.set_xlim(0, widest)
    axes.set_xlabel(look.wrap(ERRORS))


def design_curve(look: Look, curves: Sequence[Curve], today_runs: int) -> str:
    """Return the picture: what more runs and more tasks would give, from zero."""
    with styled():
        figure, axes = look.sheet(
            3.5, Margins(0.5, 1.6 if look.narrow else 1.85, look.above(MEASURE))
        )
        for n, curve in enumerate(curves):
            colour = RUN_COLOURS[n % len(RUN_COLOURS)]
            axes.plot(curve.runs, curve.errors, color=colour, lw=2.2 if curve.today else 1.5,
                      marker="o", ms=3)  # fmt: skip
            axes.axhline(curve.ceiling, color=colour, lw=0.9, ls=(0, (2, 3)))
            if curve.today and today_runs in curve.runs:
                _today(axes, today_runs, curve.errors[curve.runs.index(today_runs)])
        top = max(max(curve.errors) for curve in curves)
        axes.set_ylim(0, 1.05 * top)
        _labels(axes, curves, top)
        runs = curves[0].runs
        axes.set_xlim(runs[0] - 0.3, runs[-1] + 0.2)
        axes.set_xticks(list(runs))
        axes.grid(axis="y")
        axes.set_xlabel("runs of each model")
        note(axes, 0.0, look.wrap(MEASURE))
        return look.svg(figure)


def _labels(axes: Axes, curves: Sequence[Curve], top: float) -> None:
    """Name every line at its right end, moved up as far as the one below it needs."""
    below = -top
    for n, curve in sorted(enumerate(curves), key=lambda c: c[1].errors[-1]):
        y = max(curve.errors[-1], below + LABEL_STEP * top)
        below = y
        axes.annotate(
            f"{curve.label}, at best {curve.ceiling:.1f}", (1, y), (8, 0),
            xycoords=("axes fraction", "data"), textcoords="offset points", va="center",
            size=SMALL, color=RUN_COLOURS[n % len(RUN_COLOURS)],
            weight="bold" if curve.today else "normal", annotation_clip=False,
        )  # fmt: skip


def _today(axes: Axes, runs: int, error: float) -> None:
    axes.plot(runs, error, "o", ms=9, mfc="none", mec=INK, mew=1.5, zorder=5)
    axes.annotate(
        f"this campaign: {error:.1f}", (runs, error), (10, 12), textcoords="offset points",
        size=NORMAL, weight="bold",
        bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1, "alpha": 0.85},
    )  # fmt: skip
