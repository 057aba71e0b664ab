"""Whatever a server does wrong has its cause, and never becomes an answer."""

import socket
from datetime import UTC, datetime

import pytest
from models.channel import MODEL, Play, completion, request, saying, transport

from harness.clock import FakeClock, SystemClock
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, NativeCall
from harness.records.run import Endpoint

OK = Behaviour(content="It is 12.")
BROKEN = Behaviour(status=500, error="cuda error")
LOADING = Behaviour(status=503, error="Loading model")
WORDS = "one two three four five six seven eight"


def fake_clock() -> FakeClock:
    return FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_nobody_at_the_address_is_connect(play: Play) -> None:
    """A dead address is tried again as often as arnes.toml says, then it is the infrastructure's."""
    played = play(base_url=f"http://127.0.0.1:{free_port()}/v1", limits=transport(retries=2))

    exchange = played.ask()

    assert (exchange.ended, exchange.cause, exchange.status) == ("infrastructure", "connect", None)
    assert [attempt.cause for attempt in exchange.retried] == ["connect", "connect"]
    assert exchange.body == ""
    assert exchange.detail


def test_a_server_that_still_loads_is_waited_for(play: Play) -> None:
    """503 for a while and then a reply is a reply, with no retry used up."""
    played = play(OK.model_copy(update={"loading_s": 0.5}), limits=transport(retries=0))

    exchange = played.ask()

    assert exchange.ended == "reply"
    assert completion(exchange).content == OK.content
    assert exchange.retried
    assert {(a.cause, a.status) for a in exchange.retried} == {("loading", 503)}


def test_ninety_seconds_of_loading_are_within_the_limit(play: Play) -> None:
    """A model that needs a minute and a half to load is not scored on its loading."""
    clock = fake_clock()
    limits = transport(retries=0, retry_wait_s=2, loading_limit_s=900)
    played = play(*[LOADING] * 45, OK, limits=limits, clock=clock)

    exchange = played.ask()

    assert exchange.ended == "reply"
    assert len(exchange.retried) == 45
    assert clock.monotonic() == pytest.approx(90)


def test_loading_without_end_is_given_up_at_its_limit(play: Play) -> None:
    """The wait for a loading server is bounded, and its cause is its own."""
    clock = fake_clock()
    limits = transport(retry_wait_s=2, loading_limit_s=9)

    exchange = play(LOADING, limits=limits, clock=clock).ask()

    assert (exchange.ended, exchange.cause, exchange.status) == ("infrastructure", "loading", 503)
    assert "Loading model" in exchange.detail
    assert clock.monotonic() == pytest.approx(9)


@pytest.mark.parametrize(
    ("header", "waited_s"),
    [
        ("30", 30),  # as asked
        ("0", 2),  # never faster than our own pace
        ("99999", 60),  # never longer than the loading limit
        ("Thu, 01 Jan 2026 00:00:40 GMT", 40),  # a date, 40 s after the clock's start
        ("soon", 2),  # not understood
    ],
)
def test_retry_after_is_honoured_within_bounds(play: Play, header: str, waited_s: float) -> None:
    """The server's own pace is kept as far as our limits allow."""
    clock = fake_clock()
    limits = transport(retry_wait_s=2, loading_limit_s=60)
    busy = Behaviour(status=503, error="Loading model", retry_after=header)

    exchange = play(busy, OK, limits=limits, clock=clock).ask()

    assert exchange.ended == "reply"
    assert clock.monotonic() == pytest.approx(waited_s)


def test_a_server_error_is_repeated_with_the_very_same_request(play: Play) -> None:
    """A 500 in the middle of a talk is tried again, and nothing but the attempt is repeated."""
    played = play(BROKEN, OK)

    exchange = played.ask()

    assert exchange.ended == "reply"
    assert [(a.cause, a.status) for a in exchange.retried] == [("server_error", 500)]
    assert "cuda error" in exchange.retried[0].detail
    first, second = played.bodies()
    assert first == second


def test_a_server_error_that_stays_is_one_after_all_retries(play: Play) -> None:
    """After its retries the call is infrastructure, with every attempt on record."""
    clock = fake_clock()
    played = play(BROKEN, limits=transport(retries=2, retry_wait_s=3), clock=clock)

    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "server_error")
    assert len(exchange.retried) == 2
    assert len(played.bodies()) == 3
    assert clock.monotonic() == pytest.approx(6)
    assert "cuda error" in exchange.body


def test_waiting_for_a_loading_server_leaves_the_retries(play: Play) -> None:
    """503 and 500 in turn: only the 500 counts against the retries."""
    played = play(LOADING, BROKEN, LOADING, BROKEN, OK, limits=transport(retries=2))

    exchange = played.ask()

    assert exchange.ended == "reply"
    causes = [attempt.cause for attempt in exchange.retried]
    assert causes == ["loading", "server_error", "loading", "server_error"]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (400, "the request exceeds the available context size (24576 tokens)"),
        (400, "max_tokens must be at least 1, got -186"),
        (401, "unauthorized"),
        (404, "model not found"),
        (422, "unknown field"),
        (429, "too many requests"),
        (307, "elsewhere"),
    ],
)
def test_a_refused_request_is_never_repeated(play: Play, status: int, text: str) -> None:
    """The same request would be refused again; the server's words are kept for the operator."""
    played = play(Behaviour(status=status, error=text), OK)

    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "bad_request")
    assert exchange.status == status
    assert text in exchange.detail
    assert exchange.retried == ()
    assert len(played.bodies()) == 1


def test_a_refusal_without_json_keeps_its_text(play: Play) -> None:
    """A proxy's HTML page says more than its number."""
    page = "<html><body>\n<h1>413</h1>\n too  large</body></html>"
    exchange = play(Behaviour(status=413, raw_body=page, content_type="text/html")).ask()

    assert exchange.cause == "bad_request"
    assert "too large" in exchange.detail


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(error="context size exceeded", status=200),
        Behaviour(content=WORDS, error="context size exceeded", error_after_chunks=0),
        Behaviour(
            content=WORDS, error="context size exceeded", error_after_chunks=3, chunk_words=1
        ),
        Behaviour(raw_body='{"error": "context size exceeded"}'),
        Behaviour(raw_body='{"object": "error", "message": "context size exceeded", "code": 400}'),
        Behaviour(
            raw_body='data: {"error":{"message":"context size exceeded"}}\n\ndata: [DONE]\n\n',
            content_type="text/event-stream",
        ),
    ],
    ids=["200", "first event", "after tokens", "text", "object", "raw stream"],
)
def test_an_error_object_is_no_answer_whatever_the_status(play: Play, behaviour: Behaviour) -> None:
    """The text of an error was graded as an answer elsewhere; here it is infrastructure."""
    played = play(behaviour, OK)

    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "error_as_answer")
    assert exchange.status == 200
    assert "context size exceeded" in exchange.detail
    assert len(played.bodies()) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(raw_body="<html>It works!</html>", content_type="text/html"),
        Behaviour(raw_body=""),
        Behaviour(raw_body='{"status": "ok"}'),
        Behaviour(raw_body='{"choices": []}'),
        Behaviour(raw_body="[1, 2]"),
        Behaviour(raw_body="//4AgQ==", raw_body_encoding="base64"),
        Behaviour(raw_body="H4sIAAAAAAAAAwMAAAAAAAAAAAA=", raw_body_encoding="base64"),
    ],
    ids=["html", "empty", "status page", "no choices", "list", "no text", "gzip"],
)
def test_bytes_that_are_no_completion_are_not_scored(play: Play, behaviour: Behaviour) -> None:
    """A page that answers 200 is no model."""
    exchange = play(behaviour).ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "not_a_completion")
    assert exchange.retried == ()


@pytest.mark.parametrize("stream", [True, False])
def test_native_calls_that_nobody_offered_are_infrastructure(play: Play, *, stream: bool) -> None:
    """A server whose tool parser swallows the reply is misconfigured; the model wrote text."""
    behaviour = Behaviour(
        content="I call.", native_calls=(NativeCall(name="read_file"),), finish_reason="tool_calls"
    )

    exchange = play(behaviour).ask(stream=stream)

    assert (exchange.ended, exchange.cause) == ("infrastructure", "native_tools")
    assert exchange.retried == ()


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_that_the_server_cut_is_never_scored_or_repeated(
    play: Play, *, stream: bool
) -> None:
    """A window that was full at 512 tokens of 4096 is no model out of budget; it stays as full."""
    played = play(Behaviour(content=WORDS, finish_reason="length", completion_tokens=512), OK)

    exchange = played.ask(stream=stream, max_tokens=4096)

    assert (exchange.ended, exchange.cause) == ("infrastructure", "cut_short")
    assert "ended the reply at 512 of 4096 tokens" in exchange.detail
    assert exchange.retried == ()
    assert len(played.bodies()) == 1
    assert completion(exchange).content == WORDS  # what came is still evidence


@pytest.mark.parametrize("reason", ["abort", "cancelled"])
def test_a_request_that_the_server_gave_up_is_no_reply(play: Play, reason: str) -> None:
    """Half a reply that ends with any word but those of a reply is infrastructure."""
    exchange = play(Behaviour(content=WORDS, finish_reason=reason)).ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "error_as_answer")
    assert reason in exchange.detail


def test_a_kept_connection_that_was_closed_is_replaced_without_a_retry(play: Play) -> None:
    """Closed on reuse before any byte: one more try on a new connection, beside the retries."""
    played = play(OK, Behaviour(close_before_reply=True), OK, limits=transport(retries=0))

    assert played.ask("first").ended == "reply"
    second = played.ask("second")

    assert second.ended == "reply"
    assert [a.cause for a in second.retried] == ["connection_lost"]
    assert [entry.connection for entry in played.server.requests()] == [1, 1, 2]


def test_a_connection_that_the_server_closed_in_between_is_not_even_an_attempt(play: Play) -> None:
    """A server that closes behind its replies is met with a new connection each time."""
    played = play(OK.model_copy(update={"close_after_reply": True}), limits=transport(retries=0))

    exchanges = [played.ask() for _ in range(5)]

    assert {exchange.ended for exchange in exchanges} == {"reply"}


def test_only_one_new_connection_is_free(play: Play) -> None:
    """A server that closes every connection before a byte is lost after that one try."""
    played = play(OK, Behaviour(close_before_reply=True), limits=transport(retries=0))

    played.ask()
    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "connection_lost")
    assert len(exchange.retried) == 1


def test_the_free_connection_is_given_once_for_each_call(play: Play) -> None:
    """A call that loses a kept connection a second time has met a fault like any other."""
    closed = Behaviour(close_before_reply=True)
    played = play(OK, closed, LOADING, closed, OK, limits=transport(retries=0))

    played.ask()
    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "connection_lost")
    assert [attempt.cause for attempt in exchange.retried] == ["connection_lost", "loading"]


def test_a_kept_connection_that_breaks_in_the_reply_is_a_fault(play: Play) -> None:
    """Once a byte came back something was lost, and the retries are what is left."""
    half = Behaviour(content=WORDS, chunk_words=1, close_after_chunks=4)
    played = play(OK, half, OK, limits=transport(retries=0))

    played.ask()
    exchange = played.ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "connection_lost")
    assert exchange.retried == ()


def test_a_new_connection_that_is_closed_uses_the_retries(play: Play) -> None:
    """Before any byte, but not on reuse: a fault of the transport like any other."""
    played = play(Behaviour(close_before_reply=True), limits=transport(retries=2))

    exchange = played.ask()

    assert exchange.cause == "connection_lost"
    assert len(exchange.retried) == 2
    assert exchange.status is None


@pytest.mark.parametrize("stream", [True, False])
def test_a_reply_that_breaks_off_is_repeated_and_never_scored(play: Play, *, stream: bool) -> None:
    """Half a reply is no short reply; the next attempt's whole reply counts."""
    half = Behaviour(content=WORDS, chunk_words=1, close_after_chunks=4)

    exchange = play(half, OK).ask(stream=stream)

    assert exchange.ended == "reply"
    assert [(a.cause, a.status) for a in exchange.retried] == [("connection_lost", 200)]
    assert completion(exchange).content == OK.content


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(content=WORDS, chunk_words=1, close_after_chunks=4),
        Behaviour(content=WORDS, finish_reason=None, done=False),
        Behaviour(content=WORDS, finish_reason=None, done=False, usage=False),
        Behaviour(
            raw_body='data: {"choices":[{"delta":{"content":"one two"}}]}\n\ndata: {"choi',
            content_type="text/event-stream",
        ),
    ],
    ids=["closed", "ended", "ended without counts", "cut in an event"],
)
def test_a_stream_without_its_end_is_lost(play: Play, behaviour: Behaviour) -> None:
    """No finish reason and no end mark: nobody knows what was still to come."""
    exchange = play(behaviour, limits=transport(retries=1)).ask()

    assert (exchange.ended, exchange.cause) == ("infrastructure", "connection_lost")
    assert len(exchange.retried) == 1
    assert "one two" in completion(exchange).content  # what came is still evidence


def test_a_line_that_breaks_behind_the_reply_costs_nothing(play: Play) -> None:
    """Once the finish reason is here the reply is whole, however the connection ends."""
    exchange = play(Behaviour(content=WORDS, close_after_chunks=100)).ask()

    assert (exchange.ended, exchange.retried) == ("reply", ())
    assert completion(exchange).content == WORDS
    assert exchange.detail  # and the record says how it ended


def test_a_channel_works_on_after_every_fault(play: Play) -> None:
    """No fault leaves a connection behind that spoils the next call."""
    faults = (
        Behaviour(content=WORDS, chunk_words=1, close_after_chunks=2),
        Behaviour(status=400, error="no"),
        Behaviour(raw_body="<html>"),
        Behaviour(close_before_reply=True),
        BROKEN,
    )
    script = [step for fault in faults for step in (fault, OK)]
    played = play(*script, limits=transport(retries=0))

    ended = [played.ask().ended for _ in range(8)]

    # close_before_reply comes on a reused connection and is replaced at once, so four faults show.
    assert ended == ["infrastructure", "reply"] * 3 + ["reply", "infrastructure"]


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"220 mail.example ESMTP\r\n\r\n", "not_a_completion"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "connection_lost"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", "connection_lost"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "not_a_completion"),
    ],
    ids=["no HTTP", "cut in the headers", "cut in the body", "broken chunks"],
)
def test_a_service_that_breaks_http_is_found_out(data: bytes, cause: str) -> None:
    """Another service at that port, or one that dies in mid-sentence, raises nothing."""
    with (
        saying(data) as base_url,
        HttpChat(
            Endpoint(base_url=base_url, model=MODEL), transport(retries=0), 60, SystemClock(), None
        ) as chat,
    ):
        exchange = chat.complete(request())

    assert (exchange.ended, exchange.cause) == ("infrastructure", cause)
