"""`arnes advise DIR`: what would separate a pair, in runs, tasks and hours."""

from dataclasses import asdict
from typing import Annotated

import typer

from harness.cli.terminal import Folder, JsonFlag, one_thread_of_algebra, print_json, say


def advise(
    folder: Folder,
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="MODEL MODEL",
            help="Default: neighbours in the order that are not sustained.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Say how many further runs, or tasks, would separate a pair with 80 % power.

    Planned with the observed difference, which is a guess. Runs beyond the written schedules are
    refused; where only new tasks would help, it says so.
    """
    one_thread_of_algebra()
    from harness.report.advice import advise as advise_on
    from harness.stages.evidence import refuse_stale_in
    from harness.stages.speeds import speeds_of
    from harness.store import campaign as store

    final = store.read_final(folder)
    refuse_stale_in(folder, final)
    found = advise_on(final, pair, speeds_of(folder, final))
    if as_json:
        print_json([asdict(advice) for advice in found])
        return
    if final.campaign.simulated:
        say("SIMULATED: the replies were written, and no model is meant.")
    if not found:
        say("All neighbours that can be judged are sustained: nothing more is needed here.")
        return
    say("\n\n".join("\n".join(advice.sentences) for advice in found))
