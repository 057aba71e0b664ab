"""What a night will cost, before it starts: by hand-made numbers."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from campaigning import instrument
from nights import TEN_IN_THE_EVENING, Night

from harness.backends.hardware import host_info
from harness.campaign.cost import UNKNOWN_SPEED, Cost, cost_of
from harness.campaign.history import usual_tokens
from harness.campaign.plan import resolve
from harness.campaign.time_guard import GROWTH, RESERVE_S
from harness.records.campaign import CampaignPlan
from harness.records.run import Endpoint, RunInfo, ServerInfo
from harness.stages.instrument import Instrument
from harness.store import campaign as store


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture
def root(core: Instrument, tmp_path: Path) -> Path:
    """A checkout with one earlier campaign, in which `a` wrote 20, and later 10 tokens a second."""
    night = Night(core, tmp_path / "campaigns")
    for run, speed in ((1, 20.0), (2, 10.0)):
        info = RunInfo(
            model="a",
            run=run,
            backend="embedded",
            endpoint=Endpoint(base_url="http://127.0.0.1:1/v1", model="a"),
            server=ServerInfo(engine="scripted", tokens_per_s=speed),
            tasks=("A08",),
            seed=run,
            stamps=core.stamps,
            host=host_info(core.root),
            started_at=datetime(2026, 11, 1, run, tzinfo=UTC).isoformat(),
            status="finished",
        )
        store.write_run_info(night.campaign.folder.run("a", run), info)
    return tmp_path


def cost(core: Instrument, root: Path, **plan: object) -> Cost:
    models = [{"id": "a", "backend": "embedded", "tokens_per_run": 36_000}]
    usual = {"name": "p", "models": models, "tasks": ["A08"]}
    found = CampaignPlan.model_validate({**usual, **plan})
    now = TEN_IN_THE_EVENING
    return cost_of(resolve(found, b"", core, now=now), root, now)


def test_hours_are_tokens_by_the_last_measured_speed(core: Instrument, root: Path) -> None:
    """36,000 tokens at 10 a second are an hour, three runs end at 01:00."""
    found = cost(core, root)
    [model] = found.models
    assert (model.tokens_per_s, model.run_s) == (10.0, 3600.0)
    assert (model.tokens_from, model.speed_from) == ("the plan", "measured in campaign, run 2")
    ends = [run.ends for run in found.runs]
    assert ends == [TEN_IN_THE_EVENING + timedelta(hours=h) for h in (1, 2, 3)]
    assert [run.fits for run in found.runs] == [True] * 3


def test_what_fits_is_what_the_guard_of_the_night_lets_start(core: Instrument, root: Path) -> None:
    """Two hours and the guard's margin let the third run start; a second less does not."""
    needed_h = 2 + (3600 * GROWTH + RESERVE_S) / 3600
    assert [run.fits for run in cost(core, root, hours=needed_h).runs] == [True] * 3
    late = cost(core, root, hours=needed_h - 1 / 3600).runs
    assert [run.fits for run in late] == [True, True, False]
    assert late[2].ends is None
    assert "1.15" in late[2].why


def test_without_a_measurement_the_speed_is_not_made_up(core: Instrument, root: Path) -> None:
    """Neither another model's speed nor another backend's is taken; later ends are at least so."""
    elsewhere = {"backend": "external", "base_url": "http://127.0.0.1:1/v1"}
    models = [
        {"id": "a", "backend": "embedded", "tokens_per_run": 36_000},
        {"id": "b", "backend": "embedded"},
    ]
    found = cost(core, root, models=models, runs=2, hours=9)
    assert found.models[1].speed_from == UNKNOWN_SPEED
    assert found.models[1].tokens == 14_000  # of one task, as history has it
    assert [(r.model, r.fits, r.at_least) for r in found.runs] == [
        ("a", True, False),
        ("b", None, True),
        ("a", None, True),
        ("b", None, True),
    ]
    assert found.runs[2].ends == TEN_IN_THE_EVENING + timedelta(hours=2)
    assert cost(core, root, models=[{"id": "a", **elsewhere}]).models[0].tokens_per_s is None


def test_the_order_is_the_one_of_the_night(core: Instrument, root: Path) -> None:
    """Run-major, and within a run as the plan says."""
    models = [{"id": name, "backend": "embedded"} for name in ("a", "b")]
    found = cost(core, root, models=models, runs=2, order="balanced")
    assert [(r.run, r.model) for r in found.runs] == [(1, "a"), (1, "b"), (2, "b"), (2, "a")]


def test_a_damaged_campaign_costs_no_plan(core: Instrument, root: Path) -> None:
    """What cannot be read was not measured."""
    (root / "campaigns" / "campaign" / "a" / "run_2" / "RUN_INFO.json").write_text("{")
    assert cost(core, root).models[0].tokens_per_s == 20.0
    (root / "campaigns" / "campaign" / "CAMPAIGN.json").write_text("{")
    assert cost(core, root).models[0].tokens_per_s is None


def test_without_a_word_of_the_plan_a_task_takes_what_is_usual_or_its_cap() -> None:
    """14,000 tokens a task; 256 in a single reply of the demo profile, 30 × 256 of an agent."""
    for profile, tokens in ((None, 3 * 14_000), ("demo", 256 + 30 * 256 + 256)):
        found = instrument(profile)
        suite = found.suite.only(("A04", "A07", "A08"))
        assert usual_tokens(suite.tasks, found.config) == tokens
