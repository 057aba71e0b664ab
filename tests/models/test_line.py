"""Proxies: never for this machine itself, the environment's for others."""

import pytest
from models.channel import MODEL, Play, request, transport

from harness.clock import SystemClock
from harness.errors import EndpointError
from harness.models.http import HttpChat
from harness.models.line import is_loopback
from harness.models.scripted import Behaviour, Script, ScriptedServer
from harness.records.run import Endpoint

DEAD_PROXY = "http://127.0.0.1:9"  # the discard port: nobody listens


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no proxy yet."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"])
def test_loopback_never_goes_to_a_proxy(
    play: Play, environment: pytest.MonkeyPatch, name: str
) -> None:
    """A newcomer behind a company proxy measures their own machine."""
    environment.setenv(name, DEAD_PROXY)

    assert play(Behaviour(content="ok")).ask().ended == "reply"


def test_another_host_goes_through_the_proxy_of_the_environment(
    environment: pytest.MonkeyPatch,
) -> None:
    """An endpoint elsewhere is reached as the operator's machine reaches everything else."""
    with ScriptedServer(Script(default=(Behaviour(content="ok"),))) as proxy:
        environment.setenv("http_proxy", proxy.root_url.replace("http://", "http://me:pw@"))
        endpoint = Endpoint(base_url="http://model.invalid:8000/v1", model=MODEL)
        with HttpChat(endpoint, transport(retries=0), 60, SystemClock(), None) as chat:
            assert chat.complete(request()).ended == "reply"
        (seen,) = proxy.requests()

    assert seen.path == "http://model.invalid:8000/v1/chat/completions"
    assert seen.headers["host"] == "model.invalid:8000"
    assert seen.headers["proxy-authorization"] == "Basic bWU6cHc="  # base64 of me:pw


def test_a_host_in_no_proxy_is_reached_directly(environment: pytest.MonkeyPatch) -> None:
    """The operator's exceptions hold."""
    with ScriptedServer(Script(default=(Behaviour(content="ok"),))) as proxy:
        environment.setenv("http_proxy", proxy.root_url)
        environment.setenv("no_proxy", "192.0.2.1")  # kept for documentation: nobody is there
        endpoint = Endpoint(base_url="http://192.0.2.1:8000/v1", model=MODEL)
        limits = transport(retries=0, connect_timeout_s=0.2)
        with HttpChat(endpoint, limits, 60, SystemClock(), None) as chat:
            assert chat.complete(request()).cause == "connect"
        assert proxy.requests() == ()


def test_a_dead_proxy_is_connect(environment: pytest.MonkeyPatch) -> None:
    """Who cannot be reached because of the proxy cannot be reached."""
    environment.setenv("http_proxy", DEAD_PROXY.removeprefix("http://"))  # often written so
    endpoint = Endpoint(base_url="http://model.invalid/v1", model=MODEL)
    with HttpChat(endpoint, transport(retries=0), 60, SystemClock(), None) as chat:
        assert chat.complete(request()).cause == "connect"


def test_a_proxy_of_another_kind_is_refused_with_a_way_out(
    environment: pytest.MonkeyPatch,
) -> None:
    """A SOCKS proxy is named as the reason, not met as a broken connection."""
    environment.setenv("all_proxy", "socks5://127.0.0.1:9")
    endpoint = Endpoint(base_url="http://model.invalid/v1", model=MODEL)
    with pytest.raises(EndpointError, match="proxy") as refused:
        HttpChat(endpoint, transport(), 60, SystemClock(), None)
    assert "no_proxy" in str(refused.value)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("localhost", True),
        ("model.localhost", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("192.168.1.7", False),
        ("localhost.example", False),
        ("model.invalid", False),
        ("::2", False),
    ],
)
def test_what_is_this_machine_itself(host: str, *, expected: bool) -> None:
    """Every spelling of loopback is one, and no other host is (RFC 1122, 4291, 6761)."""
    assert is_loopback(host) is expected
