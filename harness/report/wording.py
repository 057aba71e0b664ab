"""Numbers, causes and warnings in words: the same in Markdown and on a terminal."""

from harness.records.campaign import CampaignRecord, ChangedRow
from harness.report.tables import ModelRow, TaskRow
from harness.stats.interval import Interval
from harness.stats.noise import Spread, few_runs_sentence
from harness.stats.ranks import RankSet


def sigma_text(spread: Spread | None) -> str:
    """Return what may be said about a deviation: never zero, never without its interval."""
    if spread is None:
        return "no complete run"
    if spread.runs == 1:
        return "one run: not estimable"
    if spread.sd is None:
        return "0 observed; not estimable"
    return f"{spread.sd:.2f} [{spread.sd_low:.1f}–{spread.sd_high:.1f}]"


def sigma_sentence(rows: list[ModelRow]) -> str:
    """Return the warning that few runs deserve, for each number of runs that a model has."""
    runs = max((row.spread.runs for row in rows if row.spread), default=0)
    if runs == 0:
        return "No run is complete: nothing has a total."
    if runs < 2:
        return "One run has no spread: nothing here says how stable a score is."
    known = dict.fromkeys(row.spread.runs for row in rows if row.spread and row.spread.sd)
    if not known:
        return f"All runs of each player agree; from {runs} runs no spread can be estimated."
    told = (few_runs_sentence(number) for number in known)
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in told)


def readable(name: str) -> str:
    """Return the name of a cause as people write it."""
    return name.replace("_", " ")


def counted(counts: dict[str, int]) -> str:
    """Return `2 truncated, 1 no deliverable`, or a dash."""
    named = (f"{n} {readable(name)}" for name, n in sorted(counts.items()))
    return ", ".join(named) or "–"


def number(value: float | None, decimals: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def points_text(row: TaskRow, run: int) -> str:
    """Return a cell's points with the mark of how it ended, or the cause why there are none."""
    points = row.points.get(run)
    cause = row.causes.get(run, "")
    mark = readable(cause)
    if points is None:
        return f"unscored ({mark})"
    return f"{points:.2f} ({mark})" if mark else f"{points:.2f}"


def in_a_table(text: str) -> str:
    """Return text as a cell of a Markdown table can hold it."""
    return text.replace("|", "\\|").replace("\n", " ")


def form_text(record: CampaignRecord) -> str:
    """Return which form was asked, as a sentence names it."""
    return "open form" if record.open_form else f"private form {record.form}"


def parts_text(row: ChangedRow) -> str:
    """Return by which parts of the signature a row moved."""
    return ", ".join(row.parts) or "no part of the signature"


def moved_line(row: ChangedRow) -> str:
    """Return a row that moved as one line; a dash where there is or was no score."""
    cell = row.cell
    return (
        f"moved: {cell.model} run {cell.run} {cell.task} {row.row}: "
        f"{number(row.before)} → {number(row.after)} (by {parts_text(row)})"
    )


def scored_sentence(scored: int, missing: dict[str, int]) -> str:
    """Return how many cells have a score, and how many have none for which cause."""
    cells = scored + sum(missing.values())
    sentence = f"{scored} of {cells} cells have a score"
    return f"{sentence}; missing: {counted(missing)}." if missing else f"{sentence}."


def rank_text(ranks: RankSet | None) -> str:
    """Return a rank set: a single number only when it has one element."""
    if ranks is None:
        return "–"
    return f"{ranks.low}" if ranks.low == ranks.high else f"{ranks.low}–{ranks.high}"


def interval_text(interval: Interval | None, highest: float) -> str:
    """Return an interval cut to the scale for display, or a dash."""
    if interval is None:
        return "–"
    low, high = interval.clipped(0.0, highest)
    return f"{low:.1f}–{high:.1f}"


def percent(share: float) -> str:
    """Return a share in per cent; what is nearly all or nearly nothing is not rounded to it."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if text == "0.0" and share > 0 else f"{text} %"
