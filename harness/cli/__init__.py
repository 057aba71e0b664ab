"""Step 11: typer; one verb per file, no logic. Heavy imports stand inside the verbs.

Exit status everywhere: 0 done, 1 the instrument or the result does not hold, 2 wrong use or
input, 130 interrupted (what is on disk stays resumable).
"""

import sys

import typer

from harness.cli import (
    campaign,
    demo,
    doctor,
    explain,
    finalize,
    reparse,
    report,
    score,
    signature,
    suite,
    tasks,
    validate,
)
from harness.errors import HarnessError

INTERRUPTED = 130

app = typer.Typer(
    name="arnes",
    help="Rank local language models, and say how sure the ranking is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)
app.command()(doctor.doctor)
app.command()(tasks.tasks)
app.command()(signature.signature)
app.command()(validate.validate)
app.add_typer(campaign.app, name="campaign")
app.command()(reparse.reparse)
app.command()(score.score)
app.command()(finalize.finalize)
app.command()(report.report)
app.command()(explain.explain)
app.add_typer(suite.app, name="suite")


def main() -> None:
    """Entry point of `arnes`. The only place that catches `HarnessError`."""
    try:
        app()
    except HarnessError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is the terminal)
        sys.exit(error.exit_status)
    except SystemExit as end:  # typer turns Ctrl-C into this status without a word
        if end.code == INTERRUPTED:
            print("\nInterrupted; what is on disk can be resumed.", file=sys.stderr)  # noqa: T201
        raise
