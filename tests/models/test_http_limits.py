"""The four limits of a call, told apart: silence, stall, the whole call, and none of them.

Limits are tenths of a second. Where a test asserts how long something took, the bound above
is many times the limit: it tells one limit from another, not how busy the machine is.
"""

import socket

import pytest
from models.channel import MODEL, Play, completion, request, transport

from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour
from harness.records.run import Endpoint

NEVER_S = 60
WORDS = " ".join(f"w{number}" for number in range(60))


def test_thirty_tokens_and_then_nothing_is_a_stall(play: Play) -> None:
    """A stream that dries up is infrastructure, not a short answer; its tokens stay as evidence."""
    played = play(
        Behaviour(content=WORDS, chunk_words=1, stall_after_chunks=30),
        limits=transport(idle_timeout_s=1.0, retries=0),
    )

    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "stall")
    assert completion(exchange).content.split() == WORDS.split()[:30]
    assert exchange.timings.last_token_s is not None
    assert exchange.timings.total_s - exchange.timings.last_token_s >= 1.0


def test_a_stall_is_repeated_like_any_fault_of_the_transport(play: Play) -> None:
    """Nothing of the model's is in a stall, so the next attempt's reply counts."""
    played = play(
        Behaviour(content=WORDS, chunk_words=1, stall_after_chunks=3),
        Behaviour(content=WORDS),
        limits=transport(idle_timeout_s=0.3, retries=1),
    )

    exchange = played.ask()

    assert exchange.ended == "reply"
    assert [attempt.cause for attempt in exchange.retried] == ["stall"]
    assert exchange.retried[0].elapsed_s >= 0.3


def test_comment_lines_do_not_count_as_tokens(play: Play) -> None:
    """A server that only keeps the line open has stalled all the same."""
    played = play(
        Behaviour(content=WORDS, chunk_words=1, stall_after_chunks=3, ping_every_s=0.05),
        limits=transport(idle_timeout_s=0.5, retries=0),
    )

    exchange = played.ask()

    assert exchange.cause == "stall"
    assert exchange.body.count(": ping") >= 2  # they came, and were kept


def test_a_slow_stream_is_not_a_stall(play: Play) -> None:
    """The idle limit is between tokens: a reply may take many times as long."""
    played = play(
        Behaviour(content="a b c d e f g h", chunk_words=1, chunk_delay_s=0.3),
        limits=transport(idle_timeout_s=2.0, retries=0),
    )

    exchange = played.ask()

    assert exchange.ended == "reply"
    assert exchange.timings.total_s > 2.0


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(content=WORDS, first_byte_delay_s=NEVER_S),
        Behaviour(content=WORDS, first_byte_delay_s=NEVER_S, headers_at_once=True),
        Behaviour(content=WORDS, first_byte_delay_s=NEVER_S, ping_every_s=0.05),
        Behaviour(content=WORDS, stall_after_chunks=0),
        Behaviour(content=WORDS, stall_after_chunks=0, ping_every_s=0.05),
    ],
    ids=["silence", "headers", "comments", "role chunk", "role chunk and comments"],
)
def test_no_token_within_the_first_byte_limit(play: Play, behaviour: Behaviour) -> None:
    """A server that never gets to a token is dead, whatever it sends to look alive; asked once."""
    played = play(behaviour, limits=transport(first_byte_timeout_s=0.4, retries=2))

    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "no_first_byte")
    assert exchange.retried == ()
    assert 0.4 <= exchange.timings.total_s < 15


def test_a_port_that_takes_calls_and_never_answers_is_no_first_byte() -> None:
    """A process that is alive but hangs accepts the connection and that is all."""
    with socket.create_server(("127.0.0.1", 0)) as listener:  # the kernel accepts, nobody reads
        endpoint = Endpoint(
            base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1", model=MODEL
        )
        limits = transport(first_byte_timeout_s=0.3)
        with HttpChat(endpoint, limits, 60, SystemClock(), None) as chat:
            exchange = chat.complete(request())

    assert exchange.cause == "no_first_byte"
    assert exchange.timings.first_byte_s is None
    assert exchange.status is None


def test_a_long_prompt_may_be_silent_for_longer_than_the_idle_limit(play: Play) -> None:
    """Before the first token the first-byte limit holds, also when headers came at once."""
    played = play(
        Behaviour(content=WORDS, first_byte_delay_s=0.8, headers_at_once=True),
        limits=transport(idle_timeout_s=0.4, retries=0),
    )

    assert played.ask().ended == "reply"


def test_a_call_that_is_cut_while_tokens_flow_is_the_model_out_of_budget(play: Play) -> None:
    """At the limit of the whole call, what was written stays and is scored: `time`, no cause."""
    text = " ".join([WORDS] * 10)
    played = play(Behaviour(content=text, chunk_words=1, chunk_delay_s=0.1), call_timeout_s=1.0)

    exchange = played.ask()

    assert (exchange.ended, exchange.cause, exchange.status) == ("time", None, 200)
    written = completion(exchange).content.split()
    assert written
    assert written == text.split()[: len(written)]
    assert len(written) < 600
    assert 1.0 <= exchange.timings.total_s < 30  # the whole reply would take 60 s
    assert exchange.retried == ()


def test_the_call_limit_holds_between_two_tokens(play: Play) -> None:
    """The limit of the whole call does not wait for the idle limit to pass first."""
    played = play(Behaviour(content=WORDS, chunk_words=1, stall_after_chunks=3), call_timeout_s=1.0)

    exchange = played.ask()

    assert exchange.ended == "time"
    assert 1.0 <= exchange.timings.total_s < 10  # the idle limit is 20 s


def test_a_stall_before_the_call_limit_is_a_stall(play: Play) -> None:
    """Tokens that stopped flowing long before the call's end are not the model's slowness."""
    played = play(
        Behaviour(content=WORDS, chunk_words=1, stall_after_chunks=3),
        limits=transport(idle_timeout_s=0.3, retries=0),
        call_timeout_s=30,
    )

    exchange = played.ask()

    assert exchange.cause == "stall"
    assert exchange.timings.total_s < 15


@pytest.mark.parametrize("ping_every_s", [None, 0.05])
def test_a_call_limit_without_a_token_is_infrastructure(
    play: Play, ping_every_s: float | None
) -> None:
    """No token, no model to blame: the call's limit is then a first-byte limit."""
    behaviour = Behaviour(
        content=WORDS, first_byte_delay_s=NEVER_S, headers_at_once=True, ping_every_s=ping_every_s
    )

    exchange = play(behaviour, call_timeout_s=0.4).ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "no_first_byte")


def test_a_plain_body_that_stops_in_the_middle_is_a_stall(play: Play) -> None:
    """Without a stream, bytes are the progress that is waited for."""
    played = play(
        Behaviour(content=WORDS, ignore_stream=True, stall_after_chunks=2),
        limits=transport(idle_timeout_s=0.3, retries=0),
    )

    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "stall")


def test_a_stream_that_is_done_but_not_closed_is_a_reply(play: Play) -> None:
    """Behind the end mark nothing is waited for but the end of the body, and that not for long."""
    exchange = play(Behaviour(content=WORDS, hold_after_done=True)).ask()

    assert exchange.ended == "reply"
    assert completion(exchange).content == WORDS
    assert exchange.timings.total_s < 15  # the idle limit is 20 s


def test_a_stream_that_finished_without_a_mark_is_a_reply(play: Play) -> None:
    """A finish reason is an end: a line that then hangs has not stalled in the reply."""
    played = play(
        Behaviour(content=WORDS, done=False, hold_after_done=True),
        limits=transport(idle_timeout_s=0.3, retries=0),
    )

    exchange = played.ask()

    assert (exchange.ended, exchange.retried) == ("reply", ())
    assert completion(exchange).content == WORDS


def test_the_server_is_left_when_a_call_is_cut(play: Play) -> None:
    """A cut call hangs up, so that the server stops writing for nobody and can be asked again."""
    played = play(
        Behaviour(content=WORDS, chunk_words=1, stall_after_chunks=3),
        Behaviour(content="ok"),
        call_timeout_s=1.5,
    )

    assert played.ask().ended == "time"
    assert played.ask().ended == "reply"
    assert [entry.connection for entry in played.server.requests()] == [1, 2]
