"""How runs differ: by schedule and model, and with repairs and without."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from harness.report.plots.style import (
    BLUE,
    GRID,
    INK,
    MUTED,
    PAPER,
    RUN_COLOURS,
    RUN_DASHES,
    RUN_MARKERS,
    SMALL,
    VERMILLION,
    Look,
    Margins,
    note,
    rows_of,
    styled,
)

ROW = 0.36
KEYED_RUNS = 8  # in one line above the axes


@dataclass(frozen=True)
class RunsRow:
    """One model's run totals around its own mean: run → points above it; sigma as text."""

    name: str
    deviations: dict[int, float]
    sigma: str


@dataclass(frozen=True)
class RepairRow:
    """One model: run → points as it came, and repaired; both sigmas as text."""

    name: str
    runs: dict[int, tuple[float, float]]
    sigmas: str
    leans: bool = False


def run_strip(look: Look, rows: Sequence[RunsRow]) -> str:
    """Return the picture: one line per run, from model to model, around each model's mean."""
    with styled():
        names = [row.name for row in rows]
        runs = sorted({run for row in rows for run in row.deviations})
        keys = min(len(runs), KEYED_RUNS)
        margins = Margins(
            look.room_for(names), 1.05 if look.narrow else 1.35, look.above(keys=keys)
        )
        figure, axes = look.sheet(ROW * len(rows) + margins.top + margins.bottom, margins)
        rows_of(look, axes, names)
        for n in range(len(rows)):
            axes.axhline(n, color=GRID, lw=0.6)
        axes.axvline(0, color=INK, lw=0.9)
        for run in runs:
            _one_run(axes, rows, run)
        reach = max((abs(v) for row in rows for v in row.deviations.values()), default=1.0) or 1.0
        axes.set_xlim(-1.12 * reach, 1.12 * reach)
        axes.set_xlabel("points above the model's own mean")
        _key(look, axes, runs)
        note(axes, 1.03, "σ [95 %]")
        for n, row in enumerate(rows):
            axes.text(
                1.03, n, row.sigma, transform=axes.get_yaxis_transform(), va="center", size=SMALL
            )
        return look.svg(figure)


def _look_of(run: int) -> tuple[str, str, str]:
    n = run - 1
    return (
        RUN_COLOURS[n % len(RUN_COLOURS)],
        RUN_MARKERS[n % len(RUN_MARKERS)],
        RUN_DASHES[n % len(RUN_DASHES)],
    )


def _one_run(axes: Axes, rows: Sequence[RunsRow], run: int) -> None:
    """Draw one schedule; a model without this run breaks its line."""
    colour, marker, dash = _look_of(run)
    x = [row.deviations.get(run, float("nan")) for row in rows]
    axes.plot(
        x, range(len(rows)), color=colour, ls=dash, lw=1.3, marker=marker, ms=6, mec=PAPER, mew=0.8
    )


def _key(look: Look, axes: Axes, runs: list[int]) -> None:
    handles, texts = [], []
    for run in runs[:KEYED_RUNS]:
        colour, marker, dash = _look_of(run)
        handles.append(Line2D([], [], color=colour, ls=dash, marker=marker, ms=5.5, lw=1.3))
        texts.append(f"run {run}")
    look.key(axes, handles, texts)


def repairs(look: Look, rows: Sequence[RepairRow]) -> str:
    """Return the picture: each run as an arrow from its points as it came to those repaired."""
    with styled():
        names = [row.name for row in rows]
        margins = Margins(look.room_for(names), 1.0 if look.narrow else 1.25, look.above(keys=2))
        height = (ROW + 0.08) * len(rows) + margins.top + margins.bottom
        figure, axes = look.sheet(height, margins)
        rows_of(look, axes, names)
        for n, row in enumerate(rows):
            axes.axhline(n + 0.5, color=GRID, lw=0.6)
            _arrows(axes, n, row)
            axes.text(
                1.03, n, row.sigmas, transform=axes.get_yaxis_transform(), va="center", size=SMALL,
                weight="bold" if row.leans else "normal",
            )  # fmt: skip
        axes.grid(axis="x")
        axes.set_xlabel("total points of a run")
        handles = [
            Line2D([], [], color=VERMILLION, marker="o", mfc=PAPER, ms=5.5, lw=0),
            Line2D([], [], color=BLUE, marker="o", ms=5.5, lw=0),
        ]
        look.key(axes, handles, ["as it came", "repaired"])
        note(axes, 1.03, "σ, repaired" if look.narrow else "σ as is → repaired")
        return look.svg(figure)


def _arrows(axes: Axes, n: int, row: RepairRow) -> None:
    step = 0.7 / max(len(row.runs), 1)
    for k, (_, (as_is, repaired)) in enumerate(sorted(row.runs.items())):
        y = n - 0.35 + step * (k + 0.5)
        if as_is != repaired:
            axes.plot([as_is, repaired], [y, y], color=MUTED, lw=1.2, zorder=2)
            axes.plot(as_is, y, "o", ms=5.5, mfc=PAPER, mec=VERMILLION, mew=1.3, zorder=3)
        axes.plot(repaired, y, "o", ms=5.5, color=BLUE, mec=PAPER, mew=0.6, zorder=3)
