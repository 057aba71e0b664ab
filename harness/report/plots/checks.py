"""Which checks still measure, and what a deviation is worth in coin flips."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from matplotlib.axes import Axes

from harness.report.plots.style import (
    BAND,
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
    note,
    styled,
)

Sign = Literal["+", "-", "none"]
LANES: tuple[tuple[Sign, str], ...] = (
    ("+", "goes with\nthe total"),
    ("none", "not told"),
    ("-", "goes against\nthe total"),
)
BINS = 40
SHARE = "mean share of the check's points over all models and runs, per cent"
SIGMA = "deviation between runs, σ in points (pale: its 95 % interval)"
NAMED = 6
NEAR = (0.25, 0.09)  # names nearer than this to one another would touch


@dataclass(frozen=True)
class CheckDot:
    """One check.

    rate : mean share of its points, in [0, 1]
    discrimination : None where it may not be printed or cannot be told; then only sign counts
    live : False when it gave every run the same
    """

    name: str
    rate: float
    discrimination: float | None
    sign: Sign
    live: bool


def check_map(look: Look, checks: Sequence[CheckDot], *, screening: bool, bound: str) -> str:
    """Return the picture.

    Parameters
    ----------
    look : of the report
    checks : all of them
    screening : True when too few models were measured to print more than a sign
    bound : what a check that never failed still allows, as a sentence; empty where none is so
    """
    with styled():
        figure, axes = look.sheet(3.5, Margins(1.05, 0.3, 0.3, look.below(SHARE)))
        axes.axvspan(0.985, 1.03, color=BAND, lw=0)
        axes.axvspan(-0.03, 0.015, color=BAND, lw=0)
        if screening:
            _lanes(axes, checks)
        else:
            _scatter(axes, checks)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        axes.set_xlabel(look.wrap(SHARE))
        if bound:
            note(axes, 1.0, bound, right=True)
        return look.svg(figure)


def _lanes(axes: Axes, checks: Sequence[CheckDot]) -> None:
    """Draw one lane per sign; checks of the same rate pile up like beans."""
    dots: list[tuple[float, CheckDot]] = []
    for n, (sign, _) in enumerate(LANES):
        axes.axhline(n + 0.5, color=GRID, lw=0.6)
        piles: dict[int, int] = {}
        chosen = sorted((c for c in checks if c.sign == sign), key=lambda c: (c.rate, c.name))
        heights = _heights([round(c.rate * BINS) for c in chosen])
        for check in chosen:
            place = round(check.rate * BINS)
            level = piles[place] = piles.get(place, -1) + 1
            step = min(0.11, 0.84 / heights[place])
            dots.append((n + 0.42 - step * (level + 0.5), check))
        if sign == "-":
            _name(axes, n, chosen)
    _dots(axes, dots)
    axes.set_ylim(len(LANES) - 0.5, -0.5)
    axes.set_yticks(range(len(LANES)), [label for _, label in LANES])
    axes.tick_params(axis="y", labelcolor=INK)


def _heights(places: list[int]) -> dict[int, int]:
    return {place: places.count(place) for place in set(places)}


def _name(axes: Axes, lane: int, checks: Sequence[CheckDot]) -> None:
    """Name the checks that go against the total: somebody has to look at them."""
    names = [check.name for check in checks if check.live]
    text = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if names[NAMED:] else "")
    half = len(text) // 2
    cut = text.find(", ", half) if len(text) > 60 else -1
    if cut > 0:
        text = f"{text[: cut + 1]}\n{text[cut + 2 :]}"
    if text:
        axes.text(0.03, lane - 0.44, f"■ {text}", size=SMALL, color=MUTED, va="top")


def _scatter(axes: Axes, checks: Sequence[CheckDot]) -> None:
    axes.axhline(0, color=INK, lw=0.8)
    _dots(axes, [(check.discrimination or 0.0, check) for check in checks])
    named: list[tuple[float, float]] = []
    for check in sorted(checks, key=lambda c: c.discrimination or 0.0)[:NAMED]:
        value = check.discrimination
        if not check.live or value is None or value >= 0:
            continue
        if all(abs(check.rate - x) > NEAR[0] or abs(value - y) > NEAR[1] for x, y in named):
            named.append((check.rate, value))
            right = check.rate > 0.75
            axes.annotate(check.name, (check.rate, value), (-6 if right else 6, -7),
                          textcoords="offset points", size=SMALL, va="center",
                          ha="right" if right else "left")  # fmt: skip
    axes.set_ylim(-1.05, 1.05)
    axes.set_ylabel("correlation with the rest of the total")
    axes.grid(axis="y")


def _dots(axes: Axes, dots: Sequence[tuple[float, CheckDot]]) -> None:
    """Draw checks at their heights, all of one look at once."""
    looks: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for y, check in dots:
        colour = VERMILLION if check.sign == "-" and check.live else BLUE if check.live else MUTED
        marker = "s" if check.sign == "-" and check.live else "o"
        look = (marker, colour, colour if check.live else PAPER)
        looks.setdefault(look, []).append((check.rate, y))
    for (marker, edge, face), places in looks.items():
        xs, ys = zip(*places, strict=True)
        axes.plot(xs, ys, marker, ms=5, color=face, mec=edge, mew=0.9, alpha=0.9)


@dataclass(frozen=True)
class Translation:
    """A deviation in points, and how many coin-flip checks make as much noise."""

    sigma: float
    coins: float


def translator(
    look: Look,
    curve: Sequence[Translation],
    observed: Translation,
    span: Sequence[Translation],
    independent: Sequence[tuple[str, float]],
) -> str:
    """Return the picture.

    Parameters
    ----------
    look : of the report
    curve : sigma against coins, rising
    observed : the campaign's deviation; span is the curve over its own interval
    independent : pass rates in words with the sigma that independent checks of that rate have
    """
    with styled():
        figure, axes = look.sheet(3.1, Margins(0.55, 0.4, 0.3, look.below(SIGMA)))
        end = curve[-1].sigma
        axes.plot([t.sigma for t in curve], [t.coins for t in curve], color=BLUE, lw=1.5)
        inside = [t for t in span if t.sigma <= end]
        axes.plot([t.sigma for t in inside], [t.coins for t in inside], color=ORANGE, lw=6,
                  alpha=0.5, solid_capstyle="butt")  # fmt: skip
        _lines(axes, independent)
        axes.plot(observed.sigma, observed.coins, "o", ms=7.5, color=INK, mec=PAPER, zorder=5)
        right = observed.sigma > 0.5 * end
        between = "\n" if look.narrow else " "
        axes.annotate(
            f"here: σ {observed.sigma:.1f} points,{between}{observed.coins:.1f} coins",
            (observed.sigma, observed.coins), (-10 if right else 10, 4 if right else -1),
            textcoords="offset points", ha="right" if right else "left", va="center",
            size=NORMAL, weight="bold",
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1},
        )  # fmt: skip
        axes.set_xlim(0, end)
        axes.set_ylim(0, 1.03 * curve[-1].coins)
        axes.set_xlabel(look.wrap(SIGMA))
        note(axes, 0.0, "as noisy as so many checks that pass by a coin's flip")
        return look.svg(figure)


def _lines(axes: Axes, independent: Sequence[tuple[str, float]]) -> None:
    for name, sigma in independent:
        axes.axvline(sigma, color=GRID, lw=1.0)
        axes.annotate(name, (sigma, 1), (-3, -2), xycoords=("data", "axes fraction"),
                      textcoords="offset points", rotation=90, ha="right", va="top",
                      size=SMALL, color=MUTED,
                      bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.5})  # fmt: skip
