"""Shapes that run nothing, or only the first call."""

import pytest
from protocol.offered import READ_A, TOOLS, called, essence, read

from harness.protocol.calls import INVENTED_RESULT, NATIVE_MARKUP, UNTERMINATED, Idle, Malformed
from harness.protocol.reading import read_reply

A = ("read_file", {"path": "a.py"}, None)
BODY = "@@CALL write_file\npath: a.txt\n@@BODY\nx"


def refused(text: str, *, cut: bool = False) -> Malformed:
    got = read(text, cut=cut)
    assert isinstance(got, Malformed), got
    return got


@pytest.mark.parametrize(
    "arguments",
    [
        '{"query": "SELECT 1",}',
        '{"tool": "sql", "args": {"query": "SELECT 1"},}',
        "{'query': 'SELECT 1'}",
        "{“query”: “SELECT 1”}",
        '{"query": "SELECT 1"',
        '{"query": "SELECT\n1"}',
        '{"query": "SELECT 1"} and then',
        '{"query": NaN}',
        '{"query": ' + "9" * 5000 + "}",
        '{"query": ' + "[" * 50_000,
        "{",
        "{}}",
    ],
)
@pytest.mark.parametrize("where", [" ", "\n", "\nargs: "])
def test_broken_json_is_one_error(arguments: str, where: str) -> None:
    """Nothing inside arguments that do not parse is ever run."""
    assert refused(f"@@CALL sql{where}{arguments}\n@@END").code == "bad_json"


def test_a_fragment_of_broken_json_is_never_a_tool() -> None:
    """An object inside the arguments is no call, whatever it names."""
    text = '@@CALL run_tests\n{"tool":"run_tests","args":{"tool":"finish","args":{}},}\n@@END'

    assert (refused(text).code, refused(text).tool) == ("bad_json", "run_tests")
    assert refused('@@CALL {"tool":"sql","args":{"query":"x"}}\n@@END').code == "no_tool"
    other = '@@CALL read_file\n{"tool": "delete_file", "args": {"path": "a.py"}}\n@@END'
    assert refused(other).code == "missing_arg"


@pytest.mark.parametrize(
    "text",
    [
        f"{BODY}@@END",
        f"{BODY}@@END\n\nI wait.",
        f"{BODY}\n@@END.",
        f"{BODY}\n@@END of it",
        f"{BODY}\n# @@END",
        f"{BODY}@@END\n{READ_A}",
    ],
)
def test_an_end_that_is_glued_to_a_body_does_not_end_it(text: str) -> None:
    """Whether the mark is part of the file cannot be known, so nothing is written."""
    assert refused(text).code == "no_end"


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        f"{BODY}\n\nThat is the file.",
        f"{BODY}\n```",
        f"{BODY}\n@@RESULT write_file ok\nwritten\n@@END",
        "@@CALL write_file\npath: a.txt\ncontent:\nx",
        "@@CALL write_file path: a.txt content: x",
        '@@CALL write_file\n{"path": "a.txt", "content": "x"}',
        "@@CALL write_file\npath: a.txt\n@@BODY\n@@CALL read_file\npath: b\n@@END",
    ],
)
def test_content_without_an_end_is_not_written(text: str) -> None:
    """Half a file is worse than none, however the content was given."""
    assert refused(text).code == "no_end"


@pytest.mark.parametrize(
    "text",
    [
        "@@CALL read_file\npath: a.py\n\nI will wait for the result.",
        "@@CALL list_files\n\nI will wait for the result.",
        "@@CALL sql\nquery: DELETE FROM t\n\nWHERE id = 3",
        "@@CALL read_file path: a.py @@END I wait.",
        "@@CALL read_file\npath: a.py @@END I wait.",
    ],
)
def test_text_behind_an_unterminated_call_is_not_guessed_at(text: str) -> None:
    """Behind an empty line it may be prose or half of the value: nothing is run."""
    assert refused(text).code == "no_end"


@pytest.mark.parametrize(
    "text",
    [
        "@@CALL",
        "@@CALL read_file",
        "@@CALL read_file\npath: a.py",
        "@@CALL read_file\npath: a.py @@END",
        "@@CALL read_file\npath: a.py\n@@EN",
        "@@CALL read_file\npath: a.py\n@@RESULT read_file ok\nx",
        BODY,
        f"{BODY}\n",
        "@@CALL bash\ncommand: ls",
        "@@CALL write_file\npath: a.txt\ncontent: x",
    ],
)
def test_a_call_that_was_cut_is_not_run(text: str) -> None:
    """Without its end a cut call may be half of one, also without a body."""
    assert refused(text, cut=True).code == "cut_by_length"


def test_a_whole_call_in_a_cut_reply_is_run() -> None:
    """Only the end counts: what was finished before the cut is run."""
    assert essence(called(f"{READ_A}\n\nAnd now I will", cut=True)) == A
    assert essence(called(READ_A, cut=True)) == A
    assert called(f"{BODY}\n@@END\n", cut=True).body == "x\n"


def test_a_cut_line_is_not_believed_to_be_the_end_of_a_body() -> None:
    """A document may say `@@END stands alone`; cut behind the mark it is no end."""
    assert refused(f"{BODY}\n@@END", cut=True).code == "cut_by_length"


@pytest.mark.parametrize(
    "text",
    [
        f"@@CALL list_files\n{READ_A}",
        f"@@CALL read_file\npath: b.py\n\nOr rather:\n\n{READ_A}",
        "@@CALL list_files\n@@CALL read_file path: a.py @@END",
        f"@@CALL bash\nls\n{READ_A}",
        f"```\n@@CALL list_files\n```\n```\n{READ_A}\n```",
        f'@@CALL sql\n{{"query": "x"}}\n{READ_A}\n{READ_A}',
    ],
)
@pytest.mark.parametrize("cut", [False, True])
def test_a_call_in_a_call_stops_both(text: str, cut: bool) -> None:
    """Which of the two was meant is not guessed."""
    assert refused(text, cut=cut).code == "call_in_call"


@pytest.mark.parametrize(
    ("behind", "ignored"),
    [
        (f"\n{READ_A}", ("read_file",)),
        (f"\n\nThen:\n{READ_A}\n```\n@@CALL Sql\nquery: x\n@@END\n```", ("read_file", "Sql")),
        (f"\n{BODY}\n{READ_A}\n@@END\n@@CALL finish\n@@END", ("write_file", "finish")),
        ("\n@@CALL list_files\n@@CALL sql\n@@END", ("list_files", "sql")),
        (f"\n{BODY}", ("write_file",)),
        ("\n@@CALL bash\nls\n@@END", ("bash",)),
        ("\n@@CALL list_files @@END\n@@CALL list_files @@END", ("list_files", "list_files")),
        ("\n@@CALL list_files\n@@END", ("list_files",)),
        ("\nThen I will use @@CALL finish.", ()),
    ],
)
def test_only_the_first_of_several_calls_is_run(behind: str, ignored: tuple[str, ...]) -> None:
    """The first is run, the others are named for the journal and the note."""
    first = "@@CALL list_files\n@@END"
    got = called(f"First.\n{first}{behind}")

    assert essence(got) == ("list_files", {}, None)
    assert got.ignored == ignored
    assert got.kept == f"First.\n{first}"


INVENTED = "@@RESULT read_file ok\nx = 1\n@@END"


@pytest.mark.parametrize(
    "behind",
    [
        INVENTED,
        f"{INVENTED}\n[reply 2 of 30]\n\nGood. @@CALL x\n@@CALL finish\nsummary: done\n@@END",
        f"I expect:\n{INVENTED}",
        "@@result read_file ok\nx",
        "**@@RESULT read_file ok**\nx",
    ],
)
def test_what_follows_an_invented_result_is_dropped(behind: str) -> None:
    """An answer that the model gave itself is not read, run, counted or sent again."""
    got = called(f"{READ_A}\n{behind}")

    assert (essence(got), got.kept, got.ignored) == (A, READ_A, ())
    assert got.flags == (INVENTED_RESULT,)


def test_calls_before_an_invented_result_are_counted() -> None:
    """A call between the first one and the invention was meant, and the note counts it."""
    got = called(f"{READ_A}\n@@CALL sql\nquery: x\n@@END\n{INVENTED}\n{READ_A}")

    assert (got.ignored, got.flags) == (("sql",), (INVENTED_RESULT,))


def test_an_invented_result_ends_a_call_without_end() -> None:
    """A header is run, a body is not written; the invention is dropped from both."""
    got = called(f"@@CALL read_file\npath: a.py\n{INVENTED}\nmore")
    body = refused(f"{BODY}\n{INVENTED}\nmore")

    assert (essence(got), got.kept) == (A, "@@CALL read_file\npath: a.py")
    assert got.flags == (INVENTED_RESULT, UNTERMINATED)
    assert (body.code, body.kept, body.flags) == ("no_end", BODY, (INVENTED_RESULT,))


def test_a_call_that_an_invented_result_quotes_is_not_run() -> None:
    """A result that the model copies before its own call hides the calls that it quotes."""
    quoting = "@@RESULT read_file ok\nmail:\n@@CALL delete_file\npath: x\n@@END\n@@END"

    got = called(f"I read:\n{quoting}\nSo:\n{READ_A}")
    assert (essence(got), got.kept) == (A, f"I read:\nSo:\n{READ_A}")
    assert got.flags == (INVENTED_RESULT,)
    assert read(quoting) == Idle("(empty reply)", (INVENTED_RESULT,))
    assert read(f"So:\n{INVENTED}") == Idle("So:", (INVENTED_RESULT,))
    assert refused(quoting.removesuffix("@@END"), cut=True).code == "cut_by_length"


def test_a_result_that_never_ends_hides_no_call_of_a_whole_reply() -> None:
    """A mention of the mark on a line of its own is no reason to lose a turn."""
    got = called(f"After\n@@RESULT read_file ok\nI go on:\n{READ_A}")

    assert (essence(got), got.kept) == (A, f"After\n{READ_A}")


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>',
        '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a.py"}}]',
        "<function=read_file>\n<parameter=path>a.py</parameter>\n</function>",
        '<function_calls>\n<invoke name="read_file">\n</invoke>\n</function_calls>',
        '<|tool_call|>{"name": "read_file"}',
        "<|python_tag|>read_file(path='a.py')",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function",
        "<tool_call>@@CALL read_file</tool_call>",
    ],
)
def test_native_markup_is_no_call(text: str) -> None:
    """The protocol of the task is asked for; other markup is counted, not run."""
    assert read(text) == Idle(text, (NATIVE_MARKUP,))


def test_the_answer_of_the_harness_is_no_native_markup() -> None:
    """A model that repeats `@@CALL <tool>` has not written native markup."""
    assert read("A line with @@CALL <tool>, its arguments").flags == ()


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("@@CALL bash\ncommand: ls\n@@END", "bash"),
        ("@@CALL bash\ncommand: ls", "bash"),
        ("@@CALL bash\n@@BODY\nls\n@@END", "bash"),
        ("@@CALL read files\n@@END", "read"),
        ("@@CALL open_file path: a.py @@END", "open_file"),
        ('@@CALL read_file(path="a.py")\n@@END', 'read_file(path="a.py'),
        ("@@CALL is how a call begins.", "is"),
    ],
)
def test_an_unknown_tool_is_named(text: str, tool: str) -> None:
    """A tool that is not offered is an error that names it."""
    got = refused(text)

    assert (got.code, got.tool) == ("unknown_tool", tool)


def test_a_tool_of_another_task_is_unknown() -> None:
    """Only what the task offers can be called, whatever else exists."""
    offered = {name: TOOLS[name] for name in ("read_file", "sql")}
    got = read_reply("@@CALL delete_file\npath: a\n@@END", offered, cut=False)

    assert isinstance(got, Malformed)
    assert got.code == "unknown_tool"


@pytest.mark.parametrize(
    ("text", "code", "argument"),
    [
        ("@@CALL read_file\n@@END", "missing_arg", "path"),
        ("@@CALL read_file\nfile: a.py\n@@END", "missing_arg", "path"),
        ("@@CALL write_file\npath: a.txt\n@@END", "missing_arg", "content"),
        ("@@CALL write_file a.txt\n@@END", "missing_arg", "content"),
        ("@@CALL write_file\n@@BODY\nx\n@@END", "missing_arg", "path"),
        ("@@CALL finish\nsummary: done\n@@END", "missing_arg", "closed"),
        ("@@CALL finish\nAll is done.\n@@END", "missing_arg", "summary"),
        ('@@CALL read_file\n{"path": null}\n@@END', "missing_arg", "path"),
        ("@@CALL read_file\nmode: r\npath: a.py\n@@END", "unknown_arg", "mode"),
        ("@@CALL read_file\npath: a.py\nmode: r\n@@END", "unknown_arg", "mode"),
        ("@@CALL read_file\npath: a.py\nencoding:\n@@END", "unknown_arg", "encoding"),
        ('@@CALL read_file\n{"path": "a.py", "mode": "r"}\n@@END', "unknown_arg", "mode"),
        ("@@CALL list_files mode: r\n@@END", "unknown_arg", "mode"),
        ("@@CALL list_files\nEverything, please.\n@@END", "unknown_arg", "Everything, please."),
        ("@@CALL read_file\nThis one\npath: a.py\n@@END", "unknown_arg", "This one"),
        ("@@CALL read_file\npath: a.py\npath: b.py\n@@END", "duplicate_arg", "path"),
        ("@@CALL read_file\npath: a.py\nPATH: a.py\n@@END", "duplicate_arg", "path"),
        ("@@CALL read_file a.py\npath: b.py\n@@END", "duplicate_arg", "path"),
        ('@@CALL read_file\n{"path": "a", "path": "b"}\n@@END', "duplicate_arg", "path"),
        ('@@CALL read_file\n{"path": "a", "Path": "b"}\n@@END', "duplicate_arg", "path"),
        (
            '@@CALL write_file {"path": "a", "content": "x"}\n@@BODY\ny\n@@END',
            "duplicate_arg",
            "content",
        ),
        ("@@CALL read_file\npath: a.py\n@@BODY\nx\n@@END", "body_not_allowed", ""),
        ("@@CALL read_file\npath: a.py\ncontent: x\n@@END", "body_not_allowed", ""),
        ('@@CALL sql\n{"query": "x", "content": "y"}\n@@END', "body_not_allowed", ""),
        ("@@CALL\npath: a.py\n@@END", "no_tool", ""),
        ("@@CALL @@END", "no_tool", ""),
        ("**@@CALL**\n@@END", "no_tool", ""),
    ],
)
def test_arguments_that_do_not_fit_have_one_code_each(text: str, code: str, argument: str) -> None:
    """The first thing that is wrong is named, and nothing is run."""
    got = refused(text)

    assert (got.code, got.argument) == (code, argument)


@pytest.mark.parametrize("text", ["", " ", "\n\t\n", "\u200b", "\ufeff\r\n", "\u00a0"])
@pytest.mark.parametrize("cut", [False, True])
def test_an_empty_reply_is_idle_and_never_sent_empty(text: str, cut: bool) -> None:
    """Servers and templates refuse an empty message."""
    assert read(text, cut=cut) == Idle("(empty reply)")


def test_talk_is_idle() -> None:
    """A reply that only says what it did did nothing."""
    text = "Done, I wrote report.txt and ran all tests."

    assert read(text) == Idle(text)


def test_the_same_call_twice_is_two_calls() -> None:
    """Reading knows nothing of earlier replies, so a repeated call is run again."""
    assert called(READ_A) == called(READ_A)
