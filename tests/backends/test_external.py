"""A server that already runs: found, named where it names itself, and left alone."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from backends.contract import BackendContract
from backends.loopback import Loopback, PlayedModel, models, page, refusal

from harness.backends.external import ExternalBackend
from harness.backends.probe import Probe, problem_with_url
from harness.clock import FakeClock
from harness.errors import EndpointError, PlanError
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo

DEAD_PROXY = "http://127.0.0.1:9"


def clock() -> FakeClock:
    return FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


def external(url: str, *, environment: dict[str, str] | None = None, **fields: Any) -> Any:
    planned = PlannedModel(id="m", backend="external", base_url=url, **fields)
    return ExternalBackend(planned, clock(), environment or {})


def endpoint_of(url: str, **fields: Any) -> Endpoint:
    backend = external(url, **fields)
    with backend as endpoint:
        return endpoint


def info_of(routes: dict[Any, Any], **fields: Any) -> ServerInfo:
    with Loopback(routes) as server:
        backend = external(server.base_url, **fields)
        with backend:
            info: ServerInfo = backend.info()
    return info


def refusal_of(routes: dict[Any, Any], **fields: Any) -> str:
    with Loopback(routes) as server, pytest.raises(EndpointError) as caught:
        endpoint_of(server.base_url, **fields)
    return str(caught.value)


class TestExternal(BackendContract):
    @pytest.fixture
    def backend(self) -> Iterator[ExternalBackend]:
        with Loopback(PlayedModel().llama_cpp()) as server:
            yield external(server.base_url)


def test_stop_leaves_the_server_running() -> None:
    """We did not start it, and other people may be using it."""
    with Loopback(PlayedModel().plain()) as server:
        backend = external(server.base_url)
        backend.start()
        backend.stop()
        assert endpoint_of(server.base_url).model == "played"


@pytest.mark.parametrize("ending", ["/v1", "/v1/", "", "/"])
def test_the_address_may_leave_out_its_ending(ending: str) -> None:
    """People copy the address from their server's banner, with or without `/v1`."""
    with Loopback(PlayedModel().plain()) as server:
        assert endpoint_of(server.root_url + ending).base_url == server.base_url


def test_an_api_without_that_ending_is_found_too() -> None:
    """Not every API begins at `/v1`."""
    with Loopback({("GET", "/api/models"): models("m")}) as server:
        endpoint = endpoint_of(f"{server.root_url}/api")
        assert endpoint.base_url == f"{server.root_url}/api"


def test_loopback_never_goes_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy variable must not turn a local server into a dead one."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, DEAD_PROXY)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with Loopback(PlayedModel().plain()) as server:
        assert endpoint_of(server.base_url).model == "played"


def test_another_host_does_go_through_its_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is about this machine only; the test fails if proxies were switched off for all."""
    routes = {("GET", "http://model.invalid/v1/models"): models("far")}
    with Loopback(routes) as proxy:
        monkeypatch.setenv("http_proxy", proxy.root_url)
        assert endpoint_of("http://model.invalid/v1").model == "far"


def test_a_proxy_that_answers_for_a_dead_server_is_not_alive() -> None:
    """502 is no sign of life; 503 is: a server that loads will come."""
    routes = PlayedModel().plain()
    with Loopback(routes) as server:
        backend = external(server.base_url)
        with backend:
            for status, expected in ((502, False), (503, True), (401, True)):
                routes["GET", "/v1/models"] = lambda _body, s=status: refusal(s, "no")
                assert backend.alive() is expected


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://a..b/v1", "empty or too long"),
        (f"http://{'a' * 64}.example/v1", "empty or too long"),
        ("http://127.0.0.1:8080/my models/v1", "cannot hold"),
        (" http://127.0.0.1:8080/v1", "cannot hold"),
        ("http://127.0.0.1:8080/v1\n", "cannot hold"),
        ("http://hóst:8080/v1", "cannot hold"),
    ],
)
def test_an_address_that_cannot_be_called_is_refused(url: str, problem: str) -> None:
    """It is the plan's fault and is told before a question is asked, with the value."""
    with pytest.raises(PlanError) as caught:
        external(url)
    assert problem in str(caught.value)
    assert repr(url) in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/v1", "http://[::1]:8080/v1", "https://gpu-1.lan./v1", "http://h/a%20b"],
)
def test_an_ordinary_address_has_no_problem(url: str) -> None:
    """Numbers, names with a closing dot and escaped blanks can be called."""
    assert problem_with_url(url) == ""


def test_a_name_that_cannot_be_looked_up_is_no_answer() -> None:
    """Whoever asks such a server gets no traceback, but that nobody answered."""
    with Probe("http://a..b/v1") as probe:
        answer = probe.get_api("/models")
    assert answer.status is None
    assert answer.error


# Which model


def test_several_models_need_a_name() -> None:
    """Which of them is measured must not depend on the order of a list."""
    said = refusal_of({("GET", "/v1/models"): models("a7", "b9")})
    assert "2 models: a7, b9" in said
    assert "name models.m.served_name" in said


def test_the_named_one_of_several_is_taken() -> None:
    """The plan decides."""
    with Loopback({("GET", "/v1/models"): models("a7", "b9")}) as server:
        assert endpoint_of(server.base_url, served_name="b9").model == "b9"


def test_a_name_that_is_not_listed_is_refused() -> None:
    """Many servers answer to any name with whatever they have loaded."""
    said = refusal_of({("GET", "/v1/models"): models("qwen3-8b")}, served_name="qwen3-8B")
    assert "no model 'qwen3-8B'" in said
    assert 'did you mean "qwen3-8b"?' in said


def test_no_model_at_all_is_refused() -> None:
    """An empty server answers every health check."""
    assert "lists no model" in refusal_of({("GET", "/v1/models"): models()})


# What stands in the way


def test_nobody_there() -> None:
    """The message says what to do, in one place, without a traceback."""
    with Loopback({}) as server:
        url = server.base_url
    with pytest.raises(EndpointError) as caught:
        endpoint_of(url)
    assert "nothing answers" in str(caught.value)
    assert "start the server" in str(caught.value)


def test_a_refused_key_is_told_from_a_wrong_address() -> None:
    """401 and 404 need different cures."""
    routes = {("GET", "/v1/models"): lambda _body: refusal(401, "bad key")}
    assert "refuses the key" in refusal_of(routes)
    assert "/models answers 404" in refusal_of({})


def test_a_server_that_refuses_is_asked_at_one_address_only() -> None:
    """The other address would be refused too, and a loading one waited for twice."""
    refuses = {("GET", "/v1/models"): lambda _body: refusal(401, "bad key")}
    with Loopback(refuses) as server:
        with pytest.raises(EndpointError):
            endpoint_of(server.root_url)
        assert len(server.seen) == 1


def test_a_page_that_answers_everything_is_no_model_server() -> None:
    """A web interface answers 200 on every path."""
    assert "no list of models" in refusal_of({("GET", "/v1/models"): page("<html>")})


def test_the_key_is_sent_and_a_missing_one_is_named() -> None:
    """The variable's name stands in records, its value in none."""
    with Loopback(PlayedModel().plain()) as server:
        backend = external(server.base_url, api_key_env="MY_KEY", environment={"MY_KEY": "k-1"})
        endpoint = backend.start()
        assert server.seen[-1][3]["authorization"] == "Bearer k-1"
        assert "k-1" not in endpoint.model_dump_json()
        backend.stop()
        with pytest.raises(EndpointError, match="cannot be reached") as caught:
            endpoint_of(server.base_url, api_key_env="MY_KEY")
    assert "MY_KEY is not set" in str(caught.value)


def test_a_server_that_is_loading_is_waited_for() -> None:
    """503 means not yet, for as long as weights may take."""
    answers = iter([refusal(503, "Loading model")] * 3)
    listed = models("m")
    with Loopback({("GET", "/v1/models"): lambda body: next(answers, listed(body))}) as server:
        assert endpoint_of(server.base_url).model == "m"
        assert len(server.seen) == 4


def test_a_server_that_never_loads_is_given_up() -> None:
    """The wait has an end."""
    routes = {("GET", "/v1/models"): lambda _body: refusal(503, "Loading model")}
    assert "still loading after 900 s" in refusal_of(routes)


# What the server is, and its window


def test_llama_cpp_tells_the_window_of_one_slot() -> None:
    """98,304 tokens in four slots are 24,576 for a request, and that is what counts."""
    info = info_of(PlayedModel(window=24576, slots=4).llama_cpp(), context_tokens=98304)

    assert (info.engine, info.build) == ("llama.cpp", "b9000-abcdef")
    assert (info.window_tokens, info.window_source) == (24576, "server")
    assert info.flags["total_slots"] == 4
    assert "the plan says 98304, the server tells 24576" in info.notes[0]


def test_a_build_without_a_version_is_noted() -> None:
    """Two servers that were built from archives tell the same, whatever they are."""
    routes = PlayedModel().llama_cpp()
    told = routes["GET", "/props"]({})[1]
    routes["GET", "/props"] = page({**told, "build_info": "b0-unknown"})
    assert any("names no version" in note for note in info_of(routes).notes)
    assert info_of(PlayedModel().llama_cpp()).notes == ()


def test_the_narrowest_slot_decides() -> None:
    """A request may land in any of them."""
    routes = PlayedModel(window=32768).llama_cpp()
    routes["GET", "/slots"] = page([{"id": 0, "n_ctx": 16384}, {"id": 1, "n_ctx": 32768}])
    assert info_of(routes).window_tokens == 16384


def test_sampler_defaults_are_stamped_and_folders_are_not() -> None:
    """What a request does not say stays at the server's defaults; a path may name a person."""
    flags = info_of(PlayedModel().llama_cpp()).flags
    assert flags["sampler_defaults"] == {"top_k": 40, "min_p": 0.05}
    assert flags["model_file"] == "played.gguf"


def test_vllm_names_itself_and_its_window() -> None:
    """`max_model_len` is prompt and reply together."""
    routes = {
        ("GET", "/v1/models"): models("m", owned_by="vllm", max_model_len=40960),
        ("GET", "/version"): page({"version": "0.11.0"}),
    }
    info = info_of(routes)
    assert (info.engine, info.build, info.window_tokens) == ("vllm", "0.11.0", 40960)


def test_a_version_route_alone_is_not_vllm() -> None:
    """Many servers have one; vLLM also says whose models it lists."""
    routes = {("GET", "/v1/models"): models("m"), ("GET", "/version"): page({"version": "1"})}
    assert info_of(routes).engine == "unknown"


def test_a_window_in_the_list_counts_without_a_name() -> None:
    """Other engines list `max_model_len` too; they are believed and not named."""
    info = info_of({("GET", "/v1/models"): models("m", max_model_len=8192)})
    assert (info.engine, info.window_tokens, info.window_source) == ("unknown", 8192, "server")


def test_lm_studio_tells_what_it_loaded() -> None:
    """The loaded context counts, not what the model could have."""
    entry = {
        "id": "m",
        "state": "loaded",
        "quantization": "Q4_K_M",
        "max_context_length": 131072,
        "loaded_context_length": 4096,
    }
    routes = {
        ("GET", "/v1/models"): models("m", "other"),
        ("GET", "/api/v0/models"): page({"object": "list", "data": [{"id": "other"}, entry]}),
    }
    info = info_of(routes, served_name="m")
    assert (info.engine, info.window_tokens) == ("lm-studio", 4096)
    assert info.flags == {"quantization": "Q4_K_M"}


def test_a_server_that_answers_every_path_is_not_misnamed() -> None:
    """Some servers send an error object with status 200 for a path that they do not have."""
    nowhere = page({"error": "Unexpected endpoint or method."})
    paths = ("/props", "/slots", "/api/version", "/version", "/api/v0/models", "/")
    routes = {("GET", path): nowhere for path in paths}
    routes["GET", "/v1/models"] = models("m")
    assert info_of(routes).engine == "unknown"


def ollama_routes(loaded: list[dict[str, Any]]) -> dict[Any, Any]:
    return {
        ("GET", "/v1/models"): models("llama3:latest", "qwen3:8b", owned_by="library"),
        ("GET", "/"): page("Ollama is running"),
        ("GET", "/api/version"): page({"version": "0.12.3"}),
        ("GET", "/api/ps"): page({"models": loaded}),
    }


def test_ollama_tells_its_window_once_the_model_is_loaded() -> None:
    """Until then nobody knows it; asking again after a first reply finds it."""
    loaded: list[dict[str, Any]] = []
    with Loopback(ollama_routes(loaded)) as server:
        backend = external(server.base_url, served_name="llama3")
        with backend:
            before = backend.info()
            loaded.append({"name": "llama3:latest", "digest": "ab12", "context_length": 4096})
            after = backend.info()

    assert (before.engine, before.build) == ("ollama", "0.12.3")
    assert (before.window_tokens, before.window_source) == (None, "unknown")
    assert (after.window_tokens, after.window_source) == (4096, "server")
    assert after.model_digest == "ab12"


def test_an_imitation_of_ollama_is_not_named_so() -> None:
    """Other servers offer its version route for its clients; its front page is its own."""
    routes = ollama_routes([])
    del routes["GET", "/"]
    assert info_of(routes, served_name="llama3").engine == "unknown"


def test_the_plan_speaks_where_the_server_is_silent() -> None:
    """And the record says whose word it is."""
    info = info_of(PlayedModel().plain(), context_tokens=16384)
    assert (info.window_tokens, info.window_source) == (16384, "plan")


def test_nobody_knows_is_said_so() -> None:
    """An unknown window is no number."""
    info = info_of(PlayedModel().plain())
    assert (info.window_tokens, info.window_source) == (None, "unknown")


def test_a_window_that_is_no_count_is_not_believed() -> None:
    """True, zero and fractions are no windows."""
    for told in (True, 0, -1, 4096.5, "4096", None):
        assert (
            info_of({("GET", "/v1/models"): models("m", max_model_len=told)}).window_tokens is None
        )
