"""LM Studio as a stub of its documented routes has it: loaded, or refused."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from backends.contract import BackendContract
from backends.loopback import Loopback, PlayedModel, Route, models, page

from harness.backends.lmstudio import DEFAULT_URL, LmStudioBackend
from harness.clock import FakeClock
from harness.errors import EndpointError
from harness.records.campaign import PlannedModel

ENTRY: dict[str, Any] = {
    "id": "qwen3-8b",
    "object": "model",
    "type": "llm",
    "arch": "qwen3",
    "compatibility_type": "gguf",
    "quantization": "Q4_K_M",
    "state": "loaded",
    "max_context_length": 131072,
    "loaded_context_length": 16384,
}


def routes(*entries: dict[str, Any]) -> dict[tuple[str, str], Route]:
    model = PlayedModel(name="qwen3-8b", window=16384)
    return {
        **model.plain(),
        ("GET", "/v1/models"): models("qwen3-8b", "text-embedding-nomic"),
        ("GET", "/api/v0/models"): page({"object": "list", "data": list(entries)}),
    }


def backend_at(url: str | None, **fields: Any) -> LmStudioBackend:
    usual = {"id": "m", "backend": "lmstudio", "served_name": "qwen3-8b", "base_url": url}
    planned = PlannedModel.model_validate({**usual, **fields})
    return LmStudioBackend(planned, FakeClock(datetime(2026, 1, 1, tzinfo=UTC)), {})


def refusal_of(table: dict[tuple[str, str], Route], **fields: Any) -> str:
    with Loopback(table) as server, pytest.raises(EndpointError) as caught:
        backend_at(server.base_url, **fields).start()
    return str(caught.value)


class TestLmStudio(BackendContract):
    @pytest.fixture
    def backend(self) -> Iterator[LmStudioBackend]:
        with Loopback(routes(ENTRY)) as server:
            yield backend_at(server.base_url)


def test_window_and_quantisation_are_its_own_word() -> None:
    """What is loaded counts, not what the model could have."""
    with Loopback(routes(ENTRY)) as server:
        backend = backend_at(server.base_url, context_tokens=16384)
        with backend:
            info = backend.info()
    assert (info.engine, info.window_tokens, info.window_source) == ("lm-studio", 16384, "server")
    assert info.flags["quantization"] == "Q4_K_M"


def test_a_model_that_is_not_loaded_is_refused() -> None:
    """The first request would load it with a window of the server's choice."""
    said = refusal_of(routes({**ENTRY, "state": "not-loaded"}), context_tokens=8192)
    assert "'qwen3-8b' is 'not-loaded'" in said
    assert "lms load qwen3-8b --context-length 8192" in said


def test_a_smaller_window_than_planned_is_refused() -> None:
    """With the commands that load it as it is planned."""
    said = refusal_of(routes(ENTRY), context_tokens=32768)
    assert "32768 tokens are planned, it is loaded with 16384" in said
    assert "lms unload qwen3-8b" in said


def test_another_server_is_no_lm_studio() -> None:
    """Its own list of models is how it is known."""
    table = routes(ENTRY)
    del table["GET", "/api/v0/models"]
    assert "this is no LM Studio" in refusal_of(table)


def test_a_model_that_its_own_list_does_not_have_is_refused() -> None:
    """The two lists are of one server."""
    said = refusal_of(routes({**ENTRY, "id": "qwen3-8b-other"}))
    assert "'qwen3-8b' is not in its own list" in said


def test_its_usual_address_need_not_be_planned() -> None:
    """It is the same on every machine."""
    assert backend_at(None)._url == DEFAULT_URL
