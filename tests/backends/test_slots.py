"""How many requests a server takes at once: what a plan decides, and what a server tells."""

import pytest

from harness.backends.slots import planned_slots, told_slots
from harness.records.campaign import PlannedModel
from harness.records.run import ServerInfo


@pytest.mark.parametrize("backend", ["embedded", "llama_server"])
def test_the_plan_decides_for_servers_that_we_start(backend: str) -> None:
    """One where it says nothing, as those servers are started then."""
    assert planned_slots(PlannedModel(id="m", backend=backend)) == 1
    assert planned_slots(PlannedModel(id="m", backend=backend, options={"slots": 4})) == 4


@pytest.mark.parametrize("backend", ["vllm", "ollama", "lmstudio", "external", "no-such"])
def test_other_engines_decide_themselves(backend: str) -> None:
    """Nothing is known before they are asked."""
    assert planned_slots(PlannedModel(id="m", backend=backend, options={"slots": 4})) is None


@pytest.mark.parametrize(
    ("flags", "slots"),
    [
        ({"total_slots": 3, "n_parallel": 2, "slots": 4}, 3),
        ({"n_parallel": 2, "slots": 4}, 2),
        ({"slots": 4}, 4),
        ({"total_slots": "many", "slots": 4}, 4),
        ({"total_slots": True}, None),
        ({"total_slots": 0}, None),
        ({}, None),
    ],
)
def test_the_servers_own_word_comes_first(flags: dict[str, object], slots: int | None) -> None:
    """What the starter asked for counts only where the server does not tell."""
    info = ServerInfo.model_validate({"engine": "x", "flags": flags})
    assert told_slots(info) == slots
