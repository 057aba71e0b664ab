"""`campaign new` and `plan`, `--notify`, and what a person reads in the morning."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigning import ScriptedModel, arnes, golden_text, instrument, plan_text

from harness.models.scripted import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    core = instrument()
    replies = {"A08": golden_text(core.suite.task("A08"))}
    listing = {"object": "list", "data": [{"id": "m", "object": "model"}]}
    script = ScriptedModel("m", replies).script(core)
    with ScriptedServer(script.model_copy(update={"pages": {"/v1/models": listing}})) as running:
        yield running


@pytest.fixture
def teller(tmp_path: Path) -> str:
    """A command that writes its three variables down, and what it leaves."""
    script = tmp_path / "tell.py"
    script.write_text(
        "import json, os, pathlib, sys\n"
        "names = ('ARNES_CAMPAIGN', 'ARNES_STATE', 'ARNES_SUMMARY')\n"
        "with open(sys.argv[1], 'a') as file:\n"
        "    file.write(json.dumps([os.environ[n] for n in names]) + '\\n')\n"
        "sys.exit(7)\n"
    )
    return f"{sys.executable} {script} {tmp_path / 'told'}"


def told(place: Path) -> list[list[str]]:
    return [json.loads(line) for line in (place / "told").read_text().splitlines()]


def plan_for(server: ScriptedServer, place: Path, more: str = "") -> Path:
    path = place / "plan.toml"
    text = plan_text({"m": server.base_url}, tasks=["A08"], runs=1, controls=False, more=more)
    path.write_text(text)
    return path


def test_a_drafted_plan_is_one_that_start_takes(server: ScriptedServer, tmp_path: Path) -> None:
    """From nothing to a finished campaign without an editor; the draft is never written over."""
    plan, weights = tmp_path / "plan.toml", tmp_path / "none"
    new = ("campaign", "new", str(plan), "--url", server.base_url, "--gguf", str(weights))
    done = arnes(*new)
    assert done.returncode == 0, done.stderr
    assert f"{server.base_url}: 1 model(s)" in done.stdout
    assert f"{weights}: is no folder" in done.stdout
    again = arnes(*new)
    assert again.returncode == 2
    assert "is there already" in again.stderr
    costs = arnes("campaign", "plan", str(plan))
    assert costs.returncode == 0, costs.stderr
    text = plan.read_text()
    assert "# tasks = " in text
    assert "# context_tokens = " in text  # the scripted server does not tell its window
    quick = text.replace("# context_tokens", "context_tokens").replace(
        "# runs = 3 ", 'allow_slow = true\ncontrols = false\nruns = 1\ntasks = ["A08"] # '
    )
    plan.write_text(quick)
    started = arnes("campaign", "start", str(plan), "--folder", str(tmp_path / "c"), "--json")
    assert started.returncode == 0, started.stderr
    assert json.loads(started.stdout)["done"] == 1


def test_new_speaks_json(server: ScriptedServer, tmp_path: Path) -> None:
    """What was found and what could not be asked, for other programs."""
    plan = tmp_path / "plan.toml"
    none = str(tmp_path / "none")
    done = arnes("campaign", "new", str(plan), "--url", server.base_url, "--gguf", none, "--json")
    found = json.loads(done.stdout)
    assert found["plan"] == str(plan)
    assert list(found["models"]) == [server.base_url]
    assert found["could_not_ask"] == {none: "is no folder"}


def test_plan_says_what_the_night_costs_and_asks_nobody(tmp_path: Path) -> None:
    """The server of this plan does not exist; exit 0 whether or not everything fits."""
    text = plan_text({"m": "http://127.0.0.1:9/v1"}, tasks=["A08"], more="hours = 0.1")
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    done = arnes("campaign", "plan", str(plan))
    assert done.returncode == 0, done.stderr
    assert "is measured at the first start" in done.stdout
    assert "does not fit: m run 1" in done.stdout
    found = json.loads(arnes("campaign", "plan", str(plan), "--json").stdout)
    assert [run["fits"] for run in found["runs"]] == [False, False]
    assert found["models"][0]["tokens"] == 14_000


def test_a_wrong_plan_is_refused_whole_by_plan_too(tmp_path: Path) -> None:
    """Every problem in one message, the deadline's too."""
    plan = tmp_path / "plan.toml"
    text = plan_text({"m": "http://127.0.0.1:9/v1"}, tasks=["A99"], more='deadline = "soon"')
    plan.write_text(text)
    done = arnes("campaign", "plan", str(plan))
    assert done.returncode == 2
    assert "'A99' is no task" in done.stderr
    assert "'soon' is no time" in done.stderr
    plan.write_text(text.replace('deadline = "soon"', 'order = "best"'))
    assert "order" in arnes("campaign", "plan", str(plan)).stderr


def test_the_end_is_told_once_and_a_failing_command_changes_no_status(
    server: ScriptedServer, tmp_path: Path, teller: str
) -> None:
    """Finished, in the environment; exit 0 although the command ended with 7."""
    plan, folder = plan_for(server, tmp_path), tmp_path / "campaign"
    place = ("--folder", str(folder), "--notify", teller)
    done = arnes("campaign", "start", str(plan), *place)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning:") == 1
    assert "ended with status 7" in done.stderr
    assert told(tmp_path) == [[str(folder), "finished", "1 of 1 cells have a reply."]]
    refused = arnes("campaign", "start", str(plan), *place)
    assert refused.returncode == 2
    where, state, summary = told(tmp_path)[1]
    assert (where, state) == ("", "failed")
    assert "there is a campaign in this folder already" in summary


def test_a_command_with_an_open_quote_is_refused_before_anything(
    server: ScriptedServer, tmp_path: Path
) -> None:
    """Found in the evening, exit 2, no folder."""
    plan, folder = plan_for(server, tmp_path), tmp_path / "campaign"
    done = arnes("campaign", "start", str(plan), "--folder", str(folder), "--notify", 'mail "me')
    assert done.returncode == 2
    assert "--notify" in done.stderr
    assert not folder.exists()


def test_the_morning_says_what_was_skipped_and_why(
    server: ScriptedServer, tmp_path: Path, teller: str
) -> None:
    """The end of the night, the message, and status from another shell say the same."""
    plan = plan_for(server, tmp_path, more="hours = 0.1")
    folder = tmp_path / "campaign"
    done = arnes("campaign", "start", str(plan), "--folder", str(folder), "--notify", teller)
    assert done.returncode == 1, done.stderr
    why = "nothing is known of its speed: 15 min in reserve > 6 min left"
    assert f"skipped: m run 1: {why}" in done.stdout
    assert f"arnes campaign resume {folder}" in done.stdout
    assert why in told(tmp_path)[0][2]
    status = arnes("campaign", "status", str(folder))
    assert "0 of 1 cells are done" in status.stdout
    assert f"m run 1: 0/1  run skipped: {why}" in status.stdout
