"""The real embedded model: it comes up, tells the truth about itself, and is gone afterwards."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from backends.contract import BackendContract

from harness.arnes import load_arnes
from harness.backends.embedded import ALIAS, EmbeddedBackend
from harness.backends.embedded_models import GEMMA3
from harness.backends.preflight import Need, PreflightReport, preflight
from harness.backends.probe import Probe
from harness.backends.served import recheck
from harness.backends.template import prove
from harness.backends.weights import WEIGHTS_SHA256
from harness.backends.window import most_tokens
from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CLOCK = SystemClock()
# What starts a model in a process of its own, so that this process can be ended in every way.
OWNER = """
import os, sys
from pathlib import Path
from harness.backends.embedded import EmbeddedBackend
from harness.clock import SystemClock
from harness.records.campaign import PlannedModel
backend = EmbeddedBackend(
    PlannedModel(id="m", backend="embedded"), Path(sys.argv[1]), SystemClock()
)
with backend as endpoint:
    sibling = 0
    if "fork" in sys.argv:
        sibling = os.fork()
        if sibling == 0:
            SystemClock().sleep(120)
            os._exit(0)
    print(endpoint.base_url, backend.pid, sibling, flush=True)
    SystemClock().sleep(120)
"""


def embedded(folder: Path, **fields: object) -> EmbeddedBackend:
    planned = PlannedModel.model_validate({"id": "m", "backend": "embedded", **fields})
    return EmbeddedBackend(planned, folder / "server.log", CLOCK)


def ask(endpoint: Endpoint, text: str, **fields: object) -> dict:
    body = {"model": ALIAS, "messages": [{"role": "user", "content": text}], **fields}
    url = f"{endpoint.base_url}/chat/completions"
    return httpx.post(url, json=body, timeout=120, trust_env=False).json()


@contextmanager
def generating(base_url: str) -> Iterator[None]:
    """Have a long reply generated all through the block; return when it has begun."""
    parts = urlsplit(base_url)
    body = json.dumps(
        {
            "messages": [{"role": "user", "content": "Count."}],
            "max_tokens": 6000,
            "ignore_eos": True,
        }
    ).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((parts.hostname, parts.port)) as line:
        line.sendall(head.encode() + body)
        with Probe(base_url) as probe:
            wait_until(lambda: probe.get("/slots").value[0]["is_processing"], 20)
        yield


def wait_until(condition: object, limit_s: float) -> None:
    deadline = CLOCK.monotonic() + limit_s
    while not condition():
        assert CLOCK.monotonic() < deadline, f"not within {limit_s} s"
        CLOCK.sleep(0.02)


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def owned(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen, str, int, int]]:
    """Start a process that owns an embedded server; give it, the address, and process ids."""
    command = [sys.executable, "-c", OWNER, str(folder / "server.log"), *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    ) as owner:
        assert owner.stdout is not None
        url, server, sibling = owner.stdout.readline().decode().split()
        try:
            yield owner, url, int(server), int(sibling)
        finally:
            owner.kill()
            if int(sibling):
                os.kill(int(sibling), signal.SIGKILL)


class TestEmbedded(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> EmbeddedBackend:
        return embedded(tmp_path)


def test_it_answers_and_tells_the_truth_about_itself(tmp_path: Path) -> None:
    """One real completion; window, weights and template as the server has them."""
    backend = embedded(tmp_path)
    with backend as endpoint:
        reply = ask(endpoint, "Say hello.", max_tokens=20)
        info = backend.info()
        with Probe(endpoint.base_url) as probe:
            proof = prove(probe, system=True)

    assert reply["choices"][0]["message"]["content"]
    assert reply["model"] == ALIAS
    assert (info.engine, info.build) == ("llama.cpp", "xllamacpp 2026.10.11549")
    assert info.notes == ()
    assert (info.window_tokens, info.window_source) == (8192, "server")
    assert info.model_digest == WEIGHTS_SHA256
    assert info.chat_template_digest
    assert [finding.ok for finding in proof.findings] == [True]
    assert proof.system_role is True


def test_the_window_of_the_plan_is_the_window_of_the_server(tmp_path: Path) -> None:
    """A narrower window is real: it is read back, and a longer prompt is refused."""
    backend = embedded(tmp_path, context_tokens=1024)
    with backend as endpoint:
        assert backend.info().window_tokens == 1024
        refused = ask(endpoint, "word " * 2000, max_tokens=1)
    assert refused["error"]["type"] == "exceed_context_size_error"


def test_each_slot_has_the_whole_window(tmp_path: Path) -> None:
    """Two requests at once, each nearly as long as the window: both are read whole."""
    backend = embedded(tmp_path, context_tokens=1024, options={"slots": 2})
    with backend as endpoint:
        info = backend.info()
        with Probe(endpoint.base_url) as probe:
            windows = [slot["n_ctx"] for slot in probe.get("/slots").value]
        with ThreadPoolExecutor(2) as pool:
            both = pool.map(lambda _: ask(endpoint, "word " * 900, max_tokens=40), range(2))
            replies = list(both)
        refused = ask(endpoint, "word " * 1200, max_tokens=1)

    assert (windows, info.window_tokens) == ([1024, 1024], 1024)
    assert [info.flags[name] for name in ("total_slots", "n_parallel", "n_ctx")] == [2, 2, 2048]
    assert all(reply["usage"]["prompt_tokens"] > 900 for reply in replies)
    assert refused["error"]["type"] == "exceed_context_size_error"


def test_a_reply_does_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    """A resumed campaign gives what an uninterrupted one gives: no prompt is kept."""
    story = "Tell me about the boats in the harbour. " * 10
    settings = {"max_tokens": 60, "temperature": 0.6, "top_p": 0.95, "seed": 1001}
    with embedded(tmp_path) as endpoint:
        fresh = ask(endpoint, story, **settings)
        ask(endpoint, story + "And then?", **settings)
        again = ask(endpoint, story, **settings)

    assert again["timings"]["cache_n"] == 0
    assert again["choices"][0]["message"] == fresh["choices"][0]["message"]


def test_a_plan_may_keep_the_prompt(tmp_path: Path) -> None:
    """The option does what it says, so the test above is about the default."""
    text = "Tell me about the boats in the harbour. " * 10
    with embedded(tmp_path, options={"cache_prompt": True}) as endpoint:
        ask(endpoint, text, max_tokens=1)
        again = ask(endpoint, text, max_tokens=1)
    assert again["timings"]["cache_n"] > 0


def test_the_log_holds_no_prompt(tmp_path: Path) -> None:
    """Private forms must not lie in log files."""
    with embedded(tmp_path) as endpoint:
        ask(endpoint, "The code is quibberzax.", max_tokens=8)
    log = (tmp_path / "server.log").read_text(errors="replace")
    assert "model loaded" in log
    assert "quibberzax" not in log


def test_stop_does_not_wait_for_a_generation(tmp_path: Path) -> None:
    """6,000 tokens would take two minutes; the process is gone in a moment."""
    backend = embedded(tmp_path)
    endpoint = backend.start()
    pid = backend.pid
    assert pid is not None
    try:
        with generating(endpoint.base_url):
            begun = CLOCK.monotonic()
            backend.stop()
            took_s = CLOCK.monotonic() - begun
    finally:
        backend.stop()

    assert not psutil.pid_exists(pid)
    assert took_s < 2  # measured 0.03 s; SIGKILL would come after 5


@pytest.mark.parametrize("arguments", [(), ("fork",)], ids=["alone", "forked-sibling-holds-pipe"])
def test_it_dies_with_a_parent_that_is_killed(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """SIGKILL leaves no chance to clean up, and a generation is going on: nothing survives."""
    with owned(tmp_path, *arguments) as (owner, url, server, _), generating(url):
        assert not is_gone(server)
        owner.send_signal(signal.SIGKILL)
        owner.wait(10)
        wait_until(lambda: is_gone(server), 10)


def test_ctrl_c_takes_the_server_down(tmp_path: Path) -> None:
    """The terminal's signal reaches the harness alone, which stops the server on its way out."""
    with owned(tmp_path) as (owner, url, server, _), generating(url):
        os.killpg(owner.pid, signal.SIGINT)
        assert owner.wait(10) == -signal.SIGINT
        assert is_gone(server)


def test_two_models_run_side_by_side(tmp_path: Path) -> None:
    """Each has its own process and port."""
    with embedded(tmp_path / "a") as first, embedded(tmp_path / "b") as second:
        assert first.base_url != second.base_url
        assert ask(first, "Hi.", max_tokens=1)["model"] == ask(second, "Hi.", max_tokens=1)["model"]


def test_preflight_accepts_the_real_model(tmp_path: Path) -> None:
    """The whole preflight: template proved, long reply, speed, and a task that does not fit."""
    config = load_arnes(ROOT)
    source = (ROOT / "harness" / "backends" / "engines.py").read_text()
    needs = {
        "A04": Need(prompt_text=source[:3000], max_tokens=256),
        "A09": Need(prompt_text=source * 6, max_tokens=256),
    }
    backend = embedded(tmp_path)
    with (
        backend as endpoint,
        HttpChat(endpoint, config.transport, config.call_timeout_s, CLOCK) as chat,
    ):

        def look(before: PreflightReport | None = None) -> PreflightReport:
            return preflight(
                endpoint,
                chat.complete,
                backend.info,
                needs,
                sampling=config.sampling,
                call_timeout_s=config.call_timeout_s,
                before=before,
            )

        report = look()
        _, changed = recheck(report, lambda: look(report))

    # It does not always name a word that it reads two lines above: nothing can be proved by it.
    assert [f.name for f in report.findings if f.ok is not True] == ["head of a long prompt"]
    assert set(report.refused) == {"A09"}
    assert changed == ()
    assert report.server.tokens_per_s is not None


def test_the_bound_holds_for_a_real_tokenizer(tmp_path: Path) -> None:
    """Code, digits, tables, punctuation and other scripts: never more tokens than the bound."""
    texts = [
        (ROOT / "harness" / "backends" / "engines.py").read_text(),
        " ".join(str(n * 7919) for n in range(500)),
        "| 12 | 7.5 | ok |\n" * 200,
        "{[(;)]}!?#$%&*" * 50,
        "Añejo, größer, 東京の港, каравелла, ναῦς. " * 50,
        "getHTTPResponseCodeXYZ = nVtx_qPtr->fdIdx[kRow];\n" * 50,
    ]
    with embedded(tmp_path) as endpoint, Probe(endpoint.base_url) as probe:
        for text in texts:
            tokens = probe.post("/tokenize", {"content": text}).fields["tokens"]
            assert len(tokens) <= most_tokens(text), text[:20]


# The second model, for whoever installed it


@pytest.mark.skipif(bool(GEMMA3.missing()), reason="gemma3-270m is not installed")
def test_gemma_is_served_with_a_template_and_its_warning(tmp_path: Path) -> None:
    """A base model without a template of its own: what is sent still arrives, and it is said."""
    backend = embedded(tmp_path, context_tokens=4096, options={"model": "gemma3-270m"})
    with backend as endpoint:
        info = backend.info()
        with Probe(endpoint.base_url) as probe:
            proof = prove(probe, system=True)
    assert info.model_digest == GEMMA3.sha256
    assert any("base model" in note for note in info.notes)
    assert [finding.ok for finding in proof.findings] == [True]
