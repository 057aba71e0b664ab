"""The doctor says what was found and what to do, and prints nothing."""

from pathlib import Path

import pytest
from backends.loopback import Loopback, PlayedModel, models, page, refusal

from harness.backends.doctor import examine
from harness.backends.finding import Finding

MACHINE = ["Python", "processor", "memory", "disk", "GPU", "embedded model"]


def server_finding(url: str) -> Finding:
    found = examine(Path.cwd(), url)[-1]
    assert found.name == "server"
    return found


def test_every_part_of_the_machine_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each check has its line, found or not; whoever asked prints them."""
    findings = examine(tmp_path)

    assert [f.name for f in findings] == MACHINE
    assert all(f.found for f in findings)
    assert capsys.readouterr() == ("", "")


def test_what_is_not_well_says_what_to_do(tmp_path: Path) -> None:
    """A finding without a cure is a complaint; a cure for what is well is noise."""
    for found in (*examine(tmp_path), server_finding("http://127.0.0.1:9")):
        assert bool(found.todo) == (found.ok is False), found


def test_a_server_is_described() -> None:
    """Engine, window and models, in one line."""
    with Loopback(PlayedModel(window=24576).llama_cpp()) as server:
        found = server_finding(server.root_url)
    assert found.ok is True
    assert found.found == "llama.cpp b9000-abcdef, 24576 tokens, models: played"


def test_a_server_that_does_not_name_itself_is_well_too() -> None:
    """An unknown engine can be measured."""
    with Loopback({("GET", "/v1/models"): models("a", "b")}) as server:
        found = server_finding(server.base_url)
    assert found.ok is True
    assert "does not name itself, window not told, models: a, b" in found.found


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (refusal(401, "no"), "refuses the key"),
        (refusal(503, "Loading model"), "still loading"),
        (page({"object": "list", "data": []})({}), "lists no model"),
        (page("<html>")({}), "no list of models"),
    ],
)
def test_what_is_wrong_with_a_server_is_told_at_once(answer: tuple, wanted: str) -> None:
    """The doctor does not wait: a loading server is asked again by a person."""
    with Loopback({("GET", "/v1/models"): lambda _body: answer}) as server:
        found = server_finding(server.base_url)
    assert found.ok is False
    assert wanted in found.found


def test_what_is_wrong_with_a_server_names_its_address() -> None:
    """A wrong port is seen in the line; an address that is none stands there once."""
    assert server_finding("http://127.0.0.1:9/v1").found.startswith("http://127.0.0.1:9/v1: ")
    assert server_finding("localhost:8080").found.count("localhost:8080") == 1


def test_an_address_that_is_none_is_told() -> None:
    """Forgetting http:// is the usual slip."""
    assert "no http:// or https://" in server_finding("localhost:8080").found
