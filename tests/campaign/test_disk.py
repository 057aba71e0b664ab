"""A disk that is full, a folder that nobody may write, a campaign that somebody else runs."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigning import ScriptedModel, arnes, golden_text, instrument, plan_text

from harness.campaign.night import create
from harness.campaign.plan import resolve
from harness.clock import SystemClock
from harness.errors import StoreError
from harness.models.scripted import ScriptedServer
from harness.records.campaign import CampaignPlan
from harness.stages.instrument import Instrument
from harness.store import campaign as store

TASKS = ["A04", "A08"]
DISK_KIB = 4096


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture
def server(core: Instrument) -> Iterator[ScriptedServer]:
    replies = {task: golden_text(core.suite.task(task)) for task in TASKS}
    with ScriptedServer(ScriptedModel("m", replies).script(core)) as running:
        yield running


@pytest.fixture
def plan(server: ScriptedServer, tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(plan_text({"m": server.base_url}, tasks=TASKS, controls=False))
    return path


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk of its own, in memory; only root may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    options = f"size={DISK_KIB}k"
    mount = ["mount", "-t", "tmpfs", "-o", options, "arnes-test", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(disk: Path, left_kib: int) -> Path:
    """Take all room of a disk but for so much."""
    free = os.statvfs(disk)
    ballast = disk / "ballast"
    ballast.write_bytes(b"\0" * (free.f_bavail * free.f_frsize - left_kib * 1024))
    return ballast


@pytest.mark.parametrize(
    "left_kib", [40, *(pytest.param(kib, marks=pytest.mark.slow) for kib in (4, 12, 24, 64, 96))]
)
def test_a_full_disk_ends_a_campaign_with_one_message_and_costs_no_finished_cell(
    plan: Path, disk: Path, left_kib: int
) -> None:
    """Whatever was being written: nothing of it counts as done, and with room the night goes on."""
    ballast = fill(disk, left_kib)
    folder = disk / "campaign"
    done = arnes("campaign", "start", str(plan), "--folder", str(folder))
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("No space left on device") == 1, done.stderr
    assert "Traceback" not in done.stderr
    for record in folder.rglob("*.json"):
        json.loads(record.read_bytes())  # whole, or not there
    ballast.unlink()
    again = ("campaign", "resume", str(folder))
    if not (folder / "CAMPAIGN.json").is_file():
        again = ("campaign", "start", str(plan), "--folder", str(folder))
    went_on = arnes(*again, "--json")
    assert went_on.returncode == 0, went_on.stderr
    outcome = json.loads(went_on.stdout)
    assert outcome["done"] == outcome["cells"] == 4
    assert not list(folder.rglob(".arnes-tmp-*"))
    assert (folder / "VALIDATION.json").is_file()


def test_a_folder_that_cannot_be_written_is_refused_with_one_message(
    plan: Path, disk: Path
) -> None:
    """Neither a new campaign nor an old one begins there, and root is no exception."""
    folder = disk / "campaign"
    assert arnes("campaign", "start", str(plan), "--folder", str(folder)).returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for arguments in (("start", str(plan), "--folder", str(disk / "new")), ("resume", str(folder))):
        done = arnes("campaign", *arguments)
        assert done.returncode == 2, done.stdout
        assert done.stderr.count("Read-only file system") == 1, done.stderr
        assert str(disk) in done.stderr
        assert "Traceback" not in done.stderr


def test_a_place_that_cannot_be_used_is_found_before_the_validation(
    core: Instrument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes minutes, and whoever started it has gone to bed; nothing is left behind."""
    text = plan_text({"m": "http://127.0.0.1:9/v1"}, tasks=["A08"], controls=False)
    plan = resolve(CampaignPlan.model_validate(tomllib.loads(text)), text.encode(), core)
    folder = create(plan, core, SystemClock(), tmp_path / "campaign").folder.path
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "more").write_text("")
    before = sorted(tmp_path.rglob("*"))

    def not_yet(*_: object) -> None:
        raise AssertionError("the validation began")

    monkeypatch.setattr("harness.campaign.night.validated", not_yet)
    for place, error, words in (
        (folder, StoreError, "there is a campaign in this folder already"),
        (folder / "m" / "second", StoreError, f"lies inside the campaign {folder}"),
        (tmp_path / "full", StoreError, "is not empty"),
        (tmp_path / "file" / "new" / "deep", NotADirectoryError, "file/new/deep"),
        (Path("/proc/new"), OSError, "/proc/new"),
    ):
        with pytest.raises(error) as caught:
            create(plan, core, SystemClock(), place)
        assert words in str(caught.value)
    with pytest.raises(AssertionError, match="the validation began"):
        create(plan, core, SystemClock(), tmp_path / "far" / "new")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_second_orchestrator_is_refused_while_the_first_one_runs(
    plan: Path, tmp_path: Path
) -> None:
    """Two of them would ask every cell twice; a lock that a crash does not leave behind."""
    folder = tmp_path / "campaign"
    assert arnes("campaign", "start", str(plan), "--folder", str(folder)).returncode == 0
    with store.exclusive(store.load(folder)):
        done = arnes("campaign", "resume", str(folder))
    assert done.returncode == 2
    assert "this campaign is being run" in done.stderr
    assert arnes("campaign", "resume", str(folder)).returncode == 0


def test_a_start_that_was_killed_in_its_first_file_can_be_given_again(
    plan: Path, tmp_path: Path
) -> None:
    """A folder with nothing in it but what such a start leaves is no campaign yet."""
    folder = tmp_path / "campaign"
    folder.mkdir()
    (folder / ".arnes-tmp-1-CAMPAIGN.json").write_bytes(b'{"half')
    (folder / "plan.toml").write_bytes(plan.read_bytes())
    assert arnes("campaign", "start", str(plan), "--folder", str(folder)).returncode == 0
    other = tmp_path / "other"
    other.mkdir()
    (other / "plan.toml").write_text("# somebody else's")
    refused = arnes("campaign", "start", str(plan), "--folder", str(other))
    assert refused.returncode == 2
    assert "a folder of its own" in refused.stderr
    assert (other / "plan.toml").read_text() == "# somebody else's"
