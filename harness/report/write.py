"""Write a report's files."""

from pathlib import Path

from harness.records.campaign import Final
from harness.report.render import markdown
from harness.store.files import write_whole


def write_report(final: Final, target: Path, *, redact: bool | None = None) -> None:
    """Write the Markdown report of a finalized campaign to a path; redact as in `markdown`."""
    write_whole(target, markdown(final, redact=redact).encode("utf-8"))
