"""The channel to a model: what is sent, what is kept, and what is a reply."""

import json

import pytest
from models.channel import MODEL, Play, completion, request, transport

from harness.clock import SystemClock
from harness.errors import EndpointError
from harness.models.body import extra_body_problems
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, NativeCall
from harness.parsing.wire import decode
from harness.records.base import Json
from harness.records.response import Message
from harness.records.run import Endpoint

TEXT = "First line.\n\n  Second line, with ≠ ñ 漢 and a tab\tat the end.\n"


def test_a_streamed_reply_is_kept_as_it_came(play: Play) -> None:
    """The text that the server wrote comes out of the bytes that were kept, character by character."""
    played = play(Behaviour(content=TEXT, reasoning="Hm. So.", chunk_words=1))

    exchange = played.ask()

    assert (exchange.ended, exchange.cause, exchange.status) == ("reply", None, 200)
    assert exchange.content_type == "text/event-stream"
    assert exchange.body.startswith("data: ")
    assert exchange.body.endswith("data: [DONE]\n\n")
    assert completion(exchange).content == TEXT
    assert completion(exchange).reasoning == "Hm. So."
    assert exchange.retried == ()


def test_times_are_noted_in_their_order(play: Play) -> None:
    """First byte, first token, last token and end follow each other, as far apart as they were sent."""
    played = play(
        Behaviour(
            content="one two three four",
            chunk_words=1,
            headers_at_once=True,
            first_byte_delay_s=0.1,
            chunk_delay_s=0.1,
        )
    )

    times = played.ask().timings

    assert times.first_byte_s is not None
    assert times.first_token_s is not None
    assert times.last_token_s is not None
    assert times.first_byte_s < times.first_token_s < times.last_token_s < times.total_s
    # Waits before the role chunk and before the first token; then three between four tokens.
    # Only the lower side is sure: a busy machine adds to a wait and takes nothing from it.
    assert times.first_token_s >= 0.2
    assert times.last_token_s >= 0.5


def test_the_first_token_may_be_reasoning(play: Play) -> None:
    """A model that thinks before it answers is writing tokens from its first thought."""
    played = play(
        Behaviour(
            content="4",
            reasoning="2 and 2",
            reasoning_field="reasoning",
            finish_with_content=True,
            usage=False,
            done=False,
            chunk_delay_s=0.4,
        )
    )

    times = played.ask().timings

    assert times.first_token_s is not None
    assert times.last_token_s is not None
    assert times.last_token_s - times.first_token_s >= 0.1  # a wait of 0.4 s lies between


def test_the_body_that_is_sent_is_the_request_and_nothing_else(play: Play) -> None:
    """Sampling, seed and cap reach the server as they are; no tools key without tools."""
    played = play(Behaviour(content="ok"))

    played.ask("How many?")

    assert played.bodies() == [
        {
            "model": MODEL,
            "messages": [{"role": "user", "content": "How many?"}],
            "max_tokens": 100,
            "temperature": 0.6,
            "top_p": 0.95,
            "seed": 1001,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


def test_a_request_that_is_not_streamed_asks_for_plain_json(play: Play) -> None:
    """Without a stream there are no stream options, and no token times are made up."""
    played = play(Behaviour(content=TEXT))

    exchange = played.ask(stream=False)

    assert exchange.ended == "reply"
    assert exchange.content_type == "application/json"
    assert completion(exchange).content == TEXT
    assert exchange.timings.first_byte_s is not None
    assert exchange.timings.first_token_s is None
    assert played.bodies()[0]["stream"] is False
    assert "stream_options" not in played.bodies()[0]


def test_a_server_that_ignores_the_stream_is_understood(play: Play) -> None:
    """Plain JSON in place of a stream is a reply; its tokens were not seen coming."""
    exchange = play(Behaviour(content=TEXT, ignore_stream=True)).ask()

    assert exchange.ended == "reply"
    assert completion(exchange).content == TEXT
    assert exchange.timings.last_token_s is None


def test_extra_fields_stand_at_the_top_and_the_request_wins(play: Play) -> None:
    """The endpoint's fields lie below the request's own; what was sent is what is recorded."""
    played = play(
        Behaviour(content="ok"),
        extra_body={"reasoning_effort": "low", "cache_prompt": False},
    )

    exchange = played.ask(extra={"reasoning_effort": "high"})

    body = played.bodies()[0]
    assert body["reasoning_effort"] == "high"
    assert body["cache_prompt"] is False
    assert exchange.request.extra == {"reasoning_effort": "high", "cache_prompt": False}


@pytest.mark.parametrize(
    "field",
    [
        *("model", "messages", "prompt", "stream", "stream_options", "n", "stop", "ignore_eos"),
        *("max_tokens", "max_completion_tokens", "n_predict", "num_predict", "options"),
        *("temperature", "top_p", "top_k", "min_p", "seed", "samplers", "mirostat_tau"),
        *("presence_penalty", "frequency_penalty", "repeat_penalty", "logit_bias"),
        *("tools", "tool_choice", "functions", "response_format", "grammar", "json_schema"),
    ],
)
def test_an_extra_field_never_changes_what_is_asked(field: str) -> None:
    """A plan that sets the sampling, the cap or the form of a reply is refused: it moves scores."""
    endpoint = Endpoint(base_url="http://127.0.0.1:1/v1", model=MODEL, extra_body={field: 0})
    with pytest.raises(EndpointError, match="extra body") as refused:
        HttpChat(endpoint, transport(), 60, SystemClock(), None)
    assert field in str(refused.value)

    plain = Endpoint(base_url="http://127.0.0.1:1/v1", model=MODEL)
    with (
        HttpChat(plain, transport(), 60, SystemClock(), None) as chat,
        pytest.raises(EndpointError, match="extra body"),
    ):
        chat.complete(request(extra={field: 0}))


@pytest.mark.parametrize(
    "fields",
    [
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"reasoning_effort": "high", "reasoning": {"effort": "high"}, "reasoning_format": "none"},
        {"think": True, "thinking": {"type": "enabled"}, "enable_thinking": True},
        {"thinking_budget": 4096, "reasoning_budget": -1},
        {"cache_prompt": True, "keep_alive": "1h", "priority": 1, "user": "u", "provider": {}},
    ],
)
def test_a_plan_may_set_thinking_and_serving(play: Play, fields: dict[str, Json]) -> None:
    """What the field of a plan is there for reaches the server as it is written."""
    assert extra_body_problems(fields) == []
    played = play(Behaviour(content="ok"), extra_body=fields)

    played.ask()

    assert played.bodies()[0].items() >= fields.items()


def test_every_refused_extra_field_is_named_with_what_is_near() -> None:
    """A misspelt switch is told from a forbidden field, and both are told at once."""
    misspelt, forbidden = extra_body_problems({"top_k": 1, "think": True, "resoning_effort": "low"})

    assert (misspelt.where, forbidden.where) == ("extra_body.resoning_effort", "extra_body.top_k")
    assert "the same for every model" in forbidden.what
    assert 'did you mean "reasoning_effort"?' in misspelt.todo
    assert "chat_template_kwargs" in forbidden.todo  # nothing is near: all that there is


def test_tools_and_pictures_pass_through(play: Play) -> None:
    """What other instruments send, native tools and image parts, arrives unchanged."""
    tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [{"type": "text", "text": "What is it?"}, picture]
    played = play(Behaviour(content="ok"))

    played.ask(tools=(tool,), messages=({"role": "user", "content": parts},))

    body = played.bodies()[0]
    assert body["tools"] == [tool]
    assert body["messages"] == [{"role": "user", "content": parts}]


def test_native_calls_are_a_reply_when_tools_were_offered(play: Play) -> None:
    """Calls in the server's own format are wanted by whoever offers tools."""
    tool = {"type": "function", "function": {"name": "add"}}
    played = play(Behaviour(native_calls=(NativeCall(name="add"),), finish_reason="tool_calls"))

    exchange = played.ask(tools=(tool,))

    assert exchange.ended == "reply"
    assert completion(exchange).native_tool_calls == 1


def test_without_a_system_role_the_same_words_open_the_first_user_message(play: Play) -> None:
    """The fallback moves the system text; it adds and drops no word, and the record shows it."""
    talk = (
        Message(role="system", content="Be exact."),
        Message(role="user", content="One?"),
        Message(role="assistant", content="1"),
        Message(role="user", content="Two?"),
    )
    played = play(Behaviour(content="2"), system_role=False)

    exchange = played.ask(messages=talk)

    sent = [
        {"role": "user", "content": "Be exact.\n\nOne?"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "Two?"},
    ]
    assert played.bodies()[0]["messages"] == sent
    assert exchange.request.model_dump(mode="json")["messages"] == sent


def test_the_system_fallback_knows_pictures_and_lonely_system_texts(play: Play) -> None:
    """A first message of parts gets a text part in front; without a user, the text becomes one."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    played = play(Behaviour(content="ok"), system_role=False)

    played.ask(
        messages=({"role": "system", "content": "Look."}, {"role": "user", "content": [picture]})
    )
    played.ask(messages=({"role": "system", "content": "Speak."},))

    first, second = (body["messages"] for body in played.bodies())
    assert first == [{"role": "user", "content": [{"type": "text", "text": "Look."}, picture]}]
    assert second == [{"role": "user", "content": "Speak."}]


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(content=TEXT, crlf=True),
        Behaviour(content=TEXT, finish_with_content=True),
        Behaviour(content=TEXT, usage_with_finish=True),
        Behaviour(content=TEXT, finish_with_content=True, usage=False, crlf=True),
        Behaviour(content=TEXT, done=False),
        Behaviour(content=TEXT, finish_reason=None),
        Behaviour(content=TEXT, finish_reason="length"),
        Behaviour(content=TEXT, chunk_words=0),
        Behaviour(content=TEXT, content_type="application/json"),
        Behaviour(content="", completion_tokens=0),
    ],
    ids=lambda b: ",".join(sorted(b.model_fields_set - {"content"})) or "plain",
)
def test_every_way_to_end_a_reply_is_complete(play: Play, behaviour: Behaviour) -> None:
    """Line ends, a counts-only chunk, and where the finish reason stands make no difference."""
    exchange = play(behaviour).ask()

    assert (exchange.ended, exchange.cause, exchange.retried) == ("reply", None, ())
    assert completion(exchange).content == behaviour.content
    assert completion(exchange).finish_reason == behaviour.finish_reason


def test_token_counts_are_the_servers(play: Play) -> None:
    """The counts-only chunk is asked for and arrives."""
    exchange = play(Behaviour(content="a b", prompt_tokens=31, completion_tokens=17)).ask()

    assert completion(exchange).prompt_tokens == 31
    assert completion(exchange).completion_tokens == 17


def test_calls_share_one_connection_and_never_overlap(play: Play) -> None:
    """Requests go out one at a time, in order, over the connection that is already open."""
    played = play(Behaviour(content="ok"))

    for number in range(20):
        played.ask(f"number {number}")

    seen = played.server.requests()
    texts = [body["messages"][0]["content"] for body in played.bodies()]
    assert texts == [f"number {number}" for number in range(20)]
    assert {entry.connection for entry in seen} == {1}
    assert {entry.at_once for entry in seen} == {1}


def test_bytes_that_are_no_text_are_kept_as_they_are(play: Play) -> None:
    """A body that is no UTF-8 comes back from the record byte by byte."""
    played = play(Behaviour(raw_body="//4AgQ==", raw_body_encoding="base64"))

    exchange = played.ask()

    assert exchange.body_encoding == "base64"
    assert exchange.body_bytes == b"\xff\xfe\x00\x81"


def test_an_exchange_survives_its_own_json(play: Play) -> None:
    """What is written to disk is read back equal, so later stages see what came over the wire."""
    exchange = play(Behaviour(content=TEXT)).ask()

    again = type(exchange).model_validate_json(exchange.model_dump_json())

    assert again == exchange
    assert decode(again.body_bytes, again.content_type).content == TEXT
    assert json.loads(exchange.model_dump_json())["started_at"].endswith("+00:00")


@pytest.mark.parametrize(
    ("base_url", "problem"),
    [
        ("127.0.0.1:8080/v1", "http://"),
        ("ftp://host/v1", "http://"),
        ("http:///v1", "http://"),
        ("http://host:port/v1", "Port"),
        ("http://host/v1?key=1", "query"),
        ("http://host/a b", "cannot hold"),
        ("http://hóst/v1", "cannot hold"),
        ("http://a..b/v1", "empty or too long"),
        (f"http://{'a' * 64}.example/v1", "empty or too long"),
    ],
)
def test_an_address_that_cannot_be_called_is_refused_at_once(base_url: str, problem: str) -> None:
    """A wrong address is the operator's to correct, before any call, with the value shown."""
    with pytest.raises(EndpointError) as refused:
        HttpChat(Endpoint(base_url=base_url, model=MODEL), transport(), 60, SystemClock(), None)
    assert problem in str(refused.value)
    assert base_url in str(refused.value)


def test_a_closed_channel_refuses_to_be_used(play: Play) -> None:
    """Calling after close is a fault of ours and says so; closing twice is none."""
    played = play(Behaviour(content="ok"))
    played.chat.close()
    played.chat.close()

    with pytest.raises(RuntimeError, match="closed"):
        played.ask()
