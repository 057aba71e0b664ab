"""Agent cells in a campaign: played over loopback, interrupted, gone on with, replayed, shown."""

import json
import shutil
from pathlib import Path

import pytest
from campaigning import (
    HELD_S,
    LONG_REPLY,
    arnes,
    begun,
    instrument,
    plan_text,
    wait_until,
)

from harness.models.script import Behaviour, Script, prompt_key
from harness.models.scripted import ScriptedServer
from harness.running.single import cap_of
from harness.stages.agent_plays import golden_turns
from harness.stages.instrument import Instrument

TASKS = ["A02", "A07"]  # both without a sandbox; one has prices and faults, the other attacks
TURNS = 13  # of each golden


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


def script(core: Instrument, held_after: int = TURNS) -> Script:
    """A model that plays the first golden of run 1 in every run, and answers preflight.

    held_after : after so many turns the next one of each task is not answered
    """
    by_opening = {}
    for task_id in TASKS:
        task = core.suite.task(task_id)
        by_opening[prompt_key(task.prompt(cap_of(task, core.config)).strip())] = tuple(
            Behaviour(content=reply.text, first_byte_delay_s=HELD_S if turn >= held_after else 0)
            for turn, reply in enumerate(golden_turns(task, core.config, 1))
        )
    return Script(by_opening=by_opening, default=(Behaviour(content=LONG_REPLY),))


def started(core: Instrument, place: Path) -> Path:
    """Play a campaign of one run whole; return its folder."""
    folder = place / "campaign"
    with ScriptedServer(script(core)) as server:
        plan = place / "plan.toml"
        plan.write_text(plan_text({"agent": server.base_url}, tasks=TASKS, runs=1))
        done = arnes("campaign", "start", str(plan), "--folder", str(folder))
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def finished(core: Instrument, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign, for the tests that only read it."""
    return started(core, tmp_path_factory.mktemp("agents"))


def sheets(folder: Path) -> dict[str, bytes]:
    """Everything of a campaign's cells that must not depend on when it was played."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for name in ("CALIFICACION.json", "transcript.jsonl", "reply.json")
        for path in sorted(folder.rglob(name))
    }


def test_agents_and_both_controls_land_where_they_must(finished: Path) -> None:
    """The golden control plays its own turns of the run, the empty one is idle."""
    assert arnes("finalize", str(finished)).returncode == 0
    final = json.loads((finished / "FINAL.json").read_text())
    points = {
        (c["outcome"]["cell"]["model"], c["outcome"]["cell"]["task"]): c["outcome"]["points"]
        for c in final["cells"]
    }
    assert points == {
        (player, task): full
        for player, full in (("agent", 18.0), ("control-golden", 18.0), ("control-empty", 0.0))
        for task in TASKS
    }
    ended = {c["outcome"]["ended"] for c in final["cells"]}
    assert ended == {"finish", "idle"}
    agent = next(c for c in final["cells"] if c["outcome"]["cell"]["model"] == "agent")
    assert agent["metrics"]["completion_tokens"] > 100  # of all replies together


def test_the_same_agent_gives_the_same_files(
    core: Instrument, finished: Path, tmp_path: Path
) -> None:
    """Two plays of one script differ in times alone."""
    assert sheets(started(core, tmp_path)) == sheets(finished)


@pytest.mark.slow
def test_a_kill_between_two_turns_doubles_no_effect(
    core: Instrument, finished: Path, tmp_path: Path
) -> None:
    """What is stored is replayed into a new world, and the cell goes on where it stopped."""
    folder = tmp_path / "campaign"
    with ScriptedServer(script(core, held_after=6)) as server:
        plan = tmp_path / "plan.toml"
        plan.write_text(plan_text({"agent": server.base_url}, tasks=TASKS, runs=1))
        raw = folder / "agent" / "run_1" / "A02" / "raw"
        with begun("campaign", "start", str(plan), "--folder", str(folder)) as running:
            wait_until(lambda: len(list(raw.glob("[0-9]*.json"))) == 6, running)
        before = {path: path.read_bytes() for path in raw.glob("*.json")}
        assert len(before) == 6
        assert not (raw.parent / "transcript.jsonl").exists()
        server.play(script(core))
        done = arnes("campaign", "resume", str(folder), "--json")
        assert done.returncode == 0, done.stderr
    assert all(path.read_bytes() == data for path, data in before.items())
    assert len(list(raw.glob("*.json"))) == TURNS
    assert sheets(folder) == sheets(finished)


def test_a_replay_that_strays_is_reported_and_the_transcript_is_kept(
    finished: Path, tmp_path: Path
) -> None:
    """Evidence is never overwritten by what the present code makes of it."""
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    assert arnes("reparse", str(copy)).returncode == 0
    path = copy / "agent" / "run_1" / "A07" / "transcript.jsonl"
    other = path.read_bytes().replace(b"inbox/01.txt", b"inbox/02.txt", 1)
    path.write_bytes(other)
    done = arnes("reparse", str(copy))
    assert done.returncode == 1
    assert "agent run 1 A07" in done.stdout
    assert path.read_bytes() == other


def test_a_transcript_shows_what_the_model_saw_and_what_it_did_not(
    finished: Path, tmp_path: Path
) -> None:
    """Turns, costs, faults with the honest answer beside them, the end, and the points."""
    done = arnes("transcript", str(finished), "agent", "1", "A02")
    assert done.returncode == 0, done.stderr
    for words in (
        "You work with tools.",
        "── reply 1 ──",
        "FAULT 1",
        "not shown to the model: the tool's own answer",
        "ended: finish, 13 replies",
        "fault fired at call",
        "18 of 18 points, 0 repairs",
    ):
        assert words in done.stdout, words
    page = tmp_path / "page.html"
    done = arnes("transcript", str(finished), "agent", "1", "A07", "--html", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text(encoding="utf-8")
    assert text.count('<section id="reply-') == TURNS
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "<!--" not in text  # the hidden comment of a hostile mail is shown, not hidden


def test_wrong_words_get_one_message_with_the_nearest_right_one(finished: Path) -> None:
    """A person who mistypes loses a second, not a night."""
    done = arnes("transcript", str(finished), "agnet", "1", "A02")
    assert done.returncode == 2
    assert 'did you mean "agent"?' in done.stderr
    done = arnes("explain", str(finished), "agent", "1", "A02.spending")
    assert done.returncode == 0
    assert "spending: 5 of 5" in done.stdout
    assert "arnes transcript" in done.stdout
