"""`arnes score DIR`: score sheets from parsed replies, again."""

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, progress_bar, say


def score(folder: Folder, as_json: JsonFlag = False) -> None:
    """Score every parsed cell with the present graders. Needs no server."""
    from harness.report.wording import moved_line, scored_sentence
    from harness.stages.score import score as score_campaign
    from harness.store import campaign as store

    campaign = store.load(folder)
    instrument = instrument_for(folder)
    with store.exclusive(campaign), progress_bar(quiet=as_json) as progress:
        outcome = score_campaign(
            campaign, instrument.suite, instrument.config, instrument.stamps, progress
        )
    if as_json:
        moved = [row.model_dump(mode="json") for row in outcome.moved]
        print_json({"scored": outcome.scored, "unscored": outcome.unscored, "moved": moved})
        return
    say(scored_sentence(outcome.scored, outcome.unscored))
    for row in outcome.moved:
        say(moved_line(row))
