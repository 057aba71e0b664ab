"""A real llama-server with a real model, where this machine has one: see docs/backends.md."""

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest
from backends.contract import BackendContract
from backends.processes import dies_with_its_owner, gone

from harness.backends.llama_server import LlamaServerBackend
from harness.backends.probe import Probe
from harness.backends.ready import path_of
from harness.backends.template import prove
from harness.backends.weights import WEIGHTS_SHA256, missing_wheels, weights_path
from harness.clock import SystemClock
from harness.errors import EndpointError
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint

NAMED = "ARNES_LLAMA_SERVER"
CLOCK = SystemClock()


def reason_to_skip() -> str:
    """Say why there is no real server here; empty if there is one."""
    if missing_wheels():
        return "the embedded model, whose weights are served, is not installed"
    name = os.environ.get(NAMED) or "llama-server"
    program = path_of(name)
    if program is None:
        return f"{name!r} is not found; name a real llama-server in {NAMED}"
    done = subprocess.run([program, "--version"], capture_output=True, check=False)
    if done.returncode != 0:
        return f"{name!r} does not run here: --version ends with status {done.returncode}"
    return ""


WHY_NOT = reason_to_skip()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]


def real(folder: Path, context_tokens: int = 2048, **options: object) -> LlamaServerBackend:
    planned = PlannedModel.model_validate(
        {
            "id": "m",
            "backend": "llama_server",
            "context_tokens": context_tokens,
            "options": {"binary": program(), "weights": str(weights_path()), **options},
        }
    )
    return LlamaServerBackend(planned, folder / "server.log", CLOCK)


def program() -> str:
    return os.environ.get(NAMED) or "llama-server"


def ask(endpoint: Endpoint, text: str, max_tokens: int) -> dict:
    body = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": text}],
        "max_tokens": max_tokens,
        **endpoint.extra_body,
    }
    url = f"{endpoint.base_url}/chat/completions"
    return httpx.post(url, json=body, timeout=600, trust_env=False).json()


def refusal_of(backend: LlamaServerBackend) -> str:
    with pytest.raises(EndpointError) as caught:
        backend.start()
    assert backend.pid is None
    return str(caught.value)


class TestRealLlamaServer(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> LlamaServerBackend:
        return real(tmp_path)


def test_it_tells_what_it_is(tmp_path: Path) -> None:
    """Window, weights, quantisation, template, stop word, samplers and build are its own word."""
    backend = real(tmp_path)
    with backend as endpoint:
        info = backend.info()
        with Probe(endpoint.base_url) as probe:
            proof = prove(probe, system=True)
    assert (info.engine, info.window_tokens, info.window_source) == ("llama.cpp", 2048, "server")
    assert info.model_digest == WEIGHTS_SHA256
    assert info.build
    assert info.chat_template_digest
    assert info.flags["eos_token"] == "<|im_end|>"
    assert info.flags["total_slots"] == 1
    assert info.flags["sampler_defaults"]
    assert [finding.ok for finding in proof.findings] == [True]


def test_each_slot_has_the_whole_window(tmp_path: Path) -> None:
    """Two requests at once, each nearly as long as the window: both are read whole."""
    backend = real(tmp_path, 1024, slots=2)
    with backend as endpoint:
        info = backend.info()
        with Probe(endpoint.base_url) as probe:
            windows = [slot["n_ctx"] for slot in probe.get("/slots").value]
        with ThreadPoolExecutor(2) as pool:
            replies = list(pool.map(lambda _: ask(endpoint, "word " * 900, 40), range(2)))
        refused = ask(endpoint, "word " * 1200, 1)
    assert (windows, info.window_tokens, info.flags["total_slots"]) == ([1024, 1024], 1024, 2)
    assert all(reply["usage"]["prompt_tokens"] > 900 for reply in replies)
    assert refused["error"]["type"] == "exceed_context_size_error"


def test_no_prompt_is_kept_for_the_next_request(tmp_path: Path) -> None:
    """A resumed campaign gives what an uninterrupted one gives."""
    text = "Tell me about the boats in the harbour. " * 10
    with real(tmp_path) as endpoint:
        ask(endpoint, text, 1)
        again = ask(endpoint, text, 1)
    assert again["timings"]["cache_n"] == 0


@pytest.mark.parametrize("fault", ["no GGUF", "unknown flag"])
def test_a_start_that_fails_is_told_in_its_own_words(tmp_path: Path, fault: str) -> None:
    """The end of the log is in the message, and nothing is left running."""
    if fault == "no GGUF":
        wrong = tmp_path / "model.gguf"
        wrong.write_bytes(b"no weights at all")
        said = refusal_of(real(tmp_path, weights=str(wrong)))
        assert "exiting due to model loading error" in said
    else:
        said = refusal_of(real(tmp_path, flags=["--no-such-flag"]))
        assert "--no-such-flag" in said
    assert "exit status 1" in said


def test_a_server_that_is_killed_is_not_alive_and_starts_again(tmp_path: Path) -> None:
    """As the kernel kills it when memory is short."""
    backend = real(tmp_path)
    with backend:
        assert backend.pid is not None
        (server,) = psutil.Process(backend.pid).children(recursive=True)
        server.send_signal(signal.SIGKILL)
        assert gone(server.pid)
        assert not backend.alive()
        assert ask(backend.start(), "Say hello.", 4)["choices"]


def test_it_dies_with_an_owner_that_is_killed(tmp_path: Path) -> None:
    """No llama-server watches who started it: its keeper does."""
    dies_with_its_owner(
        "harness.backends.llama_server:LlamaServerBackend",
        {"binary": program(), "weights": str(weights_path())},
        tmp_path,
    )


def test_the_log_holds_no_prompt(tmp_path: Path) -> None:
    """Private forms must not lie in log files."""
    with real(tmp_path) as endpoint:
        ask(endpoint, "The code is quibberzax.", 8)
    log = (tmp_path / "server.log").read_text(errors="replace")
    assert log
    assert "quibberzax" not in log
