"""Stubs of llama-server, vLLM and Ollama, written from the engines' own documentation.

None of the three runs where these tests run. A stub answers the routes that a backend asks, and
goes wrong in the ways that are named below; `stub_program` makes an executable of it that takes
the arguments of the real program.

llama-server: dies, ill, loads, broken, split, strays, other_name
vllm: out_of_memory, engine_dies, shorter, healthy_too_early, strays, deaf
ollama: window_ignored, keeps, slow_to_go, load_fails, error_with_200, cuts, and silent_window
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backends.loopback import Loopback, PlayedModel, Route, models, page, refusal

Routes = dict[tuple[str, str], Route]
CHAT = ("POST", "/v1/chat/completions")
HEALTH = ("GET", "/health")
LIST = ("GET", "/v1/models")
DEFAULT_WINDOW = 4096  # Ollama's on a small card
BLOB = "ab" * 32
LOADING_LOOKS = 3


def stub_program(folder: Path, engine: str, *faults: str) -> str:
    """Write an executable that is a stub with these faults, and return its path."""
    path = folder / f"{engine}-stub"
    here = Path(__file__).resolve()
    path.write_text(
        f"#!{sys.executable}\n"
        "import runpy, sys\n"
        f"sys.path.insert(0, {str(here.parents[1])!r})\n"
        f"sys.argv[1:1] = [{engine!r}, {','.join(faults)!r}, {str(path)!r}]\n"
        f"runpy.run_path({str(here)!r}, run_name='__main__')\n"
    )
    path.chmod(0o755)
    return str(path)


def llama_server_routes(alias: str, window: int, slots: int, faults: set[str]) -> Routes:
    """The routes of a llama-server whose slots share `window` between them."""
    per_slot = window // (4 * slots) if "split" in faults else window // slots
    model = PlayedModel(name=alias, window=per_slot, slots=slots)
    routes: Routes = {**model.llama_cpp(), HEALTH: page({"status": "ok"})}
    looks = iter([refusal(503, "Loading model")] * LOADING_LOOKS)
    if "loads" in faults:
        routes[HEALTH] = lambda _body: next(looks, None) or (200, {"status": "ok"})
    if "broken" in faults:
        routes[CHAT] = lambda _body: refusal(500, "CUDA error: out of memory")
    if "other_name" in faults:
        routes[LIST] = models("somebody-else")
    return routes


def vllm_routes(alias: str, window: int, faults: set[str]) -> Routes:
    """The routes of a vLLM server."""
    model = PlayedModel(name=alias, window=window)
    told = window // 2 if "shorter" in faults else window
    routes: Routes = {
        **model.plain(),
        HEALTH: page(""),
        ("GET", "/version"): page({"version": "0.30.0"}),
        LIST: models(alias, owned_by="vllm", max_model_len=told),
    }
    if "healthy_too_early" in faults:
        routes[CHAT] = lambda _body: refusal(500, "EngineCore is not ready")
    if "engine_dies" in faults:

        def chat(body: dict[str, Any]) -> tuple[int, Any]:
            routes[HEALTH] = lambda _body: (503, "")
            routes[CHAT] = lambda _body: refusal(500, "EngineCore encountered an issue")
            return model.chat(body)

        routes[CHAT] = chat
    return routes


class OllamaStub:
    """An Ollama with one model, `qwen3:8b`, and what is made from it.

    As documented, a request through `/v1` has the window of the model's own parameter, else the
    server's default, and loads the model again if another one is loaded.
    """

    def __init__(self, *faults: str) -> None:
        self.faults = set(faults)
        self.windows: dict[str, int | None] = {"qwen3:8b": None}  # the parameter num_ctx
        self.loaded: dict[str, int] = {}
        self.looks_left = 0
        self.blob = BLOB
        self.words = 300

    def routes(self) -> Routes:
        """Everything that a backend asks."""
        return {
            ("GET", "/"): page("Ollama is running"),
            ("GET", "/api/version"): page({"version": "0.40.12"}),
            ("GET", "/api/tags"): lambda _body: (200, {"models": self._named(self.windows)}),
            ("GET", "/api/ps"): lambda _body: (200, {"models": self.running()}),
            ("POST", "/api/show"): self.show,
            ("POST", "/api/create"): self.create,
            ("POST", "/api/generate"): self.generate,
            ("DELETE", "/api/delete"): self.delete,
            LIST: self.listing,
            CHAT: self.chat,
        }

    def listing(self, body: dict[str, Any]) -> tuple[int, Any]:
        """The models as `/v1/models` has them."""
        return models(*self.windows, owned_by="library")(body)

    def running(self) -> list[dict[str, Any]]:
        """What `/api/ps` lists; one that was told to go may stay for some looks."""
        if self.looks_left:
            self.looks_left -= 1
            if not self.looks_left:
                self.loaded.clear()
        entries = self._named(self.loaded)
        for entry in entries:
            entry["digest"] = "cd" * 32
            entry["details"] = {"quantization_level": "Q4_K_M", "parameter_size": "8.2B"}
            if "silent_window" not in self.faults:
                entry["context_length"] = self.loaded[entry["name"]]
        return entries

    def show(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Modelfile, parameters and template."""
        name = body["model"]
        if name not in self.windows:
            return 404, {"error": f"model '{name}' not found"}
        parameters = (
            'stop                           "<|im_end|>"\ntop_k                          20'
        )
        if self.windows[name]:
            parameters += f"\nnum_ctx                        {self.windows[name]}"
        return 200, {
            "modelfile": f"# Modelfile\n# FROM {name}\n\nFROM /usr/share/ollama/.ollama/models/blobs/sha256-{self.blob}\n",
            "parameters": parameters,
            "template": "{{ .Prompt }}",
            "details": {"quantization_level": "Q4_K_M"},
        }

    def create(self, body: dict[str, Any]) -> tuple[int, Any]:
        """A model from another one, with parameters of its own."""
        if body["from"] not in self.windows:
            return 404, {"error": "not found"}
        self.windows[body["model"]] = body["parameters"]["num_ctx"]
        return 200, {"status": "success"}

    def generate(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Load and unload, which is all that a backend does with it."""
        name = body["model"]
        if body.get("keep_alive") == 0:
            if "slow_to_go" in self.faults:
                self.looks_left = LOADING_LOOKS
            elif "keeps" not in self.faults:
                self.loaded.pop(name, None)
            return 200, {"model": name, "response": "", "done": True, "done_reason": "unload"}
        if "load_fails" in self.faults:
            return 500, {"error": "llama runner process has terminated: exit status 2"}
        if "error_with_200" in self.faults:
            return 200, {"error": "model requires more system memory than is available"}
        self._load(name)
        return 200, {"model": name, "response": "", "done": True, "done_reason": "load"}

    def delete(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Take a model away."""
        return (200, "") if self.windows.pop(body["model"], 0) != 0 else (404, {"error": "no"})

    def chat(self, body: dict[str, Any]) -> tuple[int, Any]:
        """A completion; the model is loaded for it if need be."""
        self._load(body["model"])
        window = 2048 if "cuts" in self.faults else self.loaded[body["model"]]
        model = PlayedModel(window=window, truncates=True, words=self.words)
        return model.chat(body)

    def _load(self, name: str) -> None:
        window = DEFAULT_WINDOW if "window_ignored" in self.faults else self.windows[name]
        self.loaded = {name: window or DEFAULT_WINDOW}

    def _named(self, names: Any) -> list[dict[str, Any]]:
        return [{"name": name, "model": name} for name in names]


def main(arguments: Sequence[str]) -> None:
    """Be the program."""
    engine, told, program, *rest = arguments
    faults = set(filter(None, told.split(",")))
    if faults & {"dies", "out_of_memory"}:
        sys.exit("torch.OutOfMemoryError: CUDA out of memory")
    if "ill" in faults:
        os.kill(os.getpid(), signal.SIGILL)
    if "deaf" in faults:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "strays" in faults:  # a worker in a session of its own that ignores what the group gets
        code = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"
        stray = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        Path(program).with_suffix(".stray").write_text(str(stray.pid))
    print("x" * 200_000, flush=True)  # noqa: T201 (more than a pipe holds: programs are talkative
    routes, port = _routes(engine, rest, faults)
    with contextlib.suppress(KeyboardInterrupt), Loopback(routes, port):
        threading.Event().wait(60)


def _routes(engine: str, arguments: list[str], faults: set[str]) -> tuple[Routes, int]:
    if engine == "ollama":
        assert arguments == ["serve"], arguments
        port = int(os.environ["OLLAMA_HOST"].rpartition(":")[2])
        return OllamaStub(*faults).routes(), port
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", required=True)
    if engine == "vllm":
        parser.add_argument("verb", choices=["serve"])
        parser.add_argument("model")
        parser.add_argument("--served-model-name", required=True)
        parser.add_argument("--max-model-len", type=int, default=40960)
        parser.add_argument("--generation-config", choices=["vllm"], required=True)
        parser.add_argument("--no-enable-prefix-caching", action="store_true", required=True)
        parser.add_argument("--revision")
        parser.add_argument("--gpu-memory-utilization", type=float)
        given = parser.parse_args(arguments)
        return vllm_routes(given.served_model_name, given.max_model_len, faults), given.port
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("--ctx-size", type=int, default=32768)
    parser.add_argument("--jinja", action="store_true", required=True)
    parser.add_argument("--no-context-shift", action="store_true", required=True)
    parser.add_argument("--n-gpu-layers")
    given = parser.parse_args(arguments)
    routes = llama_server_routes(given.alias, given.ctx_size, given.parallel, faults)
    return routes, given.port


if __name__ == "__main__":
    main(sys.argv[1:])
