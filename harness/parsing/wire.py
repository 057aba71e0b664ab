"""What came over the wire: a stream of events or one JSON body, as a completion.

A body is read as far as it goes: a stream may be cut anywhere. An error object is an error
whatever the HTTP status said, and its text never becomes an answer.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from harness.records.base import Json

LONGEST_ERROR = 500  # characters of an error that are kept
DONE = "[DONE]"
EVENT_FIELD = re.compile(r"(?:data|event|id|retry|error)?:")
SURROGATE = re.compile("[\ud800-\udfff]")
CAP_REASONS = frozenset({"length", "max_tokens", "model_length"})  # the cap, as servers spell it
FILTER_REASON = "content_filter"
# Every reason that ends a reply. Any other word ("abort", "error", "load") ends a request that
# went wrong on the server's side, and no model is scored on half of what it would have written.
REPLY_REASONS = (
    CAP_REASONS
    | {"stop", "eos", "eos_token", "stop_sequence", "end_turn", FILTER_REASON}
    | {"tool_calls", "function_call"}
)
REASONING_FIELDS = ("reasoning_content", "reasoning")  # the first that is filled: some send both


@dataclass(frozen=True)
class Completion:
    """One reply as the server told it.

    content, reasoning : text of the message and of its reasoning field, empty where there is none
    finish_reason : in the server's own letters; it is judged by `reason`
    prompt_tokens, completion_tokens, total_tokens : the server's own counts, None where it gave
        none
    complete : the reply was seen to end: a finish reason, the end mark, or a whole JSON body
    error : what the bytes are where they are an error object, an end that is no reply's, or no
        completion
    error_cause : which of the two
    native_tool_calls : calls in the server's own format, wanted or not
    """

    content: str = ""
    reasoning: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    complete: bool = False
    error: str | None = None
    error_cause: Literal["error_as_answer", "not_a_completion"] | None = None
    native_tool_calls: int = 0
    model: str | None = None

    @property
    def reason(self) -> str:
        """The finish reason in small letters, empty where there is none."""
        return (self.finish_reason or "").lower()

    @property
    def written_tokens(self) -> int | None:
        """How much the model wrote by the server's count; None where there is no such count.

        Some servers leave reasoning out of `completion_tokens` and count it in the total only.
        Nothing written beside a text is a field that was filled in, and no count.
        """
        written = self.completion_tokens
        if written is None or (not written and (self.content or self.reasoning)):
            return None
        if self.prompt_tokens is None or self.total_tokens is None:
            return written
        return max(written, self.total_tokens - self.prompt_tokens)


def decode(body: bytes, content_type: str = "") -> Completion:
    """Decode a response body, whole or cut. No bytes make it raise.

    Parameters
    ----------
    body : the bytes behind HTTP's own encodings
    content_type : the header; it decides only where the bytes do not show what they are
    """
    text = body.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    reading = _Reading()
    if EVENT_FIELD.match(text) or ("event-stream" in content_type and text[:1] != "{"):
        reading.stream(text)
    else:
        reading.document(text)
    if not reading.choices:
        reading.unreadable = f"no completion in: {text[:LONGEST_ERROR] or 'an empty body'}"
    return reading.completion()


@dataclass
class _Reading:
    """A completion while it is read."""

    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    usage: tuple[int | None, int | None, int | None] = (None, None, None)
    ended: bool = False
    choices: int = 0
    error: str | None = None
    unreadable: str | None = None
    calls: set[object] = field(default_factory=set)
    model: str | None = None

    def stream(self, text: str) -> None:
        """Read events up to the end mark, or to where the bytes stop."""
        for event in _events(text):
            for value in _objects(event.lines):
                if value is not None:
                    self.chunk(value)
                    if event.name == "error" and self.error is None:
                        self.error = _shown(value)
                elif event.name == "error":
                    self.error = self.error or _shown("\n".join(event.lines))
                elif event.whole:  # an event that is cut is no fault of the server
                    self.unreadable = f"an event is no JSON object: {_shown(event.lines[0])}"
            if event.last:
                self.ended = True
                return

    def document(self, text: str) -> None:
        """Read one JSON body."""
        value = _object(text)
        if value is not None:
            self.ended = True
            self.chunk(value)

    def chunk(self, value: dict[str, Json]) -> None:
        """Take in one object: a whole completion, or a piece of one."""
        self.error = self.error or _error_in(value)
        if self.model is None:
            self.model = _text(value.get("model")) or None
        usage = value.get("usage")
        if isinstance(usage, dict):
            self.usage = (
                _count(usage.get("prompt_tokens")),
                _count(usage.get("completion_tokens")),
                _count(usage.get("total_tokens")),
            )
        choices = value.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self.choice(choice)
                break

    def choice(self, choice: dict[str, Json]) -> None:
        """Take in the first choice of an object."""
        self.error = self.error or _error_in(choice)
        part = choice.get("delta") or {}
        if not part and not any(self.content):  # a last piece may repeat the message whole
            part = choice.get("message") or {}
        if isinstance(part, dict) and ("delta" in choice or "message" in choice):
            self.choices += 1
            self.message(part)
        reason = _text(choice.get("finish_reason"))
        if reason:
            self.finish_reason = reason
            self.ended = True
            if reason.lower() not in REPLY_REASONS:
                why = f"the server ended the reply with {reason[:LONGEST_ERROR]!r}"
                self.error = self.error or why

    def message(self, message: dict[str, Json]) -> None:
        """Take in a message, or a piece of one."""
        visible, thought = _parts(message.get("content"))
        self.content.append(visible)
        self.reasoning.append(thought)
        for name in REASONING_FIELDS:
            given = "".join(_parts(message.get(name)))
            if given:
                self.reasoning.append(given)
                break
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            index = call.get("index") if isinstance(call, dict) else None
            self.calls.add(index if isinstance(index, int) else place)
        if message.get("function_call"):
            self.calls.add("function_call")

    def completion(self) -> Completion:
        """Return what was read."""
        error = self.error or self.unreadable
        cause: Literal["error_as_answer", "not_a_completion"] | None = None
        if error:
            cause = "error_as_answer" if self.error else "not_a_completion"
        return Completion(
            content=_whole_characters("".join(self.content)),
            reasoning=_whole_characters("".join(self.reasoning)),
            finish_reason=self.finish_reason,
            prompt_tokens=self.usage[0],
            completion_tokens=self.usage[1],
            total_tokens=self.usage[2],
            complete=self.ended and error is None,
            error=error,
            error_cause=cause,
            native_tool_calls=len(self.calls),
            model=self.model,
        )


@dataclass
class _Event:
    """One event: its name, its data lines, was it closed by an empty line, does it end all."""

    name: str = ""
    lines: list[str] = field(default_factory=list)
    whole: bool = False
    last: bool = False


def _events(text: str) -> Iterator[_Event]:
    """Yield the events of a stream; an `error:` field is an event of that name."""
    event = _Event()
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        name, _, value = line.partition(":")
        if not line:
            event.whole = True
            yield event
            event = _Event()
        elif name == "data" and value.strip() == DONE:
            event.whole = event.last = True
            yield event
            return
        elif name == "data":
            event.lines.append(value)
        elif name == "event":
            event.name = value.strip()
        elif name == "error":
            yield _Event("error", [value])
    yield event


def _objects(lines: list[str]) -> Iterator[dict[str, Json] | None]:
    """Yield the object that an event's lines are together, or one for each line; None if none."""
    if len(lines) > 1:
        value = _object("\n".join(lines))
        if value is not None:
            yield value
            return
    for line in lines:
        if line.strip():
            yield _object(line)


def _object(text: str) -> dict[str, Json] | None:
    """Return the JSON object that a text is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # brackets nested a thousand deep are no completion
        return None
    return value if isinstance(value, dict) else None


def _error_in(value: dict[str, Json]) -> str | None:
    """Return the error of an object that carries one."""
    error = value.get("error")
    if error:
        return _shown(error)
    return _shown(value) if value.get("object") == "error" else None


def _shown(error: Json) -> str:
    """Return an error as one short text: its message where it has one."""
    text = _text(error.get("message")) if isinstance(error, dict) else _text(error)
    if not text:
        try:
            text = json.dumps(error, ensure_ascii=False)
        except RecursionError:  # it was read a few calls nearer to the limit
            text = "an error of very deep brackets"
    return text.strip()[:LONGEST_ERROR]


def _parts(content: Json) -> tuple[str, str]:
    """Return visible text and reasoning of a content: a text, or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    visible, thought = [], []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            visible.append(part)
        elif isinstance(part, dict) and part.get("type") in ("text", "output_text", None):
            visible.append("".join(_parts(part.get("text"))))
        elif isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
            inner = part.get(str(part["type"])) or part.get("text")
            thought.append("".join(_parts(inner)))
    return "".join(visible), "".join(thought)


def _text(value: Json) -> str:
    return _whole_characters(value) if isinstance(value, str) else ""


def _count(value: Json) -> int | None:
    """Return a token count; true, fractions and negative numbers are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _whole_characters(text: str) -> str:
    """Join the halves of characters that were split between chunks; replace lonely halves."""
    if not SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
