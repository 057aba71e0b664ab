"""What the harness says to a model, to the letter: results, refusals, counters, tool lines.

Every number in a text comes from an argument, so that a profile with other limits tells its own.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from harness.arnes import ArnesConfig
from harness.errors import Problem, SuiteError, nearest
from harness.protocol.calls import CONTENT, Call, Malformed, MalformedCode
from harness.records.base import Json
from harness.suite.prompts import render

LONGEST_SHOWN = 60  # characters of a word of the model's that an answer repeats
REASONS: dict[MalformedCode, str] = {
    "no_end": 'no line "@@END" was found after it. "@@END" must stand alone on its line.',
    "cut_by_length": 'the reply reached its length limit before "@@END". Write less in one call.',
    "call_in_call": 'a second "@@CALL" came before the first one\'s "@@END".',
    "no_tool": 'no tool is named after "@@CALL". Tools: {tools}',
    "unknown_tool": 'there is no tool "{tool}". Tools: {tools}',
    "bad_json": (
        'its arguments begin with "{{" but are not valid JSON. Lines "name: value" are simpler.'
    ),
    "missing_arg": '{tool} needs the argument "{argument}".',
    "unknown_arg": '{tool} has no argument "{argument}".',
    "duplicate_arg": '"{argument}" is given twice.',
    "body_not_allowed": f"{{tool}} takes no {CONTENT}.",
}
BLANKS = re.compile(r"\s+")


def result_text(
    call: Call, status: Literal["ok", "error"], text: str, *, counter: str, cap_chars: int
) -> str:
    """Return the answer to a call that was run.

    Parameters
    ----------
    text : what the tool answered; cut in its middle above the cap
    counter : the last line, `counter_line`
    cap_chars : `context.result_cap_chars`
    """
    shown = capped_result(text, cap_chars)
    line_end = "" if not shown or shown.endswith("\n") else "\n"
    lines = [f"@@RESULT {call.tool} {status}", f"{shown}{line_end}@@END"]
    if call.ignored:
        lines.append(further_calls_line(len(call.ignored)))
    return "\n".join([*lines, counter])


def counter_line(reply: int, of: int, *, cost: int | None = None) -> str:
    """Return which reply this was, from 1, and what its call cost where calls have a price."""
    price = "" if cost is None else f", this call cost {cost}"
    return f"[reply {reply} of {of}{price}]"


def further_calls_line(count: int) -> str:
    """Return the note on the calls of a reply that were not run, at least one."""
    return f"Only the first call of a reply is run; {count} more {_were(count)} not run."


def idle_text(in_a_row: int, limit: int) -> str:
    """Return the answer to a reply without a call.

    Parameters
    ----------
    in_a_row : such replies since the last call that was run, this one included
    limit : as many end the work
    """
    return (
        'No tool call was found. Write a line "@@CALL <tool>", its arguments, and a line "@@END".'
        f" Replies without a call: {in_a_row} of {limit} in a row."
    )


def malformed_text(malformed: Malformed, tools: Sequence[str]) -> str:
    """Return the answer to a call that was not run, with the rule that it broke.

    tools : names of the tools that the task offers, in the order they are told
    """
    reason = REASONS[malformed.code].format(
        tool=_shown(malformed.tool), argument=_shown(malformed.argument), tools=", ".join(tools)
    )
    return f"The call was not run: {reason}"


def _shown(word: str) -> str:
    """Return a word of the model's on one line and not too long."""
    line = BLANKS.sub(" ", word).strip()
    return line if len(line) <= LONGEST_SHOWN else line[: LONGEST_SHOWN - 1] + "…"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def capped_result(text: str, cap_chars: int) -> str:
    """Return a tool's answer, above the cap its first two thirds of the cap and last quarter."""
    return _capped(text, cap_chars, cap_chars * 2 // 3, cap_chars // 4)


def capped_reply(text: str, cap_chars: int) -> str:
    """Return a reply as it is sent again, above the cap two thirds of the cap and a sixth."""
    return _capped(text, cap_chars, cap_chars * 2 // 3, cap_chars // 6)


def _capped(text: str, cap_chars: int, head: int, tail: int) -> str:
    if len(text) <= cap_chars:
        return text
    middle = left_out_line(len(text) - head - tail)
    return f"{text[:head]}\n{middle}\n{text[len(text) - tail :]}"


def left_out_line(count: int) -> str:
    """Return the line that stands for characters that are not sent."""
    return f"[{count} characters left out]"


def render_call(tool: str, args: Mapping[str, str], body: str | None = None) -> str:
    r"""Write a call as the system text shows it.

    It reads back as the same call if no value begins or ends with a blank or a quote, no line
    of a value looks like an argument or a mark, and the body is empty or ends with ``\n`` and
    opens as many calls and results as it closes.
    """
    lines = [f"@@CALL {tool}", *(f"{key}: {value}" for key, value in args.items())]
    if body is not None:
        lines += ["@@BODY", *body.removesuffix("\n").split("\n")] if body else ["@@BODY"]
    return "\n".join([*lines, "@@END"])


def tool_lines(
    names: Sequence[str], descriptions: Mapping[str, str], prices: Mapping[str, str] | None = None
) -> str:
    """Return the tools of a task, one line each.

    Parameters
    ----------
    names : the tools that the task offers, in order
    descriptions : `[tools]` of the config
    prices : tool → its price in words, for a task that has a budget

    Raises
    ------
    SuiteError
        If a tool has no description.
    """
    problems = [
        Problem(f"[tools] {name}", "no description", nearest(name, descriptions))
        for name in names
        if name not in descriptions
    ]
    if problems:
        raise SuiteError(f"{len(problems)} tool(s) cannot be told to a model", problems)
    told = prices or {}
    return "\n".join(
        f"{descriptions[name]}; price {told[name]}" if name in told else descriptions[name]
        for name in names
    )


def system_text(
    config: ArnesConfig, names: Sequence[str], prices: Mapping[str, str] | None = None
) -> str:
    """Return the system text of an agent cell, the same for every model."""
    values: dict[str, Json] = {
        "max_agent_turns": config.max_agent_turns,
        "max_idle_turns": config.max_idle_turns,
        "result_cap_chars": config.context.result_cap_chars,
        "tools": tool_lines(names, config.tools, prices),
    }
    return render(config.prompts.agent_system, values, "arnes.toml").strip()
