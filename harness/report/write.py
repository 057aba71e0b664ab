"""Write a report's folder: the page, Markdown, tables, pictures, the card, the evidence."""

from collections.abc import Mapping
from pathlib import Path

from harness.records.base import readable_json
from harness.records.campaign import Final
from harness.report import csv_tables
from harness.report.about import TaskText
from harness.report.analysis import analyse
from harness.report.card import card
from harness.report.page import Page, compose
from harness.report.redact import is_redacted, redacted
from harness.report.render import html, markdown
from harness.store.files import write_whole

PAGE, MARKDOWN, EVIDENCE = "report.html", "report.md", "EVIDENCE.json"


def write_report(
    final: Final,
    folder: Path,
    *,
    redact: bool | None = None,
    about: Mapping[str, TaskText] | None = None,
) -> list[Path]:
    """Write the report of a finalized campaign; the same result gives the same bytes.

    Parameters
    ----------
    final : what is reported
    folder : where its files go; each is replaced whole, and others there are left alone
    redact : leave out every text that may quote answers; None does so for private forms
    about : task → what it says of itself

    Returns
    -------
    The files, the page first.
    """
    leave_out = is_redacted(final, redact)
    analysis = analyse(final)
    if leave_out:
        analysis = redacted(analysis)
    page = compose(final, analysis, about or {}, redacted=leave_out)
    shared = card(final, analysis)
    files: dict[str, bytes] = {
        PAGE: html(page, has_card=shared is not None).encode("utf-8"),
        MARKDOWN: markdown(final, redact=redact, analysis=analysis).encode("utf-8"),
        EVIDENCE: readable_json(page.evidence),
    }
    files |= {f"tables/{n}": t.encode("utf-8") for n, t in csv_tables.tables(analysis).items()}
    files |= {f"figures/{name}.svg": svg.encode("utf-8") for name, svg in _drawn(page).items()}
    if shared is not None:
        files |= {"card.svg": shared[0].encode("utf-8"), "card.png": shared[1]}
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, data)
    return [folder / name for name in files]


def _drawn(page: Page) -> dict[str, str]:
    found = {
        shown.picture.caption.name: shown.picture.svg
        for section in page.sections
        for shown in section.shown
        if shown.picture.svg is not None
    }
    return found | ({"split": page.gates.svg} if page.gates.svg else {})
