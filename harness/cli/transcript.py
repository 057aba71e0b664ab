"""`arnes transcript DIR MODEL RUN TASK`: what happened in an agent cell, reply by reply."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, say

Page = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write it as one HTML page instead."),
]


def transcript(
    folder: Folder,
    model: Annotated[str, typer.Argument(help="The model's id in the plan.")],
    run: Annotated[int, typer.Argument(help="The run's number, from 1.")],
    task: Annotated[str, typer.Argument(help="An agent task, such as A01.")],
    *,
    html: Page = None,
    as_json: JsonFlag = False,
) -> None:
    """Show turns, calls, results, faults, costs, what was left out, and how it ended."""
    from harness.report.transcript import as_data, as_page, as_text
    from harness.report.transcript import transcript as made
    from harness.store.files import write_whole

    instrument = instrument_for(folder)
    shown = made(folder, instrument.suite, instrument.config, player=model, run=run, task_id=task)
    if html is not None:
        write_whole(html, as_page(shown).encode("utf-8"))
    if as_json:
        print_json(as_data(shown))
    else:
        say(as_text(shown) if html is None else f"Written: {html}")
