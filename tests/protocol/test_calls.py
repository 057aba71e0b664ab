"""Shapes of a reply that are calls."""

import json

import pytest
from protocol.offered import READ_A, called, essence, read

from harness.protocol.calls import (
    BARE_ARG,
    BODY_FENCE,
    CONTENT_HEADER,
    FORM_REPAIRS,
    JSON_ARGS,
    ONE_LINE,
    TOOL_CASE,
    UNTERMINATED,
    Idle,
)

A = ("read_file", {"path": "a.py"}, None)


def write(body: str, path: str = "a.txt") -> str:
    return f"@@CALL write_file\npath: {path}\n@@BODY\n{body}\n@@END"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (READ_A, A),
        ("@@CALL list_files\n@@END", ("list_files", {}, None)),
        ("@@CALL list_files\npath: logs/\n@@END", ("list_files", {"path": "logs/"}, None)),
        ("@@CALL run_tests\nsuite: ticket_1\n@@END", ("run_tests", {"suite": "ticket_1"}, None)),
        (
            "@@CALL http_get\nurl: http://port.test/v1/mooring?x=1:2\n@@END",
            ("http_get", {"url": "http://port.test/v1/mooring?x=1:2"}, None),
        ),
        (
            "@@CALL search\ntext: Señal: 漢字\npath: logs/a\n@@END",
            ("search", {"text": "Señal: 漢字", "path": "logs/a"}, None),
        ),
        (
            "@@CALL finish\nsummary: all done\nclosed: 1, 2\nfailing: 0\n@@END",
            ("finish", {"summary": "all done", "closed": "1, 2", "failing": "0"}, None),
        ),
        (write("first line\nsecond line"), ("write_file", {"path": "a.txt"}, "first line\nsecond line\n")),
        ("@@CALL write_file\npath: a.txt\n@@BODY\n@@END", ("write_file", {"path": "a.txt"}, "")),
        ("  @@CALL read_file\n  path: a.py\n  @@END", A),
        ("@@CALL read_file \npath:a.py \n@@END \n\n", A),
        ("@@CALL finish\nsummary: x\nclosed:\nfailing: none\n@@END",
         ("finish", {"summary": "x", "closed": "", "failing": "none"}, None)),
    ],
)  # fmt: skip
def test_a_plain_call_is_read(text, expected) -> None:
    """The form of the system text gives the call and no flag."""
    got = called(text)

    assert essence(got) == expected
    assert (got.flags, got.ignored) == ((), ())


def test_a_body_is_taken_as_it_is() -> None:
    """Nothing in a body is unescaped, trimmed, unquoted or made plain."""
    body = '“x”\u00a0= "\\n"\t \n\n  path: b.py\n\u200b{"a": 1}\n```\ncode\n```\ntext: y  '

    assert called(write(body)).body == body + "\n"


def test_the_prose_before_a_call_is_kept_and_the_text_behind_it_is_not() -> None:
    """Prose and call go back into the conversation, what follows the call does not."""
    got = called(f"Let me look.\n\n{READ_A}\n\nThen I will go on.")

    assert essence(got) == A
    assert got.kept == f"Let me look.\n\n{READ_A}"


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{READ_A}\n```",
        f"You could run\n```json\n{READ_A}\n```",
        f"~~~text\n{READ_A}\n~~~\nNow I wait.",
        f"```\n{READ_A}",
        "- so:\n  ```\n  @@CALL read_file\n  path: a.py\n  @@END\n  ```",
        "```\n@@CALL read_file\npath: a.py\n```\n@@END",
    ],
)
def test_a_fenced_call_is_run(text: str) -> None:
    """Declared, the same for every model: a call in a code fence is run."""
    got = called(text)

    assert (essence(got), got.flags) == (A, ())


@pytest.mark.parametrize(
    "text",
    [
        "I could write @@CALL read_file and then path: a.py and @@END.",
        "The line `@@CALL read_file` begins a call.",
        "- @@CALL list_files\n- @@CALL read_file",
        "1. @@CALL list_files\n2. @@CALL read_file",
        "* @@CALL list_files\n* @@CALL sql",
        "x@@CALL read_file\npath: a.py\n@@END",
        "@CALL read_file\npath: a.py\n@END",
        "@@CALLING all tools\n@@END",
        "CALL read_file\npath: a.py\nEND",
        "@@END",
        "@@BODY\nx\n@@END",
    ],
)
def test_a_mark_inside_a_line_is_prose(text: str) -> None:
    """Only a mark at the beginning of its line begins a call."""
    assert read(text) == Idle(text)


def test_a_call_after_a_mention_is_run() -> None:
    """Prose that names the mark, or lists what will be called, hides no call."""
    text = f"I use @@CALL now:\n- @@CALL list_files\n- @@CALL sql\n\n{READ_A}"

    assert essence(read(text)) == A


@pytest.mark.parametrize(
    "text",
    [
        "@@call read_file\npath: a.py\n@@end",
        "@@Call read_file\npath: a.py\n@@END",
        "@@ CALL read_file\npath: a.py\n@@ END",
        "**@@CALL read_file**\npath: a.py\n**@@END**",
        "**@@CALL read_file**\n**path:** a.py\n@@END",
        "**@@CALL read_file**\n**path**: a.py\n@@END",
        "`@@CALL read_file`\n`path: a.py`\n`@@END`",
        "> @@CALL read_file\n> path: a.py\n> @@END",
        "> > @@CALL read_file\n> > path: a.py\n> > @@END",
        "> **@@CALL read_file**\n> path: a.py\n> @@END",
        "@@CALL Read_File\npath: a.py\n@@END",
        "@@CALL READ_FILE\npath: a.py\n@@END",
        "@@CALL readFile\npath: a.py\n@@END",
        "@@CALL read-file\npath: a.py\n@@END",
        "@@CALL `read_file`\npath: a.py\n@@END",
        "@@CALL: read_file\npath: a.py\n@@END",
        "@@CALL read_file:\npath: a.py\n@@END",
        "@@CALL read_file()\npath: a.py\n@@END",
        "@@CALL read_file\nPath: a.py\n@@END",
        "@@CALL read_file\nPATH\uff1aa.py\n@@END",
        "**@@CALL read_file:**\npath: a.py\n@@END",
        "@@CALL read_file\npath: a.py\n@@end",
        "\u200b@@Call read_file\npath: a.py\n@@END",
    ],
)
def test_another_spelling_is_understood_and_flagged(text: str) -> None:
    """Case, hyphens and decoration never make a silent no-op."""
    got = called(text)

    assert (essence(got), got.flags) == (A, (TOOL_CASE,))


def test_another_spelling_of_the_marks_of_a_body_is_flagged() -> None:
    """The marks behind the opening line are understood in any case too."""
    for text in (write("x").replace("@@BODY", "@@body"), write("x").replace("@@END", "**@@End**")):
        assert (called(text).body, called(text).flags) == ("x\n", (TOOL_CASE,))


def test_a_quoted_call_loses_the_signs_of_the_quotation_in_its_body() -> None:
    """A call that is quoted as a whole writes the file, not the quotation of it."""
    text = "> @@CALL write_file\n> path: a.txt\n> @@BODY\n> x = 1\n>\n>   y\n> > @@END\nz\n> @@END"

    assert called(text).body == "x = 1\n\n  y\n> @@END\nz\n"


def test_a_quoted_end_does_not_end_a_body_that_is_not_quoted() -> None:
    """A document may quote a lone mark as Markdown does."""
    assert called(write("he wrote\n> @@END\n> @@CALL x\nthere")).body == (
        "he wrote\n> @@END\n> @@CALL x\nthere\n"
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"a.py"', "a.py"),
        ("'a.py'", "a.py"),
        ("`a.py`", "a.py"),
        ("“a.py”", "a.py"),
        ("‘a.py’", "a.py"),
        ('“a.py"', "a.py"),
        ("«a.py»", "a.py"),
        ('""a.py""', '"a.py"'),
        ("\"it's.py\"", "it's.py"),
        ("'it's.py'", "it's.py"),
        ('""', ""),
        ('"a.py', '"a.py'),
        ("a.py'", "a.py'"),
        ('"', '"'),
        ('"a" or "b"', '"a" or "b"'),
        ("'a', 'b'", "'a', 'b'"),
    ],
)  # fmt: skip
def test_one_pair_of_quotes_is_removed(written: str, value: str) -> None:
    """A matching pair around the whole value, once, and no other quotes."""
    got = called(f"@@CALL search\ntext: {written}\n@@END")

    assert (got.args["text"], got.flags) == (value, ())


def test_quotes_around_sql_keep_the_quotes_inside() -> None:
    """What the pair encloses is untouched, also where it holds the same sign."""
    inner = 'SELECT "a" FROM t WHERE b = "x"'

    assert called(f'@@CALL sql\nquery: "{inner}"\n@@END').args == {"query": inner}
    assert called("@@CALL sql\nquery: 'SELECT 'a''\n@@END").args == {"query": "SELECT 'a'"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("a\u00a0b", "a b"),
        ("a\u202fb", "a b"),
        ("a\u200bb", "ab"),
        ("\ufeffa", "a"),
        ("it’s “so”, ‚x‘", "it's \"so\", 'x'"),
    ],
)
def test_typographic_signs_in_a_value_become_plain(written: str, value: str) -> None:
    """A header value holds the signs that files, tables and addresses hold."""
    assert called(f"@@CALL search\ntext: {written}\n@@END").args == {"text": value}
    assert called(f"@@CALL search\n{json.dumps({'text': written})}\n@@END").args == {"text": value}


@pytest.mark.parametrize(
    "text",
    [
        '@@CALL read_file {"path": "a.py"}\n@@END',
        '@@CALL read_file {"path": "a.py"} @@END',
        '@@CALL read_file\n{"path": "a.py"}\n@@END',
        '@@CALL read_file\n{\n  "path": "a.py"\n}\n\n@@END',
        '@@CALL read_file\n```json\n{"path": "a.py"}\n```\n@@END',
        '@@CALL read_file\n{"args": {"path": "a.py"}}\n@@END',
        '@@CALL read_file\n{"arguments": {"path": "a.py"}}\n@@END',
        '@@CALL read_file\n{"tool": "read_file", "args": {"path": "a.py"}}\n@@END',
        '@@CALL read_file\nargs: {"path": "a.py"}\n@@END',
        '@@CALL read_file\n{"Path": "a.py"}\n@@END',
        '@@CALL read_file{"path": "a.py"}\n@@END',
    ],
)
def test_json_arguments_are_understood(text: str) -> None:
    """A model that falls back to an object is understood instead of looping."""
    got = called(text)

    assert essence(got) == A
    assert set(got.flags) - {ONE_LINE} == {JSON_ARGS}


def test_json_values_become_the_text_of_a_header() -> None:
    """Numbers, lists and nothing have one text each; content is taken as it is."""
    finish = '{"summary": "s", "closed": [1, "two", 3.5], "failing": 0}'
    null = '{"text": "x", "path": null}'
    file = '{"path": "a.json", "content": "“x”\\r\\n\\u00e9"}'
    table = '{"path": "a.json", "content": {"estimate": 41}}'

    assert called(f"@@CALL finish\n{finish}\n@@END").args == {
        "summary": "s", "closed": "1, two, 3.5", "failing": "0"}  # fmt: skip
    assert called(f"@@CALL search\n{null}\n@@END").args == {"text": "x"}
    assert called(f"@@CALL write_file\n{file}\n@@END").body == "“x”\né"
    assert called(f"@@CALL write_file\n{table}\n@@END").body == '{"estimate": 41}'


def test_json_names_the_path_and_the_body_follows() -> None:
    """An object for the header and a raw body are one call."""
    got = called('@@CALL write_file {"path": "a.txt"}\n@@BODY\nx\n@@END')

    assert essence(got) == ("write_file", {"path": "a.txt"}, "x\n")


def test_json_content_may_speak_of_content() -> None:
    """What stands in a JSON string opens no body."""
    got = called('@@CALL write_file {"path": "a.txt", "content": "the content: x @@END"}\n@@END')

    assert (got.body, got.flags) == ("the content: x @@END", (JSON_ARGS,))


def test_half_a_sign_in_json_cannot_break_a_file() -> None:
    """JSON can write what UTF-8 cannot; it is replaced, never an error of ours."""
    got = called('@@CALL search\n{"text": "\\ud800x"}\n@@END')

    assert got.args == {"text": "\ufffdx"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@@CALL read_file path: a.py @@END", A),
        ("@@CALL read_file path: a.py\n@@END", A),
        ("@@CALL read_file path=a.py @@END", A),
        ('@@CALL read_file path="a.py" @@END', A),
        ("@@CALL read_file\npath: a.py @@END", A),
        ("@@CALL read_file\npath: a.py@@END\nNow I wait.", A),
        ("@@CALL read_file\npath: a.py\n@@END Now I wait.", A),
        ("@@CALL list_files @@END", ("list_files", {}, None)),
        (
            "@@CALL search text: foo bar, path: logs/ @@END",
            ("search", {"text": "foo bar", "path": "logs/"}, None),
        ),
        ("@@CALL sql query: SELECT 1 @@END", ("sql", {"query": "SELECT 1"}, None)),
        (
            "@@CALL finish summary: done closed: 1 failing: 0 @@END",
            ("finish", {"summary": "done", "closed": "1", "failing": "0"}, None),
        ),
    ],
)
def test_a_call_on_one_line_is_understood(text, expected) -> None:
    """Where no body can be lost, an end need not stand alone."""
    got = called(text)

    assert (essence(got), got.flags) == (expected, (ONE_LINE,))


def test_a_file_on_one_line_is_understood() -> None:
    """A short file may stand on the line of its call, end included."""
    got = called("@@CALL write_file path: a.txt content: x = 1 @@END")

    assert essence(got) == ("write_file", {"path": "a.txt"}, "x = 1\n")
    assert got.flags == (CONTENT_HEADER, ONE_LINE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@@CALL read_file a.py\n@@END", A),
        ("@@CALL read_file\na.py\n@@END", A),
        ('@@CALL read_file "a.py"\n@@END', A),
        ("@@CALL http_get http://port.test/v1/stay\n@@END",
         ("http_get", {"url": "http://port.test/v1/stay"}, None)),
        ("@@CALL search two words\n@@END", ("search", {"text": "two words"}, None)),
        ("@@CALL search two words\npath: logs/\n@@END",
         ("search", {"text": "two words", "path": "logs/"}, None)),
        ("@@CALL sql SELECT a\nFROM t\n@@END", ("sql", {"query": "SELECT a\nFROM t"}, None)),
        ("@@CALL sql\n```sql\nSELECT a\nFROM t\n```\n@@END",
         ("sql", {"query": "SELECT a\nFROM t"}, None)),
        ("@@CALL run_tests ticket_1\n@@END", ("run_tests", {"suite": "ticket_1"}, None)),
        ("@@CALL write_file a.txt\n@@BODY\nx\n@@END", ("write_file", {"path": "a.txt"}, "x\n")),
    ],
)  # fmt: skip
def test_a_value_without_a_key_goes_to_the_only_place_it_can(text, expected) -> None:
    """One required argument, or one argument at all, needs no key."""
    got = called(text)

    assert (essence(got), got.flags) == (expected, (BARE_ARG,))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("query: SELECT a\nFROM t\nWHERE x = 1;", "SELECT a\nFROM t\nWHERE x = 1;"),
        ("query:\n  SELECT a\n    FROM t", "SELECT a\n    FROM t"),
        ("query: SELECT a\n\nFROM t", "SELECT a\n\nFROM t"),
        ("query: |\n  SELECT a\n  FROM t", "SELECT a\n  FROM t"),
        ("query: SELECT 'x: y',\nPath: 3", "SELECT 'x: y',\nPath: 3"),
        ('query: "SELECT a\nFROM t"', "SELECT a\nFROM t"),
        ("query: -- note: x\nSELECT 1", "-- note: x\nSELECT 1"),
    ],
)
def test_a_value_goes_on_until_the_next_key(text: str, query: str) -> None:
    """Lines that are no argument are joined to the value by a newline."""
    got = called(f"@@CALL sql\n{text}\n@@END")

    assert (got.args, got.flags) == ({"query": query}, ())


@pytest.mark.parametrize(
    "body",
    [
        "content:\nx = 1\n\ny\n",
        "content: x = 1\n\ny\n",
        "content: |\nx = 1\n\ny\n",
        "content: |\n  x = 1\n\n  y\n",
        "Content:\nx = 1\n\ny\n",
        "**content:**\nx = 1\n\ny\n",
        "content:\n@@BODY\nx = 1\n\ny\n",
        "@@BODY x = 1\n\ny\n",
    ],
)
def test_content_as_a_header_opens_the_body(body: str) -> None:
    """Everything from `content:` to the end is the file."""
    got = called(f"@@CALL write_file\npath: a.txt\n{body}@@END")

    assert (got.body, got.flags) == ("x = 1\n\ny\n", (CONTENT_HEADER,))


def test_a_block_that_is_not_indented_as_a_whole_stays() -> None:
    """Only the indentation that the whole block has is its own."""
    got = called("@@CALL write_file\npath: a.txt\ncontent: |\n  x = 1\ny = 2\n@@END")

    assert got.body == "  x = 1\ny = 2\n"


def test_a_body_by_header_quotes_calls_too() -> None:
    """What the body holds does not depend on how it was opened."""
    got = called(f"@@CALL write_file\npath: a.txt\ncontent:\n{READ_A}\npath: x\n@@END")

    assert got.body == f"{READ_A}\npath: x\n"


@pytest.mark.parametrize(
    ("body", "path", "bare"),
    [
        ("```python\nx = 1\n```", "a.py", "x = 1\n"),
        ("```\nx = 1\n\n```", "a.py", "x = 1\n\n"),
        ("~~~json\n{}\n~~~", "a.json", "{}\n"),
        ("\n```python\nx = 1\n```\n\n", "a.py", "x = 1\n"),
        ("````\n```\nx\n```\n````", "a.txt", "```\nx\n```\n"),
        ("```\n```", "a.py", ""),
    ],
)
def test_a_fence_around_a_whole_body_is_removed(body: str, path: str, bare: str) -> None:
    """The file does not hold the fence of the message."""
    got = called(write(body, path))

    assert (got.body, got.flags) == (bare, (BODY_FENCE,))


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("```python\nx = 1\n```", "notes/a.md"),
        ("```python\nx = 1\n```", "A.MD"),
        ("```python\nx = 1\n```\nand\n```python\ny\n```", "a.py"),
        ("```python\nx = 1\n```\n# end", "a.py"),
        ("# start\n```python\nx = 1\n```", "a.py"),
        ("```python\nx = 1", "a.py"),
        ("``` a `b` c\nx\n```", "a.py"),
        ("```", "a.py"),
    ],
)
def test_other_fences_stay(body: str, path: str) -> None:
    """Markdown keeps its fences, and so does what is not wholly inside one."""
    got = called(write(body, path))

    assert (got.body, got.flags) == (body + "\n", ())


QUOTED = (
    READ_A,
    "@@CALL write_file\npath: b.txt\n@@BODY\ninner\n@@END",
    write(f"deeper\n{READ_A}\nstill"),
    f"{READ_A}\n@@RESULT read_file ok\nx = 1\n@@END\n[reply 1 of 30]",
    "@@CALL read_file path: a.py @@END",
    "  @@call sql\n  @@end",
    f"{READ_A}\n{READ_A}",
)


@pytest.mark.parametrize("quoted", QUOTED)
def test_a_call_inside_a_body_is_text(quoted: str) -> None:
    """A document may quote whole calls; they are written, not run."""
    document = write(f"before\n{quoted}\nafter", "how.md")
    got = called(f"{document}\nDone.")

    assert (got.body, got.ignored) == (f"before\n{quoted}\nafter\n", ())


@pytest.mark.parametrize(
    "text",
    [
        f"{READ_A}<|im_end|>",
        f"{READ_A}<|unheard_of|>",
        f"{READ_A}</s>\n",
        f"{READ_A} <|eot_id|><|x|>",
        f"{READ_A}</tool_call>",
    ],
)
def test_a_turn_token_behind_the_end_is_ignored(text: str) -> None:
    """A leaked token is no part of the call and is not sent again."""
    got = called(text)

    assert (essence(got), got.kept, got.flags) == (A, READ_A, ())
    assert called(write("x") + "<|im_end|>").body == "x\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@@CALL read_file\npath: a.py", A),
        ("Let me look.\n@@CALL read_file\npath: a.py\n\n", A),
        ("@@CALL read_file\npath: a.py\n```", A),
        ("```\n@@CALL read_file\npath: a.py\n```\n\nNow I wait.", A),
        ("@@CALL list_files", ("list_files", {}, None)),
        ("@@CALL sql\nquery: SELECT a\nFROM t", ("sql", {"query": "SELECT a\nFROM t"}, None)),
        (
            "@@CALL finish\nsummary: s\nclosed: 1\nfailing: 0\n",
            ("finish", {"summary": "s", "closed": "1", "failing": "0"}, None),
        ),
    ],
)
def test_header_arguments_without_an_end_are_run(text, expected) -> None:
    """A reply that ended by itself has nothing to lose without a body."""
    got = called(text)

    assert (essence(got), got.flags) == (expected, (UNTERMINATED,))


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_have_one_form(line_end: str) -> None:
    """The form of a line end changes neither the call nor the file."""
    text = write("\ufeffx = 1\n\ny = 2").replace("\n", line_end)

    got = called(text)

    assert essence(got) == ("write_file", {"path": "a.txt"}, "x = 1\n\ny = 2\n")
    assert got.flags == ()
    assert "\r" not in got.kept


def test_other_separators_in_a_body_are_no_line_ends() -> None:
    """Only line ends are normalised; form feeds and line separators stay."""
    body = "a\x0cb\u2028@@END\u2028c\x85d"

    assert called(write(body)).body == body + "\n"


def test_form_repairs_are_the_four_that_are_reported() -> None:
    """The repairs of a form that are counted per model."""
    assert {JSON_ARGS, BODY_FENCE, UNTERMINATED, CONTENT_HEADER} == FORM_REPAIRS
