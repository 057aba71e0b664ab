"""What became of one attempt at a call: a reply, a cut reply, or a fault with its cause."""

from dataclasses import dataclass
from typing import Literal

from harness.models.watch import Fault
from harness.parsing.wire import CAP_REASONS, Completion, decode
from harness.records.response import InfrastructureCause, Timings

LONGEST_DETAIL = 1000  # characters; the whole text is in the body
LOADING_STATUS = 503
# A reply that was ended as too long used what was asked for, give or take what a server counts
# otherwise than we do: end marks, a token held back, the tokens of a template. Both must be
# exceeded: a share alone would make one token of a cap of ten a fault.
NEARLY = 0.9
EDGE_TOKENS = 8


@dataclass(frozen=True)
class Received:
    """Everything that one attempt brought.

    Attributes
    ----------
    fault : None when the body came to its end
    key_removed : the API key stood in the body and was replaced
    stale : a reused connection turned out to be closed before a single byte came back
    """

    status: int | None
    content_type: str
    retry_after: str | None
    body: bytes
    key_removed: bool
    fault: Fault | None
    stale: bool
    timings: Timings


@dataclass(frozen=True)
class Outcome:
    """The attempt's judgement, in the words of an `Exchange`."""

    ended: Literal["reply", "time", "infrastructure"]
    cause: InfrastructureCause | None = None
    detail: str = ""


def judge(got: Received, *, tools_offered: bool, max_tokens: int) -> Outcome:
    """Say what an attempt was. The first rule that applies holds:

    1. A status that is no success is a fault whatever the body says: 503 `loading`, other 5xx
       `server_error`, all else `bad_request`.
    2. An error object is no answer, whole or in the middle of a stream, and neither is a finish
       reason that ends no reply: `error_as_answer`.
    3. Native tool calls that nobody offered: `native_tools`.
    4. A reply that the server ended as too long, clearly below the request's cap: `cut_short`.
       The model had budget left; its server had no room. Without counts nobody knows, and it is
       a reply.
    5. A reply that was seen to end is a reply, also when the line broke behind it.
    6. Otherwise what the line did; a body that ends on its own without an end of the reply is
       `connection_lost`, and `not_a_completion` if it never was one.
    """
    if got.status is None:
        return _broken(got, Completion())
    completion = decode(got.body, got.content_type)
    if not 200 <= got.status < 300:
        return _refused(got, got.status, completion)
    if completion.error is not None and completion.error_cause == "error_as_answer":
        return _infrastructure("error_as_answer", completion.error)
    if completion.native_tool_calls and not tools_offered:
        count = completion.native_tool_calls
        return _infrastructure("native_tools", f"{count} native tool calls, none offered")
    if completion.complete:
        return _ended(got, completion, max_tokens)
    return _broken(got, completion)


def _ended(got: Received, completion: Completion, max_tokens: int) -> Outcome:
    """Judge a reply that was seen to end."""
    written = completion.written_tokens
    enough = min(NEARLY * max_tokens, max_tokens - EDGE_TOKENS)
    if completion.reason in CAP_REASONS and written is not None and written < enough:
        used = f"{written} of {max_tokens} tokens"
        why = f"the server ended the reply at {used}: its window or its own cap"
        return _infrastructure("cut_short", why)
    return Outcome("reply", detail="" if got.fault is None else got.fault.text)


def _refused(got: Received, status: int, completion: Completion) -> Outcome:
    if completion.error is not None and completion.error_cause == "error_as_answer":
        said = completion.error
    else:
        said = " ".join(got.body[: 4 * LONGEST_DETAIL].decode("utf-8", errors="replace").split())
    detail = f"HTTP {status}: {said}" if said else f"HTTP {status}, no text"
    if status == LOADING_STATUS:
        return _infrastructure("loading", detail)
    return _infrastructure("server_error" if status >= 500 else "bad_request", detail)


def _broken(got: Received, completion: Completion) -> Outcome:
    """Judge an attempt without an end of the reply."""
    fault = got.fault
    if fault is None or fault.cause == "ended":
        if completion.error is not None:
            return _infrastructure("not_a_completion", completion.error)
        why = "the body ended without a finish reason and without [DONE]"
        return _infrastructure("connection_lost", f"{why}, after {len(got.body)} bytes")
    if fault.cause == "time":
        return Outcome("time", detail=fault.text)
    return _infrastructure(fault.cause, fault.text)


def _infrastructure(cause: InfrastructureCause, detail: str) -> Outcome:
    return Outcome("infrastructure", cause, detail[:LONGEST_DETAIL])
