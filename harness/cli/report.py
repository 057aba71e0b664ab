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
    redact: Annotated[
        bool | None,
        typer.Option(
            "--redact/--no-redact",
            help="Leave out reasons, which may quote answers. Default: for private forms.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write the report as Markdown and show it. The campaign must be finalized as it is now."""
    from harness.report.write import write_report
    from harness.stages.evidence import refuse_stale
    from harness.stages.instrument import find_root
    from harness.store import campaign as store

    final = store.read_final(folder)
    refuse_stale(store.load(folder), final)
    target = output or find_root(Path.cwd()) / "reports" / folder.resolve().name / "report.md"
    write_report(final, target, redact=redact)
    if as_json:
        print_json({"report": str(target)})
        return
    show_report(final)
    say(f"\nWritten: {target}")
