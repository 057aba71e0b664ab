"""The deadline: read from a plan, kept by the orchestrator, told in every cell that it cost."""

import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from campaigning import instrument, model_player
from nights import TEN_IN_THE_EVENING, Night, WallClock

from harness.campaign.deadline import Countdown, deadline_of, moment_of
from harness.campaign.history import previous_run_s
from harness.campaign.orchestrator import CUT
from harness.campaign.plan import resolve
from harness.errors import EndpointError, PlanError
from harness.models.scripted import Behaviour, Script, ScriptedServer
from harness.records.campaign import CampaignPlan, JournalEvent, PlannedModel
from harness.records.score import ScoreSheet, Unscored
from harness.stages.instrument import Instrument
from harness.store import campaign as store

HERE = timezone(timedelta(hours=1))
EVENING = datetime(2026, 11, 30, 22, 0, tzinfo=HERE)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("07:00", datetime(2026, 12, 1, 7, 0, tzinfo=HERE)),
        ("22:30", datetime(2026, 11, 30, 22, 30, tzinfo=HERE)),
        ("22:00", datetime(2026, 12, 1, 22, 0, tzinfo=HERE)),
        ("2026-12-02T06:15", datetime(2026, 12, 2, 6, 15, tzinfo=HERE)),
        ("2026-12-02T06:15+00:00", datetime(2026, 12, 2, 6, 15, tzinfo=UTC)),
    ],
)
def test_a_time_of_day_is_the_next_such_moment(text: str, moment: datetime) -> None:
    """Who starts at 22:00 with 07:00 means the morning after."""
    assert moment_of(text, EVENING) == moment


@pytest.mark.parametrize(
    ("evening", "morning"),
    [
        ("2026-10-24T22:00+02:00", "2026-10-25T07:00+01:00"),
        ("2027-03-27T22:00+01:00", "2027-03-28T07:00+02:00"),
    ],
)
@pytest.mark.parametrize("day", [False, True])
def test_the_morning_after_clocks_were_changed_is_meant_as_its_clocks_show_it(
    monkeypatch: pytest.MonkeyPatch, evening: str, morning: str, *, day: bool
) -> None:
    """An hour more would be taken from whoever needs the machine at seven."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        now, end = datetime.fromisoformat(evening).astimezone(), datetime.fromisoformat(morning)
        found = moment_of(f"{end:%Y-%m-%dT%H:%M}" if day else "07:00", now)
        assert (found, found.utcoffset()) == (end, end.utcoffset())
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_last_date_of_a_zone_is_refused_where_it_is_none_in_utc() -> None:
    """A campaign writes its deadline down in UTC."""
    west = EVENING.astimezone(timezone(timedelta(hours=-5)))
    with pytest.raises(PlanError, match="is no time"):
        moment_of("9999-12-31T23:59-05:00", west)


@pytest.mark.parametrize("text", ["7", "25:00", "tomorrow", "2026-11-30T21:59", ""])
def test_what_is_no_time_or_has_passed_is_refused_with_the_right_form(text: str) -> None:
    """A misread deadline would cost a night."""
    with pytest.raises(PlanError, match="07:00"):
        moment_of(text, EVENING)


def test_how_long_ago_a_deadline_was_is_told_as_everywhere() -> None:
    """Both moments, and no fraction of a second."""
    with pytest.raises(PlanError) as caught:
        moment_of((EVENING - timedelta(hours=30, microseconds=7)).isoformat(), EVENING)
    assert f" was 30 h 00 min ago; it is {EVENING:%Y-%m-%dT%H:%M}" in str(caught.value)


def test_a_plan_names_hours_or_a_moment_and_not_both() -> None:
    """Two ends would leave it open which one holds."""
    model = {"id": "m", "backend": "embedded"}
    plan = CampaignPlan.model_validate({"name": "p", "models": [model], "hours": 9})
    assert deadline_of(plan, EVENING) == EVENING + timedelta(hours=9)
    with pytest.raises(ValueError, match="keep one"):
        CampaignPlan.model_validate(
            {"name": "p", "models": [model], "hours": 9, "deadline": "07:00"}
        )


@pytest.mark.parametrize("hours", [1e8, 1e300])
def test_hours_that_no_calendar_holds_are_refused(hours: float) -> None:
    """A slip of the keyboard is a wrong plan, no fault of ours."""
    model = {"id": "m", "backend": "embedded"}
    plan = CampaignPlan.model_validate({"name": "p", "models": [model], "hours": hours})
    with pytest.raises(PlanError, match="hours = 9"):
        deadline_of(plan, EVENING)


def test_a_clock_that_is_set_back_does_not_put_the_deadline_off() -> None:
    """The monotonic clock goes on: what is left shrinks by what has passed."""
    clock = WallClock(TEN_IN_THE_EVENING)
    left = Countdown(TEN_IN_THE_EVENING + timedelta(hours=9), clock)
    clock.sleep(3600)
    clock.set_by(hours=-5)
    assert left.left_s() == 8 * 3600
    clock.sleep(2 * 3600)
    assert left.left_s() == 6 * 3600
    clock.set_by(hours=+5)
    assert left.left_s() == 6 * 3600


def test_a_machine_that_slept_has_lost_the_time() -> None:
    """Its monotonic clock stood still meanwhile; the deadline is a moment on the wall."""
    clock = WallClock(TEN_IN_THE_EVENING)
    left = Countdown(TEN_IN_THE_EVENING + timedelta(hours=9), clock)
    clock.sleep(3600)
    clock.set_by(hours=+7)
    assert left.left_s() == 3600
    clock.set_by(hours=+2)
    assert left.left_s() == -3600


def test_what_is_left_never_grows() -> None:
    """A clock that is set right after a sleep gives no time back: a call may have its limit."""
    clock = WallClock(TEN_IN_THE_EVENING)
    left = Countdown(TEN_IN_THE_EVENING + timedelta(hours=9), clock)
    clock.set_by(hours=+7)
    assert left.left_s() == 2 * 3600
    clock.set_by(hours=-1)
    clock.sleep(3600)
    assert left.left_s() == 3600


def test_without_a_deadline_the_time_does_not_end() -> None:
    """Whatever the clocks do."""
    clock = WallClock(TEN_IN_THE_EVENING)
    left = Countdown(None, clock)
    clock.sleep(1e9)
    assert left.left_s() == float("inf")


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


def test_a_run_that_cannot_end_in_time_is_not_started(core: Instrument, tmp_path: Path) -> None:
    """Four runs of an hour fit into 4.5 hours with the margin; the fifth would need 1 h 24 min."""
    night = Night(core, tmp_path, {"hours": 4.5})
    tally, campaign = night.pass_over(), night.campaign
    assert night.began == ["a1", "b1", "a2", "b2"]
    assert list(tally.skipped) == ["a run 3", "b run 3"]
    assert "1 h 24 min" in tally.skipped["a run 3"]
    assert "30 min left" in tally.skipped["a run 3"]
    outcomes = [store.read_outcome(campaign.cell(*cell)) for cell in campaign.cells()]
    assert [type(one) for one in outcomes] == [ScoreSheet] * 4 + [Unscored] * 2
    for one in outcomes[4:]:
        assert isinstance(one, Unscored)
        assert (one.cause, one.detail) == ("deadline", tally.skipped["a run 3"])


def test_a_call_that_the_deadline_cuts_leaves_its_cell_unscored(
    core: Instrument, tmp_path: Path
) -> None:
    """The first run is started on trust; its call comes after the deadline and is no zero."""
    night = Night(core, tmp_path, {"hours": 0.5})
    tally, campaign = night.pass_over(), night.campaign
    assert night.began == ["a1"]
    outcomes = [store.read_outcome(campaign.cell(*cell)) for cell in campaign.cells()]
    assert {one.cause for one in outcomes if isinstance(one, Unscored)} == {"deadline"}
    assert len(outcomes) == 6
    assert len(tally.skipped) == 6  # the run that was cut, and five that were not begun
    assert tally.skipped["a run 1"] == CUT


def test_a_model_whose_start_the_deadline_ends_is_not_set_aside(
    core: Instrument, tmp_path: Path
) -> None:
    """What was cut is the look at it: the next pass measures it as if nothing were."""

    def fail(_run: str) -> None:
        raise EndpointError("m cannot be measured: the deadline of the campaign came")

    night = Night(core, tmp_path, {"hours": 0.5}, when_up=fail)
    tally = night.pass_over()
    assert tally.set_aside == {}
    assert tally.skipped["a run 1"] == CUT


def test_the_look_before_a_run_ends_with_the_night(core: Instrument, tmp_path: Path) -> None:
    """A server that hangs in its first reply would hold the night for half an hour a question."""
    slow = Behaviour(content="Blue.", first_byte_delay_s=300)
    with ScriptedServer(Script(default=(slow,))) as server:
        served = {"base_url": server.base_url, "served_name": "m"}
        planned = PlannedModel(id="m", backend="external", **served)
        looked = model_player(core, tmp_path, planned, left_s=lambda: -1.0)
        with pytest.raises(EndpointError, match="deadline"):
            looked.bring_up(1)
        looked.shut_down()


@pytest.mark.parametrize(("hours", "begun"), [(-5, ["a1", "b1", "a2", "b2"]), (+2, ["a1", "b1"])])
def test_a_night_whose_clock_is_set_ends_in_time(
    core: Instrument, tmp_path: Path, hours: float, begun: list[str]
) -> None:
    """Set back in the first run, it starts no run more; set forward, it starts fewer."""
    night = Night(core, tmp_path, {"hours": 4.5})

    def set_the_clock(run: str) -> None:
        if run == "a1":
            night.clock.set_by(hours)

    night.when_up = set_the_clock
    tally = night.pass_over()
    assert night.began == begun
    assert tally.done == len(begun)
    assert len(tally.skipped) == 6 - len(begun)


def test_a_deadline_that_was_misspelt_is_told_with_everything_else(core: Instrument) -> None:
    """A wrong plan is refused once, with all that is wrong."""
    models = [{"id": "m", "backend": "externl"}]
    plan = CampaignPlan.model_validate(
        {"name": "p", "models": models, "tasks": ["A99"], "deadline": "7 o'clock"}
    )
    with pytest.raises(PlanError) as refused:
        resolve(plan, b"", core, now=EVENING)
    assert [problem.where for problem in refused.value.problems] == [
        "tasks",
        "models.m.backend",
        "deadline",
    ]


def test_the_order_of_a_plan_is_played(core: Instrument, tmp_path: Path) -> None:
    """Balanced: whoever was first is last in the next run."""
    night = Night(core, tmp_path, {"order": "balanced"})
    night.pass_over()
    assert night.began == [
        *("a1", "b1"),
        *("b2", "a2"),
        *("a3", "b3"),
    ]


def test_a_rest_of_one_cell_does_not_say_that_a_run_takes_a_day(
    core: Instrument, tmp_path: Path
) -> None:
    """A server that takes an hour to come up does so once a run, and not once a cell."""
    night = Night(core, tmp_path, {"hours": 9, "tasks": ["A04", "A05", "A06", "A08"]})
    at = night.clock.now().isoformat()
    for event, seconds, detail in (("model_up", 3600.0, ""), ("run_finished", 3660.0, "1 cells")):
        told = {"at": at, "event": event, "model": "a", "run": 1, "seconds": seconds}
        night.campaign.log(JournalEvent.model_validate({**told, "detail": detail}))
    assert [previous_run_s(night.campaign, "a", cells) for cells in (1, 4)] == [3660.0, 3840.0]
    assert previous_run_s(night.campaign, "b", 4) is None
