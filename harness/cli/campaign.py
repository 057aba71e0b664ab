"""`arnes campaign new`, `plan PLAN`, `start PLAN`, `resume DIR`, `status DIR`, `stop DIR`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.terminal import Folder, JsonFlag, print_json, progress_bar, say

if TYPE_CHECKING:
    from harness.campaign.ending import Ending
    from harness.campaign.night import Summary
    from harness.store.campaign import Campaign

WATCH_S = 5.0
Plan = Annotated[Path, typer.Argument(help="A plan.toml.", show_default=False)]
Notify = Annotated[
    str | None,
    typer.Option(
        "--notify",
        help="A command that is run once at the end, whatever the end; see docs/overnight.md.",
        show_default=False,
    ),
]

app = typer.Typer(
    help="Run a campaign: models × runs × tasks under one signature.", no_args_is_help=True
)


@app.command()
def new(
    plan: Annotated[Path, typer.Argument(help="The file to write.")] = Path("plan.toml"),
    name: Annotated[str, typer.Option(help="Of the campaign.")] = "night",
    url: Annotated[
        list[str] | None,
        typer.Option("--url", help="A server to ask; may be given again.", show_default=False),
    ] = None,
    gguf: Annotated[
        list[Path] | None,
        typer.Option("--gguf", help="A folder of GGUF files; may be given again."),
    ] = None,
    *,
    api_key_env: Annotated[
        str | None,
        typer.Option("--api-key-env", help="The variable that holds the key of --url."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a plan over what this machine could measure; without --url and --gguf it looks around.

    It asks Ollama and the usual ports of local servers, starts nothing, and writes over no file.
    """
    from harness.campaign.drafting import draft, look_around, write_new

    found = look_around(tuple(url or ()), tuple(gguf or ()), api_key_env)
    write_new(plan, draft(name, found, api_key_env if url else None))
    if as_json:
        models = {place.where: [m.name for m in place.models] for place in found if place.models}
        silent = {place.where: place.problem for place in found if place.problem}
        print_json({"plan": str(plan), "models": models, "could_not_ask": silent})
        return
    for place in found:
        told = place.problem or f"{len(place.models)} model(s)"
        say(f"{place.where}: {told}")
    say(f"Written: {plan}\nNext: correct it, then: arnes campaign plan {plan}")


@app.command("plan")
def plan_command(plan: Plan, as_json: JsonFlag = False) -> None:
    """Say what a plan will cost before it starts: hours, and what fits before the deadline."""
    from harness.campaign.cost import cost_of_file
    from harness.cli.costs import cost_json, show_cost
    from harness.clock import SystemClock

    resolved, cost = cost_of_file(Path.cwd(), plan, SystemClock().now().astimezone())
    if as_json:
        print_json(cost_json(cost))
    else:
        show_cost(resolved, cost)
        say(f"Next: arnes campaign start {plan}")


@app.command()
def start(
    plan: Plan,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Default: campaigns/<date>_<name>.", show_default=False),
    ] = None,
    notify: Notify = None,
    as_json: JsonFlag = False,
) -> None:
    """Validate the instrument, then run the plan."""
    from harness.campaign.ending import notice_of, told_at_the_end
    from harness.campaign.night import prepare, run_campaign

    with told_at_the_end(notice_of(notify), _warn) as ending:
        with progress_bar(quiet=as_json) as progress:
            campaign, instrument = prepare(Path.cwd(), plan, folder, progress)
        ending.folder = campaign.folder.path
        summary = run_campaign(campaign, instrument, live=not as_json)
        _end(campaign, summary, ending, as_json=as_json)
    raise typer.Exit(0 if summary.holds else 1)


@app.command()
def resume(
    folder: Folder,
    deadline: Annotated[
        str | None,
        typer.Option("--deadline", help="Another one than the plan's, such as 07:00."),
    ] = None,
    notify: Notify = None,
    as_json: JsonFlag = False,
) -> None:
    """Go on with a campaign. Finished cells are not asked again."""
    from harness.campaign.deadline import moment_of
    from harness.campaign.ending import notice_of, told_at_the_end
    from harness.campaign.night import reopen, run_campaign
    from harness.clock import SystemClock

    with told_at_the_end(notice_of(notify), _warn) as ending:
        ending.folder = folder
        until = moment_of(deadline, SystemClock().now().astimezone()) if deadline else None
        with progress_bar(quiet=as_json) as progress:
            campaign, instrument = reopen(Path.cwd(), folder, progress)
        summary = run_campaign(campaign, instrument, live=not as_json, deadline=until)
        _end(campaign, summary, ending, as_json=as_json)
    raise typer.Exit(0 if summary.holds else 1)


def _warn(line: str) -> None:
    typer.echo(f"warning: {line}", err=True)


def _end(campaign: "Campaign", summary: "Summary", ending: "Ending", *, as_json: bool) -> None:
    """Say what a pass came to, to the terminal and to whoever is told at the end."""
    ending.state = "stopped" if summary.stopped else "finished"
    ending.summary = summary.text()
    folder = campaign.folder.path
    if as_json:
        print_json({"folder": str(folder), **summary.as_json()})
        return
    say(summary.text())
    if not summary.holds:
        # The deadline stays the one of the start: what it cut would be cut again.
        later = " --deadline HH:MM" if summary.tally.skipped else ""
        say(f"What has no reply is asked by: arnes campaign resume {folder}{later}")
    say(f"Next: arnes finalize {folder}")


@app.command()
def status(
    folder: Folder,
    watch: Annotated[
        bool, typer.Option("--watch", help="Again every 5 seconds, until it has ended.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Say where a campaign stands, from its files: from another shell, and after a crash."""
    from dataclasses import asdict

    from harness.campaign.status import status_of
    from harness.cli.terminal import instrument_for
    from harness.clock import SystemClock
    from harness.report.status import status_text
    from harness.store import campaign as store

    clock, suite = SystemClock(), instrument_for(folder).suite
    while True:
        found = status_of(store.load(folder), suite, clock.now())
        if as_json:
            sample = found.sample.model_dump(mode="json") if found.sample else None
            print_json({**asdict(found), "sample": sample})
        else:
            say(status_text(found))
        if not watch or found.state != "running":
            return
        clock.sleep(WATCH_S)


@app.command()
def stop(folder: Folder, as_json: JsonFlag = False) -> None:
    """Ask a running campaign to stop after the present cell; `resume` goes on with it."""
    from harness.campaign.status import ask_to_stop
    from harness.store import campaign as store

    asked = ask_to_stop(store.load(folder))
    if as_json:
        print_json({"asked": asked})
    elif asked:
        say(f"It stops after the present cell. Go on later: arnes campaign resume {folder}")
    else:
        say("Nobody runs this campaign now. Nothing was changed.")
    raise typer.Exit(0 if asked else 1)
