"""Ollama, played by a stub of its documented routes that goes wrong in six ways."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from backends.contract import BackendContract
from backends.engine_stub import BLOB, CHAT, OllamaStub, stub_program
from backends.loopback import Loopback
from backends.processes import gone

from harness.arnes import load_arnes
from harness.backends.ollama import OllamaBackend
from harness.backends.preflight import Need, preflight
from harness.backends.served import changes
from harness.clock import FakeClock, SystemClock
from harness.errors import EndpointError, PlanError
from harness.models.http import HttpChat
from harness.records.campaign import PlannedModel

CONFIG = load_arnes(Path(__file__).resolve().parents[2])
WINDOW = 16384
COPY = f"arnes-m:ctx{WINDOW}"


def planned(**fields: object) -> PlannedModel:
    usual = {"id": "m", "backend": "ollama", "served_name": "qwen3:8b", "context_tokens": WINDOW}
    return PlannedModel.model_validate({**usual, **fields})


@contextmanager
def running(stub: OllamaStub, **fields: object) -> Iterator[tuple[OllamaBackend, Loopback]]:
    """An Ollama that runs already, and a backend for it."""
    with Loopback(stub.routes()) as server:
        clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
        model = planned(base_url=server.root_url, **fields)
        yield OllamaBackend(model, Path("no.log"), clock), server


def refusal_of(stub: OllamaStub, **fields: object) -> str:
    with running(stub, **fields) as (backend, _), pytest.raises(EndpointError) as caught:
        backend.start()
    assert COPY not in stub.windows
    return str(caught.value)


def own(folder: Path, *faults: str) -> OllamaBackend:
    """A backend that starts its own Ollama."""
    options = {"binary": stub_program(folder, "ollama", *faults)}
    return OllamaBackend(planned(options=options), folder / "m.log", SystemClock())


class TestRunningOllama(BackendContract):
    @pytest.fixture
    def backend(self) -> Iterator[OllamaBackend]:
        with running(OllamaStub()) as (backend, _):
            yield backend


class TestOwnOllama(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> OllamaBackend:
        return own(tmp_path)


# A sound server


def test_the_window_is_the_planned_one_where_requests_are_sent() -> None:
    """`/v1` cannot set it: a copy of the model carries it, and it is read back after a reply."""
    stub = OllamaStub()
    with running(stub) as (backend, server), backend as endpoint:
        info = backend.info()
        assert server.asked("POST", "/api/create") == [
            {
                "model": COPY,
                "from": "qwen3:8b",
                "parameters": {"num_ctx": WINDOW},
                "stream": False,
            }
        ]
    assert endpoint.model == COPY
    assert (info.engine, info.window_tokens, info.window_source) == ("ollama", WINDOW, "server")


def test_weights_template_stops_and_samplers_are_told() -> None:
    """The digest is the weights' own; that of the copy's page would be another for each window."""
    with running(OllamaStub()) as (backend, _), backend:
        info = backend.info()
    assert info.model_digest == BLOB
    assert info.chat_template_digest
    assert info.flags["stop"] == ["<|im_end|>"]
    assert info.flags["sampler_defaults"] == {"top_k": "20"}
    assert info.flags["quantisation"] == "Q4_K_M"


def test_nothing_of_ours_is_left_in_a_server_that_is_not_ours() -> None:
    """The copy is unloaded and deleted, the model it was made from stays."""
    stub = OllamaStub()
    with running(stub) as (backend, _):
        backend.start()
        assert stub.loaded == {COPY: WINDOW}
        backend.stop()
        assert stub.loaded == {}
        assert list(stub.windows) == ["qwen3:8b"]


def test_models_of_others_are_left_loaded_and_told() -> None:
    """We did not load them; the record says that they were there."""
    stub = OllamaStub()
    stub.loaded = {"llama3:latest": 4096}
    with running(stub) as (backend, server), backend:
        notes = backend.info().notes
        unloaded = [b for b in server.asked("POST", "/api/generate") if b.get("keep_alive") == 0]
    assert any("llama3:latest" in note for note in notes)
    assert unloaded == []


def test_a_server_of_ours_is_gone_at_the_end(tmp_path: Path) -> None:
    """It was started for one model, on a port of its own."""
    backend = own(tmp_path)
    with backend as endpoint:
        pid = backend._program.pid
        assert ":11434" not in endpoint.base_url
    assert pid is not None
    assert gone(pid)


# Six ways to go wrong


def test_a_window_that_is_ignored_is_refused() -> None:
    """1: 16,384 were asked for, 4,096 are loaded, and everything else looks well."""
    said = refusal_of(OllamaStub("window_ignored"))
    assert f"num_ctx {WINDOW} was asked for, 4096 is loaded" in said


def test_a_model_that_does_not_go_stops_everything() -> None:
    """2: the next model would share the card's memory with it."""
    with running(OllamaStub("keeps")) as (backend, _):
        backend.start()
        with pytest.raises(EndpointError, match="does not let go") as caught:
            backend.stop()
        backend.stop()
    assert f"ollama stop {COPY}" in str(caught.value)


def test_a_server_of_ours_that_does_not_let_go_is_ended(tmp_path: Path) -> None:
    """2, where we may end it: then the model is gone too."""
    backend = own(tmp_path, "keeps")
    backend._clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    with backend:
        pid = backend._program.pid
    assert pid is not None
    assert gone(pid)


def test_a_model_that_goes_slowly_is_waited_for() -> None:
    """3: it is still listed for a while after it was told to go."""
    stub = OllamaStub("slow_to_go")
    with running(stub) as (backend, server):
        with backend:
            pass
        assert stub.loaded == {}
        assert len(server.asked("GET", "/api/ps")) >= 3


def test_a_runner_that_dies_while_it_loads_is_told() -> None:
    """4: status 500, in the server's words."""
    assert "llama runner process has terminated" in refusal_of(OllamaStub("load_fails"))


def test_an_error_with_status_200_is_an_error() -> None:
    """5: it is not loaded, whatever the status says."""
    assert "more system memory" in refusal_of(OllamaStub("error_with_200"))


def test_a_prompt_that_is_cut_in_silence_is_found_by_preflight() -> None:
    """6: the window is told as planned, and prompts lose their head at 2,048 tokens."""
    with pytest.raises(EndpointError, match="cannot be measured") as caught:
        looked_at(OllamaStub("cuts"))
    assert "head of a long prompt" in str(caught.value)
    assert "arrived as 2048" in str(caught.value)


def looked_at(stub: OllamaStub, **fields: object) -> object:
    """Preflight of a stub, with a task whose prompt is 5,500 tokens long."""
    needs = {"A09": Need(prompt_text="12 boats\n" * 1000, max_tokens=8000)}
    with running(stub, **fields) as (backend, _), backend as endpoint:
        limit = CONFIG.call_timeout_s
        with HttpChat(endpoint, CONFIG.transport, limit, SystemClock()) as chat:
            return preflight(
                endpoint,
                chat.complete,
                backend.info,
                needs,
                sampling=CONFIG.sampling,
                call_timeout_s=limit,
            )


# And what else was seen


def test_a_sound_model_passes_preflight() -> None:
    """The check that finds the cut does not find one where there is none."""
    report = looked_at(OllamaStub())
    assert {f.name: f.ok for f in report.findings}["head of a long prompt"] is True


def test_wrong_stop_words_are_found_by_preflight() -> None:
    """Every reply ends after three words with the reason stop (G115)."""
    stub = OllamaStub()
    stub.words = 3
    with pytest.raises(EndpointError, match="cannot be measured") as caught:
        looked_at(stub)
    assert "no reply reached 200 words" in str(caught.value)


def test_a_tag_that_moves_to_other_weights_is_a_change() -> None:
    """`ollama pull` in the middle of a campaign keeps the name."""
    before = looked_at(OllamaStub())
    moved = OllamaStub()
    moved.blob = "ef" * 32
    assert [change.what for change in changes(before, looked_at(moved))] == ["weights"]


def test_an_older_server_that_tells_no_window_is_believed_as_planned() -> None:
    """Then it is the plan's word, and is stamped so."""
    with running(OllamaStub("silent_window")) as (backend, _), backend:
        info = backend.info()
    assert (info.window_tokens, info.window_source) == (WINDOW, "plan")


def test_a_model_that_is_not_there_is_named_with_its_cure() -> None:
    """Nothing is downloaded unasked."""
    said = refusal_of(OllamaStub(), served_name="qwen3:8B")
    assert 'did you mean "qwen3:8b"?' in said
    assert "ollama pull qwen3:8B" in said


def test_a_missing_binary_is_told(tmp_path: Path) -> None:
    """Before anything is started."""
    backend = OllamaBackend(
        planned(options={"binary": "no-such-program"}), tmp_path / "m.log", SystemClock()
    )
    with pytest.raises(EndpointError) as caught:
        backend.start()
    assert "'no-such-program' is not found" in str(caught.value)


def test_name_and_window_must_be_planned(tmp_path: Path) -> None:
    """A window by the card's memory is another one on another machine."""
    with pytest.raises(PlanError) as caught:
        OllamaBackend(
            PlannedModel(id="m", backend="ollama", base_url="nowhere"),
            tmp_path / "m.log",
            SystemClock(),
        )
    assert "3 problem(s)" in str(caught.value)


def test_the_stub_is_as_strict_as_the_documentation() -> None:
    """Without a copy, a request through `/v1` gets the default window: the copy is needed."""
    stub = OllamaStub()
    with Loopback(stub.routes()):
        stub.routes()[CHAT](
            {"model": "qwen3:8b", "messages": [{"role": "user", "content": "x"}], "max_tokens": 1}
        )
    assert stub.loaded == {"qwen3:8b": 4096}
