"""`arnes suite new-form`, `check-form`, `freeze`: parallel forms."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.terminal import JsonFlag, print_json, progress_bar, say

app = typer.Typer(help="Parallel forms of the suite (docs/forms.md).", no_args_is_help=True)


@app.command("new-form")
def new_form(
    seed: Annotated[str, typer.Option(help="A secret sentence; the form is drawn from it.")],
    as_json: JsonFlag = False,
) -> None:
    """Draw a private form of every task, check its bands, and write it under suite/private/."""
    from harness.clock import SystemClock
    from harness.stages.instrument import find_root
    from harness.stages.private_form import write_private_form

    with progress_bar(quiet=as_json) as progress:
        form_id, folder = write_private_form(find_root(Path.cwd()), seed, SystemClock(), progress)
    if as_json:
        print_json({"form": form_id, "folder": str(folder)})
        return
    say(
        f"Form {form_id}, written to {folder}\n"
        f'Use it: set form = "{form_id}" in arnes.toml. Keep the seed and that folder secret;\n'
        "publish the id with the results, and the seed later to prove which form was used."
    )


@app.command("check-form")
def check_form(
    form_id: Annotated[str, typer.Argument(metavar="ID", help="`open`, or a private form's id.")],
    as_json: JsonFlag = False,
) -> None:
    """Check a form again: methods, bands, goldens, ladders, exploits."""
    from harness.clock import SystemClock
    from harness.stages.instrument import find_root
    from harness.stages.private_form import check

    with progress_bar(quiet=as_json) as progress:
        outcome = check(find_root(Path.cwd()), form_id, SystemClock(), progress)
    if as_json:
        print_json(outcome.model_dump(mode="json"))
    else:
        from harness.cli.validate import show

        show(outcome)
    raise typer.Exit(0 if outcome.holds else 1)


@app.command()
def freeze(
    task: Annotated[
        list[str] | None, typer.Option(help="Only this task; repeatable.", show_default=False)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write the open form and its replies into the task folders (for authors of tasks)."""
    from harness.stages.agent_plays import freeze_agent
    from harness.stages.forms import freeze as freeze_single
    from harness.stages.instrument import find_root
    from harness.suite.loader import folders_of

    folders = folders_of(find_root(Path.cwd()), task or ())
    for folder in folders:
        agent = (folder / "faults.toml").is_file()
        (freeze_agent if agent else freeze_single)(folder)
        if not as_json:
            say(f"frozen: {folder.name}")
    if as_json:
        print_json({"frozen": [folder.name for folder in folders]})
