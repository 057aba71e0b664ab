"""What a person sees: live lines as a terminal shows them, and log lines that grep finds."""

import errno
import io
import os
import sys
from datetime import timedelta

import pytest
from exchanging import clock, exchange
from rich.console import Console

from harness.campaign.activity import Activity
from harness.campaign.display import (
    LiveDisplay,
    LogDisplay,
    QuietDisplay,
    display,
    time_line,
)
from harness.campaign.durations import duration
from harness.clock import FakeClock

CELLS = (("m", 1, "A01"), ("m", 1, "A08"), ("m", 2, "A01"), ("m", 2, "A08"))
MEASURED = {("m", "A01"): [3600.0], ("m", "A08"): [600.0]}


def watched() -> tuple[FakeClock, Activity]:
    time = clock()
    activity = Activity(time)
    activity.plan(CELLS, MEASURED)
    return time, activity


def seen(shown: LiveDisplay, width: int = 100) -> list[str]:
    """The lines as a terminal of this width shows them, without colours."""
    screen = Console(file=io.StringIO(), width=width, color_system=None)
    with screen.capture() as capture:
        screen.print(shown.drawn())
    return [line.rstrip() for line in capture.get().splitlines()]


# Live


def test_a_terminal_shows_who_is_asked_what_and_how_it_goes() -> None:
    """Model, run, task, turn, speed, estimate, deadline, faults: each in its place."""
    time, activity = watched()
    deadline = time.now() + timedelta(hours=9)
    shown = LiveDisplay(activity, deadline, time)
    with activity.playing("m", 1), activity.cell("m", 1, "A01") as cell:
        shown.doing("m run 1: A01", 3, 24)
        for _ in range(6):
            cell.exchange(exchange(300, took_s=7.5))
        cell.exchange(exchange(cause="stall"))
        cell.fired(2)
        time.sleep(600)
        who, bar, when, work = seen(shown)
        shown.phase("A01: reply 6 is here")
        assert seen(shown)[4] == "A01: reply 6 is here"
    assert who == "m · run 1 · A01 · turn 7 · for 10 min · 2 faults met"
    assert bar == f"{3 * '█'}{21 * '░'} 3 of 24 cells are done"
    end = (time.now() + timedelta(seconds=3000 + 600 + 3600 + 600)).astimezone()
    assert when == (
        f"about 2 h 10 min to its end, {end:%a %H:%M} · deadline {deadline.astimezone():%a %H:%M}"
    )
    assert work == "40.0 tokens/s · 7 calls · 1,800 tokens written · 600 read · faults: stall:1"


def test_cells_that_are_asked_at_once_have_a_line_each() -> None:
    time, activity = watched()
    shown = LiveDisplay(activity, None, time)
    with activity.cell("m", 1, "A01"), activity.cell("m", 1, "A08") as second:
        second.exchange(exchange())
        lines = seen(shown)
    assert lines[:2] == ["m · run 1 · A01 · turn 1 · for 0 s", "m · run 1 · A08 · turn 2 · for 0 s"]


def test_before_the_first_cell_nothing_is_made_up() -> None:
    """No speed, no estimate, no deadline: no line of them."""
    time = clock()
    shown = LiveDisplay(Activity(time), None, time)
    assert seen(shown) == [
        "starting",
        f"{24 * '░'} 0 of 0 cells are done",
        "0 calls · faults: none",
    ]


def test_a_narrow_terminal_gets_as_many_lines() -> None:
    """A line that wrapped would leave its rest on the screen."""
    time, activity = watched()
    shown = LiveDisplay(activity, time.now(), time)
    with activity.cell("a-model-whose-name-is-as-long-as-they-are-today", 1, "A01"):
        assert len(seen(shown, 40)) == len(seen(shown, 200))
        assert all(len(line) <= 40 for line in seen(shown, 40))


def test_an_end_after_the_deadline_is_said() -> None:
    """The guard will skip runs: better known at ten than at seven."""
    now = clock().now()
    assert "after the deadline" in time_line(now, 7200, now + timedelta(hours=1))
    assert "after the deadline" not in time_line(now, 3600, now + timedelta(hours=1))


def test_notes_stay_above_and_the_lines_go() -> None:
    """A real terminal's bytes: the note is there once, brackets and all; at the end nothing else."""
    time, activity = watched()
    target = io.StringIO()
    terminal = Console(file=target, force_terminal=True, width=80)
    with LiveDisplay(activity, None, time, terminal) as shown:
        shown.doing("m run 1: starting", 0, 4)
        shown.note("a [b] is set aside\nwhy")
    text = target.getvalue()
    assert text.count("a [b] is set aside") == 1
    drawn = text.count("0 of 4 cells are done")
    assert drawn >= 1
    assert text.endswith("\x1b[1A\x1b[2K")  # up and clear: the lines are gone


# Lines


def test_a_line_has_its_time_its_words_and_fields_that_grep_finds() -> None:
    time, activity = watched()
    target = io.StringIO()
    shown = LogDisplay(activity, time.now() + timedelta(hours=9), time, target)
    with activity.playing("m", 1), activity.cell("m", 1, "A01") as cell:
        cell.exchange(exchange(30, took_s=2, tries=1))
        cell.fired(1)
        shown.doing("m run 1: A01", 3, 24)
    (line,) = target.getvalue().splitlines()
    assert line == (
        "2026-11-30T22:00:00+00:00 m run 1: A01 done=3 cells=24 model=m run=1 task=A01 turn=2 "
        "tokens_per_s=15.0 calls=1 read_tokens=100 written_tokens=30 faults=server_error:1 "
        "agent_faults=1 left_s=8400 deadline=2026-12-01T07:00:00+00:00"
    )


def test_what_is_not_known_has_no_field() -> None:
    """An empty field would be read as a zero."""
    time = clock()
    target = io.StringIO()
    LogDisplay(Activity(time), None, time, target).phase("waiting for the server")
    assert target.getvalue() == (
        "2026-11-30T22:00:00+00:00 waiting for the server calls=0 faults=0 agent_faults=0\n"
    )


def test_a_note_of_several_lines_is_one_event_and_one_line() -> None:
    time = clock()
    target = io.StringIO()
    LogDisplay(Activity(time), None, time, target).note("m is set aside\n\nit died\n")
    assert target.getvalue() == "2026-11-30T22:00:00+00:00 m is set aside / it died\n"


def test_cells_at_once_are_in_one_line() -> None:
    time = clock()
    activity = Activity(time)
    target = io.StringIO()
    with activity.cell("m", 1, "A01"), activity.cell("m", 1, "A08") as second:
        second.exchange(exchange())
        LogDisplay(activity, None, time, target).phase("x")
    assert " task=A01,A08 turn=1,2 " in target.getvalue()


class Gone(io.StringIO):
    """A terminal that was closed."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO), text)


def test_a_terminal_that_is_gone_ends_no_night() -> None:
    """Closed, a `tee` that was ended, a full disk: what cannot be shown is lost."""
    time, activity = watched()
    for shown in (
        LogDisplay(activity, None, time, Gone()),
        LiveDisplay(activity, None, time, Console(file=Gone(), force_terminal=True)),
    ):
        with shown:
            shown.doing("m run 1: A01", 0, 4)
            shown.phase("waiting")
            shown.note("m is set aside")


def test_where_nobody_looks_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints one document and nothing beside it."""
    time = clock()
    with display(Activity(time), None, time, live=False) as shown:
        shown.doing("a", 1, 2)
        shown.phase("b")
        shown.note("c")
    assert isinstance(shown, QuietDisplay)
    assert capsys.readouterr() == ("", "")


def test_a_pipe_gets_lines_and_a_terminal_is_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    time = clock()
    activity = Activity(time)
    assert isinstance(display(activity, None, time, live=True), LogDisplay)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert isinstance(display(activity, None, time, live=True), LiveDisplay)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (59.4, "59 s"), (59.5, "1 min"), (3569, "59 min"), (3570, "1 h 00 min")],
)
def test_durations_are_read_by_people(seconds: float, text: str) -> None:
    """No 60 s, and no 60 min."""
    assert duration(seconds) == text
