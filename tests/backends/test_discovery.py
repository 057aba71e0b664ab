"""What could be measured here: real answers of a real server, and real files."""

import socket
from pathlib import Path

from backends.loopback import Loopback, models, page, refusal

from harness.backends.discovery import served_at, usual_places, weights_below


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return int(trial.getsockname()[1])


def test_ollamas_own_list_is_read_and_what_embeds_is_told_apart() -> None:
    """All that it has downloaded, with sizes; a family of embedders answers nothing."""
    details = {"family": "qwen3", "parameter_size": "8.2B", "quantization_level": "Q4_K_M"}
    tags = {
        "models": [
            {"name": "qwen3:8b", "details": details},
            {"name": "minilm:latest", "details": {"family": "bert"}},
            {"details": {}},
            "no entry",
        ]
    }
    own = {("GET", "/api/tags"): page(tags), ("GET", "/"): page("Ollama is running")}
    with Loopback(own) as server:
        port = int(server.root_url.rpartition(":")[2])
        [asked] = usual_places({port: "Ollama"})
    assert [(m.name, m.engine, m.chats) for m in asked.models] == [
        ("qwen3:8b", "ollama", True),
        ("minilm:latest", "ollama", False),
    ]
    assert asked.models[0].about == "8.2B, Q4_K_M"
    assert asked.models[0].base_url == f"http://127.0.0.1:{port}/v1"
    assert asked.problem == ""


def test_an_engine_is_named_only_where_it_names_itself() -> None:
    """A list of models alone says nothing of whose it is."""
    listing = models("m", owned_by="vllm", max_model_len=40960)
    with Loopback({("GET", "/v1/models"): listing}) as server:
        [quiet] = served_at(server.root_url).models
        assert (quiet.engine, quiet.window_tokens) == (None, 40960)
        server.routes["GET", "/version"] = page({"version": "0.11"})
        [named] = served_at(server.base_url).models
        assert (named.engine, named.base_url) == ("vllm", server.base_url)


def test_a_usual_port_is_asked_for_a_list_of_models_too() -> None:
    """Whoever is no Ollama is asked as any server."""
    with Loopback({("GET", "/v1/models"): models("m", "n")}) as server:
        port = int(server.root_url.rpartition(":")[2])
        silent = free_port()
        there, gone = usual_places({port: "llama-server", silent: "vLLM"})
    assert [m.name for m in there.models] == ["m", "n"]
    assert "usually vLLM" in gone.problem


def test_whoever_copies_the_route_of_ollama_is_not_called_so() -> None:
    """llama-server answers /api/tags too; it is asked for what it is."""
    routes = {
        ("GET", "/api/tags"): page({"models": [{"name": "copied"}]}),
        ("GET", "/v1/models"): models("m"),
        ("GET", "/props"): page({"default_generation_settings": {"n_ctx": 8192}}),
    }
    with Loopback(routes) as server:
        [asked] = usual_places({int(server.root_url.rpartition(":")[2]): "llama-server"})
    [found] = asked.models
    assert (found.name, found.engine, found.window_tokens) == ("m", "llama.cpp", 8192)


def test_what_could_not_be_asked_is_said() -> None:
    """Nobody there, a key that is missing, another kind of server, no URL at all."""
    with Loopback({("GET", "/v1/models"): lambda _body: refusal(401, "no key")}) as server:
        assert "--api-key-env" in served_at(server.root_url).problem
    with Loopback({}) as server:
        assert "no list of models" in served_at(server.root_url).problem
    with Loopback({("GET", "/v1/models"): models()}) as server:
        assert "lists no model" in served_at(server.root_url).problem
    assert "nothing answers" in served_at(f"http://127.0.0.1:{free_port()}").problem
    assert "http" in served_at("localhost:8080").problem


def test_files_of_weights_are_found_and_a_split_one_is_one(tmp_path: Path) -> None:
    """Below folders too; a projector is no model, and the parts of a split one belong together."""
    names = ["a/x-Q4_K_M.gguf", "big-00001-of-00002.gguf", "big-00002-of-00002.gguf"]
    names += ["mmproj-x.gguf", "bge-embedder.gguf", "notes.txt"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = weights_below(tmp_path)
    assert [(m.name, m.chats) for m in found.models] == [
        ("x-Q4_K_M", True),
        ("bge-embedder", False),
        ("big", True),
    ]
    assert found.models[2].path == tmp_path / "big-00001-of-00002.gguf"
    assert weights_below(tmp_path / "none").problem == "is no folder"
