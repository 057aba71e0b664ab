"""`arnes report DIR`: what people read, from `FINAL.json` alone."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.tables import show_report
from harness.cli.terminal import Folder, JsonFlag, print_json, say


def report(
    folder: Folder,
    output: Annotated[
        Path | None, typer.Option("--output", help="Default: reports/<campaign>/report.md.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write the report as Markdown and show it. The campaign must be finalized."""
    from harness.report.write import write_report
    from harness.stages.instrument import find_root
    from harness.store import campaign as store

    final = store.read_final(folder)
    target = output or find_root(Path.cwd()) / "reports" / folder.resolve().name / "report.md"
    write_report(final, target)
    if as_json:
        print_json({"report": str(target)})
        return
    show_report(final)
    say(f"\nWritten: {target}")
