"""What goes on now, counted by hand; told by several threads at once, it is the same."""

import threading
from pathlib import Path

import pytest
from campaigning import instrument
from exchanging import clock, exchange
from nights import Night

from harness.campaign.activity import Activity
from harness.campaign.history import cell_times, rest_of
from harness.campaign.pace import Pace
from harness.records.campaign import JournalEvent


def test_a_cell_is_seen_while_it_is_asked() -> None:
    """Who, which run, which task, how many replies, since when."""
    time = clock()
    activity = Activity(time)
    assert activity.now().cells == ()
    time.sleep(7)
    with activity.playing("m", 2), activity.cell("m", 2, "A01") as cell:
        cell.exchange(exchange())
        cell.exchange(exchange())
        cell.fired(1)
        (doing,) = activity.now().cells
        assert (doing.player, doing.run, doing.task) == ("m", 2, "A01")
        assert (doing.replies, doing.fired, doing.began_s) == (2, 1, 7.0)
        assert (activity.now().player, activity.now().run) == ("m", 2)
    assert activity.now().cells == ()
    assert activity.now().player is None


def test_tokens_calls_and_speed_are_added_up() -> None:
    """30 tokens in 2 s and 90 in 4 s: 120 in 6 s, which is 20 a second and no mean of speeds."""
    activity = Activity(clock())
    with activity.cell("m", 1, "A01") as cell:
        assert activity.now().written_tokens is None  # nothing counted is no zero
        cell.exchange(exchange(30, took_s=2))
        cell.exchange(exchange(90, took_s=4))
        cell.exchange(exchange(None))  # a server that does not count
    now = activity.now()
    assert (now.calls, now.prompt_tokens, now.written_tokens) == (3, 200, 120)
    assert now.tokens_per_s == 20.0


def test_faults_are_counted_by_cause_and_repeated_tries_among_them() -> None:
    """A fault of a schedule is another thing than one of ours."""
    activity = Activity(clock())
    with activity.cell("m", 1, "A01") as cell:
        cell.exchange(exchange(tries=2))
        cell.fired(1)
        cell.fired(3)  # three in all
    with activity.cell("m", 1, "A02") as cell:
        cell.exchange(exchange(cause="stall"))
        cell.fired(2)
    now = activity.now()
    assert now.faults == {"server_error": 2, "stall": 1}
    assert now.fired == 5
    assert now.calls == 2


def test_a_snapshot_does_not_change() -> None:
    activity = Activity(clock())
    before = activity.now()
    with activity.cell("m", 1, "A01") as cell:
        cell.exchange(exchange(cause="stall"))
    assert (before.calls, dict(before.faults), before.cells) == (0, {}, ())
    with pytest.raises(TypeError):
        before.faults["stall"] = 1  # type: ignore[index]


def test_a_cell_that_raised_is_not_under_way_any_more() -> None:
    activity = Activity(clock())
    with pytest.raises(KeyboardInterrupt), activity.cell("m", 1, "A01"):
        raise KeyboardInterrupt
    assert activity.now().cells == ()


def test_threads_lose_nothing() -> None:
    """Four cells at once, each told of from its own thread: every count is whole."""
    activity = Activity(clock(), at_once=4)
    inside, go_on = threading.Barrier(5, timeout=60), threading.Barrier(5, timeout=60)

    def ask(task: str) -> None:
        with activity.cell("m", 1, task) as cell:
            for _ in range(200):
                cell.exchange(exchange(3, tries=1))
            cell.fired(2)
            inside.wait()
            go_on.wait()

    threads = [threading.Thread(target=ask, args=(f"A0{n}",)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    inside.wait()
    now = activity.now()
    go_on.wait()
    for thread in threads:
        thread.join()
    assert {doing.task for doing in now.cells} == {"A01", "A02", "A03", "A04"}
    assert {doing.replies for doing in now.cells} == {200}
    assert (now.calls, now.written_tokens, now.prompt_tokens) == (800, 2400, 80_000)
    assert (now.faults, now.fired) == ({"server_error": 800}, 8)


# The estimate

CELLS = tuple((m, r, t) for r in (1, 2) for m in ("fast", "slow") for t in ("A01", "A08"))


def test_before_anything_was_measured_there_is_no_estimate() -> None:
    activity = Activity(clock())
    activity.plan(CELLS, {})
    assert activity.left_s() is None


def test_the_rest_takes_what_the_same_cells_took() -> None:
    """Fast: 10 s and 30 s; slow: four times that. Its second run is left: 40 + 120 = 160 s."""
    time = clock()
    activity = Activity(time)
    activity.plan(CELLS, {})
    took = {("fast", "A01"): 10, ("fast", "A08"): 30, ("slow", "A01"): 40, ("slow", "A08"): 120}
    for player, run, task in CELLS[:-2]:
        with activity.cell(player, run, task):
            time.sleep(took[player, task])
    assert activity.left_s() == 160.0
    with activity.cell(*CELLS[-2]):
        time.sleep(15)
        assert activity.left_s() == 145.0  # 25 of its 40 s, and 120
        time.sleep(85)
        assert activity.left_s() == 120.0  # it takes longer than expected, and is no negative time


def test_a_model_that_is_slow_in_one_task_is_expected_to_be_slow_in_the_next() -> None:
    """Fast took 10 and 30 s, slow 40 s for the first: tasks take 25 and 30 s, slow × 40 / 25."""
    pace = Pace(CELLS, {})
    pace.ended(("fast", 1, "A01"), 10)
    pace.ended(("fast", 1, "A08"), 30)
    pace.ended(("slow", 1, "A01"), 40)
    assert pace.left_s({}) == pytest.approx(30 * 40 / 25 + 10 + 30 + 40 + 30 * 40 / 25)


def test_cells_that_are_asked_at_once_share_the_time() -> None:
    pace = Pace(CELLS, {("fast", "A01"): [10], ("fast", "A08"): [30]}, at_once=2)
    assert pace.left_s({}) == (40 + 40 + 40 + 40) / 2  # slow is not known: as the others


def test_runs_that_will_not_be_asked_take_no_time() -> None:
    """A skipped run, and a model that is set aside."""
    activity = Activity(clock())
    activity.plan(CELLS, {(m, t): [10] for m in ("fast", "slow") for t in ("A01", "A08")})
    assert activity.left_s() == 80
    activity.give_up("slow", 2)
    assert activity.left_s() == 60
    activity.give_up("fast")
    assert activity.left_s() == 20


def test_the_journal_and_the_files_say_what_is_left(tmp_path: Path) -> None:
    """Of a resumed night: cells with a reply are not expected; faults and controls measure nothing."""
    night = Night(instrument(), tmp_path, {"controls": True})
    assert len(rest_of(night.campaign, night.core.suite)) == 6
    night.pass_over()
    assert rest_of(night.campaign, night.core.suite) == ()
    for model, seconds, ended in (("a", 7.0, "stall"), ("control-golden", 1.0, "reply")):
        told = {"at": "2026-11-30T22:00:00+00:00", "event": "cell_finished", "task": "A08"}
        more = {"model": model, "run": 1, "seconds": seconds, "detail": ended}
        night.campaign.log(JournalEvent.model_validate({**told, **more}))
    found = cell_times(night.campaign)
    assert {key: len(times) for key, times in found.items()} == {("a", "A08"): 3, ("b", "A08"): 3}
    assert 7.0 not in found["a", "A08"]


def test_a_fault_and_a_control_say_nothing_of_how_long_cells_take() -> None:
    """A refused connection ends at once; a control answers at once."""
    time = clock()
    activity = Activity(time)
    activity.plan(CELLS, {})
    with activity.cell("fast", 1, "A01") as cell:
        time.sleep(1)
        cell.exchange(exchange(cause="connect"))
    with activity.cell("control-golden", 1, "A01"):
        time.sleep(1)
    assert activity.left_s() is None
    with activity.cell("fast", 1, "A08"):
        time.sleep(30)
    assert activity.left_s() == 6 * 30
