"""Tables → Markdown. The console shows the same words.

A private form's prompts and answers never stand in a report; this one shows neither for any form.
"""

from pathlib import Path

import jinja2

from harness.records.campaign import Final
from harness.report.tables import ModelRow, TaskRow, lost_rows, model_rows, task_rows
from harness.stats.noise import Spread

TEMPLATES = Path(__file__).resolve().parent / "templates"


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
    """Return the warning that few runs deserve."""
    runs = max((row.spread.runs for row in rows if row.spread), default=0)
    if runs < 2:
        return "One run has no spread: nothing here says how stable a score is."
    spread = next((r.spread for r in rows if r.spread and r.spread.sd), None)
    if spread is None or spread.sd is None or spread.sd_low is None or spread.sd_high is None:
        return f"All runs of each player agree; from {runs} runs no spread can be estimated."
    low, high = spread.sd_low / spread.sd, spread.sd_high / spread.sd
    return (
        f"From {spread.runs} runs σ is known only to between {low:.1f} and {high:.0f} times the "
        "printed value."
    )


def counted(counts: dict[str, int]) -> str:
    """Return `2 truncated, 1 no deliverable`, or a dash."""
    named = (f"{n} {name.replace('_', ' ')}" for name, n in sorted(counts.items()))
    return ", ".join(named) or "–"


def number(value: float | None, decimals: int = 2) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def points_text(row: TaskRow, run: int) -> str:
    """Return a cell's points with the mark of how it ended, or the cause why there are none."""
    points = row.points.get(run)
    cause = row.causes.get(run, "")
    mark = cause.replace("_", " ")
    if points is None:
        return f"unscored ({mark})"
    return f"{points:.2f} ({mark})" if mark else f"{points:.2f}"


def in_a_table(text: str) -> str:
    """Return text as a cell of a Markdown table can hold it."""
    return text.replace("|", "\\|").replace("\n", " ")


def markdown(final: Final) -> str:
    """Return the report as Markdown."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 (Markdown; the HTML report escapes)
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(number=number, counted=counted, sigma=sigma_text, cell=in_a_table)
    models, tasks = model_rows(final), task_rows(final)
    return environment.get_template("report.md").render(
        final=final,
        models=models,
        tasks=tasks,
        lost=lost_rows(final),
        runs=range(1, final.campaign.runs + 1),
        sigma_sentence=sigma_sentence([m for m in models if not m.control]),
        points_text=points_text,
        development=final.stamps.arnes_version.endswith("-dev"),
    )
