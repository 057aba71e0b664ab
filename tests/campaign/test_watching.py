"""A night as somebody watches it who was not asked: its log, its samples, its status."""

import re
import subprocess
from pathlib import Path

import pytest
from campaigning import ScriptedModel, arnes, golden_text, instrument, plan_text
from nights import Night

from harness.campaign.activity import Activity
from harness.campaign.asking import Asker
from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.script import Behaviour, Script, prompt_key
from harness.models.scripted import ScriptedServer
from harness.records.campaign import JournalEvent
from harness.records.run import Endpoint
from harness.running.single import cap_of
from harness.stages.agent_cells import replay, runner_for, setup_of
from harness.stages.agent_plays import golden_turns
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store import samples
from harness.store.layout import CellFolder

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00 \S")


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@pytest.fixture(scope="module")
def night(
    core: Instrument, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """One model, one task, two runs, begun and then resumed once more."""
    place = tmp_path_factory.mktemp("night")
    model = ScriptedModel("m", {"A08": golden_text(core.suite.task("A08"))})
    with ScriptedServer(model.script(core)) as server:
        plan = place / "plan.toml"
        plan.write_text(plan_text({"m": server.base_url}, tasks=["A08"], more="hours = 9"))
        folder = place / "campaign"
        done = arnes("campaign", "start", str(plan), "--folder", str(folder))
        assert done.returncode == 0, done.stderr
        assert arnes("campaign", "resume", str(folder)).returncode == 0
    return folder, done


def test_the_log_has_a_line_for_each_event(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """Into a pipe: a time first, and fields that grep finds; the deadline in each."""
    lines = night[1].stderr.splitlines()
    asked = [line for line in lines if "m run 2: A08" in line]
    assert all(LINE.match(line) for line in lines), lines
    assert len(asked) == 1
    for field in ("done=1", "cells=2", "model=m", "run=2", "task=A08", "turn=1", "faults=0"):
        assert f" {field} " in f"{asked[0]} ", field
    assert re.search(r" left_s=\d+ ", asked[0])  # its first run was measured
    assert " deadline=" in asked[0]


def test_the_machine_was_sampled_in_both_passes(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """One file, one heading; the last row of the first pass has every call of it."""
    path = night[0] / "metrics.csv"
    rows = samples.read(path)
    assert path.read_bytes().count(b"cpu_percent") == 1
    assert all(row.memory_bytes for row in rows)
    begins = [n for n, row in enumerate(rows) if row.calls == 0 and n and rows[n - 1].calls]
    assert len(begins) == 1  # where the second pass begins
    end = rows[begins[0] - 1]
    assert end.calls == 3 * 2  # the model and both controls, twice
    assert (end.model, end.task, end.faults) == (None, None, 0)


def test_status_tells_the_last_sample(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    told = arnes("campaign", "status", str(night[0])).stdout
    assert re.search(r"^last sample, \d+ \w+ ago: .*memory .* GiB.* 0 calls", told, re.MULTILINE)


def test_turns_and_fired_faults_of_an_agent_are_those_of_its_transcript(
    core: Instrument, tmp_path: Path
) -> None:
    """Counted from the replies on disk by a replay, which knows nothing of what was watched."""
    task, clock = core.suite.task("A02"), SystemClock()
    replies = golden_turns(task, core.config, 1)
    script = Script(
        by_opening={
            prompt_key(task.prompt(cap_of(task, core.config)).strip()): tuple(
                Behaviour(content=reply.text) for reply in replies
            )
        }
    )
    activity = Activity(clock)
    turns: list[int] = []

    def look(_text: str) -> None:
        turns.append(activity.now().cells[0].replies)

    with ScriptedServer(script) as server:
        endpoint = Endpoint(base_url=server.base_url, model="m")
        cell = CellFolder(tmp_path / task.id)
        asker = Asker(
            config=core.config.model_copy(update={"parallel_cells": 1}),
            run=1,
            model="m",
            cell_of=lambda _task: cell,
            open_chat=lambda: HttpChat(endpoint, core.config.transport, 60.0, clock),
            clock=clock,
            tell=look,
            doing=lambda asked: activity.cell("m", 1, asked.id),
        )
        assert len(list(asker.ask([task], lambda _task: True))) == 1
    with runner_for(task, core.config) as runner:
        setup = setup_of(task, core.config, 1, runner)
        met = replay(setup, store.exchanges(cell), "m").record().faults
    assert turns == list(range(1, len(replies) + 1))
    assert activity.now().calls == len(replies)
    assert activity.now().fired == sum(fate.call is not None for fate in met) > 0


def test_what_the_guard_skips_is_not_waited_for(core: Instrument, tmp_path: Path) -> None:
    """The estimate of a night whose last runs do not fit is of those that do: at its end, nothing."""
    night = Night(core, tmp_path, {"hours": 4.5})
    told = {"at": "2026-11-30T21:00:00+00:00", "event": "cell_finished", "task": "A08"}
    more = {"model": "a", "run": 1, "seconds": 1000.0, "detail": "reply"}
    night.campaign.log(JournalEvent.model_validate({**told, **more}))  # so that cells take time
    tally = night.pass_over()
    assert len(tally.skipped) == 2
    assert night.activity.left_s() == 0.0
