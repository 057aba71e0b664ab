"""Asked files are found however they are fenced, and nothing else is ever kept."""

import random
import time

import pytest

from harness.parsing.files import (
    DUPLICATE,
    EXTRA_FILES,
    NO_HEADER,
    ORPHAN_FENCE,
    PATH,
    UNCLOSED,
    read_files,
)

F, T = "```", "~~~"
HEAD = "### FILE: a.py\n"
CODE = "x = 1\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}{F}\n{CODE}{F}",
        f"{HEAD}{F}\n{CODE}{F}\n",
        f"{HEAD}\n\n{F}\n{CODE}{F}\n",
        f"{HEAD}Here it is:\n{F}\n{CODE}{F}\nDone.",
        f"{HEAD}{F}py\n{CODE}{F}",
        f"{HEAD}{F}Python3\n{CODE}{F}",
        f'{HEAD}{F}python title="a.py"\n{CODE}{F}',
        f"{HEAD}{T}python\n{CODE}{T}",
        f"{HEAD}{T}~~\n{CODE}{T}~~~",
        f"{HEAD}{F}``\n{CODE}{F}``",
        f"Sure!\n\n{HEAD}{F}\n{CODE}{F}",
        f"{HEAD}{F}\r\nx = 1\r\n{F}\r\n",
        f"{HEAD}{F}\rx = 1\r{F}\r",
        f"\ufeff{HEAD}{F}\n{CODE}{F}",
        f"{HEAD}{F}\n\ufeff{CODE}{F}",
        f"### File: a.py\n{F}\n{CODE}{F}",
        f"###FILE:a.py\n{F}\n{CODE}{F}",
        f"## FILE: a.py\n{F}\n{CODE}{F}",
        f"### **FILE:** `a.py`\n{F}\n{CODE}{F}",
        f"**### FILE: a.py**\n{F}\n{CODE}{F}",
        f"### FILE: **./a.py**\n{F}\n{CODE}{F}",
        f"### FILE: `a.py`:\n{F}\n{CODE}{F}",
        f"### FILE: a.py ###\n{F}\n{CODE}{F}",
        f"1. item\n\n   ### FILE: a.py\n   {F}py\n   x = 1\n   {F}\n",
        f"{F}markdown\n{HEAD}{F}py\n{CODE}{F}\n{F}",
        f"{F}``\n{HEAD}{F}py\n{CODE}{F}\n{F}``",
        f"{F}py\n{HEAD}{CODE}{F}",
        f"Try it:\n{F}\npython a.py\n{F}\n{HEAD}{F}\n{CODE}{F}",
        f"{HEAD}{F}\n{CODE}{F}\nUse it:\n{F}\npython a.py\n{F}\n",
    ],
)
def test_forms_of_one_file(text: str) -> None:
    """Any fence, information, indentation, line end and dress of the header is the same file."""
    assert read_files(text, ["a.py"]).files == {"a.py": CODE}
    assert read_files(text, ["a.py"]).flags == ()


@pytest.mark.parametrize(
    ("fence", "info", "code"),
    [
        (F, "", "def f(): ...\n"),
        (F, "", "python = 1\n"),
        (F, "python", "# python\nx = 1\n"),
        (T, "", f"s = '''\n{F}\n'''\n"),
        (F + "`", "", f"{F}py\nx\n{F}\n"),
        (F, "", f"{T}\nx\n{T}\n"),
        (F, "", f"s = '''\n    {F}\n'''\n"),
        (F, "", f"{F}py is no closing fence\n"),
        (F, "", "\n\nx = 1\n\n"),
        (F, "", "### FILE: other.py\nx = 1\n"),
        (F, "", "# FILE: a.py\nx = 1\n"),
        (F, "", ""),
        (F, "text", "ARRIVAL\nTwo carts came.\n\nCARGO\nSalt.\n"),
        (F, "", "s = '≠ ñ 漢'\n"),
    ],
)
def test_content_is_kept_to_the_letter(fence: str, info: str, code: str) -> None:
    """The first line is never eaten, and shorter or other fences inside are content."""
    found = read_files(f"{HEAD}{fence}{info}\n{code}{fence}\n", ["a.py"])

    assert found.files == {"a.py": code}
    assert found.flags == ()


def test_line_ends_inside_strings_become_lf() -> None:
    """The written policy: every line of a file ends in LF, in a string too, and it compiles."""
    found = read_files(f'{HEAD}{F}\r\ns = """a\r\nb"""\r\n{F}', ["a.py"])

    compile(found.files["a.py"], "a.py", "exec")
    assert found.files["a.py"] == 's = """a\nb"""\n'


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}{F}py\n{CODE}",
        f"{HEAD}{F}py\nx = 1",
        f"{HEAD}{F}py\n{CODE}\n\n",
        f"{HEAD}{T}\n{CODE}",
        f"{F}markdown\n{HEAD}{F}py\n{CODE}",
    ],
)
def test_an_unclosed_last_block_is_taken_to_its_end(text: str) -> None:
    """A reply that stops before its closing fence has delivered, and that is flagged."""
    found = read_files(text, ["a.py"])

    assert (found.files, found.flags) == ({"a.py": CODE}, (UNCLOSED,))


def test_a_tilde_block_is_not_closed_by_backticks() -> None:
    """Only its own kind closes a block."""
    found = read_files(f"{HEAD}{T}\n{CODE}{F}\n", ["a.py"])

    assert (found.files, found.flags) == ({"a.py": f"{CODE}{F}\n"}, (UNCLOSED,))


def test_an_unclosed_block_ends_at_the_next_asked_file() -> None:
    """One forgotten fence does not swallow the files behind it."""
    text = f"{HEAD}{F}py\n{CODE}\n### FILE: b.py\n{F}py\ny = 2\n{F}\n"

    found = read_files(text, ["a.py", "b.py"])

    assert found.files == {"a.py": CODE, "b.py": "y = 2\n"}
    assert found.flags == (UNCLOSED,)


def test_a_longer_fence_may_quote_a_whole_delivery() -> None:
    """A header with its block inside a longer fence, or another kind, is content."""
    inner = f"### FILE: b.py\n{F}py\ny = 2\n{F}\n"
    for fence in (f"{F}`", T):
        found = read_files(f"{HEAD}{fence}\n{inner}{fence}\n", ["a.py", "b.py"])
        assert (found.files, found.flags) == ({"a.py": inner}, ())


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (f"def f():\n    return 1\n{F}", (ORPHAN_FENCE,)),
        (f"def f():\n    return 1\n{F}\n\n", (ORPHAN_FENCE,)),
        (f"def f():\n    return 1\n{T}\n", (ORPHAN_FENCE,)),
        (f"{HEAD}def f():\n    return 1\n{F}\n", (ORPHAN_FENCE,)),
        (f"{HEAD}wait\n{HEAD}def f():\n    return 1\n{F}\n", (ORPHAN_FENCE,)),
        (f"{F}py\n{HEAD}def f():\n    return 1\n{F}", ()),
        (f"{F}py\ndef f():\n    return 1\n{F}", (NO_HEADER,)),
        (f"Here:\n{F}py\ndef f():\n    return 1\n{F}\nDone.", (NO_HEADER,)),
        (f"{F}py\ndef f():\n    return 1\n", (NO_HEADER, UNCLOSED)),
        (f"{F}py\ndef f():\n    return 1\n{F}\n{F}\n", (NO_HEADER,)),
        (f"{F}py\ndef f():\n    return 1\n{F}\n{HEAD}", (NO_HEADER,)),
    ],
)
def test_the_only_file_is_recovered(text: str, flags: tuple[str, ...]) -> None:
    """One asked file without its header or its opening fence is found, and that is flagged."""
    found = read_files(text, ["a.py"])

    assert (found.files, found.flags) == ({"a.py": "def f():\n    return 1\n"}, flags)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "x = 1\n",
        f"{HEAD}x = 1\n",
        f"{HEAD}{F}py\n",
        F,
        f"{F}\n\n",
        f"{F}py\nx\n{F}\n{F}py\ny\n{F}\n",
        f"{CODE}{F}py\n",
        "Use `a.py` with ```x```.",
    ],
)
def test_without_a_file_there_is_no_file(text: str) -> None:
    """Nothing is guessed: no block, or two blocks without a header, deliver nothing."""
    found = read_files(text, ["a.py"])

    assert (found.files, found.flags) == ({}, ())


def test_a_block_without_a_header_is_none_of_several_files() -> None:
    """Where two files are asked only a header says which one a block is."""
    for text in (f"{F}py\n{CODE}{F}", f"{CODE}{F}"):
        assert read_files(text, ["a.py", "b.py"]).files == {}


def test_the_last_of_two_blocks_wins() -> None:
    """A file that is delivered twice is what was delivered last; only a difference is flagged."""
    first, last = f"{HEAD}{F}\nx = 0\n{F}\n", f"### FILE: ./a.py\n{F}\n{CODE}{F}\n"

    assert read_files(first + last, ["a.py"]).files == {"a.py": CODE}
    assert read_files(first + last, ["a.py"]).flags == (DUPLICATE,)
    assert read_files(last + last, ["a.py"]).flags == ()


def test_only_the_first_block_under_a_header_is_its_file() -> None:
    """An example of use behind a file does not replace it."""
    text = f"{HEAD}{F}py\n{CODE}{F}\nThen:\n{F}sh\npython a.py\n{F}"

    assert read_files(text, ["a.py"]).files == {"a.py": CODE}


@pytest.mark.parametrize(
    "path",
    ["../../suite/score.py", "/tmp/x.py", "a/../../b.py", "../a.py", "/a.py", "C:\\a.py",
     "a\x00.py", "n" * 300, "..\\a.py", "`../a.py`", ""],
)  # fmt: skip
def test_hostile_paths_are_flagged_and_left_out(path: str) -> None:
    """No file is made from such a path, alone or beside the asked one, and nothing raises."""
    hostile = f"### FILE: {path}\n{F}\nevil = 1\n{F}\n"

    alone = read_files(hostile, ["a.py"])
    beside = read_files(f"{HEAD}{F}\n{CODE}{F}\n{hostile}", ["a.py"])

    assert (alone.files, alone.flags) == ({}, (PATH,))
    assert (beside.files, beside.flags) == ({"a.py": CODE}, (PATH,))


@pytest.mark.parametrize(
    "path",
    ["conftest.py", "sitecustomize.py", "unittest.py", "json.py", "src/a.py", "A.py", "a.py.txt"],
)
def test_extra_files_are_flagged_and_left_out(path: str) -> None:
    """Only asked paths are kept; the score is as if the others were absent."""
    extra = f"### FILE: {path}\n{F}\nevil = 1\n{F}\n"

    found = read_files(f"{extra}{HEAD}{F}\n{CODE}{F}\n{extra}", ["a.py"])

    assert (found.files, found.flags) == ({"a.py": CODE}, (EXTRA_FILES,))
    assert read_files(extra, ["a.py"]).files == {}


def test_every_decision_has_a_sentence() -> None:
    """Each flag comes with a step that a reader understands."""
    text = f"### FILE: ../x\n{F}\nx\n{F}\n### FILE: b.py\n{F}\nx\n{F}\n{HEAD}{F}\n{CODE}"

    found = read_files(text, ["a.py"])

    assert found.flags == (EXTRA_FILES, PATH, UNCLOSED)
    assert len(found.steps) == 4
    assert all(step.endswith(".") for step in found.steps)


def test_no_file_is_asked() -> None:
    """A task of answer lines looks for no file and flags none."""
    assert read_files(f"{HEAD}{F}\n{CODE}{F}", []) == read_files("", [])


def test_what_is_delivered_reads_back() -> None:
    """Second method: a file written by the rules, in any fence long enough, comes back whole."""
    draw = random.Random("files")
    lines = [
        "x = 1",
        "",
        "    y",
        F,
        f"{F}py",
        f"{F}`",
        T,
        "# c",
        "### FILE: b.py",
        "```a```",
        "ñ",
        "\t",
    ]
    for _ in range(2000):
        content = "".join(f"{line}\n" for line in draw.choices(lines, k=draw.randrange(8)))
        sign = draw.choice("`~")
        fence = sign * draw.randrange(5, 8)  # longer than any fence among the lines
        text = f"prose\n\n{HEAD}{fence}{draw.choice(['', 'py'])}\n{content}{fence}\n\nmore prose"
        found = read_files(text, ["a.py"])
        assert (found.files, found.flags) == ({"a.py": content}, ())


def test_random_text_never_raises_and_keeps_only_asked_paths() -> None:
    """Whatever stands in a reply, only asked paths come out, and the same every time."""
    draw = random.Random("noise")
    pieces = [
        HEAD,
        "### FILE: ../b\n",
        f"{F}\n",
        f"{F}py\n",
        f"{T}\n",
        "x\n",
        "\n",
        "  ",
        "FILE:",
        "#",
        "\r",
    ]
    for _ in range(3000):
        text = "".join(draw.choices(pieces, k=draw.randrange(15)))
        found = read_files(text, ["a.py"])
        assert set(found.files) <= {"a.py"}
        assert found == read_files(text, ["a.py"])


@pytest.mark.parametrize(
    "text",
    [
        f"{F}\n" * 50_000,
        HEAD * 20_000,
        (HEAD + "\n" * 3) * 10_000,
        f"{F}\n" + HEAD * 20_000,
        f"{F}\n" + "\n" * 200_000,
        f"### FILE: {' ' * 200_000}x",
        f"### FILE: {'(' * 200_000}",
        "#" * 200_000,
        "`" * 200_000,
        f"{HEAD}{F}\nx\n{F}\n" * 10_000,
    ],
)
def test_no_text_is_slow_to_read(text: str) -> None:
    """Hostile repetition costs time in proportion to its length.

    Measured at most 0.2 s of CPU; two seconds leave room for a busy machine.
    """
    started = time.process_time()

    read_files(text, ["a.py"])

    assert time.process_time() - started < 2.0
