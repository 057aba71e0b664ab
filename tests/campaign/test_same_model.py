"""One name in a campaign is one model: other weights under it are another one."""

import pytest

from harness.campaign.same_model import _identity
from harness.records.run import Endpoint, ServerInfo

ENDPOINT = Endpoint(base_url="http://127.0.0.1:1/v1", model="m")
SERVER = ServerInfo(
    engine="llama.cpp",
    build="b1",
    model_digest="a" * 64,
    window_tokens=32768,
    chat_template_digest="b" * 64,
    flags={"model_file": "m.gguf", "cache_prompt": False, "n_parallel": 1},
)


@pytest.mark.parametrize(
    ("fact", "change"),
    [
        ("model_digest", {"model_digest": "c" * 64}),
        ("window_tokens", {"window_tokens": 4096}),
        ("chat_template_digest", {"chat_template_digest": "c" * 64}),
        ("engine", {"engine": "vllm"}),
        ("build", {"build": "b2"}),
        ("model_file", {"flags": {**SERVER.flags, "model_file": "other.gguf"}}),
        ("cache_prompt", {"flags": {**SERVER.flags, "cache_prompt": True}}),
        ("n_parallel", {"flags": {**SERVER.flags, "n_parallel": 4}}),
    ],
)
def test_what_makes_a_model_another_one_under_its_name(
    fact: str, change: dict[str, object]
) -> None:
    """File hash, window, template, build and cache are held against the earlier runs, by name."""
    before = dict(_identity(ENDPOINT, SERVER))
    after = dict(_identity(ENDPOINT, SERVER.model_copy(update=change)))

    assert {name for name in before if before[name] != after[name]} == {fact}


def test_speed_and_notes_make_no_other_model() -> None:
    """A server that is slower today is the same one."""
    slower = SERVER.model_copy(update={"tokens_per_s": 3.0, "notes": ("warm",)})

    assert _identity(ENDPOINT, slower) == _identity(ENDPOINT, SERVER)
