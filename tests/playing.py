"""Play a written reply through the real path: parse, then grade. For the tests of the tasks."""

import json
from collections.abc import Mapping
from pathlib import Path

from harness.arnes import load_arnes
from harness.errors import SuiteError
from harness.parsing.reply import parse_reply
from harness.records.base import Json
from harness.records.handwritten import read_toml
from harness.records.parsed import ParsedReply
from harness.records.response import ChatRequest, Exchange, Message, Timings
from harness.records.score import RowScore
from harness.stages.grade import Graded, grade_reply, hash_seed_of
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply
from harness.suite.loader import Task

LIMITS = load_arnes(Path(__file__).resolve().parent.parent).sandbox
TAGS = ("think", "thinking", "thought", "reasoning", "reflection")


def exchange_of(reply: Reply, max_tokens: int = 24576) -> Exchange:
    """Return the exchange in which a server sent this reply, not streamed."""
    message: dict[str, object] = {"role": "assistant", "content": reply.text}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    body = {
        "object": "chat.completion",
        "model": "written",
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
    }
    return Exchange(
        request=ChatRequest(
            model="written",
            messages=(Message(role="user", content="?"),),
            max_tokens=max_tokens,
            temperature=0.6,
            top_p=0.95,
            seed=1001,
            stream=False,
        ),
        started_at="2026-01-01T00:00:00+00:00",
        ended="reply",
        status=200,
        content_type="application/json",
        body=json.dumps(body, ensure_ascii=False),
        timings=Timings(total_s=0.1),
    )


def parsed(folder: Path, form: Form, reply: Reply) -> ParsedReply:
    """Parse a reply for what this task asks."""
    definition = read_toml(folder / "task.toml", TaskDefinition, SuiteError)
    return parse_reply(exchange_of(reply), keys=form.keys, files=definition.deliverables, tags=TAGS)


def play(folder: Path, form: Form, reply: Reply) -> tuple[RowScore, ...]:
    """Grade a reply and return its rows, of the repaired copy if anything was repaired."""
    return graded(folder, form, reply).rows


def graded(
    folder: Path, form: Form, reply: Reply, remembered: Mapping[str, Json] | None = None
) -> Graded:
    """Grade a reply, behind walls where the task runs code."""
    definition = read_toml(folder / "task.toml", TaskDefinition, SuiteError)
    task = Task(folder, definition, form, "played", "")
    return grade_reply(
        task, parsed(folder, form, reply), LIMITS, hash_seed_of("played"), remembered
    )
