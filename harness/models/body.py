"""From a request to the bytes that are sent."""

import json
from collections.abc import Mapping

from harness.errors import EndpointError, Problem, nearest
from harness.records.base import Json
from harness.records.response import ChatRequest, ContentPart, Message
from harness.records.run import Endpoint

# All that extra fields are for: how a model thinks, and how its server treats the request. What
# is asked, how it is sampled and where it ends is the same for every model; servers have dozens
# of names for that (`n_predict`, `options`, `mirostat`, `grammar`), so the good ones are listed.
THINKING_FIELDS = frozenset(
    {"chat_template_kwargs", "enable_thinking", "think", "thinking", "thinking_budget"}
    | {"reasoning", "reasoning_budget", "reasoning_effort", "reasoning_format"}
    | {"include_reasoning", "separate_reasoning"}
)
SERVING_FIELDS = frozenset({"cache_prompt", "keep_alive", "priority", "provider", "user"})
EXTRA_FIELDS = THINKING_FIELDS | SERVING_FIELDS


def as_sent(request: ChatRequest, endpoint: Endpoint) -> ChatRequest:
    """Return the request as it goes out to this endpoint; that one is recorded.

    The endpoint's body fields come below the request's own `extra`: where both name a field, the
    request's value holds. Without a system role, the system text opens the first user message.

    Raises
    ------
    EndpointError
        If an extra field is none of those that a plan may set.
    """
    extra = {**endpoint.extra_body, **request.extra}
    refuse_fields(extra)
    messages = request.messages if endpoint.system_role else without_system(request.messages)
    if messages == request.messages and extra == request.extra:
        return request
    return request.model_copy(update={"messages": messages, "extra": extra})


def extra_body_problems(extra_body: Mapping[str, Json]) -> list[Problem]:
    """Return a problem for every extra field that a plan may not set, in the order of names."""
    return [
        Problem(
            f"extra_body.{name}",
            "a plan may only set how a model thinks and how its server treats a request; what is "
            "asked and how it is sampled is the same for every model",
            f"leave it out; {nearest(name, EXTRA_FIELDS)}",
        )
        for name in sorted(extra_body.keys() - EXTRA_FIELDS)
    ]


def refuse_fields(extra: Mapping[str, Json]) -> None:
    """Raise an EndpointError that names every extra field that a plan may not set."""
    problems = extra_body_problems(extra)
    if problems:
        raise EndpointError("the extra body fields cannot be sent", problems, "Nothing was sent.")


def without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the conversation with its system texts at the head of the first user message.

    Same words, one blank line between; if there is no user message, they become one.
    """
    texts = [_text(message) for message in messages if message.role == "system"]
    if not texts:
        return messages
    system = "\n\n".join(texts)
    rest = [message for message in messages if message.role != "system"]
    for place, message in enumerate(rest):
        if message.role == "user":
            rest[place] = Message(role="user", content=_headed(system, message.content))
            return tuple(rest)
    return (Message(role="user", content=system), *rest)


def _headed(system: str, content: str | tuple[ContentPart, ...]) -> str | tuple[ContentPart, ...]:
    if isinstance(content, str):
        return f"{system}\n\n{content}"
    return (ContentPart(type="text", text=system), *content)


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n\n".join(part.text for part in message.content if part.text)


def body_of(request: ChatRequest) -> bytes:
    """Return the JSON body of a request, extra fields at its top level."""
    body: dict[str, Json] = {
        **request.extra,
        "model": request.model,
        "messages": [
            {"role": message.role, "content": _content(message)} for message in request.messages
        ],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "stream": request.stream,
    }
    if request.stream:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = list(request.tools)
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _content(message: Message) -> Json:
    if isinstance(message.content, str):
        return message.content
    return [part.model_dump(mode="json", exclude_none=True) for part in message.content]
