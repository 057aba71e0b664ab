"""Step 11: typer; one verb per file, no logic. Heavy imports stand inside the verbs.

Exit status everywhere: 0 done, 1 the instrument or the result does not hold, 2 wrong use or
input, 130 interrupted (what is on disk stays resumable), 141 whoever read the output went away.
"""

import os
import signal
import sys
from io import TextIOWrapper
from typing import Annotated, NoReturn, TextIO

import typer

from harness import __version__
from harness.cli import (
    advise,
    campaign,
    compare,
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
    transcript,
    validate,
)
from harness.errors import HarnessError

INTERRUPTED = 130
CLOSED_PIPE = 141  # what a shell tells of a program that SIGPIPE ended
TODO_OF_THE_DISK = {
    FileExistsError: "a file is in the way: name another place",
    NotADirectoryError: "a file is in the way: name another place",
    IsADirectoryError: "a folder is in the way: name a file",
    PermissionError: "let this user write there, or name another place",
}

app = typer.Typer(
    name="arnes",
    help="Rank local language models, and say how sure the ranking is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"arnes {__version__}")  # noqa: T201 (this is the terminal)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    del version  # its callback has done it


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
app.command()(compare.compare)
app.command()(advise.advise)
app.command()(explain.explain)
app.command()(transcript.transcript)
app.add_typer(suite.app, name="suite")


def main() -> None:
    """Entry point of `arnes`."""
    _take_as_ctrl_c(signal.SIGTERM, signal.SIGHUP)
    _write_what_cannot_be_encoded(sys.stdout)
    try:
        _run()
    except BrokenPipeError:
        _leave_the_pipe()


def _run() -> None:
    """Run the verb and end with its status. The only place that catches `HarnessError`."""
    try:
        try:
            app()
        finally:
            print(end="", flush=True)  # noqa: T201 (else it fails when Python ends, with a traceback)
    except HarnessError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is the terminal)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        raise
    except OSError as error:  # the disk, a permission, a path: the operator can act on it
        where = f"{error.filename}: " if error.filename else ""
        print(f"{type(error).__name__}: {where}{error.strerror or error}", file=sys.stderr)  # noqa: T201
        for kind, todo in TODO_OF_THE_DISK.items():
            if isinstance(error, kind):
                print(f"  → {todo}", file=sys.stderr)  # noqa: T201
        print("What was done before is on disk; nothing else was changed.", file=sys.stderr)  # noqa: T201
        sys.exit(HarnessError.exit_status)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer and rich make status 1 of it
            raise end.__context__ from None
        if end.code == INTERRUPTED:  # typer turns Ctrl-C into this status without a word
            print("\nInterrupted.", file=sys.stderr)  # noqa: T201
            # Where Ctrl-C fell into code that Python ran from a string (a dataclass being made),
            # Python remembers it as unhandled and ends by the signal, not by our status. Any
            # other string that is run makes it forget.
            exec("")  # noqa: S102
        raise


def _leave_the_pipe() -> NoReturn:
    """End where nobody reads any more, as `arnes … | head` does; what is left to say is lost."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    sys.exit(CLOSED_PIPE)


def _write_what_cannot_be_encoded(stream: TextIO) -> None:
    r"""Let a stream write `\\u2192` for an arrow that its encoding lacks, as stderr does anyway.

    Else a locale without UTF-8, or a file name that is none, ends a verb in its last line.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _take_as_ctrl_c(*signals: signal.Signals) -> None:
    """Take a shutdown, or a terminal that is closed, as Ctrl-C: servers are taken down in order.

    Whoever was made deaf to one of them, as by nohup, stays so.
    """
    for number in signals:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
