"""Bytes become a completion, or are said to be none; no bytes make the decoder raise."""

import json
import random
import time

import pytest

from harness.parsing.wire import Completion, decode

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def chunk(delta: object, finish: str | None = None, **extra: object) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"model": "m", "choices": [choice], **extra}, ensure_ascii=False)


def events(*payloads: str, end: str = "\n\n") -> bytes:
    return "".join(f"data: {payload}{end}" for payload in payloads).encode()


def document(message: object, finish: str | None = "stop", **extra: object) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"model": "m", "choices": [choice], **extra}).encode()


WHOLE = events(
    chunk({"role": "assistant", "content": ""}),
    chunk({"reasoning_content": "hm "}),
    chunk({"reasoning_content": "ñ"}),
    chunk({"content": "P1 "}),
    chunk({"content": "= 漢"}),
    chunk({}, "stop"),
    json.dumps({"model": "m", "choices": [], "usage": USAGE}),
    "[DONE]",
)


def test_a_stream_is_joined_in_its_order() -> None:
    """Content, reasoning, end, and usage of a stream come from wherever its chunks hold them."""
    assert decode(WHOLE, "text/event-stream") == Completion(
        content="P1 = 漢",
        reasoning="hm ñ",
        finish_reason="stop",
        prompt_tokens=7,
        completion_tokens=3,
        total_tokens=10,
        complete=True,
        model="m",
    )


@pytest.mark.parametrize("end", ["\r\n\r\n", "\n\n", "\r\r", "\n", "\r\n"])
def test_line_ends_do_not_matter(end: str) -> None:
    """LF, CRLF and CR end a line, and events without an empty line between them are events."""
    payloads = [line.removeprefix("data: ") for line in WHOLE.decode().split("\n\n") if line]

    assert decode(events(*payloads, end=end)) == decode(WHOLE)


@pytest.mark.parametrize(
    "tail",
    [
        b"data: [DONE]\r",
        b"data: [DONE]",
        b"data:[DONE]\n\n",
        b"data: [DONE] \r\n\r\n",
        b": bye\n\ndata: [DONE]\n\n",
        b"data: [DONE]\n\ndata: nothing counts behind the mark\n\n",
        b"",
    ],
)
def test_the_end_mark_may_be_odd_or_missing(tail: bytes) -> None:
    """A reply with a finish reason is complete however its stream is closed."""
    body = events(chunk({"content": "12"}), chunk({"content": "3"}, "stop")) + tail

    got = decode(body)

    assert (got.content, got.finish_reason, got.complete, got.error) == ("123", "stop", True, None)


def test_the_end_mark_alone_completes() -> None:
    """A server that names no reason but sends the end mark has ended the reply."""
    got = decode(events(chunk({"content": "x"}), "[DONE]"))

    assert (got.complete, got.finish_reason) == (True, None)


def test_a_stream_without_an_end_is_incomplete() -> None:
    """Chunks that just stop are no complete reply, and no error either."""
    got = decode(events(chunk({"content": "x"})))

    assert (got.content, got.complete, got.error) == ("x", False, None)


def test_fields_without_data_are_skipped() -> None:
    """Comments, ids, retry times, event names and empty data carry no text."""
    body = b": processing\n\ndata:\n\ndata:  \n\nid: 3\nretry: 10\nevent: message\n" + events(
        chunk({"content": "a"}, "stop")
    )

    assert decode(body).content == "a"


def test_one_event_may_have_several_data_lines() -> None:
    """Data lines of one event are one text, joined by line feeds."""
    pretty = json.dumps(json.loads(chunk({"content": "a\nb"}, "stop")), indent=1)
    body = "".join(f"data: {line}\n" for line in pretty.split("\n")) + "\n"

    assert decode(body.encode()).content == "a\nb"


@pytest.mark.parametrize("cut", range(0, len(WHOLE) + 1, 7))
def test_a_stream_cut_anywhere_decodes(cut: int) -> None:
    """Every prefix of a stream decodes to a prefix of its text, and is no broken completion."""
    whole, got = decode(WHOLE), decode(WHOLE[:cut])

    assert whole.content.startswith(got.content)
    assert whole.reasoning.startswith(got.reasoning)
    first_chunk = len(WHOLE.split(b"\n\n", 1)[0])
    assert (got.error is None) == (cut >= first_chunk)


def test_every_cut_of_every_line_form_decodes() -> None:
    """No place of a cut raises, with any line end and inside a character of several bytes."""
    for body in (WHOLE, WHOLE.replace(b"\n", b"\r\n"), WHOLE.replace(b"\n\n", b"\n")):
        for cut in range(len(body)):
            decode(body[:cut])


def test_random_bytes_never_raise() -> None:
    """What is no completion is said to be none, whatever it is."""
    draw = random.Random("wire")
    pieces = [b"data:", b"{", b"}", b"[DONE]", b"\n", b"\r", b'"choices":', b"[", b"]", b"null",
              b'{"index":0,"delta":', b"\xff", b"\xed\xa0\x80", b'"\\ud83d"', b"error:", b"1e999"]  # fmt: skip
    for _ in range(3000):
        body = b"".join(draw.choices(pieces, k=draw.randrange(30)))
        assert isinstance(decode(body), Completion)
        assert isinstance(decode(draw.randbytes(draw.randrange(60))), Completion)


def test_a_document_is_read() -> None:
    """A body that was not streamed is read like a stream."""
    message = {"role": "assistant", "content": "hi", "reasoning_content": "hm"}

    assert decode(document(message, "length", usage=USAGE), "application/json") == Completion(
        content="hi",
        reasoning="hm",
        finish_reason="length",
        prompt_tokens=7,
        completion_tokens=3,
        total_tokens=10,
        complete=True,
        model="m",
    )


@pytest.mark.parametrize(
    ("message", "content", "reasoning"),
    [
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": None, "reasoning": "r"}, "", "r"),
        ({"content": "a", "reasoning": "r", "reasoning_content": "r"}, "a", "r"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        ({"content": ["a", "b"]}, "ab", ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "r"}]},
                    {"type": "text", "text": "a"},
                ]
            },
            "a",
            "r",
        ),
        ({"content": [{"type": "image_url", "image_url": {"url": "x"}}, None, 3]}, "", ""),
    ],
)
def test_content_has_several_forms(message: object, content: str, reasoning: str) -> None:
    """Null, a text, and a list of parts are contents; reasoning has one of two field names."""
    got = decode(document(message))
    streamed = decode(events(chunk(message, "stop")))

    assert (got.content, got.reasoning) == (content, reasoning)
    assert (streamed.content, streamed.reasoning) == (content, reasoning)


def test_a_last_piece_may_repeat_the_message() -> None:
    """A whole message at the end of a stream is not counted twice."""
    last = {"index": 0, "delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"}
    body = events(chunk({"content": "a"}), chunk({"content": "b"}), json.dumps({"choices": [last]}))

    assert decode(body).content == "ab"


def test_only_the_first_choice_is_read() -> None:
    """Other choices were not asked for."""
    two = [
        {"index": 1, "message": {"content": "no"}},
        {"index": 0, "message": {"content": "yes"}, "finish_reason": "stop"},
    ]

    assert decode(json.dumps({"choices": two}).encode()).content == "yes"


def test_halves_of_a_character_are_joined() -> None:
    """A character that was split between chunks is whole, and half a character is no crash."""
    split = b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
    split += b'data: {"choices":[{"delta":{"content":"\\ude00!"}}]}\n\n'

    assert decode(split).content == "\N{GRINNING FACE}!"
    half = decode(split.split(b"\n\n", maxsplit=1)[0]).content
    half.encode("utf-8")
    assert half == "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "maximum context length is 4096", "code": 400}}',
        b'{"error": "maximum context length is 4096"}',
        b'{"object": "error", "message": "maximum context length is 4096", "code": 400}',
        b'data: {"error": {"message": "maximum context length is 4096"}}\n\ndata: [DONE]\n\n',
        b'error: {"code": 400, "message": "maximum context length is 4096"}\n\n',
        b'event: error\ndata: {"message": "maximum context length is 4096"}\n\n',
        b"event: error\ndata: maximum context length is 4096\n\n",
        events(chunk({"content": "so far"}), '{"error": {"message": "maximum context length is"}}'),
        events(chunk({"content": "x"}, None, error={"message": "maximum context length is 4096"})),
        b'{"choices": [{"message": {"content": ""}, "error": {"message": "maximum context"}}]}',
    ],
)
def test_an_error_object_is_no_answer(body: bytes) -> None:
    """An error is an error in every dress, and its text is not in the content."""
    got = decode(body)

    assert got.error_cause == "error_as_answer"
    assert "maximum context" in str(got.error)
    assert "maximum" not in got.content
    assert not got.complete


def test_the_message_of_an_error_is_shown() -> None:
    """An operator reads the message itself, or the object where there is none."""
    assert decode(b'{"error": {"message": "too long", "code": 400}}').error == "too long"
    assert decode(b'{"error": "too long"}').error == "too long"
    assert decode('{"error": {"código": "ñ"}}'.encode()).error == '{"código": "ñ"}'


@pytest.mark.parametrize("reason", ["abort", "error", "cancelled", "load", "timeout", "stopped?"])
def test_an_end_that_is_no_replys_is_an_error(reason: str) -> None:
    """A finish reason outside the closed list ends a request that went wrong, and is shown."""
    for body in (
        document({"content": "x"}, reason),
        events(chunk({"content": "x"}), chunk({}, reason), "[DONE]"),
        events(chunk({"content": "x"}, reason), chunk({}, "stop"), "[DONE]"),
    ):
        got = decode(body)
        assert (got.error_cause, got.complete) == ("error_as_answer", False)
        assert repr(reason) in str(got.error)


@pytest.mark.parametrize(
    "reason",
    [
        *("stop", "eos", "eos_token", "stop_sequence", "end_turn", "STOP"),
        *("length", "max_tokens", "model_length", "content_filter", "tool_calls", "function_call"),
    ],
)
def test_an_end_of_a_reply_is_known_by_its_reason(reason: str) -> None:
    """Every spelling of an ordinary end is one, in small and in capital letters."""
    for body in (document({"content": "x"}, reason), events(chunk({"content": "x"}, reason))):
        got = decode(body)
        assert (got.complete, got.error, got.finish_reason) == (True, None, reason)
        assert got.reason == reason.lower()


@pytest.mark.parametrize(
    ("usage", "text", "written"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}, "x", 3),
        ({"prompt_tokens": 7, "completion_tokens": 3}, "x", 3),
        ({"completion_tokens": 3, "total_tokens": 10}, "x", 3),  # the prompt is not known
        ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 60}, "x", 53),
        ({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 0}, "x", 3),
        ({"prompt_tokens": 7, "total_tokens": 10}, "x", None),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, "x", None),
        ({"prompt_tokens": 7, "completion_tokens": 0, "total_tokens": 7}, "", 0),
        (None, "x", None),
    ],
)
def test_what_was_written_is_counted_by_the_server(
    usage: object, text: str, written: int | None
) -> None:
    """Reasoning that stands in the total only is counted; a zero beside a text is no count."""
    assert decode(document({"content": text}, usage=usage)).written_tokens == written


@pytest.mark.parametrize("nothing", [None, "", {}, []])
def test_an_empty_error_field_is_no_error(nothing: object) -> None:
    """Some servers send the field with nothing in it."""
    assert decode(document({"content": "x"}, error=nothing)).error is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n",
        b"Internal Server Error",
        b"<html><body>502 Bad Gateway</body></html>",
        b"{}",
        b"[]",
        b'"text"',
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [{"text": "not a chat", "index": 0, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": "cut',
        b'{"detail": "Not Found"}',
        b"data: [DONE]\n\n",
        b": ping\n\n: ping\n\n",
        b"[" * 100_000,
        b'{"choices":' * 50_000,
        events(chunk({"content": "a"}), "a line of a proxy", chunk({"content": "b"}, "stop")),
    ],
)
def test_bytes_that_are_no_completion_say_so(body: bytes) -> None:
    """A body without a chat completion is an error, not an empty reply."""
    got = decode(body)

    assert got.error_cause == "not_a_completion"
    assert got.error
    assert not got.complete


def test_deep_brackets_never_raise() -> None:
    """An error of brackets as deep as the JSON reader allows is still shown."""
    for depth in range(700, 1100):
        assert decode(b'{"error":' + b"[" * depth + b"]" * depth + b"}").error


@pytest.mark.parametrize("count", [True, -1, 3.5, "3", None, [3]])
def test_a_token_count_is_a_whole_number(count: object) -> None:
    """What is no count is no count: never a zero, never a guess."""
    usage = {"prompt_tokens": count, "completion_tokens": 3}

    got = decode(document({"content": "x"}, usage=usage))

    assert (got.prompt_tokens, got.completion_tokens) == (None, 3)


def test_no_token_is_a_count() -> None:
    """Zero is a number that a server may report."""
    assert decode(document({"content": ""}, usage={"completion_tokens": 0})).completion_tokens == 0


def test_usage_null_keeps_what_was_known() -> None:
    """A usage field that is null in every other chunk erases nothing."""
    body = events(
        chunk({"content": "x"}, None, usage=None),
        chunk({}, "stop", usage=USAGE),
        chunk({}, None, usage=None),
    )

    assert decode(body).completion_tokens == 3


def test_native_tool_calls_are_counted_once() -> None:
    """Pieces of one call in many chunks are one call."""

    def call(index: int, text: str) -> str:
        return chunk({"tool_calls": [{"index": index, "function": {"arguments": text}}]})

    streamed = decode(events(call(0, '{"a"'), call(0, ": 1}"), call(1, "{}")))
    whole = decode(document({"content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]}))
    old = decode(document({"content": None, "function_call": {"name": "f"}}))

    assert [c.native_tool_calls for c in (streamed, whole, old)] == [2, 2, 1]


def test_the_bytes_decide_what_they_are() -> None:
    """A server that mislabels a stream or a document is read all the same."""
    assert decode(WHOLE, "application/json") == decode(WHOLE, "text/event-stream")
    body = document({"content": "x"})
    assert decode(body, "text/event-stream") == decode(b"\xef\xbb\xbf" + body, "application/json")


def test_a_long_stream_is_quick() -> None:
    """A reply of 20,000 chunks takes a fraction of a second.

    Measured 0.11 s of CPU; one second leaves room for a busy machine and shows a square law.
    """
    body = events(*[chunk({"content": "word "})] * 20_000, chunk({}, "stop"), "[DONE]")
    started = time.process_time()

    assert len(decode(body).content) == 100_000

    assert time.process_time() - started < 1.0
