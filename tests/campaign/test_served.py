"""What is served is looked at again after every run, and the cards between two models."""

from pathlib import Path

import pytest
from campaigning import instrument
from nights import Night

from harness.stages.finalize import finalize
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store import journal


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


def test_a_model_that_changed_in_a_run_is_a_problem_of_the_result(
    core: Instrument, tmp_path: Path
) -> None:
    """Its points belong to nobody: the run says so, and so does whoever reads the result."""
    night = Night(core, tmp_path)
    night.changes = {"b2": ("weights: 4f0a before, 91cc now",)}
    night.pass_over()
    info = store.read_run_info(night.campaign.folder.run("b", 2))
    assert info is not None
    assert (info.status, info.detail) == ("changed", "weights: 4f0a before, 91cc now")
    other = store.read_run_info(night.campaign.folder.run("b", 1))
    assert other is not None
    assert other.status == "finished"
    final = finalize(night.campaign, core.suite, core.config, core.stamps)
    assert final.problems == (
        "b run 2: what was served changed during it: weights: 4f0a before, 91cc now",
    )


def test_the_journal_says_what_is_known_of_the_cards(core: Instrument, tmp_path: Path) -> None:
    """Without a card it says so, after every run."""
    night = Night(core, tmp_path)
    night.pass_over()
    events = journal.read(night.campaign.folder.journal)
    told = [event.detail for event in events if event.event == "gpu_checked"]
    assert len(told) == 6
    assert all(text.startswith("GPU") for text in told)
