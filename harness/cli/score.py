"""`arnes score DIR`: score sheets from parsed replies, again."""

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, progress_bar, say


def score(folder: Folder, as_json: JsonFlag = False) -> None:
    """Score every parsed cell with the present graders. Needs no server."""
    from harness.stages.score import score as score_campaign
    from harness.store import campaign as store

    campaign = store.load(folder)
    instrument = instrument_for(folder)
    with store.exclusive(campaign), progress_bar(quiet=as_json) as progress:
        outcome = score_campaign(
            campaign, instrument.suite, instrument.config, instrument.stamps, progress
        )
    if as_json:
        print_json({"scored": outcome.scored, "unscored": outcome.unscored})
        return
    say(f"{outcome.scored} cells scored.")
    for cause, count in sorted(outcome.unscored.items()):
        say(f"{count} unscored: {cause}")
