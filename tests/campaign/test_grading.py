"""Cells are scored beside the next call, where that runs code; the sheets are the same."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from campaigning import golden_text, instrument
from nights import Night

from harness.campaign.grading import Grading, Scoring
from harness.errors import GraderError
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, Script, ScriptedServer
from harness.records.base import readable_json
from harness.records.run import Endpoint
from harness.records.score import CellOutcome, ScoreSheet
from harness.running.single import request_for, run_single
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.suite.loader import Task


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


@dataclass(frozen=True)
class Written:
    """Stands for a scoring; what it does to a process is written."""

    does: str
    place: Path

    def cell(self, player: str, number: int, task: Task) -> CellOutcome:
        """Fail as a row function does, or be lost, or say that it was here."""
        if self.does == "fails":
            raise GraderError(f"{task.id} of {player}")
        if self.does == "is lost":
            os._exit(1)
        (self.place / str(number)).touch()
        return None


def test_the_sheet_is_that_of_this_process(core: Instrument, tmp_path: Path) -> None:
    """A deliverable that is run, scored beside and then here: the same bytes."""
    night = Night(core, tmp_path, {"tasks": ["A11"]})
    task = core.suite.task("A11")
    cell = night.campaign.cell("a", 1, "A11")
    text = golden_text(task)
    with ScriptedServer(Script(default=(Behaviour(content=text),))) as server:
        endpoint = Endpoint(base_url=server.base_url, model="a")
        with HttpChat(endpoint, core.config.transport, 60, night.clock) as chat:
            request = request_for(task, core.config, run=1, model="a")
            store.write_exchange(cell, run_single(chat, request))
    scoring = Scoring(night.campaign, core.config, core.stamps)
    with Grading(scoring) as grading:
        grading.submit("a", 1, task)
        grading.finish()
        beside = cell.sheet.read_bytes()
    here = scoring.cell("a", 1, task)
    assert isinstance(here, ScoreSheet)
    assert here.points == here.max_points
    assert readable_json(here) == beside == cell.sheet.read_bytes()


def test_what_runs_nothing_is_scored_at_once(core: Instrument, tmp_path: Path) -> None:
    """A row takes milliseconds; a process would take a second to begin."""
    with Grading(Written("is here", tmp_path)) as grading:
        grading.submit("a", 1, core.suite.task("A08"))
        assert (tmp_path / "1").exists()


def submitted(written: Written, task: Task, *, again: bool) -> None:
    """Submit a cell, and others until something is raised, or wait for the end."""
    with Grading(written) as grading:
        grading.submit("a", 1, task)
        until = time.monotonic() + 300  # a grader fails within a second or two
        while again:
            grading.submit("a", 2, task)
            assert time.monotonic() < until, "nobody was told that a grader failed"
        grading.finish()


@pytest.mark.parametrize("again", [False, True])
def test_a_grader_that_fails_is_told_here(core: Instrument, tmp_path: Path, *, again: bool) -> None:
    """It is our fault, and no model's zero: the campaign stops, at the next cell or at its end."""
    with pytest.raises(GraderError, match="A11 of a"):
        submitted(Written("fails", tmp_path), core.suite.task("A11"), again=again)


def test_a_process_that_is_lost_costs_only_time(core: Instrument, tmp_path: Path) -> None:
    """The night goes on; what has no sheet is scored at its end."""
    task = core.suite.task("A11")
    with Grading(Written("is lost", tmp_path)) as grading:
        grading.submit("a", 1, task)
        grading.finish()
        grading.submit("a", 2, task)
        grading.finish()
        grading.submit("a", 3, task)
    assert not list(tmp_path.iterdir())
