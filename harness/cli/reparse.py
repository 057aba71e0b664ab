"""`arnes reparse DIR`: deliverables from stored replies, again."""

import typer

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, progress_bar, say


def reparse(folder: Folder, as_json: JsonFlag = False) -> None:
    """Rebuild every deliverable from the raw replies. Needs no server."""
    from harness.stages.reparse import reparse as reparse_campaign
    from harness.store import campaign as store

    campaign = store.load(folder)
    instrument = instrument_for(folder)
    with store.exclusive(campaign), progress_bar(quiet=as_json) as progress:
        outcome = reparse_campaign(campaign, instrument.suite, instrument.config, progress)
    if as_json:
        print_json(
            {
                "parsed": outcome.parsed,
                "changed": list(outcome.changed),
                "without_reply": outcome.without_reply,
                "strayed": list(outcome.strayed),
            }
        )
        raise typer.Exit(1 if outcome.strayed else 0)
    say(f"{outcome.parsed} cells parsed, {outcome.without_reply} have no reply.")
    for cell in outcome.changed:
        say(f"changed: {cell}")
    for cell in outcome.strayed:
        say(f"its replay is not the transcript of its run, which was kept: {cell}")
    raise typer.Exit(1 if outcome.strayed else 0)
