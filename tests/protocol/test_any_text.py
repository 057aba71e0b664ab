"""What holds for every text: cut, hostile, long, or written by the harness itself."""

import random
import time

import pytest
from protocol.offered import SIGNATURES, called, essence, heard, read

from harness.protocol.calls import Call, Idle, Malformed, ToolSignature
from harness.protocol.writing import render_call

MANUAL = """\
# How to call

A line with
@@CALL read_file
path: notes/plan.txt
@@END
reads a file, and the answer is

@@RESULT read_file ok
first line
@@END

> @@END

@@END stands alone on its line; @@CALL begins one.
@@CALL write_file
path: x
@@BODY
```
@@CALL finish
summary: quoted
closed: 1
failing: 0
@@END
```
@@END
"""
REPLIES = (
    "Let me look at the ticket first.\n\n@@CALL read_file\npath: tickets/1.md\n@@END\n",
    ("<think>\nI could finish:\n@@CALL finish\nsummary: x\nclosed: 1\nfailing: 0\n@@END\nbut no.\n"
    "</think>\n\nNo.\n```\n@@CALL sql\nquery: SELECT id, vessel\n  FROM visits\n\n"
    " WHERE berth = 'N' -- @@END\n ORDER BY id\n@@END\n```\nThen I will write it."),
    (f"I document it.\n@@CALL write_file\npath: docs/how.md\n@@BODY\n{MANUAL}@@END\n\nDone.\n"
    "@@CALL finish\nsummary: s\nclosed: 1\nfailing: 0\n@@END"),
    ("@@CALL write_file\npath: dues/mooring.py\n@@BODY\n```python\nfrom dues.steps import to_step\n\n"
    "RATE_ID = 'm-7'\n\n\ndef mooring_cents(length_dm, days):\n    return days * to_step(length_dm)\n"
    "```\n@@END"),
    ('@@CALL write_file\n```json\n{\n  "path": "out/plan.json",\n  "content": "{\\"estimate\\": 41}\\n"\n'
    "}\n```\n@@END\nand that is all"),
    "@@CALL search text: where @@END stands, path: logs/ @@END\n@@CALL list_files\n@@END\n",
    ("@@CALL finish\nsummary: I closed 1 and 2;\n  3 is open\nclosed: 1, 2\nfailing: 4\n@@END<|im_end|>"
    "\n<|im_start|>user\nthanks"),
    ("<|channel|>analysis<|message|>@@CALL delete_file\npath: a\n@@END<|end|><|start|>assistant"
    "<|channel|>final<|message|>**@@CALL Read-File**\n**path:** a.py\n**@@END**"),
    ("@@RESULT read_file ok\n@@CALL delete_file\npath: x\n@@END\n@@END\nNow:\n@@CALL run_tests\n"
    "suite: ticket_1\n@@END\n@@RESULT run_tests ok\n0 failing\n@@END\n@@CALL delete_file\npath: y\n@@END"),
    ("> @@CALL write_file\n> path: mail.md\n> @@BODY\n> he said\n> > @@CALL delete_file\n> > path: x\n"
    "> > @@END\n> bye\n> @@END\n"),
    ("@@CALL write_file\npath: a.txt\ncontent: |\n  one\n  @@CALL sql\n  query: DROP TABLE t\n  @@END\n"
    "  two\n@@END\n"),
)  # fmt: skip


@pytest.mark.parametrize("content", REPLIES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_cut_reply_never_calls_anything_else(content: str, line_end: str) -> None:
    """Wherever the length limit strikes: no call, a malformed one, or the one that was meant."""
    content = content.replace("\n", line_end)
    whole = essence(heard(content)[1])
    assert whole is not None

    for end in range(len(content)):
        got = heard(content[:end], cut=True)[1]
        assert not isinstance(got, Call) or essence(got) == whole, content[:end]


@pytest.mark.parametrize("content", REPLIES)
def test_what_is_sent_again_reads_as_the_same_call(content: str) -> None:
    """The model finds in its history the call that was run, and no other."""
    got = heard(content)[1]

    again = called(got.kept)
    assert essence(again) == essence(got)
    assert again.ignored == ()


PIECES = (
    *("@@CALL ", "@@CALL read_file", "@@CALL write_file", "@@CALL sql", "@@call bash", "@@BODY", "@@END"),
    *("@@RESULT read_file ok", "path: a.py", "path:", "content: x", "content: |", "query: SELECT 1"),
    *("mode: r", "{", "}", '{"path": "a.py"}', '"', "“", "```", "```json", "~~~", "> ", "**", "`", "\n"),
    *("\n", "\n", "\n", "\r\n", "\r", " ", "  ", "\t", "\u200b", "\ufeff", "\u2028", "\x00", "\ud800"),
    *("<|im_end|>", "<x>", "x = 1", "args: ", "[", "@@", "@", ":", "=", "|", ".md", "é漢\U0001f600"),
)  # fmt: skip


def test_no_text_raises_or_keeps_nothing() -> None:
    """Any mixture of marks is idle, malformed or a call, and leaves something to send again."""
    draw = random.Random("protocol")
    seen = set()
    for _ in range(6000):
        text = "".join(draw.choices(PIECES, k=draw.randrange(1, 24)))
        for cut in (False, True):
            got = read(text, cut=cut)
            seen.add(got.code if isinstance(got, Malformed) else type(got).__name__)
            assert got.kept.strip(), text
            assert "@@RESULT" not in got.kept.split("@@BODY")[0].upper().splitlines(), text
            assert list(got.flags) == sorted(set(got.flags)), text
    assert {"Call", "Idle", "no_end", "cut_by_length", "call_in_call", "bad_json"} <= seen


def test_random_letters_are_idle() -> None:
    """Nothing but the marks of the protocol makes a call."""
    draw = random.Random("letters")
    signs = "abc@ \n\t:{}\"'`*>_ENDCALBODY漢\u200b\x00\ud800"
    for _ in range(3000):
        text = "".join(draw.choices(signs, k=draw.randrange(60)))
        if "@@" not in text:
            assert isinstance(read(text), Idle), text


@pytest.mark.parametrize(
    "text",
    [
        "@@CALL write_file\n@@BODY\n" * 8_000,
        "@@CALL list_files\n" * 11_000,
        "@@CALL list_files\n@@END\n" * 8_000,
        "@@CALL list_files @@END\n" * 8_000,
        "@@CALL write_file\n@@BODY\n" + "@@CALL x\n" * 20_000 + "@@END\n" * 20_001,
        "@@RESULT x ok\n" * 14_000,
        "@@RESULT x ok\n@@CALL x\n" * 9_000,
        "@@RESULT x ok\n" * 8_000 + "@@END\n" * 8_000,
        "@@END\n" * 33_000,
        "@@END" * 40_000,
        "@@CALL search text: " + "@@END <a" * 25_000,
        "@@CALL search " + "text: " * 33_000 + "@@END",
        "@@CALL sql\n" + "query: x\n" * 22_000 + "@@END",
        "@@CALL sql\n" + "a" * 200_000 + ": x\n@@END",
        "@@CALL " + " " * 200_000 + "@",
        " " * 200_000 + "@@CALL",
        "> " * 100_000 + "@@CALL x",
        "*" * 200_000 + "@@CALL x",
        "> " * 60_000 + "@@CALL sql\n" + "> x\n" * 20_000,
        "> " * 50_000 + "@@CALL write_file\n@@BODY\n" + "> " * 50_000 + "@@END",
        "@@" * 100_000,
        "@@CALL read_file\n" + "```\n" * 50_000,
        "@@CALL read_file\n" + "\n" * 200_000,
        "@@CALL sql\n{" + '"a":{' * 40_000,
        '@@CALL sql\n{"query": ' + "[" * 200_000 + "\n@@END",
        '@@CALL sql\n{"query": ' + "1" * 200_000 + "}\n@@END",
        "@@CALL sql\n{" + ",".join(f'"k{n}": 1' for n in range(16_000)) + "}\n@@END",
        "@@CALL write_file\npath: a\n@@BODY\n" + "```\n" * 50_000 + "@@END",
        "@@CALL write_file\npath: a\ncontent: |\n" + " " * 200_000 + "\n@@END",
        "@@CALL write_file " + "content " * 25_000 + "\n@@END",
        "@@CALL search\ntext: " + '"' * 200_000 + "\n@@END",
        "<tool_call" * 20_000,
        "@@END" + "<a>" * 66_000 + "x",
        "@@CALL x" + "@@END<" * 33_000,
    ],
    ids=range(34),
)
def test_no_text_is_slow_to_read(text: str) -> None:
    """Hostile repetition costs time in proportion to its length.

    It takes up to half a second of CPU, and twice that on a busy core; quadratic reading of
    200,000 characters would take minutes. The limit lies between them.
    """
    for cut in (False, True):
        started = time.process_time()
        got = read(text, cut=cut)
        assert time.process_time() - started < 10.0
        assert got.kept


WORDS = ("a", "b.py", "logs/n_1.txt", "x=1", "it's", "señal", "漢字", "SELECT", "*", "(a, b)", "1:2", "\\n", "@@x")  # fmt: skip
LINES = ("", "x = 1", "  indented", "path: b", "content: y", "```", '"""', "@@", "> @@END", "a @@END", "\t", "@@END.")  # fmt: skip
BLOCKS = (
    "@@CALL sql\nquery: x\n@@END",
    "@@RESULT sql ok\n(1 rows)\n@@END",
    "@@CALL list_files @@END",
)


def drawn_call(draw: random.Random, tool: ToolSignature) -> Call:
    """Draw a call that `render_call` promises to write."""
    optional = [key for key in tool.optional if draw.random() < 0.5]
    args = {
        key: " ".join(["w", *draw.choices(WORDS, k=draw.randrange(4)), "z"])
        for key in (*tool.required, *optional)
        if key != "content"
    }
    if "query" in args and draw.random() < 0.5:
        args["query"] += "\n  FROM t\n\nWHERE x"
    if not tool.takes_content:
        return Call(tool.name, args)
    lines = ["#", *draw.choices((*LINES, *BLOCKS), k=draw.randrange(8))]
    return Call(tool.name, args, draw.choice(["", "".join(f"{line}\n" for line in lines)]))


def test_a_written_call_reads_back_as_itself() -> None:
    """Writing and reading are inverse, alone and inside a reply, for every tool."""
    draw = random.Random("written")
    for number in range(3000):
        call = drawn_call(draw, SIGNATURES[number % len(SIGNATURES)])
        text = render_call(call.tool, call.args, call.body)
        for reply in (text, f"Now.\n{text}\nThen.", f"```\n{text}\n```"):
            got = called(reply)
            assert (essence(got), got.flags) == (essence(call), ()), reply
