"""The closed table of backends, and what a plan may say to them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.backends import BACKENDS, make_backend
from harness.clock import FakeClock
from harness.errors import PlanError
from harness.records.campaign import PlannedModel

CLOCK = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
URL = "http://127.0.0.1:9/v1"
# The least that a plan must say to each.
NEEDED: dict[str, dict[str, object]] = {
    "embedded": {},
    "external": {"base_url": URL},
    "llama_server": {"options": {"weights": "model.gguf"}},
    "lmstudio": {},
    "ollama": {"served_name": "qwen3:8b", "context_tokens": 8192},
    "vllm": {"options": {"model": "Qwen/Qwen3-8B"}},
}


def planned(backend: str, **fields: object) -> PlannedModel:
    return PlannedModel.model_validate({"id": "m", "backend": backend, **fields})


def refusal_of(model: PlannedModel, folder: Path) -> str:
    with pytest.raises(PlanError) as caught:
        make_backend(model, folder / "server.log", CLOCK)
    return str(caught.value)


@pytest.mark.parametrize("name", sorted(BACKENDS))
def test_making_a_backend_starts_nothing(name: str, tmp_path: Path) -> None:
    """A plan is checked by making its backends; nothing runs and no file appears."""
    backend = make_backend(planned(name, **NEEDED[name]), tmp_path / "server.log", CLOCK)

    assert not backend.alive()
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_backend_is_refused_with_the_nearest(tmp_path: Path) -> None:
    """A typing slip costs one look at the message."""
    said = refusal_of(planned("embeded"), tmp_path)
    assert "'embeded' is no backend" in said
    assert 'did you mean "embedded"?' in said


@pytest.mark.parametrize(
    ("backend", "fields", "wanted"),
    [
        ("embedded", {"options": {"thread": 2}}, 'did you mean "threads"?'),
        ("embedded", {"options": {"threads": 0}}, "greater than or equal to 1"),
        ("embedded", {"options": {"threads": "2"}}, "has to be a whole number, without quotes"),
        ("embedded", {"options": {"cache_prompt": 1}}, "1: has to be true or false\n"),
        ("embedded", {"base_url": URL}, "has its own server"),
        ("embedded", {"context_tokens": 8193}, "8193, the model has 8192"),
        ("external", {"base_url": URL, "options": {"threads": 2}}, "none is known here"),
        ("external", {}, "base_url: missing"),
        ("llama_server", {}, "options.weights: missing"),
        ("llama_server", {"base_url": URL, "options": {"weights": "w"}}, "free port"),
        ("vllm", {"options": {"model": "m", "flag": []}}, 'did you mean "flags"?'),
        ("ollama", {"served_name": "m"}, "context_tokens: missing"),
        ("lmstudio", {"options": {"threads": 2}}, "none is known here"),
        ("external", {"base_url": "127.0.0.1:8080"}, "no http:// or https://"),
        ("external", {"base_url": "http://me:key@host/v1"}, "stands before the host"),
        ("external", {"base_url": "http://host:99999/v1"}, "Port out of range"),
        ("external", {"base_url": "http://host/v1?x=1"}, "a query"),
    ],
)
def test_what_a_backend_would_ignore_or_cannot_use_is_refused(
    backend: str, fields: dict[str, object], wanted: str, tmp_path: Path
) -> None:
    """A setting that is silently dropped is a setting that silently has its default."""
    assert wanted in refusal_of(planned(backend, **fields), tmp_path)


def test_all_wrong_options_are_named_at_once(tmp_path: Path) -> None:
    """A person does not run a plan once for each mistake."""
    said = refusal_of(planned("embedded", options={"thread": 1, "cash_prompt": True}), tmp_path)
    assert "2 problem(s)" in said
    assert 'did you mean "cache_prompt"?' in said


def test_a_key_is_not_shown_when_its_address_is_refused(tmp_path: Path) -> None:
    """A message may end in a bug report."""
    said = refusal_of(planned("external", base_url="http://me:hunter2@host/v1"), tmp_path)
    assert "hunter2" not in said
