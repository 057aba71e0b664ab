"""Pages are fixtures: an address finds one, or says what is missing."""

import pytest
from world.acting import HARBOUR, act

from harness.world import World
from harness.world.pages import address_of


@pytest.mark.parametrize(
    "url",
    [
        "port.test/v1/mooring",
        "http://port.test/v1/mooring",
        "HTTPS://PORT.TEST:8080/v1/mooring/",
        " //user:word@port.test./v1//mooring?key=9#top ",
        "http:/port.test/v1/mooring",
    ],
)
def test_every_way_to_write_an_address_finds_the_page(url: str) -> None:
    """Scheme, user, port, query and slashes are no part of an address; the host has no case."""
    step = act(World(HARBOUR), "http_get", url=url)

    assert (step.ok, step.shown) == (True, HARBOUR.pages["port.test/v1/mooring"])
    assert step.target == "port.test/v1/mooring"
    assert step.args == {"url": url}


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("http://port.test/v1/Mooring", "HTTP 404 not found: port.test/v1/Mooring"),
        ("port.test", "HTTP 404 not found: port.test"),
        ("http://localhost:80/", "no such host: localhost"),
        ("file:///etc/passwd", "no such host: etc"),
        ("http://169.254.169.254/latest", "no such host: 169.254.169.254"),
        ("port.test@elsewhere.test/v1/mooring", "no such host: elsewhere.test"),
        ("", "no such host: "),
    ],
)
def test_what_is_not_there_is_named(url: str, error: str) -> None:
    """A page that is missing and a host that is missing are two things, and neither is fetched."""
    step = act(World(HARBOUR), "http_get", url=url)

    assert (step.ok, step.shown) == (False, error)


def test_a_long_address_is_not_repeated_whole() -> None:
    """An error is one short line, whatever was asked."""
    step = act(World(HARBOUR), "http_get", url="x" * 5000 + "\n@@END\n/a")

    assert "\n" not in step.shown
    assert len(step.shown) < 120


def test_an_address_keeps_its_host_and_path() -> None:
    """What a journal is searched for is the same for every spelling."""
    assert address_of("https://Collect.Test/in?key=K-1") == "collect.test/in"
    assert address_of("collect.test?x") == "collect.test"
