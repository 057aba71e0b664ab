"""`arnes finalize DIR`: rescore everything, and write `FINAL.json`."""

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, progress_bar, say


def finalize(folder: Folder, as_json: JsonFlag = False) -> None:
    """Rescore every cell with the present harness and list every row that moved."""
    from harness.records.score import ScoreSheet
    from harness.stages.finalize import finalize as finalize_campaign
    from harness.store import campaign as store

    campaign = store.load(folder)
    instrument = instrument_for(folder)
    with store.exclusive(campaign), progress_bar(quiet=as_json) as progress:
        final = finalize_campaign(
            campaign, instrument.suite, instrument.config, instrument.stamps, progress
        )
    scored = sum(isinstance(c.outcome, ScoreSheet) for c in final.cells)
    if as_json:
        print_json(
            {
                "final": str(campaign.folder.final),
                "cells": len(final.cells),
                "scored": scored,
                "changed": [c.model_dump(mode="json") for c in final.changed],
                "warnings": list(final.warnings),
            }
        )
        return
    say(f"{scored} of {len(final.cells)} cells have a score; the others are marked missing.")
    for c in final.changed:
        by = ", ".join(c.parts) or "no part of the signature"
        say(
            f"moved: {c.cell.model} run {c.cell.run} {c.cell.task} {c.row}: "
            f"{c.before} → {c.after} (by {by})"
        )
    for warning in final.warnings:
        say(f"warning: {warning}")
    say(f"Written: {campaign.folder.final}\nNext: arnes report {folder}")
