"""From a visible reply to a call, a malformed call, or no call: every shape has one outcome.

Declared, the same for every model:

- A call in a code fence is run. A call in reasoning is not: the caller has taken it away.
- A mark counts at the beginning of its line, behind nothing but blanks, quotation and emphasis.
  In the middle of a line it is prose.
- The first call of a reply is run; further ones are named in `ignored`, and nothing in them is
  looked at. A call that comes before the end of the first one stops both.
- Marks, tool names and keys are understood in any case, with `-` for `_`, and flagged.
- A reply that was cut runs a call only if its `@@END` had been written. A call with content
  is never run without its `@@END`.
- A result that the model wrote itself is skipped, the calls that it quotes with it.
- Nothing is run on a guess: where two readings are likely the call is malformed, and the model
  is told why.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.protocol.arguments import read_arguments
from harness.protocol.calls import (
    INVENTED_RESULT,
    NATIVE_MARKUP,
    TOOL_CASE,
    UNTERMINATED,
    Call,
    Idle,
    Malformed,
    MalformedCode,
    Read,
    ToolSignature,
    folded,
)
from harness.protocol.extent import Extent, Lines, extent
from harness.protocol.marks import BLANK, DRESS, GLUED_END, Mark

TOOL = re.compile(
    rf"([{BLANK}:\uff1a{DRESS}\"'<\[(]*+)([^\s:\uff1a{{]*+)([:\uff1a]?)(.*)", re.DOTALL
)
TOOL_TAIL = f"{DRESS}\"'>])(.,;"
NATIVE = re.compile(  # how models that were trained on native calls write them
    r"<\|?/?(?:tool_calls?|function_calls?|tool_use|tool_code|invoke)\b|<function="
    r"|\[/?TOOL_CALLS?\]|<\uff5ctool\u2581call|<\|python_tag\|>|<\|action_start\|>"
    r"|\u273fFUNCTION\u273f|functools\[",
    re.IGNORECASE,
)
EMPTY_REPLY = "(empty reply)"  # servers and templates refuse an empty message
LONGEST_WORD = 60  # characters of a tool's name as it was written
VISIBLE = re.compile(rf"[^{BLANK}]")
END_SIGN = re.compile(rf"[{BLANK}>{DRESS}]*+@@[ \t\u00a0]?END[{DRESS}]{{0,3}}+", re.IGNORECASE)

Known = Mapping[str, ToolSignature]  # by folded names


@dataclass
class _Found:
    """What was met up to the first call.

    start : the line of the call, None where there is none
    invented : ranges of lines that hold invented results
    doubtful : the reply was cut inside an invented result that quotes a call
    """

    start: int | None = None
    invented: list[range] = field(default_factory=list)
    doubtful: bool = False


@dataclass(frozen=True)
class _Opening:
    """An opening line: the word for the tool, its signature, and what stands behind it."""

    word: str
    tool: ToolSignature | None
    inline: str
    exact: bool


def read_reply(visible: str, tools: Mapping[str, ToolSignature], *, cut: bool) -> Read:
    """Read one reply.

    Pure, never raises, and takes time in proportion to the length of the text.

    Parameters
    ----------
    visible : the text of the reply without reasoning, channel markup and leaked turns
        (`parsing.channel.read_channel(...).text`); the server's own reasoning field and native
        calls are no part of it
    tools : name → signature of the tools that the task offers, in the order they are told
    cut : the length limit, or the limit of the whole call, ended the reply
    """
    reply = Lines.of(visible)
    known = {folded(name): signature for name, signature in tools.items()}
    found = _find(reply, cut=cut)
    if found.start is not None:
        return _read_call(reply, found, found.start, known, cut=cut)
    flags = {INVENTED_RESULT} if found.invented else set()
    kept = _kept(reply, found, len(reply.lines))
    if found.doubtful:
        return Malformed("cut_by_length", kept, flags=tuple(flags))
    flags |= {NATIVE_MARKUP} if NATIVE.search(visible) else set()
    return Idle(kept, tuple(sorted(flags)))


def _read_call(reply: Lines, found: _Found, start: int, known: Known, *, cut: bool) -> Read:
    """Read the call that begins at a line."""
    opening = _opening(reply.marks[start], known)
    tool = opening.tool
    parts = _parts(reply, start, opening, cut=cut)
    code = _unended(parts, cut=cut)
    end = reply.first_result(start) if code else parts.end
    further, invented = _behind(reply, end, known)
    plain = tool is None or (opening.exact and parts.exact and opening.word == tool.name)
    flags = set() if plain else {TOOL_CASE}
    flags |= {INVENTED_RESULT} if invented or found.invented else set()
    if tool is None or code:
        word = tool.name if tool else opening.word
        code = code or ("unknown_tool" if word else "no_tool")
        return Malformed(code, _kept(reply, found, end), word, flags=tuple(sorted(flags)))
    read = read_arguments(tool, parts)
    flags |= read.flags
    open_end = parts.ending == "none"
    code = read.code or ("no_end" if open_end and read.body is not None else None)
    kept = _kept(reply, found, end)
    if code:
        return Malformed(code, kept, tool.name, read.argument, tuple(sorted(flags)))
    flags |= {UNTERMINATED} if open_end else set()
    return Call(tool.name, read.args, read.body, kept, further, tuple(sorted(flags)))


def _find(reply: Lines, *, cut: bool) -> _Found:
    """Find the first call that no invented result quotes."""
    found = _Found()
    begun, depth = None, 0
    for number, mark in reply.marks.items():
        opens = mark.kind in {"call", "result"} and not mark.closed
        if begun is not None:
            depth += int(opens) - int(mark.kind == "end" and mark.alone)
            if depth == 0:
                found.invented.append(range(begun, number + 1))
                begun = None
        elif mark.kind == "call":
            found.start = number
            return found
        elif mark.kind == "result" and opens:
            begun, depth = number, 1
        elif mark.kind == "result":
            found.invented.append(range(number, number + 1))
    if begun is None:
        return found
    call = next((n for n, m in reply.marks.items() if n > begun and m.kind == "call"), None)
    found.start = None if cut else call
    found.doubtful = cut and call is not None
    end = len(reply.lines) if found.start is None else found.start
    found.invented.append(range(begun, end))
    return found


def _opening(mark: Mark, known: Known) -> _Opening:
    """Read an opening line, without an end that stands on it."""
    end = GLUED_END.search(mark.rest)
    written = mark.rest[: end.start()] if end else mark.rest
    match = TOOL.fullmatch(written)
    lead, word, colon, inline = match.groups() if match else ("", "", "", written)
    bare = word.rstrip(TOOL_TAIL)
    if mark.dress:
        inline = inline.rstrip(f"{DRESS} \t")
    exact = mark.exact and bare == word and not (lead.strip() or colon)
    return _Opening(bare, known.get(folded(bare)), inline, exact)


def _parts(reply: Lines, start: int, opening: _Opening, *, cut: bool) -> Extent:
    takes_content = opening.tool is None or opening.tool.takes_content
    return extent(reply, start, opening.inline, takes_content=takes_content, cut=cut)


def _unended(parts: Extent, *, cut: bool) -> MalformedCode | None:
    """Return what keeps a call from being run before its arguments are looked at."""
    match parts.ending:
        case "end" | "one_line":
            return None
        case "call":
            return "call_in_call"
        case "none" if not cut:
            return None
        case _:
            return "cut_by_length" if cut else "no_end"


def _behind(reply: Lines, start: int, known: Known) -> tuple[tuple[str, ...], bool]:
    """Return the words of the calls behind the first one, and whether a result was invented.

    What follows an invented result answers nothing, and is not counted.
    """
    words: list[str] = []
    number = start
    while number < len(reply.lines):
        mark = reply.marks.get(number)
        number += 1
        if mark is not None and mark.kind == "result":
            return tuple(words), True
        if mark is not None and mark.kind == "call":
            opening = _opening(mark, known)
            words.append(opening.word[:LONGEST_WORD])
            number = _parts(reply, number - 1, opening, cut=True).end
    return tuple(words), False


def _kept(reply: Lines, found: _Found, end: int) -> str:
    """Return the lines before a number without invented results, and nothing behind the end."""
    dropped = {number for part in found.invented for number in part}
    lines = [line for n, line in enumerate(reply.lines[:end]) if n not in dropped]
    if lines:
        glued = GLUED_END.search(lines[-1])
        sign = END_SIGN.match(lines[-1], glued.start() if glued else 0)
        lines[-1] = lines[-1][: sign.end()] if sign else lines[-1]
    kept = "\n".join(lines).strip()
    return kept if VISIBLE.search(kept) else EMPTY_REPLY
