"""A server that cannot compute as many cells at once as will be asked is refused, twice."""

from dataclasses import replace
from pathlib import Path

import pytest
from backends.loopback import Loopback, PlayedModel
from campaigning import instrument, model_player

from harness.arnes import ArnesConfig
from harness.campaign.plan import resolve
from harness.campaign.players import ModelPlayer
from harness.errors import EndpointError, PlanError
from harness.records.campaign import CampaignPlan, PlannedModel
from harness.stages.instrument import Instrument


@pytest.fixture(scope="module")
def two_at_once() -> Instrument:
    core = instrument()
    config: ArnesConfig = core.config.model_copy(update={"parallel_cells": 2})
    return replace(core, config=config)


def plan(*models: dict[str, object], **changes: object) -> CampaignPlan:
    return CampaignPlan.model_validate({"name": "p", "models": list(models), **changes})


def embedded(name: str, **options: object) -> dict[str, object]:
    return {"id": name, "backend": "embedded", "options": options}


def test_too_few_slots_are_named_with_everything_else(two_at_once: Instrument) -> None:
    """Both values and what to do, for each model, in the same breath as other problems."""
    weights = {"weights": "m.gguf"}
    models = (embedded("a"), {"id": "b", "backend": "llama_server", "options": weights})
    with pytest.raises(PlanError) as error:
        resolve(plan(*models, runs=9), b"", two_at_once)
    said = str(error.value)
    for name in "ab":
        assert f"models.{name}.options.slots: 1, the config asks 2 cells at once" in said
    assert "write slots = 2" in said
    assert "schedules are written for 5" in said


def test_enough_slots_or_none_that_the_plan_decides_are_taken(two_at_once: Instrument) -> None:
    """More than needed do no harm; what a running server has is asked when it is up."""
    running = {"id": "c", "backend": "external", "base_url": "http://127.0.0.1:9/v1"}
    asked = plan(embedded("a", slots=2), embedded("b", slots=3), running)
    assert [m.id for m in resolve(asked, b"", two_at_once).plan.models] == ["a", "b", "c"]


@pytest.mark.parametrize("slots", [0, 65, True, "2"])
def test_a_number_of_slots_that_is_none_is_told_once(
    two_at_once: Instrument, slots: object
) -> None:
    """The backend refuses the value; that it is too small as well would be a second message."""
    with pytest.raises(PlanError) as error:
        resolve(plan(embedded("a", slots=slots)), b"", two_at_once)
    assert [problem.where for problem in error.value.problems] == ["models.a.options.slots"]


def player(base_url: str, instrument: Instrument, place: Path) -> ModelPlayer:
    served = {"base_url": base_url, "served_name": "played"}
    planned = PlannedModel(id="m", backend="external", **served)
    return model_player(instrument, place, planned)


def test_a_served_model_with_too_few_slots_is_refused(
    two_at_once: Instrument, tmp_path: Path
) -> None:
    """Whoever started the server: two requests at once would wait for each other in it."""
    model = PlayedModel(slots=1, window=65536)
    with Loopback(model.llama_cpp()) as server:
        serving = player(server.base_url, two_at_once, tmp_path)
        with pytest.raises(EndpointError) as error:
            serving.bring_up(1)
        serving.shut_down()
    assert "slots: the server has 1, the config asks 2 cells at once" in str(error.value)


@pytest.mark.parametrize("engine", ["llama_cpp", "plain"])
def test_a_served_model_with_enough_slots_or_untold_ones_is_taken(
    two_at_once: Instrument, tmp_path: Path, engine: str
) -> None:
    """Not known is no reason: vLLM and Ollama tell nothing and batch nevertheless."""
    model = PlayedModel(slots=2, window=65536)
    with Loopback(getattr(model, engine)()) as server:
        serving = player(server.base_url, two_at_once, tmp_path)
        serving.planned = serving.planned.model_copy(update={"context_tokens": 65536})
        served = serving.bring_up(1)
        serving.shut_down()
    assert served.server.flags.get("total_slots") == (2 if engine == "llama_cpp" else None)
