"""What is served is looked at again after every run, and the cards between two models."""

import shutil
from pathlib import Path

import pytest
from campaigning import instrument, model_player
from nights import Night

from harness.campaign import players
from harness.campaign.players import ModelPlayer
from harness.errors import EndpointError
from harness.records.campaign import PlannedModel
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


def test_a_later_pass_over_a_run_that_changed_takes_nothing_back(
    core: Instrument, tmp_path: Path
) -> None:
    """The cells of the first pass belong to nobody still, whatever the second one found."""
    night = Night(core, tmp_path, {"tasks": ["A04", "A08"]})
    night.changes = {"b2": ("weights: 4f0a before, 91cc now",)}
    night.pass_over()
    shutil.rmtree(night.campaign.cell("b", 2, "A08").path)  # as if it had had no reply
    night.changes = {}
    night.pass_over()
    info = store.read_run_info(night.campaign.folder.run("b", 2))
    assert info is not None
    assert (info.status, len(info.earlier)) == ("finished", 1)
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


def test_who_comes_next_reads_ahead_while_a_run_is_served(core: Instrument, tmp_path: Path) -> None:
    """The next model, also over the end of a run; behind the last run there is nobody."""
    night = Night(core, tmp_path)
    night.pass_over()
    assert night.read == ["a1 b", "b1 a", "a2 b", "b2 a", "a3 b"]


def test_who_has_nothing_left_to_do_does_not_read_ahead(core: Instrument, tmp_path: Path) -> None:
    """Neither what is done nor the model that is served already."""
    night = Night(core, tmp_path)
    night.pass_over()
    for name in ("a1", "b3"):
        cell = night.campaign.cell(name[0], int(name[1]), "A08")
        shutil.rmtree(cell.path)
    night.read.clear()
    night.pass_over()
    assert night.read == ["a1 b"]


def without_a_binary(core: Instrument, place: Path, weights: Path) -> ModelPlayer:
    """A player whose server cannot be started."""
    options = {"weights": str(weights), "binary": str(place / "absent")}
    planned = PlannedModel(id="m", backend="llama_server", options=options)
    return model_player(core, place, planned)


def test_weights_are_read_once_before_each_start(
    core: Instrument, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Controls play between two models, and each of them would have the same file read again."""
    read: list[tuple[Path, ...]] = []
    monkeypatch.setattr(players, "read_ahead", read.append)
    weights = tmp_path / "m.gguf"
    player = without_a_binary(core, tmp_path, weights)
    for _controls in range(2):
        player.read_ahead()
    assert read == [(weights,)]
    with pytest.raises(EndpointError, match="m cannot be started"):
        player.bring_up(1)
    player.read_ahead()
    assert read == [(weights,)] * 2


def test_a_path_that_the_system_refuses_costs_no_other_model_anything(
    core: Instrument, tmp_path: Path
) -> None:
    """Who reads ahead is not asked yet, while another one is served; its own start says it."""
    player = without_a_binary(core, tmp_path, tmp_path / f"{'m' * 300}.gguf")
    player.read_ahead()
    with pytest.raises(EndpointError, match="m cannot be started"):
        player.bring_up(1)
