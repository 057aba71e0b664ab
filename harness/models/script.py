"""What a scripted server plays: written replies, and every way a server goes wrong."""

from hashlib import sha256
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness.records.base import Json, Record

Seconds = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class NativeCall(Record):
    """A native tool call, as a server with a tool parser sends it."""

    name: str
    arguments: str = "{}"


class Behaviour(Record):
    """One reply, and how it travels. The defaults are an honest server that answers at once.

    Parameters
    ----------
    prompt_tokens, completion_tokens : counted in words where they are not given; a reply that
        ends "length" has used up the cap of its request
    usage : the counts are sent; in a stream only if the request asks for them, as a last chunk
        without choices, or beside the finish reason (usage_with_finish)
    finish_with_content : the last chunk of content carries the finish reason
    model : the name in the reply; the one that was asked for where it is not given
    status, error : an error object is sent in place of a reply, with this status (200 too)
    error_after_chunks : the error object comes inside the stream instead, after so many chunks
    raw_body : these bytes in place of everything else, with this status
    chunk_words : 0 sends all content in one chunk
    headers_at_once : the headers are sent before the first wait
    ping_every_s : a comment line is sent that often during every wait
    stall_after_chunks : after so many chunks nothing more comes, and the line stays open
    close_before_reply : the connection is closed when the request has been read
    close_after_chunks : the connection is closed in the middle of the body
    close_after_reply : the connection is closed behind a whole reply, without notice
    hold_after_done : the body is not ended behind `[DONE]`
    loading_s : 503 "Loading model" until the server is that old; does not use up the list
    ignore_stream : plain JSON, although a stream was asked for
    """

    content: str = ""
    reasoning: str = ""
    reasoning_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    native_calls: tuple[NativeCall, ...] = ()
    finish_reason: str | None = "stop"
    model: str | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    usage: bool = True
    usage_with_finish: bool = False
    finish_with_content: bool = False

    status: Annotated[int, Field(ge=200, le=599)] = 200
    error: str | None = None
    error_after_chunks: Count | None = None
    raw_body: str | None = None
    raw_body_encoding: Literal["utf-8", "base64"] = "utf-8"
    content_type: str | None = None
    retry_after: str | None = None
    loading_s: Seconds = 0

    chunk_words: Count = 8
    first_byte_delay_s: Seconds = 0
    chunk_delay_s: Seconds = 0
    headers_at_once: bool = False
    ping_every_s: Annotated[float, Field(gt=0)] | None = None
    stall_after_chunks: Count | None = None
    close_before_reply: bool = False
    close_after_chunks: Count | None = None
    close_after_reply: bool = False
    hold_after_done: bool = False
    done: bool = True
    crlf: bool = False
    ignore_stream: bool = False

    @model_validator(mode="after")
    def _an_error_has_a_text(self) -> Self:
        if self.error_after_chunks is not None and self.error is None:
            raise ValueError("error_after_chunks needs the text of the error")
        return self


class Script(Record):
    """Everything one server plays.

    A request is looked up as opening, (model and prompt), model, prompt, default. The n-th request
    of a key gets its n-th behaviour; the last one repeats.

    Parameters
    ----------
    by_model : by the model name of the request, or by `model_and_prompt(name, text)`
    by_prompt : by `prompt_key(text)` of the last user message
    by_opening : by `prompt_key(text)` of the first user message, for conversations: a request with
        n replies of the assistant in it gets the behaviour n + 1, however often it is sent
    pages : JSON bodies of further GET paths (`/props`), looked up before the built-in ones
    loading_s : 503 on every completion and on `/health` until the server is that old, while
        `/v1/models` already answers
    requests_kept : how many of the last requests `GET /requests` returns
    """

    by_model: dict[str, tuple[Behaviour, ...]] = Field(default_factory=dict)
    by_prompt: dict[str, tuple[Behaviour, ...]] = Field(default_factory=dict)
    by_opening: dict[str, tuple[Behaviour, ...]] = Field(default_factory=dict)
    default: tuple[Behaviour, ...] = ()
    pages: dict[str, Json] = Field(default_factory=dict)
    loading_s: Seconds = 0
    requests_kept: Annotated[int, Field(gt=0)] = 1000

    @model_validator(mode="after")
    def _every_key_has_a_behaviour(self) -> Self:
        tables = self.by_model | self.by_prompt | self.by_opening
        empty = [key for key, plays in tables.items() if not plays]
        if empty:
            raise ValueError(f"no behaviour for {', '.join(map(repr, empty))}")
        return self


class SeenRequest(Record):
    """A completion request as the server got it.

    Parameters
    ----------
    headers : by lower-case name
    connection : number of the connection it came by, from 1
    at_once : how many completions were being answered when it came, itself included
    """

    path: str
    headers: dict[str, str]
    body: Json
    connection: int
    at_once: int


def prompt_key(text: str) -> str:
    """Return the key of `Script.by_prompt` for the text of a last user message."""
    return sha256(text.encode("utf-8")).hexdigest()


def model_and_prompt(model: str, text: str) -> str:
    """Return the key of `Script.by_model` that holds for one prompt of one model only."""
    return f"{model}\n{prompt_key(text)}"
