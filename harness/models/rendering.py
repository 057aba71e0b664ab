"""A written reply as the bytes that a server would send."""

import base64
import json
import re
from dataclasses import dataclass

from harness.models.script import Behaviour
from harness.records.base import Json

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
PLAIN_PIECE_BYTES = 64  # a plain body has no chunks of its own; so many bytes count as one
_WORD = re.compile(r"\s*\S+\s*$|\s*\S+|\s+$")


@dataclass(frozen=True)
class Rendered:
    """A reply cut into the pieces in which it travels.

    lead : how many pieces come before the first piece of the reply itself
    """

    status: int
    content_type: str
    streamed: bool
    pieces: tuple[bytes, ...]
    lead: int = 0


def render(behaviour: Behaviour, request: Json) -> Rendered:
    """Return the bytes of a behaviour as the answer to one request (its JSON body)."""
    asked = request if isinstance(request, dict) else {}
    if behaviour.raw_body is not None:
        raw = behaviour.raw_body.encode("utf-8")
        if behaviour.raw_body_encoding == "base64":
            raw = base64.b64decode(raw)
        return _plain(behaviour, raw)
    if behaviour.error is not None and behaviour.error_after_chunks is None:
        return _plain(behaviour, _json(error_object(behaviour.error, behaviour.status)))
    name = behaviour.model or str(asked.get("model", ""))
    if asked.get("stream") is not True or behaviour.ignore_stream:
        return _plain(behaviour, _json(_whole(behaviour, name, asked)))
    return _stream(behaviour, name, asked)


def error_object(message: str, status: int) -> Json:
    """Return an error as OpenAI-compatible servers write it."""
    return {"error": {"message": message, "type": "server_error", "code": status}}


def _json(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def _plain(behaviour: Behaviour, body: bytes) -> Rendered:
    cuts = range(0, len(body), PLAIN_PIECE_BYTES)
    pieces = tuple(body[cut : cut + PLAIN_PIECE_BYTES] for cut in cuts)
    return Rendered(behaviour.status, behaviour.content_type or JSON_TYPE, False, pieces)


def _whole(behaviour: Behaviour, name: str, asked: dict[str, Json]) -> Json:
    message: dict[str, Json] = {"role": "assistant", "content": behaviour.content}
    if behaviour.reasoning:
        message[behaviour.reasoning_field] = behaviour.reasoning
    if behaviour.native_calls:
        message["tool_calls"] = _native(behaviour)
    whole: dict[str, Json] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": name,
        "choices": [{"index": 0, "message": message, "finish_reason": behaviour.finish_reason}],
    }
    if behaviour.usage:
        whole["usage"] = _usage(behaviour, asked)
    return whole


def _native(behaviour: Behaviour) -> list[Json]:
    return [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(behaviour.native_calls)
    ]


def _usage(behaviour: Behaviour, asked: dict[str, Json]) -> Json:
    prompt = behaviour.prompt_tokens
    if prompt is None:
        messages = asked.get("messages")
        texts = (text_of(message) for message in messages) if isinstance(messages, list) else ()
        prompt = sum(len(text.split()) for text in texts)
    written = _written(behaviour, asked)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _written(behaviour: Behaviour, asked: dict[str, Json]) -> int:
    """Return the tokens of a reply: as given, else the cap if that ended it, else its words."""
    if behaviour.completion_tokens is not None:
        return behaviour.completion_tokens
    cap = asked.get("max_tokens")
    if behaviour.finish_reason == "length" and isinstance(cap, int):
        return cap
    return len(behaviour.content.split()) + len(behaviour.reasoning.split())


def text_of(message: Json) -> str:
    """Return the text of a message of a request; of several parts, joined by line ends."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _stream(behaviour: Behaviour, name: str, asked: dict[str, Json]) -> Rendered:
    """Role first, then reasoning, content, native calls; then how it ended, and the counts."""
    chunks = _Chunks(behaviour, name)
    deltas: list[dict[str, Json]] = [
        {behaviour.reasoning_field: part} for part in _parts(behaviour.reasoning, behaviour)
    ]
    deltas += [{"content": part} for part in _parts(behaviour.content, behaviour)]
    if behaviour.native_calls:
        deltas.append({"tool_calls": _native(behaviour)})
    together = behaviour.finish_with_content and behaviour.finish_reason is not None
    last = deltas.pop() if together and deltas else {}
    events = [chunks.delta(delta) for delta in deltas]
    if behaviour.error_after_chunks is not None:
        problem = error_object(behaviour.error or "", behaviour.status)
        events = [*events[: behaviour.error_after_chunks], chunks.event(_json(problem))]
    else:
        wanted = behaviour.usage and _asked_for_usage(asked)
        usage = _usage(behaviour, asked) if wanted else None
        events += chunks.ending(last, usage)
    if behaviour.done:
        events.append(chunks.event(b"[DONE]"))
    opening = chunks.delta({"role": "assistant", "content": ""})
    kind = behaviour.content_type or STREAM_TYPE
    return Rendered(behaviour.status, kind, True, (opening, *events), lead=1)


def _asked_for_usage(asked: dict[str, Json]) -> bool:
    options = asked.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _parts(text: str, behaviour: Behaviour) -> list[str]:
    """Cut a text behind every so many words; joined again, the parts are the text."""
    size = behaviour.chunk_words
    if not text or not size:
        return [text] if text else []
    words: list[str] = _WORD.findall(text)
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]


class _Chunks:
    """Events of one stream: what every chunk of it has in common."""

    def __init__(self, behaviour: Behaviour, name: str) -> None:
        self._behaviour = behaviour
        self._name = name
        self._line_end = b"\r\n" if behaviour.crlf else b"\n"

    def event(self, data: bytes) -> bytes:
        """Return one server-sent event."""
        return b"data: " + data + self._line_end * 2

    def delta(
        self, delta: dict[str, Json], finish_reason: str | None = None, usage: Json = None
    ) -> bytes:
        """Return a chunk with one choice."""
        choice: Json = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return self._chunk([choice], usage)

    def ending(self, last: dict[str, Json], usage: Json) -> list[bytes]:
        """Return the chunks that say how the reply ended and what it used.

        last : the delta beside the finish reason, usually empty
        """
        behaviour = self._behaviour
        ending = []
        if behaviour.finish_reason is not None:
            beside = usage if behaviour.usage_with_finish else None
            ending.append(self.delta(last, behaviour.finish_reason, beside))
        if usage and not behaviour.usage_with_finish:
            ending.append(self._chunk([], usage))
        return ending

    def _chunk(self, choices: list[Json], usage: Json) -> bytes:
        chunk: dict[str, Json] = {
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self._name,
            "choices": choices,
        }
        if usage:
            chunk["usage"] = usage
        return self.event(_json(chunk))
