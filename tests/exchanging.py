"""Exchanges made by hand, for tests of what counts them."""

from datetime import UTC, datetime

from harness.clock import FakeClock
from harness.records.base import canonical_json
from harness.records.response import Attempt, ChatRequest, Exchange, Message, Timings


def clock() -> FakeClock:
    return FakeClock(datetime(2026, 11, 30, 22, 0, tzinfo=UTC))


def exchange(
    written: int | None = 30, *, took_s: float = 2.0, cause: str | None = None, tries: int = 0
) -> Exchange:
    """A reply of so many tokens in so many seconds, or what the infrastructure made of it."""
    usage = (
        {} if written is None else {"usage": {"prompt_tokens": 100, "completion_tokens": written}}
    )
    message = {"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}
    attempt = Attempt(cause="server_error", detail="", elapsed_s=0.1)
    return Exchange(
        request=ChatRequest(
            model="m", messages=(Message(role="user", content="?"),), max_tokens=99,
            temperature=0.6, top_p=0.95, seed=1,
        ),
        started_at="2026-11-30T22:00:00+00:00",
        ended="infrastructure" if cause else "reply",
        cause=cause,
        content_type="application/json",
        body="" if cause else canonical_json({"choices": [message], **usage}).decode(),
        timings=Timings(first_token_s=1.0, last_token_s=1.0 + took_s, total_s=1.0 + took_s),
        retried=(attempt,) * tries,
    )  # fmt: skip
