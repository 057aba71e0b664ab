"""A server that dies is started again; one that goes on dying costs its model, not the night."""

from collections import Counter
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from campaigning import instrument, wait_until
from nights import HourlyPlayer, Night

from harness.campaign.night import Summary
from harness.campaign.orchestrator import CUT, RESTARTS
from harness.campaign.tally import Tally
from harness.errors import EndpointError, Problem
from harness.models.script import Behaviour, Script, prompt_key
from harness.records.score import ScoreSheet, Unscored
from harness.running.single import cap_of
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store import journal
from harness.store.layout import CellFolder

NEVER_S = 3600.0


@pytest.fixture(scope="module")
def core() -> Instrument:
    return instrument()


def given(player: HourlyPlayer) -> dict[str, Any]:
    """What a player was made of."""
    return {f.name: getattr(player, f.name) for f in fields(player) if f.init}


class DiesBesideAReply(HourlyPlayer):
    """Its server closes the call of A04, and still answers A08; then somebody looks for it."""

    other: CellFolder

    def script(self) -> Script:
        """A04 is sooner at its end than A08."""
        task, config = instrument().suite.task("A04"), instrument().config
        dies = Behaviour(content=self.text, close_before_reply=self._dies)
        late = Behaviour(content=self.text, first_byte_delay_s=1.0)
        return Script(
            by_prompt={prompt_key(task.prompt(cap_of(task, config))): (dies,)}, default=(late,)
        )

    def alive(self) -> bool:
        """Dead, once the reply to A08 is on disk."""
        wait_until(lambda: bool(self.other.raws()))
        return super().alive()


class TwoAtOnce(Night):
    """A night whose first model dies so."""

    def player(self, name: str) -> HourlyPlayer:
        """Make a model's player, which knows where its reply to A08 will lie."""
        found = DiesBesideAReply(**given(super().player(name)))
        found.other = self.campaign.cell(name, 1, "A08")
        return found


def test_a_dead_server_is_started_again_and_its_cell_asked_once_more(
    core: Instrument, tmp_path: Path
) -> None:
    """The call in flight is lost, and nothing else: no score is missing in the morning."""
    night = Night(core, tmp_path, deaths=Counter({"a": 1}))
    tally, campaign = night.pass_over(), night.campaign
    assert night.began == ["a1", "a1", "b1", "a2", "b2", "a3", "b3"]
    assert (tally.done, tally.unscored, tally.set_aside) == (campaign.size, {}, {})
    restarts = [e for e in journal.read(campaign.folder.journal) if e.event == "server_restarted"]
    assert [(e.model, e.run, e.task) for e in restarts] == [("a", 1, "A08")]
    cell = campaign.cell("a", 1, "A08")
    assert [exchange.ended for exchange in store.exchanges(cell)] == ["infrastructure", "reply"]
    assert isinstance(store.read_outcome(cell), ScoreSheet)


def test_a_cell_that_kills_twice_is_left_and_the_model_goes_on(
    core: Instrument, tmp_path: Path
) -> None:
    """It may be the cell's own fault, as one that takes more memory than there is."""
    night = Night(core, tmp_path, deaths=Counter({"a": 2}))
    tally, campaign = night.pass_over(), night.campaign
    assert tally.done == campaign.size - 1
    assert tally.unscored == {"connection_lost": 1}
    assert not tally.set_aside
    outcome = store.read_outcome(campaign.cell("a", 1, "A08"))
    assert isinstance(outcome, Unscored)
    assert outcome.cause == "connection_lost"


def test_a_server_that_goes_on_dying_sets_its_model_aside(core: Instrument, tmp_path: Path) -> None:
    """Nobody restarts it all night; the other model is measured as if nothing were."""
    plan: dict[str, object] = {"tasks": ["A04", "A08"]}
    night = Night(core, tmp_path, plan, deaths=Counter({"a": 99}))
    tally, campaign = night.pass_over(), night.campaign
    assert night.began == [*["a1"] * (RESTARTS + 1), "b1", "b2", "b3"]
    assert night.read == [*["a1 b"] * (RESTARTS + 1)]  # nobody waits for a model that is set aside
    assert list(tally.set_aside) == ["a"]
    assert "died in A08" in tally.set_aside["a"]
    assert tally.done_by["b"] == 6
    outcomes = [store.read_outcome(campaign.cell("a", n, "A04")) for n in (1, 2, 3)]
    assert [o.cause for o in outcomes if isinstance(o, Unscored)] == ["connection_lost"] + [
        "not_run"
    ] * 2


class Hanging(HourlyPlayer):
    """Its first server lives, and never answers a call."""

    def script(self) -> Script:
        """No byte, or the reply."""
        hangs = Behaviour(content=self.text, first_byte_delay_s=NEVER_S if self._dies else 0.0)
        return Script(default=(hangs,))

    def alive(self) -> bool:
        """True whenever its health is asked for."""
        return True


class NightOfHanging(Night):
    """A night of such models."""

    def player(self, name: str) -> HourlyPlayer:
        """Make a model's player."""
        return Hanging(**given(super().player(name)))


def test_a_server_that_hangs_is_dead_whatever_its_health_says(
    core: Instrument, tmp_path: Path
) -> None:
    """Else every later cell of the night would wait as long as this one, and have no score."""
    transport = core.config.transport.model_copy(update={"first_byte_timeout_s": 1.0})
    hasty = replace(core, config=core.config.model_copy(update={"transport": transport}))
    night = NightOfHanging(hasty, tmp_path, {"runs": 1}, deaths=Counter({"a": 1}))
    tally, campaign = night.pass_over(), night.campaign
    assert night.began == ["a1", "a1", "b1"]
    assert (tally.done, tally.unscored) == (campaign.size, {})
    causes = [exchange.cause for exchange in store.exchanges(campaign.cell("a", 1, "A08"))]
    assert causes == ["no_first_byte", None]


@pytest.mark.parametrize(("hours", "cause"), [(1 + 1 / 3600, "deadline"), (1.5, "connection_lost")])
def test_nothing_is_started_again_that_comes_up_after_the_deadline(
    core: Instrument, tmp_path: Path, hours: float, cause: str
) -> None:
    """Its server takes an hour to come up, and dies a second, or half an hour, before the end."""
    night = Night(core, tmp_path, {"hours": hours}, deaths=Counter({"a": 1}))
    tally, campaign = night.pass_over(), night.campaign
    assert night.began[0] == "a1"
    assert "a1" not in night.began[1:]
    assert tally.skipped["a run 1"] == CUT
    assert tally.unscored[cause] == 1
    assert "server_restarted" not in [e.event for e in journal.read(campaign.folder.journal)]


def test_a_reply_that_comes_while_another_cells_server_is_found_dead_counts(
    core: Instrument, tmp_path: Path
) -> None:
    """It is on disk, so it is not asked again, and the summary must not say that it is missing."""
    config = core.config.model_copy(update={"parallel_cells": 2})
    models = [{"id": n, "backend": "embedded", "options": {"slots": 2}} for n in ("a", "b")]
    plan: dict[str, object] = {"models": models, "tasks": ["A04", "A08"], "runs": 1}
    two = replace(core, config=config)
    night = TwoAtOnce(two, tmp_path, plan, deaths=Counter({"a": 1}))
    tally, campaign = night.pass_over(), night.campaign
    assert night.began == ["a1", "a1", "b1"]
    assert len(campaign.cell("a", 1, "A08").raws()) == 1
    assert (tally.done, tally.unscored) == (campaign.size, {})


def test_the_summary_says_what_set_a_model_aside() -> None:
    """The headline and the first cause: in the morning nobody looks for a traceback."""
    error = EndpointError("the server of a did not come up", [Problem("weights", "no such file")])
    text = Summary(Tally(set_aside={"a": str(error)}), total=3).text()
    assert "set aside: a: EndpointError: the server of a did not come up; weights: no such" in text
