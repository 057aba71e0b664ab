"""Stop and status: from another shell, by files alone."""

import json
import re
import tomllib
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from campaigning import ScriptedModel, arnes, golden_text, instrument, plan_text
from nights import Night

from harness.campaign.deadline import until_text
from harness.campaign.night import Summary, create, run_campaign
from harness.campaign.plan import resolve
from harness.campaign.status import ask_to_stop, status_of
from harness.campaign.tally import Tally
from harness.clock import SystemClock
from harness.models.scripted import ScriptedServer
from harness.records.campaign import CampaignPlan, JournalEvent
from harness.records.sample import Sample
from harness.report.status import status_text
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store import samples


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


def test_a_stop_lets_the_present_cell_end_and_resume_goes_on(
    core: Instrument, tmp_path: Path
) -> None:
    """Nothing is lost by a stop, and nothing is asked twice."""
    night = Night(core, tmp_path)

    def stop_in_the_second_run(run: str) -> None:
        if run == "b1":
            night.campaign.folder.stop.touch()

    night.when_up = stop_in_the_second_run
    first = night.pass_over()
    assert night.began == ["a1", "b1"]
    assert first.done == 1  # the stop came before b's first call

    night.when_up = lambda _run: None
    night.campaign.folder.stop.unlink()  # as `run_campaign` does when it takes the campaign
    second = night.pass_over()
    assert night.began == ["a1", "b1", "b1", "a2", "b2", "a3", "b3"]
    assert (second.finished_before, second.asked, second.done) == (1, 5, 6)


def test_nobody_is_asked_to_stop_where_nobody_runs(core: Instrument, tmp_path: Path) -> None:
    """A stop that is left lying would end the next pass before its first cell."""
    night = Night(core, tmp_path)
    assert not ask_to_stop(night.campaign)
    assert not night.campaign.folder.stop.exists()
    with store.exclusive(night.campaign):
        assert ask_to_stop(night.campaign)
    assert night.campaign.folder.stop.exists()


def test_a_stop_that_comes_before_the_first_cell_holds(core: Instrument, tmp_path: Path) -> None:
    """Whoever asks while a pass counts its cells is told that it stops, and so it does."""
    night = Night(core, tmp_path)
    with store.exclusive(night.campaign):
        assert ask_to_stop(night.campaign)
        assert night.pass_over().asked == 0
    assert night.began == []


def test_a_stop_that_was_left_lying_ends_no_later_pass(core: Instrument, tmp_path: Path) -> None:
    """Its pass was killed before it came to it, or was one of finalize."""
    model = ScriptedModel("m", {"A08": golden_text(core.suite.task("A08"))})
    with ScriptedServer(model.script(core)) as server:
        text = plan_text({"m": server.base_url}, tasks=["A08"], runs=1, controls=False)
        plan = CampaignPlan.model_validate(tomllib.loads(text))
        resolved = resolve(plan, text.encode(), core)
        campaign = create(resolved, core, SystemClock(), tmp_path / "campaign")
        campaign.folder.stop.touch()
        summary = run_campaign(campaign, core, live=False)
    assert (summary.stopped, summary.holds) == (False, True)
    assert not campaign.folder.stop.exists()


def test_status_tells_what_is_done_skipped_and_left(core: Instrument, tmp_path: Path) -> None:
    """The morning's first question is answered without the orchestrator."""
    night = Night(core, tmp_path, {"hours": 4.5})
    assert status_of(night.campaign, core.suite, night.clock.now()).state == "not started"
    night.pass_over()
    found = status_of(night.campaign, core.suite, night.clock.now())
    assert (found.done, found.cells) == (4, 6)
    assert found.faults == {"deadline": 2}
    assert [run.done for run in found.runs] == [1, 1, 1, 1, 0, 0]
    assert found.state == "not running: it ended without a word"  # no orchestrator's last line
    text = status_text(found)
    assert "4 of 6 cells are done" in text
    assert "a run 3: 0/1  run skipped: its previous run took 1 h 00 min" in text
    assert found.deadline is not None
    until = re.search(r"deadline: \w+ (\d{4}-\d\d-\d\d \d\d:\d\d) \(UTC([+-]\d{4})\)", text)
    assert until is not None, text  # as a clock here shows it, to the minute
    shown = datetime.strptime(" ".join(until.groups()), "%Y-%m-%d %H:%M %z")
    told = datetime.fromisoformat(found.deadline)
    assert shown == told.replace(second=0, microsecond=0)


def test_status_knows_a_campaign_that_is_run_now(core: Instrument, tmp_path: Path) -> None:
    """Held by a lock that a crash does not leave behind."""
    night = Night(core, tmp_path)
    with store.exclusive(night.campaign):
        assert status_of(night.campaign, core.suite, night.clock.now()).state == "running"
    assert status_of(night.campaign, core.suite, night.clock.now()).state == "not started"


def test_a_model_that_came_back_is_not_set_aside_any_more(core: Instrument, tmp_path: Path) -> None:
    """What the last pass knows counts; what an earlier one lost stands in the journal."""
    night = Night(core, tmp_path)
    events = ("campaign_started", "model_set_aside", "campaign_finished")
    for event in events:
        told = {"at": night.clock.now().isoformat(), "event": event, "model": "a", "run": 1}
        night.campaign.log(JournalEvent.model_validate({**told, "detail": "it died\nin a cell"}))
    found = status_of(night.campaign, core.suite, night.clock.now())
    assert found.set_aside == {"a": "it died"}
    assert "set aside: a: it died" in status_text(found)
    at = night.clock.now().isoformat()
    night.campaign.log(JournalEvent(at=at, event="campaign_resumed"))
    assert status_of(night.campaign, core.suite, night.clock.now()).set_aside == {}


def test_tasks_that_were_left_out_are_told(core: Instrument, tmp_path: Path) -> None:
    """Without a sandbox a task is not asked; the end of the night and status both say so."""
    night = Night(core, tmp_path)
    why = {"A10": "no sandbox here: install bubblewrap"}
    record = night.campaign.record.model_copy(update={"left_out": why})
    found = status_of(replace(night.campaign, record=record), core.suite, night.clock.now())
    assert "left out: A10: no sandbox here: install bubblewrap" in status_text(found)
    summary = Summary(Tally(skipped={"a run 2": "too long"}), total=6, stopped=True, left_out=why)
    assert summary.text().splitlines() == [
        "0 of 6 cells have a reply.",
        "It was asked to stop before its end.",
        "skipped: a run 2: too long",
        "left out: A10: no sandbox here: install bubblewrap",
    ]
    assert not summary.holds


def test_the_last_sample_is_told(core: Instrument, tmp_path: Path) -> None:
    """How busy the machine was, and what went wrong so far; what was not read is not mentioned."""
    night = Night(core, tmp_path)
    assert status_of(night.campaign, core.suite, night.clock.now()).sample is None
    told = {"cpu_percent": 12.4, "gpu_watts": 250.4, "calls": 1234, "faults": 2}
    sample = Sample.model_validate({"at": night.clock.now(), **told})
    samples.append(night.campaign.folder.metrics, sample)
    night.clock.sleep(7)
    found = status_of(night.campaign, core.suite, night.clock.now())
    assert found.sample == sample
    expected = "last sample, 7 s ago: CPU 12 %, GPU 250 W, 1,234 calls, 2 faults in this pass"
    assert expected in status_text(found).splitlines()
    printed = arnes("campaign", "status", str(night.campaign.folder.path), "--json")
    assert json.loads(printed.stdout)["sample"]["gpu_watts"] == 250.4


def test_the_deadline_is_that_of_the_last_pass(core: Instrument, tmp_path: Path) -> None:
    """Who resumed with another one is not told the one that has passed."""
    night = Night(core, tmp_path, {"hours": 4.5})
    later = night.clock.now() + timedelta(hours=12)
    for event, until in (("campaign_started", None), ("campaign_resumed", later)):
        at, detail = night.clock.now().isoformat(), until_text(until)
        told = {"at": at, "event": event, "detail": detail}
        night.campaign.log(JournalEvent.model_validate(told))
        found = status_of(night.campaign, core.suite, night.clock.now())
        assert found.deadline is not None
        expected = until or night.clock.now() + timedelta(hours=4.5)
        assert datetime.fromisoformat(found.deadline) == expected


def test_controls_say_nothing_of_the_time_to_the_end(core: Instrument, tmp_path: Path) -> None:
    """They answer at once and play first: a night of nine hours would end in seconds."""
    night = Night(core, tmp_path, {"controls": True})

    def log(event: str, model: str | None = None) -> None:
        told = {"at": night.clock.now().isoformat(), "event": event, "model": model, "run": 1}
        night.campaign.log(JournalEvent.model_validate(told))

    log("campaign_started")
    with store.exclusive(night.campaign):
        for control in night.campaign.record.controls:
            night.clock.sleep(1)
            log("cell_finished", control)
        assert status_of(night.campaign, core.suite, night.clock.now()).left_s is None
        night.clock.sleep(3598)
        log("cell_finished", "a")  # the first of six; no reply is stored, so six are left
        assert status_of(night.campaign, core.suite, night.clock.now()).left_s == 6 * 3600


def test_a_clock_that_was_set_back_gives_no_time_to_the_end(
    core: Instrument, tmp_path: Path
) -> None:
    """A pace over a negative time would be a negative estimate."""
    night = Night(core, tmp_path)
    for event in ("campaign_started", "cell_finished"):
        at = night.clock.now().isoformat()
        night.campaign.log(JournalEvent.model_validate({"at": at, "event": event}))
    with store.exclusive(night.campaign):
        night.clock.sleep(60)
        assert status_of(night.campaign, core.suite, night.clock.now()).left_s == 360
        night.clock.set_by(hours=-1)
        assert status_of(night.campaign, core.suite, night.clock.now()).left_s is None
