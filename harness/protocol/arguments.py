"""The arguments of a call, from the parts that it was written in.

A header line is a known key, a colon and a value; a line that is none continues the value
before it, unless it looks like a key that the tool does not have. A value loses one pair of
quotes around it, and typographic signs in it become the plain ones. Bodies are not touched,
except that a byte-order mark at the start and a fence around the whole are taken away; the
fence stays where the file is Markdown.
"""

import json
import re
from dataclasses import dataclass, field

from harness.protocol.calls import (
    BARE_ARG,
    BODY_FENCE,
    CONTENT,
    CONTENT_HEADER,
    JSON_ARGS,
    ONE_LINE,
    TOOL_CASE,
    MalformedCode,
    ToolSignature,
    folded,
)
from harness.protocol.extent import BEGINS_JSON, Extent
from harness.protocol.marks import BLANK, DRESS, is_fence
from harness.records.base import Json

KEY = re.compile(
    rf"[{BLANK}]*+([{DRESS}]{{0,3}}+)([A-Za-z][\w-]{{0,60}}+)([{DRESS}]{{0,3}}+)[ \t]*+"
    rf"[:\uff1a]([{DRESS}]{{0,3}}+)(.*)",
    re.DOTALL,
)
LIKE_A_KEY = re.compile(r"[ \t]*+([a-z][a-z0-9_]{0,39})[ \t]?:(?:\s|$)")
BLOCK = re.compile(r"\s*[|>][-+]?[ \t]*\n")  # announces a value over several lines
PAIRS = {'"': '"', "'": "'", "`": "`", "«": "»"}
PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u202f\u2007", " "),
        **dict.fromkeys("\u200b\u2060\ufeff", None),
    }
)
FENCE_SIGNS = re.compile(r"(?:`{3,}(?=[^`\n]*+$)|~{3,})", re.MULTILINE)
HALF_PAIR = re.compile("[\ud800-\udfff]")  # JSON can write half a sign, and no file can hold it


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call, or the first thing that is wrong with them.

    code : None if nothing is; else the kind, and in `argument` the key that it concerns
    """

    args: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    flags: frozenset[str] = frozenset()
    code: MalformedCode | None = None
    argument: str = ""


@dataclass
class _Given:
    """What was given so far, and what cannot be an argument."""

    tool: ToolSignature
    values: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        keys = (*self.tool.required, *self.tool.optional)
        self.names = {folded(key): key for key in keys}

    def give(self, key: str, value: str) -> None:
        """Keep the value of a key."""
        if key in self.values:
            self.repeated.append(key)
        self.values[key] = value


@dataclass(frozen=True)
class _Entry:
    """An argument as it is written: its key, or None; its lines; a key that no argument has."""

    key: str | None
    written: list[str]
    unknown: str = ""


def read_arguments(tool: ToolSignature, parts: Extent) -> Arguments:
    """Read the arguments of a call of a known tool."""
    given = _Given(tool)
    lines = [line for line in parts.header if not is_fence(line)]
    if parts.ending == "one_line":
        given.flags.add(ONE_LINE)
    text = "\n".join([parts.inline, *lines])
    if BEGINS_JSON.match(text):
        given.flags.add(JSON_ARGS)
        code, key = _read_json(given, text)
        if code:
            return Arguments(flags=frozenset(given.flags), code=code, argument=key)
    else:
        _read_header(given, parts.inline, lines)
    if parts.body is not None:
        if parts.opener != "@@BODY":
            given.flags.add(CONTENT_HEADER)
        lines = _dedented(parts.body) if parts.opener == "|" else parts.body
        given.give(CONTENT, "".join(f"{line}\n" for line in lines))
    return _judged(given)


def _judged(given: _Given) -> Arguments:
    """Compare what was given with what the tool takes."""
    tool, values = given.tool, dict(given.values)
    body = values.pop(CONTENT, None)
    body_wrong = not tool.takes_content and (body is not None or CONTENT in given.unknown)
    missing = [key for key in tool.required if key not in given.values]
    unknown = [key for key in given.unknown if key != CONTENT or tool.takes_content]
    code: MalformedCode | None = None
    argument = ""
    if missing:
        code, argument = "missing_arg", missing[0]
    elif unknown:
        code, argument = "unknown_arg", unknown[0]
    elif given.repeated:
        code, argument = "duplicate_arg", given.repeated[0]
    elif body_wrong:
        code = "body_not_allowed"
    if body is not None:
        body = body.removeprefix("\ufeff")
        bare = None if values.get("path", "").lower().endswith(".md") else _without_fence(body)
        if bare is not None:
            given.flags.add(BODY_FENCE)
            body = bare
    return Arguments(values, body, frozenset(given.flags), code, argument)


def _read_header(given: _Given, inline: str, lines: list[str]) -> None:
    """Read lines `key: value`, the first of which may stand behind the tool."""
    entries = _inline(given, inline.strip())
    for line in lines:
        entry = _keyed(given, line)
        if entry:
            entries.append(entry)
        elif entries:
            entries[-1].written.append(line)
        elif line.strip():
            entries.append(_Entry(None, [line]))
    needed = given.tool.bare_key if given.tool.bare_key in given.tool.required else None
    for entry in entries:
        value = _value("\n".join(entry.written))
        if entry.key:
            given.give(entry.key, value)
        elif entry.unknown:
            given.unknown.append(entry.unknown)
        elif value and needed and len(entries) == 1:
            given.flags.add(BARE_ARG)
            given.give(needed, value)
        elif value:
            given.unknown.append(value)


def _keyed(given: _Given, line: str) -> _Entry | None:
    """Return the entry that a line begins, or None if it only goes on."""
    match = KEY.match(line) if line else None
    name = given.names.get(folded(match[2])) if match else None
    if match and name and name != CONTENT:
        before, key, behind_key, behind, value = match.groups()
        if before and not behind_key and not behind:
            value = value.rstrip().removesuffix(before)  # `*path: a.py*`
        if before or behind_key or behind or key != name:
            given.flags.add(TOOL_CASE)
        return _Entry(name, [value])
    like = LIKE_A_KEY.match(line)
    return _Entry(None, [], unknown=like[1]) if like else None


def _inline(given: _Given, text: str) -> list[_Entry]:
    """Read what stands behind the tool on its line: keys and values, or a bare value."""
    if not text:
        return []
    keys = "|".join(re.escape(key) for key in given.tool.keys) or r"(?!)"
    first = re.match(rf"({keys})[ \t]*[:=\uff1a]", text, re.IGNORECASE)
    if first:
        given.flags.add(ONE_LINE)
        further = re.compile(rf"(?<=[\s,;])({keys})[ \t]*:").finditer(text, first.end())
        marks = [first, *further]
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        return [
            _Entry(given.names[folded(mark[1])], [text[mark.end() : end].rstrip(" \t,;")])
            for mark, end in zip(marks, ends, strict=True)
        ]
    like = LIKE_A_KEY.match(text)
    if like or not given.tool.bare_key:
        return [_Entry(None, [], unknown=like[1] if like else text)]
    given.flags.add(BARE_ARG)
    return [_Entry(given.tool.bare_key, [text])]


def _value(text: str) -> str:
    """Return the value of a header argument from all its lines."""
    plain = BLOCK.sub("", text, count=1) if BLOCK.match(text) else text
    plain = plain.translate(PLAIN).strip()
    closing = PAIRS.get(plain[:1])
    if len(plain) < 2 or closing is None or plain[-1] != closing:
        return plain
    inner = plain[1:-1]
    place = inner.find(closing)
    behind = inner[place + 1 : place + 2]
    ended = place > 0 and not inner[place - 1].isspace() and (not behind or behind in " ,;)")
    return plain if ended else inner  # `"a" or "b"` is no pair around one value


def _read_json(given: _Given, text: str) -> tuple[MalformedCode | None, str]:
    """Read arguments from a JSON object; only the whole text counts, never a part of it."""
    try:
        found: Json = json.loads(
            text[text.index("{") :], object_pairs_hook=_unrepeated, parse_constant=_refused
        )
        pairs = _unwrapped(given.tool, found).items() if isinstance(found, dict) else ()
        written = {key: _text(value) for key, value in pairs if value is not None}
    except _RepeatedKeyError as error:
        return "duplicate_arg", str(error)
    except (ValueError, RecursionError):
        return "bad_json", ""
    for key, value in written.items():
        name = given.names.get(folded(key))
        if name is None:
            given.unknown.append(key)
        else:
            given.give(name, value if name == CONTENT else value.translate(PLAIN))
    return None, ""


class _RepeatedKeyError(Exception):
    """An object gives a key twice."""


def _unrepeated(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKeyError(key)
        found[key] = value
    return found


def _refused(constant: str) -> Json:
    raise ValueError(constant)  # NaN and infinities are no JSON


def _unwrapped(tool: ToolSignature, found: dict[str, Json]) -> dict[str, Json]:
    """Return the arguments inside `{"args": {...}}`, beside which the tool may be named again."""
    for wrapper in ("args", "arguments"):
        inner = found.get(wrapper)
        named = [value for key, value in found.items() if key in {"tool", "name"}]
        if isinstance(inner, dict) and len(found) == 1 + len(named):
            same = all(
                isinstance(name, str) and folded(name) == folded(tool.name) for name in named
            )
            return inner if same else found
    return found


def _text(value: Json) -> str:
    """Return a JSON value as the text that a header line would hold."""
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        text = ", ".join(_text(item) for item in value)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return HALF_PAIR.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")


def _dedented(lines: list[str]) -> list[str]:
    """Return the lines of an indented block without the indentation of its first line."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" "))]
    inside = all(line.startswith(indent) for line in lines if line.strip())
    return [line.removeprefix(indent) for line in lines] if inside else lines


def _without_fence(body: str) -> str | None:
    """Return what stands in the one fence that is the whole body, or None."""
    lines = body.strip().split("\n")
    signs = FENCE_SIGNS.match(lines[0])
    if signs is None or len(lines) < 2:
        return None
    closing = [n for n, line in enumerate(lines) if n and _closes(line, signs.group())]
    return "".join(f"{line}\n" for line in lines[1:-1]) if closing == [len(lines) - 1] else None


def _closes(line: str, signs: str) -> bool:
    """Say whether a line closes a fence of these signs."""
    bare = line.strip()
    return len(bare) >= len(signs) and not bare.strip(signs[0])
