"""The whole way from an exchange to the deliverable that is graded.

Pure: the same exchange and the same question give the same record, to the byte.
"""

from collections.abc import Sequence

from harness.parsing import PARSER_VERSION
from harness.parsing.answers import AnswerLines, answer_lines
from harness.parsing.channel import Channel, read_channel
from harness.parsing.completion import completion_of, reached_cap
from harness.parsing.files import FilesFound, read_files
from harness.parsing.wire import FILTER_REASON, Completion
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.records.score import ModelCause

NATIVE_TOOLS = "native-tools"
TWO_FINALS = "two-finals"
INCOMPLETE = "incomplete"

LONGEST_REFUSAL = 400  # characters; a longer text that delivers nothing has tried
REFUSALS = (
    *("i cannot", "i can't", "i can not", "i won't", "i will not", "i must decline"),
    *(
        "i am unable",
        "i'm unable",
        "i am not able",
        "i'm not able",
        "i decline",
        "i have to decline",
    ),
    *(
        "i'm sorry",
        "i am sorry",
        "sorry, ",
        "sorry but",
        "i apologize",
        "i apologise",
        "my apologies",
    ),
    *("unfortunately, i can", "unfortunately, i am", "unfortunately, i'm", "unfortunately i can"),
    *("as an ai", "i do not feel comfortable", "i don't feel comfortable", "i'm not comfortable"),
    *(
        "lo siento",
        "no puedo ayudar",
        "je suis désolé",
        "es tut mir leid",
        "很抱歉",
        "抱歉",
        "对不起",
    ),
)


def parse_reply(
    exchange: Exchange, *, keys: Sequence[str], files: Sequence[str], tags: Sequence[str]
) -> ParsedReply:
    """Parse one reply for what its task asks.

    Parameters
    ----------
    exchange : a reply, whole or cut by the whole-call limit
    keys : answer keys that are asked, in order
    files : paths that are asked
    tags : names of reasoning tags

    Raises
    ------
    ValueError
        If there is no reply to parse: an infrastructure failure has no deliverable, and the
        text of an error is no answer.
    """
    completion = completion_of(exchange)
    channel = read_channel(completion.content, completion.reasoning, tags)
    lines = answer_lines(channel.text, keys)
    found = read_files(channel.text, files)
    asked = bool(keys or files)
    return ParsedReply(
        parser_version=PARSER_VERSION,
        text=channel.text,
        reasoning=channel.reasoning,
        answers=lines.values,
        files=found.files,
        flags=tuple(sorted(_flags(exchange, completion, channel, lines, found))),
        cause=_cause(
            exchange, completion, channel, lacks=asked and not (lines.values or found.files)
        ),
        finish_reason=completion.finish_reason,
        prompt_tokens=completion.prompt_tokens,
        completion_tokens=completion.completion_tokens,
        unknown_answers=lines.unknown,
        steps=(*_steps(completion, lines), *channel.steps, *found.steps),
    )


def _cause(
    exchange: Exchange, completion: Completion, channel: Channel, *, lacks: bool
) -> ModelCause | None:
    """Return why the reply holds less than was asked; the first that applies."""
    text = channel.text.strip()
    if exchange.ended == "time":
        return "time"
    if channel.unclosed or reached_cap(exchange, completion):
        return "truncated"
    if completion.reason == FILTER_REASON:
        return "refused"
    if not text:
        return "empty"
    if lacks:
        return "refused" if _refuses(text) else "no_deliverable"
    return None


def _refuses(text: str) -> bool:
    """Say whether a short text opens like a refusal."""
    opening = " ".join(text[:LONGEST_REFUSAL].replace("’", "'").lower().split())
    return len(text) <= LONGEST_REFUSAL and opening.lstrip("*_\"'> ").startswith(REFUSALS)


def _flags(
    exchange: Exchange,
    completion: Completion,
    channel: Channel,
    lines: AnswerLines,
    found: FilesFound,
) -> set[str]:
    """Return every integrity mark of the reply, once."""
    flags = {*channel.flags, *found.flags}
    if completion.native_tool_calls:
        flags.add(NATIVE_TOOLS)
    if lines.two_finals:
        flags.add(TWO_FINALS)
    if not completion.complete and exchange.ended == "reply":
        flags.add(INCOMPLETE)
    return flags


def _steps(completion: Completion, lines: AnswerLines) -> list[str]:
    """Return the sentences on the wire and on the answer lines."""
    steps = []
    if completion.native_tool_calls:
        count = completion.native_tool_calls
        steps.append(f"Ignored {count} native tool call(s): none were offered.")
    if lines.two_finals:
        keys = ", ".join(lines.two_finals)
        steps.append(f"Took the last of several different lines for {keys}.")
    if lines.unknown:
        steps.append(f"Ignored {lines.unknown} answer line(s) for keys that nobody asked.")
    return steps
