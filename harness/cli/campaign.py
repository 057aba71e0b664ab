"""`arnes campaign start PLAN` and `arnes campaign resume DIR`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.terminal import Folder, JsonFlag, print_json, progress_bar, say

app = typer.Typer(
    help="Run a campaign: models × runs × tasks under one signature.", no_args_is_help=True
)


@app.command()
def start(
    plan: Annotated[Path, typer.Argument(help="A plan.toml.", show_default=False)],
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Default: campaigns/<date>_<name>.", show_default=False),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Validate the instrument, then run the plan."""
    from harness.campaign.night import prepare, run_campaign

    with progress_bar(quiet=as_json) as progress:
        campaign, instrument = prepare(Path.cwd(), plan, folder, progress)
    summary = run_campaign(campaign, instrument, live=not as_json)
    _end(campaign.folder.path, summary.as_json(), summary.text(), as_json=as_json)
    raise typer.Exit(0 if summary.holds else 1)


@app.command()
def resume(folder: Folder, as_json: JsonFlag = False) -> None:
    """Go on with a campaign. Finished cells are not asked again."""
    from harness.campaign.night import reopen, run_campaign

    with progress_bar(quiet=as_json) as progress:
        campaign, instrument = reopen(Path.cwd(), folder, progress)
    summary = run_campaign(campaign, instrument, live=not as_json)
    _end(campaign.folder.path, summary.as_json(), summary.text(), as_json=as_json)
    raise typer.Exit(0 if summary.holds else 1)


def _end(folder: Path, data: dict[str, object], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"folder": str(folder), **data})
    else:
        say(f"{text}\nNext: arnes finalize {folder}")
