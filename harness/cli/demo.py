"""`arnes demo`: the whole way with a small real model, in a few minutes."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.tables import show_report
from harness.cli.terminal import JsonFlag, print_json, progress_bar, say


def demo(
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Default: campaigns/<date>_demo-<time>.", show_default=False),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Validate, run a short campaign against a real local server, finalize, report."""
    from harness.campaign.demo import DEMO_PROFILE, demo_folder, demo_plan
    from harness.campaign.night import create, run_campaign
    from harness.clock import SystemClock
    from harness.report.about import about_tasks
    from harness.report.write import write_report
    from harness.stages.finalize import finalize
    from harness.stages.instrument import find_root, load_instrument

    clock = SystemClock()
    root = find_root(Path.cwd())
    instrument = load_instrument(root, DEMO_PROFILE)
    plan = demo_plan(instrument)
    place = folder or demo_folder(root, clock.now())
    if not as_json:
        say(f"A real 135M model on this machine: {', '.join(plan.tasks)}, {plan.runs} runs, two")
        say("controls. It is far too small for these tasks; see how its failures are told apart.\n")
    with progress_bar(quiet=as_json) as progress:
        campaign = create(plan, instrument, clock, place, progress)
    summary = run_campaign(campaign, instrument, live=not as_json)
    final = finalize(campaign, instrument.suite, instrument.config, instrument.stamps)
    about = about_tasks(root, final.campaign.tasks)
    report = write_report(final, root / "reports" / place.name, about=about)[0]
    if as_json:
        print_json({"folder": str(place), "report": str(report), **summary.as_json()})
    else:
        show_report(final)
        say(f"\n{summary.text()}\nReport:   {report}\nEvidence: {place}")
        say(f"Next:     arnes explain {place} {plan.plan.models[0].id} 1 {plan.tasks[0]}")
    raise typer.Exit(0 if summary.holds and not final.problems else 1)
