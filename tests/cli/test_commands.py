"""Every verb: help, JSON on stdout alone, exit status."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from campaigning import (
    HELD_S,
    LIMIT_S,
    ROOT,
    ScriptedModel,
    arnes,
    begun,
    checkout_in,
    golden_text,
    instrument,
    plan_text,
    wait_until,
)

from harness.campaign.night import create
from harness.campaign.plan import resolve
from harness.clock import SystemClock
from harness.models.script import prompt_key
from harness.models.scripted import ScriptedServer
from harness.records.campaign import CampaignPlan

VERBS = (
    ("demo",),
    ("doctor",),
    ("tasks",),
    ("signature",),
    ("validate",),
    ("campaign", "new"),
    ("campaign", "plan"),
    ("campaign", "start"),
    ("campaign", "resume"),
    ("campaign", "status"),
    ("campaign", "stop"),
    ("reparse",),
    ("score",),
    ("finalize",),
    ("report",),
    ("explain",),
    ("transcript",),
    ("compare",),
    ("advise",),
    ("suite", "freeze"),
    ("suite", "new-form"),
    ("suite", "check-form"),
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_explains_itself_and_speaks_json(verb: tuple[str, ...]) -> None:
    """--help says what it does; --json is always there."""
    done = arnes(*verb, "--help", COLUMNS="120")
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout


def test_tasks_json_is_one_document() -> None:
    """stdout holds nothing but the document."""
    done = arnes("tasks", "--json", fresh=True)
    found = json.loads(done.stdout)
    assert [task["id"] for task in found][:2] == ["A01", "A02"]
    assert all(task["does_not_measure"] for task in found)


def test_signature_names_every_part_with_its_files() -> None:
    """The digest alone says that two results differ; the parts say what."""
    found = json.loads(arnes("signature", "--json").stdout)
    assert {"config", "prompts", "loop", "form", "parsing", "graders", "rows", "sandbox"} <= set(
        found["parts"]
    )
    assert "harness/models/http.py" in found["files"]["loop"]
    assert found["signature"] == json.loads(arnes("signature", "--json").stdout)["signature"]


def test_validate_json_has_the_published_shape() -> None:
    """Other programs read this table."""
    done = arnes("validate", "--task", "A04", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"holds", "problems", "tasks"}
    (task,) = found["tasks"]
    assert set(task) == {
        "id", "level", "max", "rows", "observations", "empty", "golden", "defective", "exploits",
    }  # fmt: skip
    assert set(task["golden"][0]) == {"name", "scored"}
    assert set(task["defective"][0]) == {"name", "expected", "scored"}
    assert set(task["exploits"][0]) == {"name", "ceiling", "scored"}
    assert (task["max"], task["rows"], task["observations"], task["empty"]) == (18, 6, 18, 0)


def test_a_misspelt_verb_or_task_is_wrong_use() -> None:
    """Exit 2, and the nearest right name."""
    assert arnes("validat").returncode == 2
    done = arnes("validate", "--task", "A4")
    assert done.returncode == 2
    assert 'did you mean "A04"?' in done.stderr
    both = arnes("validate", "--task", "A4", "--task", "A08", "--task", "nothing")
    assert both.returncode == 2
    assert "'A4' is no task" in both.stderr
    assert "'nothing' is no task" in both.stderr
    assert "'A08'" not in both.stderr


def test_outside_a_checkout_the_installed_one_is_used(tmp_path: Path) -> None:
    """A person may stand in any folder; the instrument is found beside the code."""
    done = arnes("tasks", "--json", cwd=tmp_path, fresh=True, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr


def test_a_folder_that_is_no_campaign_is_named(tmp_path: Path) -> None:
    """Every verb that takes DIR says which file it missed."""
    for verb in ("reparse", "score", "finalize", "report"):
        done = arnes(verb, str(tmp_path))
        assert done.returncode == 2
        assert "CAMPAIGN.json" in done.stderr, verb


def test_a_campaign_that_is_named_twice_is_not_called_busy(tmp_path: Path) -> None:
    """Whoever waits for another process to end would wait for ever."""
    core = instrument()
    text = plan_text({"m": "http://127.0.0.1:9/v1"}, tasks=["A08"], controls=False)
    plan = resolve(CampaignPlan.model_validate(tomllib.loads(text)), text.encode(), core)
    folder = str(create(plan, core, SystemClock(), tmp_path / "campaign").folder.path)
    done = arnes("finalize", folder, f"{folder}/.", "--into", str(tmp_path / "result"))
    assert done.returncode == 2
    assert "named twice" in done.stderr


def times_asked(server: ScriptedServer, prompt: str) -> int:
    """How often a server got a prompt, by its key."""
    bodies = [seen.body for seen in server.requests() if isinstance(seen.body, dict)]
    return [prompt_key(body["messages"][-1]["content"]) for body in bodies].count(prompt)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_exits_130_and_leaves_a_resumable_campaign(
    tmp_path: Path, end: signal.Signals
) -> None:
    """An interrupted campaign goes on where it stopped, and no server is left behind.

    A machine that shuts down sends SIGTERM; it is the same interruption.
    """
    core = instrument()
    script = ScriptedModel("m", {"A08": golden_text(core.suite.task("A08"))}).script(core)
    [(prompt, (at_once,))] = script.by_prompt.items()
    held = at_once.model_copy(update={"first_byte_delay_s": HELD_S})
    second_is_held = script.model_copy(update={"by_prompt": {prompt: (at_once, held)}})
    with ScriptedServer(second_is_held) as server:
        plan = tmp_path / "plan.toml"
        plan.write_text(plan_text({"m": server.base_url}, tasks=["A08"], runs=3, controls=False))
        folder = tmp_path / "campaign"
        with begun("campaign", "start", str(plan), "--folder", str(folder)) as running:
            wait_until(lambda: times_asked(server, prompt) == 2, running)
            running.send_signal(end)
            _, errors = running.communicate(timeout=LIMIT_S)
        assert running.returncode == 130, errors
        assert f"arnes campaign resume {folder}" in errors
        assert "Traceback" not in errors
        assert '"interrupted"' in (folder / "journal.jsonl").read_text(encoding="utf-8")
        server.play(script)
        done = arnes("campaign", "resume", str(folder), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["done"] == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ("tasks",),  # a table of rich
        ("tasks", "--json"),
        ("signature", "--json"),
        ("--version",),
        ("campaign", "start", "--help"),
        ("validate", "--task", "nothing"),  # what it says goes to the same pipe
    ],
    ids=" ".join,
)
def test_a_reader_that_went_away_is_no_result_that_does_not_hold(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    """The status is that of SIGPIPE, whoever notices it: typer, rich, or the last flush."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "harness", *arguments]
    errors = tmp_path / "errors"
    with errors.open("w") as file:
        apart = writer if arguments[0] == "validate" else file
        done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=apart, check=False)
    os.close(writer)
    assert done.returncode == 141
    assert errors.read_text() == ""


INTERRUPTED_IN_A_STRING = """
import harness.cli

def interrupted():
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        raise SystemExit(130)

harness.cli.app = interrupted
harness.cli.main()
"""


def test_ctrl_c_exits_130_wherever_it_falls() -> None:
    """Python ends by the signal where Ctrl-C fell into code run from a string, as a dataclass is.

    Nothing is left to a race here: the interruption is raised inside such a string.
    """
    command = [sys.executable, "-c", INTERRUPTED_IN_A_STRING]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "Interrupted." in done.stderr


def test_a_broken_grader_stops_with_exit_1_and_no_points(tmp_path: Path) -> None:
    """A row function that raises is our fault; no model pays for it (G019)."""
    checkout = checkout_in(tmp_path / "checkout")
    grader = next((checkout / "suite" / "core").glob("a04_*/grader.py"))
    text = grader.read_text()
    assert '@row("units")' in text
    broken = text.replace(
        '@row("units")\ndef ',
        '@row("units")\ndef broken(work):\n    raise ImportError("gone")\n\n\ndef ',
    )
    grader.write_text(broken)
    done = arnes("validate", "--task", "A04", cwd=checkout, PYTHONPATH=str(ROOT))
    assert done.returncode == 1
    assert "GraderError" in done.stderr
    assert "ImportError: gone" in done.stderr
    assert "No model loses a point" in done.stderr
