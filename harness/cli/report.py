"""`arnes report DIR`: what people read, from `FINAL.json` alone."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.tables import show_report
from harness.cli.terminal import Folder, JsonFlag, one_thread_of_algebra, print_json, say


def report(
    folder: Folder,
    output: Annotated[
        Path | None, typer.Option("--output", help="A folder. Default: reports/<campaign>.")
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
    """Write the report (a page, Markdown, tables, pictures, a card) and show its tables.

    The campaign must be finalized as it is now.
    """
    one_thread_of_algebra()
    from harness.report.about import about_tasks
    from harness.report.write import write_report
    from harness.stages.evidence import refuse_stale_in
    from harness.stages.instrument import find_root
    from harness.store import campaign as store

    final = store.read_final(folder)
    refuse_stale_in(folder, final)
    root = find_root(Path.cwd())
    target = output or root / "reports" / folder.resolve().name
    about = about_tasks(root, final.campaign.tasks)
    files = write_report(final, target, redact=redact, about=about)
    if as_json:
        print_json({"report": str(files[0]), "files": [str(path) for path in files]})
        return
    show_report(final)
    say(f"\nWritten: {files[0]}\n         and {len(files) - 1} files beside it")
