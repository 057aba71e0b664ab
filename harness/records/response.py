"""What was asked of a model and what came back, verbatim.

An `Exchange` is evidence: it is written once, before anything is parsed, and everything
later is a pure function of it. The body is kept as the bytes that came over the wire.
"""

import base64
from typing import Literal

from pydantic import Field

from harness.records.base import Json, Record

Role = Literal["system", "user", "assistant", "tool"]


class ContentPart(Record):
    """One part of a message that is not plain text alone; images come with level M."""

    type: Literal["text", "image_url"]
    text: str | None = None
    image_url: dict[str, str] | None = None


class Message(Record):
    """One message of a conversation."""

    role: Role
    content: str | tuple[ContentPart, ...]


class ChatRequest(Record):
    """One request to `/chat/completions`, as it is sent (the key is never part of it).

    `tools` stays empty in every text-protocol task: native tool calls are an instrument of
    their own. `extra` holds the plan's body fields (thinking switches, reasoning effort).
    """

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float
    top_p: float
    seed: int
    stream: bool = True
    tools: tuple[dict[str, Json], ...] = ()
    extra: dict[str, Json] = Field(default_factory=dict)


InfrastructureCause = Literal[
    "connect",  # nobody answers at the address
    "connection_lost",  # closed in the middle
    "stall",  # tokens flowed, then none within the idle limit
    "no_first_byte",  # nothing at all within the first-byte limit
    "loading",  # still 503 after the loading limit
    "server_error",  # 5xx after all retries
    "bad_request",  # 4xx: the configuration does not fit this server
    "error_as_answer",  # an error, or an end by an error, where an answer should be
    "not_a_completion",  # bytes that are no completion
    "native_tools",  # native tool calls although none were offered
    "deadline",  # the campaign's deadline came before the reply's end
    "cut_short",  # ended by the server's window or its own cap, clearly below the request's
]


class Attempt(Record):
    """A try that did not yield a reply and was repeated: kept, counted, never scored."""

    cause: InfrastructureCause
    detail: str
    status: int | None = None
    elapsed_s: float


class Timings(Record):
    """Seconds from the moment the (last) request was sent. None where it never came."""

    first_byte_s: float | None = None
    first_token_s: float | None = None
    last_token_s: float | None = None
    total_s: float


class Exchange(Record):
    """One request and its outcome.

    ended : "reply" when the server finished, "time" when the whole-call limit cut a reply
        whose tokens were flowing (the model is out of budget; what was written is scored),
        "infrastructure" when there is no reply to score, with its `cause`.
    """

    request: ChatRequest
    started_at: str
    ended: Literal["reply", "time", "infrastructure"]
    cause: InfrastructureCause | None = None
    detail: str = ""
    status: int | None = None
    content_type: str = ""
    body: str = ""
    body_encoding: Literal["utf-8", "base64"] = "utf-8"
    timings: Timings
    retried: tuple[Attempt, ...] = ()

    @property
    def body_bytes(self) -> bytes:
        """The bytes that came over the wire."""
        if self.body_encoding == "base64":
            return base64.b64decode(self.body)
        return self.body.encode("utf-8")


def encode_body(body: bytes) -> tuple[str, Literal["utf-8", "base64"]]:
    """Return a body as JSON can carry it: the text itself if it is UTF-8, else base64."""
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(body).decode("ascii"), "base64"
