"""Level C: four gates in order. A difference that failed one is not printed, let alone drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.analysis import LevelAnalysis
from harness.report.plots.levels import DeltaRow, split_deltas
from harness.report.plots.style import Look, inline
from harness.stats.split_date import MARGIN, Gate, SplitVerdict

ORDER: tuple[tuple[Gate, str], ...] = (
    ("cutoff", "every late item came after the model's cutoff"),
    ("structure", "both halves are built alike"),
    ("difficulty", "reference solvers find both halves equally hard"),
    ("precision", "enough pairs to answer anything"),
)


@dataclass(frozen=True)
class GateLine:
    """One model: what became of each gate in order, and the verdict with its reason."""

    model: str
    gates: tuple[str, ...]
    state: str
    reason: str


@dataclass(frozen=True)
class Gates:
    """The table, and the picture of what passed; markup is empty where nothing did."""

    headings: tuple[str, ...]
    lines: tuple[GateLine, ...]
    markup: str
    svg: str | None
    sentence: str


def gates(level: LevelAnalysis | None, verdicts: Sequence[SplitVerdict], look: Look) -> Gates:
    """Return what may be shown of level C.

    Parameters
    ----------
    level : None where it was not asked
    verdicts : one of each model; none where no split was judged
    look : of the report
    """
    rows = [
        DeltaRow(v.model, v.delta.centre, v.delta.low, v.delta.high)
        for v in verdicts
        if v.delta is not None
    ]
    svg = split_deltas(look, rows, MARGIN) if rows else None
    return Gates(
        headings=tuple(text for _, text in ORDER),
        lines=tuple(_line(v) for v in verdicts),
        markup=inline(svg, "split", "Level C", "Early minus late items.") if svg else "",
        svg=svg,
        sentence=_sentence(level, verdicts),
    )


def _line(verdict: SplitVerdict) -> GateLine:
    names = [gate for gate, _ in ORDER]
    stop = len(names) if verdict.failed is None else names.index(verdict.failed)
    marks = ["passed" if n < stop else "FAILED" if n == stop else "not reached" for n in range(4)]
    return GateLine(verdict.model, tuple(marks), verdict.state, verdict.reason)


def _sentence(level: LevelAnalysis | None, verdicts: Sequence[SplitVerdict]) -> str:
    if level is None:
        return "Level C was not asked: nothing here says whether a model had seen the tasks before."
    if not verdicts:
        return (
            "Level C was asked, but no split by date was judged: its points say nothing of memory."
        )
    passed = sum(v.delta is not None for v in verdicts)
    if not passed:
        return "No model passed every gate, so no difference is shown, and nothing follows from it."
    return f"{passed} of {len(verdicts)} models passed every gate; only their difference is shown."
