"""One look for every picture, and SVG that is the same bytes each time.

Colours are roles. On paper and in a file of its own a picture has the light values; inside the
page every role becomes a CSS variable, so that a picture follows the page into dark mode. The
hues are those of Okabe and Ito, which colour-blind readers can tell apart; no meaning rests on a
hue alone.
"""

import io
import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.textpath import TextPath

INK, MUTED, GRID = "#1a1a1b", "#595f66", "#d3d8dd"
PAPER, BAND = "#fefefe", "#eaf0f5"
BLUE, VERMILLION, GREEN = "#0072b2", "#d55e00", "#009e73"
ORANGE, SKY, PURPLE = "#e69f00", "#56b4e9", "#cc79a7"
ROLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    PAPER: "--paper",
    BAND: "--band",
    BLUE: "--blue",
    VERMILLION: "--vermillion",
    GREEN: "--green",
    ORANGE: "--orange",
    SKY: "--sky",
    PURPLE: "--purple",
}
RUN_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
RUN_MARKERS = ("o", "s", "^", "D", "v", "P")
RUN_DASHES = ("-", "--", ":", "-.")

SMALL, NORMAL = 8.0, 9.0  # points; nothing is set smaller
WIDE, NARROW = 6.9, 3.75  # inches
LINE = 0.15  # inches of a line of remarks
NARROW_LETTERS = 13
NAME_LETTERS = 24  # of a model's name on a picture; the tables have it whole
LETTER = 0.068  # inches of a letter of NORMAL size, a little more than the mean of the font
SMALL_LETTER = 0.06  # the same of SMALL size
POINTS_PER_INCH = 72
MARK_ROOM = 0.2  # inches above a simulated picture, for its mark
SALT = "arnes"  # of ids in SVG; any constant will do

STYLE: dict[Any, object] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: measured alike on every machine
    "font.size": NORMAL,
    "svg.fonttype": "none",
    "svg.hashsalt": SALT,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.labelsize": SMALL,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.width": 0.7,
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "hatch.color": "edge",
    "hatch.linewidth": 0.7,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
}


@dataclass(frozen=True)
class Margins:
    """Space around the axes, in inches, so that text keeps its room at every height."""

    left: float
    right: float = 0.25
    top: float = 0.3
    bottom: float = 0.5


@dataclass(frozen=True)
class Look:
    """What all pictures of a report share.

    width : inches; WIDE is the text width of a paper and of the page, NARROW that of a phone
    simulated : the campaign was made up, and every picture says so
    """

    width: float = WIDE
    simulated: bool = False

    @property
    def narrow(self) -> bool:
        """True where there is no room beside the drawing."""
        return self.width < (WIDE + NARROW) / 2

    def labels(self, names: Sequence[str]) -> list[str]:
        """Return the models' names as there is room for them, no two alike."""
        return labels(names, NARROW_LETTERS if self.narrow else NAME_LETTERS)

    def room_for(self, names: Sequence[str]) -> float:
        """Return the inches that the longest of the names needs at the left of the axes."""
        shown = self.labels(names)
        usual = LETTER * max(map(len, shown), default=0)
        return 0.25 + max([usual, *(_inches(name) for name in shown)])  # some are all wide letters

    def wrap(self, text: str, within: float = math.inf) -> str:
        """Return a remark in as many lines as it needs, if it has so many inches."""
        beside = 1.3 if self.narrow else 0.6  # inches of names and margins
        return textwrap.fill(text, int(min(self.width - beside, within) / SMALL_LETTER))

    def above(self, text: str = "", keys: int = 0) -> float:
        """Return the inches above the axes for a remark, or for so many keys."""
        lines = self.wrap(text).count("\n") + 1
        if keys:
            lines = -(-keys // 2) if self.narrow else 1
        return 0.3 + LINE * (lines - 1) + (0.15 if keys else 0.0)

    def below(self, text: str) -> float:
        """Return the inches under the axes for ticks and a label."""
        return 0.5 + LINE * self.wrap(text).count("\n")

    def key(self, axes: Axes, handles: Sequence[Artist], texts: Sequence[str]) -> None:
        """Explain marks above the axes: in a line, or in two columns from the very left."""
        figure = axes.get_figure(root=True)
        assert figure is not None
        top = axes.get_position().y1 + 0.03 / figure.get_size_inches()[1]
        left = 0.04 if self.narrow else axes.get_position().x0
        axes.legend(
            list(handles), list(texts), loc="lower left", bbox_to_anchor=(left, top),
            bbox_transform=figure.transFigure, ncols=2 if self.narrow else max(len(texts), 1),
            frameon=False, fontsize=SMALL, handlelength=2.0, columnspacing=1.4, borderaxespad=0.1,
            labelcolor=MUTED,
        )  # fmt: skip

    def sheet(
        self, height: float, margins: Margins, *, width: float | None = None
    ) -> tuple[Figure, Axes]:
        """Return a figure with one axes inside the margins; height in inches, mark not counted."""
        wide = width or self.width
        above = margins.top + (MARK_ROOM if self.simulated else 0.0)
        height += above - margins.top
        figure = Figure(figsize=(wide, height))
        box = (
            margins.left / wide,
            margins.bottom / height,
            (wide - margins.left - margins.right) / wide,
            (height - above - margins.bottom) / height,
        )
        axes = figure.add_axes(box)
        if self.narrow:
            axes.locator_params(axis="x", nbins=4)
        return figure, axes

    def svg(self, figure: Figure) -> str:
        """Return the figure as a file's text, marked if it is simulated."""
        if self.simulated:
            mark(figure)
        FigureCanvasSVG(figure)
        target = io.BytesIO()
        figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
        return target.getvalue().decode("utf-8")


def mark(figure: Figure) -> None:
    """Write SIMULATED into the upper right corner."""
    wide, high = figure.get_size_inches()
    figure.text(
        1 - 0.06 / wide,
        1 - 0.05 / high,
        "SIMULATED",
        ha="right",
        va="top",
        size=SMALL,
        weight="bold",
        color=VERMILLION,
    )


@contextmanager
def styled() -> Iterator[None]:
    """Draw and save inside this: matplotlib's settings are the process's own."""
    with mpl.rc_context(STYLE):
        yield


def _inches(text: str) -> float:
    """Return how wide a text of NORMAL size is."""
    return float(TextPath((0, 0), text, size=NORMAL).get_extents().width) / POINTS_PER_INCH


def labels(names: Sequence[str], letters: int = NAME_LETTERS) -> list[str]:
    """Return names that fit on a picture, and no two alike where the names are not.

    They are cut in their middle, because both ends tell models apart; where that leaves two
    alike, nearer to an end, then at both ends. Names that no such cut tells apart stay whole.
    """
    middle = (letters - 1) // 2
    tails = sorted(range(letters), key=lambda tail: abs(tail - middle))
    cuts = [[_cut(name, letters, tail) for name in names] for tail in tails]
    starts = range(1, max(map(len, names), default=0))
    cuts += [[_window(name, letters, start) for name in names] for start in starts]
    return next((cut for cut in cuts if len(set(cut)) == len(set(names))), list(names))


def _cut(name: str, letters: int, tail: int) -> str:
    """Return a name without its middle, so many letters of its end kept."""
    if len(name) <= letters:
        return name
    return f"{name[: letters - 1 - tail]}…{name[len(name) - tail :]}"


def _window(name: str, letters: int, start: int) -> str:
    """Return a piece out of the middle of a name."""
    return name if len(name) <= letters else f"…{name[start : start + letters - 2]}…"


def rows_of(look: Look, axes: Axes, names: Sequence[str]) -> None:
    """Put names on the rows 0, 1, 2 … from the top."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), look.labels(names))
    axes.tick_params(axis="y", labelsize=NORMAL, labelcolor=INK)


def note(axes: Axes, x: float, text: str, *, right: bool = False, lift: float = 5) -> None:
    """Write a small remark above the axes, x in shares of its width."""
    axes.annotate(
        text,
        (x, 1),
        (0, lift),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right" if right else "left",
        va="bottom",
        size=SMALL,
        color=MUTED,
        annotation_clip=False,
    )


def inline(svg: str, name: str, title: str, description: str) -> str:
    """Return a picture as it stands inside the page.

    Ids get the picture's name in front, colours become variables, the font is the page's, and a
    screen reader hears a title and what is to be seen.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'<style type="text/css">.*?</style>', "", body, flags=re.DOTALL)
    wide, high = (float(v) for v in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', body)[0])
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", body)
    body = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", body)
    body = body.replace("xlink:href", "href").replace("'DejaVu Sans', sans-serif", "var(--font)")
    for colour, role in ROLES.items():
        body = body.replace(colour, f"var({role})")
    body = re.sub(r"<!--.*?-->\n?", "", body, flags=re.DOTALL)
    head = (
        f'<svg role="img" aria-labelledby="{name}-title {name}-desc" '
        f'viewBox="0 0 {wide:g} {high:g}" style="--w:{wide / 72:.3g}in">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(description)}</desc>'
    )
    return head + body[body.index(">") + 1 :].rstrip()
