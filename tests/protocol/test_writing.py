"""What the harness says, to the letter."""

from pathlib import Path
from typing import get_args

import pytest
from protocol.offered import SIGNATURES, TOOLS, called, read

from harness.arnes import load_arnes
from harness.errors import SuiteError
from harness.protocol.calls import Call, Malformed, MalformedCode
from harness.protocol.writing import (
    REASONS,
    capped_reply,
    capped_result,
    counter_line,
    further_calls_line,
    idle_text,
    malformed_text,
    render_call,
    result_text,
    system_text,
    tool_lines,
)

ROOT = Path(__file__).resolve().parents[2]
OFFERED = ("list_files", "read_file", "finish")


def test_a_result_has_one_form() -> None:
    """Tool and status, the text, the end, and the counter; nothing is added to the text."""
    counter = counter_line(8, 30)

    def answer(text: str, status="ok") -> str:
        return result_text(Call("read_file"), status, text, counter=counter, cap_chars=3000)

    assert answer("a\n\nb") == "@@RESULT read_file ok\na\n\nb\n@@END\n[reply 8 of 30]"
    assert answer("a\n") == "@@RESULT read_file ok\na\n@@END\n[reply 8 of 30]"
    assert answer("a\n\n") == "@@RESULT read_file ok\na\n\n@@END\n[reply 8 of 30]"
    assert answer("") == "@@RESULT read_file ok\n@@END\n[reply 8 of 30]"
    assert answer("not found: x", "error") == (
        "@@RESULT read_file error\nnot found: x\n@@END\n[reply 8 of 30]"
    )


def test_calls_that_were_not_run_are_named_before_the_counter() -> None:
    """The model is told how many of its calls nothing was done with."""
    call = called("@@CALL list_files\n@@END\n@@CALL sql\n@@END\n@@CALL finish\n@@END")

    got = result_text(call, "ok", "a.py 12", counter=counter_line(8, 30, cost=4), cap_chars=3000)

    assert got == (
        "@@RESULT list_files ok\na.py 12\n@@END\n"
        "Only the first call of a reply is run; 2 more were not run.\n"
        "[reply 8 of 30, this call cost 4]"
    )
    assert further_calls_line(1) == "Only the first call of a reply is run; 1 more was not run."


def test_the_counter_says_a_price_only_where_there_is_one() -> None:
    """A call that costs nothing in a task with prices is not a task without prices."""
    assert counter_line(8, 30) == "[reply 8 of 30]"
    assert counter_line(30, 30, cost=0) == "[reply 30 of 30, this call cost 0]"


def test_an_idle_reply_is_told_how_a_call_is_written() -> None:
    """The text and its two numbers."""
    assert idle_text(1, 3) == (
        'No tool call was found. Write a line "@@CALL <tool>", its arguments, and a line "@@END".'
        " Replies without a call: 1 of 3 in a row."
    )


@pytest.mark.parametrize(
    ("reply", "cut", "text"),
    [
        ("@@CALL write_file\npath: a\n@@BODY\nx", False,
         'no line "@@END" was found after it. "@@END" must stand alone on its line.'),
        ("@@CALL list_files", True,
         'the reply reached its length limit before "@@END". Write less in one call.'),
        ("@@CALL list_files\n@@CALL sql\n@@END", False,
         'a second "@@CALL" came before the first one\'s "@@END".'),
        ("@@CALL bash\n@@END", False,
         'there is no tool "bash". Tools: list_files, read_file, finish'),
        ("@@CALL\n@@END", False,
         'no tool is named after "@@CALL". Tools: list_files, read_file, finish'),
        ("@@CALL read_file\n@@END", False, 'read_file needs the argument "path".'),
        ("@@CALL Read_File\nmode: r\npath: a\n@@END", False, 'read_file has no argument "mode".'),
        ("@@CALL read_file\npath: a\npath: b\n@@END", False, '"path" is given twice.'),
        ("@@CALL read_file\npath: a\n@@BODY\n@@END", False, "read_file takes no content."),
        ("@@CALL read_file\n{path}\n@@END", False,
         'its arguments begin with "{" but are not valid JSON. Lines "name: value" are simpler.'),
    ],
)  # fmt: skip
def test_a_malformed_call_is_told_its_rule(reply: str, cut: bool, text: str) -> None:
    """Every code has its exact text, which says that nothing was run and why."""
    got = read(reply, cut=cut)

    assert isinstance(got, Malformed)
    assert malformed_text(got, OFFERED) == f"The call was not run: {text}"


def test_every_code_has_a_text() -> None:
    """A code without a text would be found in the middle of a campaign."""
    assert set(REASONS) == set(get_args(MalformedCode))


def test_a_word_of_the_model_is_repeated_in_one_short_line() -> None:
    """What a reply holds where a name should stand cannot fill or break the answer."""
    tool = malformed_text(Malformed("unknown_tool", "", tool="x" * 5000), OFFERED)
    argument = malformed_text(Malformed("unknown_arg", "", "sql", "a\n@@END\n{tool}"), OFFERED)

    assert len(tool) < 200
    assert "\n" not in argument
    assert '"a @@END {tool}"' in argument


def test_a_long_result_loses_its_middle() -> None:
    """Above 3,000: the first 2,000 characters, a line with the number, the last 750."""
    text = "".join(chr(0x4E00 + n) for n in range(3001))

    assert capped_result(text[:3000], 3000) == text[:3000]
    assert capped_result(text, 3000) == (f"{text[:2000]}\n[251 characters left out]\n{text[-750:]}")
    shown = result_text(Call("sql"), "ok", "9" * 10_000, counter="[c]", cap_chars=3000)
    assert "\n[7250 characters left out]\n" in shown
    assert len(shown) < 3000 + len("@@RESULT sql ok\n\n@@END\n[c]")


def test_a_long_reply_is_sent_again_without_its_middle() -> None:
    """Above 3,000: the first 2,000 characters, a line with the number, the last 500."""
    text = "".join(chr(0x4E00 + n) for n in range(3001))

    assert capped_reply(text[:3000], 3000) == text[:3000]
    assert capped_reply(text, 3000) == (f"{text[:2000]}\n[501 characters left out]\n{text[-500:]}")


def test_a_call_is_written_as_the_system_text_shows_it() -> None:
    """The model, the goldens and the documentation see one form."""
    system = load_arnes(ROOT).prompts.agent_system
    read_file = render_call("read_file", {"path": "notes/plan.txt"})
    write_file = render_call("write_file", {"path": "notes/plan.txt"}, "first line\nsecond line\n")

    assert read_file == "@@CALL read_file\npath: notes/plan.txt\n@@END"
    assert read_file in system
    assert write_file in system
    assert (
        render_call("write_file", {"path": "a"}, "") == "@@CALL write_file\npath: a\n@@BODY\n@@END"
    )


def test_tool_lines_follow_the_task() -> None:
    """A task offers what it needs, in its order, and its prices where it has some."""
    told = {"sql": "sql query: runs it", "read_file": "read_file path: the file"}

    assert tool_lines(["read_file", "sql"], told) == "read_file path: the file\nsql query: runs it"
    assert tool_lines(["sql", "read_file"], told, {"sql": "3"}) == (
        "sql query: runs it; price 3\nread_file path: the file"
    )


def test_a_tool_without_a_description_is_an_error() -> None:
    """A tool that no model is told about would never be called; the nearest name is shown."""
    with pytest.raises(SuiteError, match="1 tool") as caught:
        tool_lines(["sql", "run_test"], load_arnes(ROOT).tools)

    assert 'did you mean "run_tests"?' in str(caught.value)


def test_the_system_text_is_rendered_from_the_parameters() -> None:
    """No number of the text can differ from the rule that is applied."""
    config = load_arnes(ROOT)
    changed = config.model_copy(update={"max_agent_turns": 17, "max_idle_turns": 5})

    text = system_text(config, list(TOOLS))
    other = system_text(changed, ["sql"])

    assert "You have 30 replies in all. 3 replies in a row" in text
    assert "A result above 3000 characters" in text
    assert text.endswith(config.tools["finish"])
    assert "You have 17 replies in all. 5 replies in a row" in other
    assert other.endswith(f"Tools ([x] may be left out)\n{config.tools['sql']}")


def test_the_examples_of_the_system_text_are_calls_of_its_grammar() -> None:
    """What the model is shown is read without a flag."""
    config = load_arnes(ROOT)
    text = system_text(config, list(TOOLS))
    first = called(text)

    assert (first.args, first.flags, first.ignored) == (
        {"path": "notes/plan.txt"},
        (),
        ("write_file",),
    )
    second = called(text[text.index("@@CALL write_file") :])
    assert (second.body, second.flags) == ("first line\nsecond line\n", ())


def test_the_descriptions_name_the_arguments() -> None:
    """Each tool's line begins with its name and lists every argument that the tests offer."""
    told = load_arnes(ROOT).tools

    assert set(told) == set(TOOLS)
    for tool in SIGNATURES[:-1]:
        head = told[tool.name].split(":")[0].replace(",", "").replace("[", "").replace("]", "")
        assert head.split() == [tool.name, *tool.required, *tool.optional]
