"""What is shown → text: one page of HTML, and Markdown. The console shows the same words.

Prompts and answers never stand in a report; reasons, which quote answers, only where it is not
redacted.
"""

import base64
import hashlib
from pathlib import Path
from typing import Literal

import jinja2

from harness.records.campaign import Final
from harness.report import cost_tables, csv_tables
from harness.report.analysis import Analysis, analyse
from harness.report.page import Page
from harness.report.redact import is_redacted
from harness.report.tables import lost_rows, model_rows, task_rows
from harness.report.wording import (
    counted,
    form_text,
    in_a_table,
    interval_text,
    moved_line,
    number,
    parts_text,
    points_text,
    rank_text,
    sigma_sentence,
    sigma_text,
)
from harness.stages.costs import point_costs

TEMPLATES = Path(__file__).resolve().parent / "templates"
DIGEST = "SCRIPT-DIGEST"  # stands in the template where that of the finished script goes


def _environment(kind: Literal["html", "markdown"]) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=kind == "html",  # noqa: S701 (Markdown is no HTML)
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def html(page: Page, *, has_card: bool) -> str:
    """Return the page: one file that fetches nothing and may run nothing but its own script.

    Parameters
    ----------
    page : what stands on it
    has_card : whether there is a card to link to
    """
    environment = _environment("html")
    environment.filters["moved"] = moved_line
    text = environment.get_template("page.html").render(
        page=page,
        final=page.final,
        analysis=page.analysis,
        csv_names=sorted(csv_tables.tables(page.analysis)),
        has_card=has_card,
    )
    text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"
    script = text[text.index("<script>") + len("<script>") : text.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return text.replace(DIGEST, digest, 1)


def markdown(final: Final, *, redact: bool | None = None, analysis: Analysis | None = None) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    final : what is reported
    redact : leave out every reason, which may quote answers; None does so for private forms
    analysis : of the same result, where it was made already
    """
    environment = _environment("markdown")
    environment.filters.update(
        number=number,
        counted=counted,
        sigma=sigma_text,
        cell=in_a_table,
        parts=parts_text,
        interval=interval_text,
        ranks=rank_text,
    )
    models, tasks = model_rows(final), task_rows(final)
    return environment.get_template("report.md").render(
        final=final,
        analysis=analysis or analyse(final),
        form=form_text(final.campaign),
        highest=sum(final.max_points.values()),
        models=models,
        tasks=tasks,
        lost=lost_rows(final),
        reasons=not is_redacted(final, redact),
        runs=range(1, final.campaign.runs + 1),
        sigma_sentence=sigma_sentence([m for m in models if not m.control]),
        points_text=points_text,
        development=final.stamps.arnes_version.endswith("-dev"),
        **_costs(final),
    )


def _costs(final: Final) -> dict[str, object]:
    """Return what the Markdown says of costs; a table of nothing is left out."""
    found = cost_tables.shown(point_costs(final))
    return {
        "costs": found,
        "cost_names": cost_tables.names(found),
        "cost_notes": cost_tables.notes(found),
        "measures": cost_tables.measures,
        "meters": cost_tables.meters,
        "cost_decimals": cost_tables.DECIMALS,
    }
