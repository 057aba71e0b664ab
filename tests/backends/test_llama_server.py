"""A llama-server of the plan's choice, played by a stub executable of its documented routes."""

import hashlib
import os
import sys
from pathlib import Path

import psutil
import pytest
from backends.contract import BackendContract
from backends.engine_stub import stub_program
from backends.processes import dies_with_its_owner, gone

from harness.backends.llama_server import LlamaServerBackend
from harness.backends.weights import WEIGHTS_SHA256, missing_wheels, weights_path
from harness.clock import SystemClock
from harness.errors import EndpointError, PlanError
from harness.records.campaign import PlannedModel

CLOCK = SystemClock()


def backend_of(folder: Path, *faults: str, **fields: object) -> LlamaServerBackend:
    weights = folder / "model-Q4_K_M.gguf"
    weights.write_bytes(b"abc")
    given = fields.pop("options", {})
    assert isinstance(given, dict)
    options = {
        "weights": str(weights),
        "binary": stub_program(folder, "llama-server", *faults),
        **given,
    }
    planned = PlannedModel.model_validate(
        {"id": "m", "backend": "llama_server", "options": options, **fields}
    )
    return LlamaServerBackend(planned, folder / "logs" / "m.log", CLOCK)


def refusal_of(backend: LlamaServerBackend) -> str:
    with pytest.raises(EndpointError) as caught:
        backend.start()
    assert backend.pid is None
    return str(caught.value)


class TestLlamaServer(BackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path) -> LlamaServerBackend:
        return backend_of(tmp_path)


def test_window_weights_and_flags_are_told(tmp_path: Path) -> None:
    """Weights by their sha256; the cache setting is stamped with the rest (G120)."""
    flags = ["--n-gpu-layers", "99"]
    backend = backend_of(tmp_path, context_tokens=16384, options={"flags": flags})
    with backend as endpoint:
        info = backend.info()
    assert endpoint.model == "m"
    assert endpoint.extra_body == {"cache_prompt": False}
    assert (info.engine, info.window_tokens, info.window_source) == ("llama.cpp", 16384, "server")
    assert info.model_digest == hashlib.sha256(b"abc").hexdigest()
    assert info.flags["flags"] == flags


def test_every_slot_has_the_window_of_the_plan(tmp_path: Path) -> None:
    """The server divides what it gets by its slots, so it gets that many times as much."""
    backend = backend_of(tmp_path, context_tokens=8192, options={"slots": 3})
    with backend:
        assert backend.info().window_tokens == 8192


def test_a_window_that_is_split_is_refused(tmp_path: Path) -> None:
    """98,304 were asked for, a request gets 24,576 (G109)."""
    said = refusal_of(backend_of(tmp_path, "split", context_tokens=98304))
    assert "98304 tokens were asked for, a request gets 24576" in said


def test_a_server_that_loads_is_waited_for(tmp_path: Path) -> None:
    """Its model list answers at once, its health does not (G105)."""
    with backend_of(tmp_path, "loads") as endpoint:
        assert endpoint.model == "m"


def test_a_server_that_never_loads_is_given_up(tmp_path: Path) -> None:
    """The wait has an end, and nothing is left running."""
    backend = backend_of(tmp_path, "loads", options={"start_limit_s": 0.01})
    assert "its health route says" in refusal_of(backend)


def test_health_alone_is_not_believed(tmp_path: Path) -> None:
    """Memory is often gone with the first completion only."""
    said = refusal_of(backend_of(tmp_path, "broken"))
    assert "a real completion failed: status 500" in said


def test_another_model_under_our_port_is_refused(tmp_path: Path) -> None:
    """What answers must be what was started."""
    assert "does not list 'm'" in refusal_of(backend_of(tmp_path, "other_name"))


@pytest.mark.parametrize(
    ("fault", "ending"), [("dies", "exit status 1"), ("ill", "ended by SIGILL")]
)
def test_a_program_that_dies_is_told_with_its_last_words(
    tmp_path: Path, fault: str, ending: str
) -> None:
    """How it ended passes through its keeper; the log holds what it said."""
    said = refusal_of(backend_of(tmp_path, fault))
    assert ending in said
    if fault == "dies":
        assert "CUDA out of memory" in said


def test_what_left_the_group_is_ended_too(tmp_path: Path) -> None:
    """A worker in a session of its own that ignores SIGTERM would keep the card."""
    backend = backend_of(tmp_path, "strays")
    with backend:
        stray = int((tmp_path / "llama-server-stub.stray").read_text())
        assert psutil.pid_exists(stray)
    assert gone(stray)


def test_it_dies_with_an_owner_that_is_killed(tmp_path: Path) -> None:
    """No program of others watches who started it: its keeper does."""
    backend_of(tmp_path)  # writes stub and weights
    dies_with_its_owner(
        "harness.backends.llama_server:LlamaServerBackend",
        {
            "weights": str(tmp_path / "model-Q4_K_M.gguf"),
            "binary": str(tmp_path / "llama-server-stub"),
        },
        tmp_path,
    )


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "wrapper-killed"])
def test_a_wrapper_and_its_server_end_together(tmp_path: Path, killed: bool) -> None:
    """Some packages start the server from a script, which stands between it and its keeper."""
    backend_of(tmp_path)  # writes the stub
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(
        f"#!{sys.executable}\nimport subprocess, sys\n"
        f"sys.exit(subprocess.run([{str(tmp_path / 'llama-server-stub')!r}, *sys.argv[1:]])"
        ".returncode)\n"
    )
    wrapper.chmod(0o755)
    backend = backend_of(tmp_path, options={"binary": str(wrapper)})
    with backend:
        assert backend.pid is not None
        between, server = psutil.Process(backend.pid).children(recursive=True)
        if killed:
            between.kill()
            assert gone(server.pid)
            assert not backend.alive()
    assert gone(between.pid)
    assert gone(server.pid)


@pytest.mark.parametrize("name", ["LLAMA_ARG_TOP_K", "LLAMA_CTX_SIZE", "AIP_MODE"])
def test_variables_that_carry_arguments_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No plan tells of them, and they would change what is measured."""
    monkeypatch.setenv(name, "1")
    environment = backend_of(tmp_path).environment()
    assert name not in environment
    assert environment["PATH"] == os.environ["PATH"]


def test_all_that_is_missing_is_told_at_once(tmp_path: Path) -> None:
    """Binary and weights, before anything is started."""
    options = {"binary": "no-such-program", "weights": str(tmp_path / "absent.gguf")}
    said = refusal_of(backend_of(tmp_path, options=options))
    assert "'no-such-program' is not found" in said
    assert "absent.gguf: No such file" in said


def test_other_weights_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    """A file can be replaced under the same name."""
    said = refusal_of(backend_of(tmp_path, options={"sha256": "0" * 64}))
    assert "other weights than the plan means" in said


@pytest.mark.parametrize(
    ("flag", "todo"),
    [
        ("--port", "free port"),
        ("--ctx-size=512", "context_tokens"),
        ("-np", "options.slots"),
        ("--context-shift", "lost its head"),
        ("-kvu", "a window of its own"),
        ("--reuse-port", "free port"),
        ("--ctx_size", "context_tokens"),
        ("--api_key=secret", "free port"),
    ],
)
def test_what_the_backend_sets_cannot_be_set_again(tmp_path: Path, flag: str, todo: str) -> None:
    """Two values for one thing: one of them would be ignored."""
    with pytest.raises(PlanError) as caught:
        backend_of(tmp_path, options={"flags": [flag, "4"]})
    assert todo in str(caught.value)


# The real engine behind the arguments of its program

SHIM = """
import sys, time
import xllamacpp
given = dict(zip(sys.argv[1::1], sys.argv[2::1]))
params = xllamacpp.CommonParams()
params.model.path = given["--model"]
params.model_alias = {given["--alias"]}
params.hostnames = [given["--host"]]
params.port = int(given["--port"])
params.n_parallel = int(given["--parallel"])
params.n_ctx = int(given["--ctx-size"])
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.ctx_shift = False
params.ui = False
server = xllamacpp.Server(params)
while True: time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_wheels()), reason="the embedded model is not installed")
def test_a_real_llama_cpp_is_started_measured_and_gone(tmp_path: Path) -> None:
    """No binary of it runs on every machine; its library behind the same arguments does."""
    program = tmp_path / "llama-server"
    program.write_text(f"#!{sys.executable}\n{SHIM}")
    program.chmod(0o755)
    options = {"binary": str(program), "weights": str(weights_path()), "slots": 2}
    backend = backend_of(tmp_path, context_tokens=2048, options=options)
    with backend as endpoint:
        info, pid = backend.info(), backend.pid
        assert backend.alive()
    assert endpoint.model == "m"
    assert (info.engine, info.window_tokens) == ("llama.cpp", 2048)
    assert info.model_digest == WEIGHTS_SHA256
    assert info.flags["eos_token"]
    assert pid is not None
    assert gone(pid)
