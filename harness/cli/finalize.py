"""`arnes finalize DIR`: rescore everything, and write `FINAL.json`."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from harness.cli.terminal import Folder, JsonFlag, instrument_for, print_json, progress_bar, say

if TYPE_CHECKING:
    from harness.records.campaign import Final


def finalize(folder: Folder, as_json: JsonFlag = False) -> None:
    """Rescore every cell with the present harness and list every row that moved.

    Exit status 1 if a control did not land where it must.
    """
    from harness.records.score import Unscored
    from harness.stages.finalize import finalize as finalize_campaign
    from harness.store import campaign as store

    campaign = store.load(folder)
    instrument = instrument_for(folder)
    with store.exclusive(campaign), progress_bar(quiet=as_json) as progress:
        final = finalize_campaign(
            campaign, instrument.suite, instrument.config, instrument.stamps, progress
        )
    missing = dict(
        Counter(str(c.outcome.cause) for c in final.cells if isinstance(c.outcome, Unscored))
    )
    if as_json:
        print_json(
            {
                "final": str(campaign.folder.final),
                "cells": len(final.cells),
                "scored": len(final.cells) - sum(missing.values()),
                "missing": missing,
                "problems": list(final.problems),
                "changed": [c.model_dump(mode="json") for c in final.changed],
                "warnings": list(final.warnings),
            }
        )
    else:
        _show(final, missing, folder, campaign.folder.final)
    if final.problems:
        raise typer.Exit(1)


def _show(final: "Final", missing: dict[str, int], folder: Path, written: Path) -> None:
    from harness.report.wording import moved_line, scored_sentence

    for problem in final.problems:
        say(f"does not hold: {problem}")
    say(scored_sentence(len(final.cells) - sum(missing.values()), missing))
    for row in final.changed:
        say(moved_line(row))
    for warning in final.warnings:
        say(f"warning: {warning}")
    say(f"Written: {written}\nNext: arnes report {folder}")
