"""The key is sent with every call and stands in no record."""

import json

import pytest
from models.channel import MODEL, Play, completion, request, saying, transport

from harness.clock import SystemClock
from harness.errors import EndpointError
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour
from harness.records.run import Endpoint

KEY = "sk-loc/al-7f3a91"


def test_the_key_is_sent_as_a_bearer_token(play: Play) -> None:
    """With a key there is an Authorization header, without one there is none."""
    played = play(Behaviour(content="ok"), key=KEY)
    played.ask()
    assert played.server.requests()[0].headers["authorization"] == f"Bearer {KEY}"

    played = play(Behaviour(content="ok"))
    played.ask()
    assert "authorization" not in played.server.requests()[0].headers


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(status=401, error=f"wrong key {KEY}"),
        Behaviour(status=500, error=f"wrong key {KEY}"),
        Behaviour(status=401, raw_body=f"wrong key {KEY}"),
        Behaviour(status=200, error=f"wrong key {KEY}"),
        Behaviour(content=f"You sent {KEY}."),
        Behaviour(content=f"You sent {KEY}.", ignore_stream=True),
        Behaviour(status=401, raw_body='{"error": "' + KEY.replace("/", "\\/") + '"}'),
        Behaviour(content="a b", error=f"wrong key {KEY}", error_after_chunks=1),
        Behaviour(content="ok", content_type=f"text/event-stream; key={KEY}"),
    ],
    ids=["401", "500", "text", "200", "reply", "plain reply", "escaped", "in stream", "header"],
)
def test_a_key_that_comes_back_is_in_no_record(play: Play, behaviour: Behaviour) -> None:
    """A server that repeats the key does not get it into the campaign's files."""
    exchange = play(behaviour, key=KEY).ask()

    written = exchange.model_dump_json()
    assert KEY not in written
    assert KEY not in json.dumps(json.loads(written))
    assert KEY.replace("/", "\\/") not in exchange.body
    assert "[key removed]" in written


def test_a_key_in_the_words_of_a_broken_line_is_in_no_record() -> None:
    """What is quoted from bytes that are no HTTP is cleaned like everything else."""
    with (
        saying(f"go away, {KEY}\r\n\r\n".encode()) as base_url,
        HttpChat(
            Endpoint(base_url=base_url, model=MODEL), transport(retries=0), 60, SystemClock(), KEY
        ) as chat,
    ):
        exchange = chat.complete(request())

    assert "go away, [key removed]" in exchange.detail
    assert KEY not in exchange.model_dump_json()


def test_a_removal_is_flagged(play: Play) -> None:
    """A changed body says that it was changed, in a reply too."""
    exchange = play(Behaviour(content=f"You sent {KEY}."), key=KEY).ask()

    assert exchange.ended == "reply"
    assert "key" in exchange.detail
    assert completion(exchange).content == "You sent [key removed]."


def test_without_a_removal_nothing_is_flagged(play: Play) -> None:
    """The flag means something."""
    assert play(Behaviour(content="ok"), key=KEY).ask().detail == ""


@pytest.mark.parametrize("placeholder", ["EMPTY", "ollama", "lm-studio", "none", "token-abc123"])
def test_a_placeholder_is_no_secret_and_leaves_replies_alone(play: Play, placeholder: str) -> None:
    """Words that local servers take as a key would otherwise be cut out of what models write."""
    text = f"It is {placeholder}."
    played = play(Behaviour(content=text), key=placeholder)

    exchange = played.ask()

    assert completion(exchange).content == text
    assert played.server.requests()[0].headers["authorization"] == f"Bearer {placeholder}"


@pytest.mark.parametrize("key", ["two words", "line\nend", "naïve"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str) -> None:
    """The operator is told what is wrong with the key, and nobody reads it over a shoulder."""
    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1", model=MODEL)
    with pytest.raises(EndpointError, match="key") as refused:
        HttpChat(endpoint, transport(), 60, SystemClock(), key)
    assert key not in str(refused.value)


@pytest.mark.parametrize("key", ["answer", "k-1", "0123456789abcde"])
def test_a_short_key_is_refused_without_being_shown(key: str) -> None:
    """Removing a word from replies would alter evidence, so such a key is refused at once."""
    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1", model=MODEL)
    with pytest.raises(EndpointError, match="key") as refused:
        HttpChat(endpoint, transport(), 60, SystemClock(), key)
    (problem,) = refused.value.problems
    assert "shorter than 16 characters" in problem.what
    assert problem.todo
    assert key not in str(refused.value)


def test_a_key_of_sixteen_characters_is_taken_and_removed(play: Play) -> None:
    """The shortest key that is a secret is treated as one."""
    key = "0123456789abcdef"
    exchange = play(Behaviour(content=f"It is {key}."), key=key).ask()

    assert completion(exchange).content == "It is [key removed]."


def test_a_key_in_the_address_is_refused_without_being_shown() -> None:
    """An address is written into every record, so no key may stand in it."""
    endpoint = Endpoint(base_url="http://me:hush99@127.0.0.1:1/v1", model=MODEL)
    with pytest.raises(EndpointError) as refused:
        HttpChat(endpoint, transport(), 60, SystemClock(), None)
    assert "hush99" not in str(refused.value)
