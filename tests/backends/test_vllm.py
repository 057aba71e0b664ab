"""vLLM from its command line, played by a stub executable that goes wrong in six ways."""

from pathlib import Path

import pytest
from backends.contract import BackendContract
from backends.engine_stub import stub_program
from backends.processes import gone

from harness.backends.program import Program
from harness.backends.vllm import VllmBackend
from harness.clock import SystemClock
from harness.errors import EndpointError, PlanError
from harness.models.http import HttpChat
from harness.records.campaign import PlannedModel
from harness.records.response import ChatRequest, Message

CLOCK = SystemClock()


def backend_of(folder: Path, *faults: str, **fields: object) -> VllmBackend:
    given = fields.pop("options", {})
    assert isinstance(given, dict)
    options = {"model": "Qwen/Qwen3-8B", "binary": stub_program(folder, "vllm", *faults), **given}
    planned = PlannedModel.model_validate(
        {"id": "m", "backend": "vllm", "context_tokens": 16384, "options": options, **fields}
    )
    return VllmBackend(planned, folder / "logs" / "m.log", CLOCK)


def refusal_of(backend: VllmBackend) -> str:
    with pytest.raises(EndpointError) as caught:
        backend.start()
    assert backend.pid is None
    return str(caught.value)


class TestVllm(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> VllmBackend:
        return backend_of(tmp_path)


# Six ways to go wrong


def test_a_card_that_is_too_small_is_told_in_its_words(tmp_path: Path) -> None:
    """1: it ends while it loads."""
    said = refusal_of(backend_of(tmp_path, "out_of_memory"))
    assert "exit status 1" in said
    assert "CUDA out of memory" in said


def test_an_engine_that_dies_inside_a_living_server_is_noticed(tmp_path: Path) -> None:
    """2: the process goes on and answers, and can be asked nothing (G112)."""
    backend = backend_of(tmp_path, "engine_dies")
    with backend:  # the completion at its start was the last one
        assert not backend.alive()


def test_a_shorter_window_than_planned_is_refused(tmp_path: Path) -> None:
    """3: the memory of the cache was not enough for what was asked."""
    said = refusal_of(backend_of(tmp_path, "shorter"))
    assert "16384 tokens were asked for, a request gets 8192" in said


def test_health_before_the_engine_is_ready_is_not_believed(tmp_path: Path) -> None:
    """4: a real completion shows it (G105)."""
    said = refusal_of(backend_of(tmp_path, "healthy_too_early"))
    assert "EngineCore is not ready" in said


def test_an_engine_process_that_stays_behind_is_ended(tmp_path: Path) -> None:
    """5: it has a session of its own, ignores SIGTERM, and holds the card's memory."""
    with backend_of(tmp_path, "strays"):
        stray = int((tmp_path / "vllm-stub.stray").read_text())
    assert gone(stray)


def test_a_server_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """6: the wait for its own end is over some time; nothing is left."""
    backend = backend_of(tmp_path, "deaf")
    backend._program = Program(tmp_path / "m.log", CLOCK, start_limit_s=30, stop_wait_s=0.3)
    backend.start()
    keeper = backend.pid
    backend.stop()
    assert keeper is not None
    assert gone(keeper)


# What is told, and what a plan may say


def test_a_commit_of_the_hub_says_which_weights_they_are(tmp_path: Path) -> None:
    """Without one the record says that nobody knows."""
    with backend_of(tmp_path, options={"revision": "0123abc"}) as endpoint:
        assert endpoint.model == "m"
    for revision, digest in (("0123abc", "Qwen/Qwen3-8B@0123abc"), (None, None)):
        backend = backend_of(tmp_path, options={"revision": revision})
        with backend:
            info = backend.info()
        assert (info.engine, info.window_tokens, info.model_digest) == ("vllm", 16384, digest)
        assert any(note.startswith("weights:") for note in info.notes) == (digest is None)


def test_a_folder_has_the_digest_of_its_files(tmp_path: Path) -> None:
    """A changed file is another model, whichever of them it is."""
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"abc")
    (folder / "config.json").write_bytes(b"{}")
    digests = []
    for config in (b"{}", b"{ }"):
        (folder / "config.json").write_bytes(config)
        backend = backend_of(tmp_path, options={"model": str(folder)})
        backend.check()
        with backend:
            digests.append(backend.info().model_digest)
    assert digests[0] is not None
    assert digests[0] != digests[1]


def test_a_reply_comes_through_the_usual_channel(tmp_path: Path) -> None:
    """What start returns is what requests are sent to."""
    from harness.arnes import load_arnes  # noqa: PLC0415 (only here)

    config = load_arnes(Path(__file__).resolve().parents[2])
    with (
        backend_of(tmp_path) as endpoint,
        HttpChat(endpoint, config.transport, config.call_timeout_s, CLOCK) as chat,
    ):
        request = ChatRequest(
            model=endpoint.model,
            messages=(Message(role="user", content="Say it."),),
            max_tokens=8,
            temperature=0.6,
            top_p=0.95,
            seed=1001,
        )
        assert chat.complete(request).ended == "reply"


@pytest.mark.parametrize(
    ("flag", "todo"),
    [
        ("--generation-config", "the same for every model"),
        ("--max-model-len=512", "context_tokens"),
        ("--enable-prefix-caching", "asked before it"),
        ("--api-key", "no key"),
        ("--generation_config=auto", "the same for every model"),
        ("--max_model_len", "context_tokens"),
        ("--generation-conf", "the same for every model"),
    ],
)
def test_what_the_backend_sets_cannot_be_set_again(tmp_path: Path, flag: str, todo: str) -> None:
    """A model's own sampling would make two models two instruments."""
    with pytest.raises(PlanError) as caught:
        backend_of(tmp_path, options={"flags": [flag]})
    assert todo in str(caught.value)


def test_nothing_is_reported_to_anybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reports of usage are switched off, and a key in a variable is not passed on."""
    monkeypatch.setenv("VLLM_API_KEY", "k")
    environment = backend_of(tmp_path).environment()
    assert environment["VLLM_NO_USAGE_STATS"] == "1"
    assert "VLLM_API_KEY" not in environment
