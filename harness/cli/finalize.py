"""`arnes finalize DIR…`: rescore everything, and write `FINAL.json`."""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.terminal import JsonFlag, instrument_for, print_json, progress_bar, say

if TYPE_CHECKING:
    from harness.records.campaign import Final

Folders = Annotated[
    list[Path],
    typer.Argument(metavar="DIR...", help="Campaign folders.", show_default=False),
]
Into = Annotated[
    Path | None,
    typer.Option(help="Folder of the result; only for several campaigns.", show_default=False),
]


def finalize(folders: Folders, into: Into = None, as_json: JsonFlag = False) -> None:
    """Rescore every cell with the present harness and list every row that moved.

    Several folders (the hosts of a group) become one result, in the folder --into.
    Exit status 1 if a control did not land where it must.
    """
    from harness.stages.finalize import finalize as finalize_campaign
    from harness.stages.group import finalize_group, refuse_twice
    from harness.store import campaign as store

    if (into is None) != (len(folders) == 1):
        raise typer.BadParameter("--into FOLDER goes with several campaigns, and only with them")
    campaigns = [store.load(folder) for folder in folders]
    refuse_twice(campaigns)  # before they are held: the second time we would refuse ourselves
    instrument = instrument_for(folders[0])
    suite, config, stamps = instrument.suite, instrument.config, instrument.stamps
    with ExitStack() as held, progress_bar(quiet=as_json) as progress:
        for campaign in campaigns:
            held.enter_context(store.exclusive(campaign))
        if into is None:
            final = finalize_campaign(campaigns[0], suite, config, stamps, progress)
            written = campaigns[0].folder.final
        else:
            result, final = finalize_group(
                campaigns, suite, config, stamps, into=into, progress=progress
            )
            written = result.final
    _tell(final, written, as_json=as_json)
    if final.problems:
        raise typer.Exit(1)


def _tell(final: "Final", written: Path, *, as_json: bool) -> None:
    from harness.records.score import Unscored

    missing = dict(
        Counter(str(c.outcome.cause) for c in final.cells if isinstance(c.outcome, Unscored))
    )
    if not as_json:
        _show(final, missing, written)
        return
    print_json(
        {
            "final": str(written),
            "cells": len(final.cells),
            "scored": len(final.cells) - sum(missing.values()),
            "missing": missing,
            "problems": list(final.problems),
            "changed": [c.model_dump(mode="json") for c in final.changed],
            "warnings": list(final.warnings),
            "sources": [source.name for source in final.sources],
        }
    )


def _show(final: "Final", missing: dict[str, int], written: Path) -> None:
    from harness.report.wording import moved_line, scored_sentence

    for problem in final.problems:
        say(f"does not hold: {problem}")
    say(scored_sentence(len(final.cells) - sum(missing.values()), missing))
    for row in final.changed:
        say(moved_line(row))
    for warning in final.warnings:
        say(f"warning: {warning}")
    say(f"Written: {written}\nNext: arnes report {written.parent}")
