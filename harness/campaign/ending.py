"""Tell somebody how a pass over a campaign ended: a command of the user's, run once."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import PlanError, Problem

LIMIT_S = 30.0
LONGEST_SUMMARY = 8000  # characters; a variable of the environment is not for books
HOW = """a program and its arguments, such as --notify "notify-send arnes" """.strip()

State = Literal["finished", "stopped", "interrupted", "failed"]


@dataclass
class Ending:
    """What a pass came to; filled in as it goes on.

    folder : the campaign's, once there is one
    state : `failed` until something else is known, so that no way out is told as a success
    summary : what was done, or why nothing was
    """

    folder: Path | None = None
    state: State = "failed"
    summary: str = ""


@dataclass(frozen=True)
class Notice:
    """A command of the user's that is told how a pass ended.

    words : program and arguments; empty where nobody is to be told
    limit_s : how long it may take; then it is ended, with everything that it started
    """

    words: tuple[str, ...] = ()
    limit_s: float = LIMIT_S

    @property
    def problem(self) -> str:
        """Why the command will not be found at the end, as far as it is known now; else empty."""
        if not self.words or shutil.which(self.words[0]):
            return ""
        return f"the command of --notify is not found: {self.words[0]}"

    def run(self, ending: Ending) -> str:
        """Run the command; return what went wrong with it, in one line, or an empty text."""
        if not self.words:
            return ""
        try:
            process = subprocess.Popen(
                self.words,
                env={**os.environ, **_variables(ending)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # with --json, standard output is one document
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"the command of --notify did not start: {error}"
        try:
            status = process.wait(self.limit_s)
        except subprocess.TimeoutExpired:
            return f"the command of --notify was ended: it took longer than {self.limit_s:g} s"
        finally:
            with suppress(ProcessLookupError):
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return f"the command of --notify ended with status {status}" if status else ""


def notice_of(command: str | None) -> Notice:
    """Return the notice that a command line asks for. No shell reads it.

    Raises
    ------
    PlanError
        If it cannot be split into words, or holds none.
    """
    if command is None:
        return Notice()
    try:
        words, what = tuple(shlex.split(command)), "holds no program"
    except ValueError as error:
        words, what = (), f"{command!r}: {error}"
    if not words:
        problem = Problem("--notify", what, HOW)
        raise PlanError("the command of --notify cannot be read", [problem], "Nothing was run.")
    return Notice(words)


@contextmanager
def told_at_the_end(notice: Notice, warn: Callable[[str], None]) -> Iterator[Ending]:
    """Yield what is to be filled in, and run the command when it is left, whatever the way.

    Parameters
    ----------
    warn : gets one line where the command is missing or fails; the pass itself is not touched
    """
    if notice.problem:
        warn(notice.problem)
    ending = Ending()
    try:
        yield ending
    except KeyboardInterrupt:
        ending.state, ending.summary = "interrupted", "It was interrupted."
        raise
    except BaseException as error:
        ending.state, ending.summary = "failed", str(error) or type(error).__name__
        raise
    finally:
        problem = notice.run(ending)
        if problem:
            warn(problem)


def _variables(ending: Ending) -> dict[str, str]:
    summary = ending.summary.replace("\0", "�")
    if len(summary) > LONGEST_SUMMARY:
        summary = summary[: LONGEST_SUMMARY - 1] + "…"
    return {
        "ARNES_CAMPAIGN": "" if ending.folder is None else str(ending.folder.absolute()),
        "ARNES_STATE": ending.state,
        "ARNES_SUMMARY": summary,
    }
