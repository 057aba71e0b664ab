"""Whoever sleeps is told how the night ended: once, whatever the end, and at no risk to it."""

import json
import sys
import time
from pathlib import Path

import pytest

from harness.campaign.ending import Ending, Notice, notice_of, told_at_the_end
from harness.errors import PlanError, StoreError

NAMES = ("ARNES_CAMPAIGN", "ARNES_STATE", "ARNES_SUMMARY")


def writing(place: Path) -> Notice:
    """A notice whose command adds a line with its three variables to a file."""
    code = (
        "import json, os, sys\n"
        f"with open({str(place / 'told')!r}, 'a') as file:\n"
        f"    file.write(json.dumps([os.environ[n] for n in {NAMES}]) + '\\n')\n"
    )
    return Notice((sys.executable, "-c", code))


def told(place: Path) -> list[list[str]]:
    path = place / "told"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_finished_pass_is_told_once_with_its_summary(tmp_path: Path) -> None:
    """State, folder and summary are in the environment: no text is put into a command line."""
    warnings: list[str] = []
    with told_at_the_end(writing(tmp_path), warnings.append) as ending:
        ending.folder, ending.state, ending.summary = tmp_path, "finished", "4 of 6\nskipped: a"
    assert told(tmp_path) == [[str(tmp_path), "finished", "4 of 6\nskipped: a"]]
    assert warnings == []


@pytest.mark.parametrize(
    ("error", "state", "words"),
    [
        (KeyboardInterrupt(), "interrupted", "interrupted"),
        (StoreError("the disk is full"), "failed", "the disk is full"),
        (ZeroDivisionError(), "failed", "ZeroDivisionError"),
    ],
)
def test_every_other_end_is_told_too_and_goes_on(
    tmp_path: Path, error: BaseException, state: str, words: str
) -> None:
    """An error is told and stays an error; before there is a folder, none is named."""
    with pytest.raises(type(error)), told_at_the_end(writing(tmp_path), str):
        raise error
    [(folder, found, summary)] = told(tmp_path)
    assert (folder, found) == ("", state)
    assert words in summary


def test_an_end_that_nobody_filled_in_is_no_success(tmp_path: Path) -> None:
    """A way out that was forgotten must not read as a finished night."""
    with told_at_the_end(writing(tmp_path), str):
        pass
    assert told(tmp_path)[0][1] == "failed"


def test_a_summary_that_no_environment_can_hold_is_made_to_fit(tmp_path: Path) -> None:
    """A server's words with a zero byte, and a hundred thousand lines, are no reason to fail."""
    assert writing(tmp_path).run(Ending(summary="a\0b" + "x" * 10**6)) == ""
    summary = told(tmp_path)[0][2]
    assert summary.startswith("a�b")
    assert len(summary) == 8000


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with status 3"),
        (("no-such-program-of-arnes",), "did not start"),
        ((sys.executable, "a\0b"), "did not start"),
    ],
)
def test_a_failure_of_the_command_is_one_line(words: tuple[str, ...], warning: str) -> None:
    """What was measured does not depend on whether somebody was told."""
    found = Notice(words).run(Ending())
    assert warning in found
    assert "\n" not in found


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    """A morning mail that waits for its server keeps no night from ending."""
    child = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(300)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-IS', '-c', {child!r}])"
    began = time.monotonic()
    found = Notice((sys.executable, "-IS", "-c", parent), limit_s=3.0).run(Ending())
    assert "longer than 3 s" in found
    assert time.monotonic() - began < 150  # it is not waited for to its end
    gone = Path("/proc") / (tmp_path / "pid").read_text()
    until = time.monotonic() + 60
    while gone.exists() and "Z" not in (gone / "stat").read_text().split(")")[-1].split()[0]:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("command", ["", "   ", 'mail "me'])
def test_a_command_that_cannot_be_read_is_refused_before_the_night(command: str) -> None:
    """A quote that was forgotten is found in the evening."""
    with pytest.raises(PlanError, match="--notify"):
        notice_of(command)


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    """Words are split as a shell would, and nothing else of a shell happens."""
    notice = notice_of(f"""echo "a b" '$HOME' ; touch {tmp_path}/made""")
    assert notice.words == ("echo", "a b", "$HOME", ";", "touch", f"{tmp_path}/made")
    assert notice.run(Ending()) == ""
    assert not (tmp_path / "made").exists()


def test_a_program_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    """The person is still at the keyboard then; after a reboot the night goes on all the same."""
    del tmp_path
    warnings: list[str] = []
    with told_at_the_end(notice_of("no-such-program-of-arnes now"), warnings.append):
        assert warnings == ["the command of --notify is not found: no-such-program-of-arnes"]
    assert len(warnings) == 2
