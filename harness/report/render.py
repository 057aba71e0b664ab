"""Tables → Markdown. The console shows the same words.

Prompts and answers never stand in a report; reasons, which quote answers, only where it is not
redacted.
"""

from pathlib import Path

import jinja2

from harness.records.campaign import Final
from harness.report.tables import lost_rows, model_rows, task_rows
from harness.report.wording import (
    counted,
    form_text,
    in_a_table,
    number,
    parts_text,
    points_text,
    sigma_sentence,
    sigma_text,
)

TEMPLATES = Path(__file__).resolve().parent / "templates"


def is_redacted(final: Final, redact: bool | None) -> bool:
    """Return whether reasons are left out: as it was asked for, else for every private form."""
    return not final.campaign.open_form if redact is None else redact


def markdown(final: Final, *, redact: bool | None = None) -> str:
    """Return the report as Markdown.

    Parameters
    ----------
    final : what is reported
    redact : leave out every reason, which may quote answers; None does so for private forms
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701 (Markdown; the HTML report escapes)
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        number=number, counted=counted, sigma=sigma_text, cell=in_a_table, parts=parts_text
    )
    models, tasks = model_rows(final), task_rows(final)
    return environment.get_template("report.md").render(
        final=final,
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
    )
