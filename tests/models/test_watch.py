"""What counts as a token, and which limit is nearest: no server, only bytes and a clock."""

from datetime import UTC, datetime

import pytest
from models.channel import transport

from harness.clock import FakeClock
from harness.models.watch import DONE_GRACE_S, Watch

ROLE = b'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\n\n'
TOKEN = b'data: {"choices":[{"delta":{"content":"It"}}]}\n\n'
DONE = b"data: [DONE]\n\n"


class Watching:
    """A watch on a clock that only moves when told to: first byte 50 s, idle 10 s, call 100 s."""

    def __init__(self) -> None:
        self.clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
        limits = transport(first_byte_timeout_s=50, idle_timeout_s=10)
        self.watch = Watch(limits, 100, self.clock.monotonic)
        self.watch.sent()

    def saw(self, chunk: bytes, after_s: float = 1) -> None:
        self.clock.sleep(after_s)
        self.watch.received()
        self.watch.saw(chunk)


@pytest.mark.parametrize(
    "chunk",
    [
        TOKEN,
        b'data: {"choices": [ {"delta": {"content" : "It"}}]}\r\n\r\n',
        b'data: {"choices":[{"delta":{"content":null,"reasoning_content":"Hm"}}]}\n\n',
        b'data: {"choices":[{"delta":{"reasoning":" "}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\""}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":[{"type":"text","text":"It"}]}}]}\n\n',
        b'data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}\n\n',
    ],
)
def test_a_delta_that_holds_text_is_a_token(chunk: bytes) -> None:
    """Content, reasoning, parts and arguments of calls are progress, however they are spaced."""
    watching = Watching()
    watching.saw(ROLE)
    watching.saw(chunk)

    assert watching.watch.timings().first_token_s == pytest.approx(2)


@pytest.mark.parametrize(
    "chunk",
    [
        ROLE,
        b": ping\n\n",
        b"\n\n",
        b'data: {"choices":[{"delta":{"content":null}}]}\n\n',
        b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
        b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}\n\n',
        DONE,
    ],
)
def test_everything_else_is_no_token(chunk: bytes) -> None:
    """Roles, comments, finish reasons and counts move no clock."""
    watching = Watching()
    watching.saw(chunk)

    assert not watching.watch.tokens_flowed
    assert watching.watch.timings().last_token_s is None


@pytest.mark.parametrize("cut", range(1, len(TOKEN)))
def test_a_token_is_seen_wherever_the_network_cuts_it(cut: int) -> None:
    """A chunk of the network is no unit of the stream; one token stays one token."""
    watching = Watching()
    watching.saw(ROLE)
    watching.saw(TOKEN[:cut])
    watching.saw(TOKEN[cut:])
    watching.saw(b": ping\n\n", after_s=5)

    first, last = watching.watch.timings().first_token_s, watching.watch.timings().last_token_s
    assert first == last
    assert first in (2, 3)


@pytest.mark.parametrize("lead", ["", " ", "x", "\\n"])
def test_a_reply_about_the_format_does_not_end_itself(lead: str) -> None:
    """Only a line of the stream is an end mark; the same words inside a token are its text."""
    watching = Watching()
    watching.saw(ROLE)
    token = f'data: {{"choices":[{{"delta":{{"content":"{lead}data: [DONE]"}}}}]}}\n\n'
    for cut in range(1, len(token)):
        watching.saw(token[:cut].encode(), after_s=0)
        watching.saw(token[cut:].encode(), after_s=0)

    assert watching.watch.nearest()[1] == "silence"


def test_a_quoted_delta_is_no_token() -> None:
    """The quotes inside a JSON string are escaped, so quoting the format moves no clock."""
    watching = Watching()
    watching.saw(rb'data: {"choices":[{"delta":{"role":"x \"content\":\"no\""}}]}' + b"\n\n")

    assert not watching.watch.tokens_flowed


@pytest.mark.parametrize("cut", range(len(DONE)))
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_end_mark_is_seen_wherever_it_is_cut(cut: int, line_end: str) -> None:
    """The mark ends the wait behind any token, with both kinds of line ends, as the first line too."""
    mark = DONE.replace(b"\n", line_end.encode())
    for before in (b"", TOKEN.replace(b"\n", line_end.encode())):
        watching = Watching()
        for part in (before, mark[:cut], mark[cut:]):
            watching.saw(part, after_s=0)
        assert watching.watch.nearest() == (DONE_GRACE_S, "ended")


def test_times_count_from_the_sending() -> None:
    """Connecting has its own limit: the request's clock starts when the request goes out."""
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    watch = Watch(transport(first_byte_timeout_s=50), 100, clock.monotonic)
    clock.sleep(7)
    watch.sent()
    clock.sleep(2)
    watch.sent()  # the body follows the headers
    watch.received()

    assert watch.nearest() == (48, "first_token")
    assert watch.timings().first_byte_s == 2


def test_the_limits_follow_the_stream() -> None:
    """First-byte limit, then idle limit, then what is left of the call, then the end mark."""
    watching = Watching()
    assert watching.watch.nearest() == (50, "first_token")
    watching.saw(ROLE, after_s=20)
    watching.saw(b": ping\n\n", after_s=20)
    assert watching.watch.nearest() == (10, "first_token")
    watching.saw(TOKEN, after_s=5)
    assert watching.watch.nearest() == (10, "silence")
    watching.saw(b": ping\n\n", after_s=4)
    assert watching.watch.nearest() == (6, "silence")
    for _ in range(5):
        watching.saw(TOKEN, after_s=9)
    assert watching.watch.nearest() == (6, "call")
    watching.saw(DONE)
    assert watching.watch.nearest() == (DONE_GRACE_S, "ended")


def test_a_plain_body_shows_progress_but_no_tokens() -> None:
    """Bytes of a plain JSON body are progress; white space that keeps the line open is none."""
    watching = Watching()
    watching.saw(b"   ")
    assert watching.watch.nearest()[1] == "first_token"
    watching.saw(b'{"choices":[{"message":{"content":"It')
    assert watching.watch.nearest() == (10, "silence")
    watching.saw(b"\n\n", after_s=4)
    assert watching.watch.nearest() == (6, "silence")
    assert not watching.watch.tokens_flowed
