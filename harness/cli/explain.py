"""`arnes explain DIR MODEL RUN ROW`: from a number in a table to the exact bytes."""

from typing import Annotated

import typer

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, say


def explain(
    folder: Folder,
    model: Annotated[str, typer.Argument(help="The model's id in the plan.")],
    run: Annotated[int, typer.Argument(help="The run's number, from 1.")],
    row: Annotated[str, typer.Argument(help="A task (A04) or one of its rows (A04.seating).")],
    as_json: JsonFlag = False,
) -> None:
    """Show prompt, reply, parse steps, observations and reason behind one score."""
    from harness.report.explain import explain_row

    text, data = explain_row(folder, instrument_for(folder).suite, model, run, row)
    if as_json:
        print_json(data)
    else:
        say(text)
