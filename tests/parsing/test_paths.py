"""One file has one path, however it is dressed; a hostile path is never a path."""

import pytest

from harness.parsing.paths import LONGEST_PATH, normal_path

ASKED = ("src/app.py", "a.py", "pkg/__init__.py", "test_coldstore.py", "two words.txt")


@pytest.mark.parametrize(
    "name",
    [
        "src/app.py",
        " src/app.py ",
        "./src/app.py",
        "././src/app.py",
        "src/./app.py",
        "src//app.py",
        "**./src/app.py**",
        "**src/app.py**:",
        "*src/app.py*",
        "_src/app.py_",
        "__src/app.py__",
        "src\\app.py",
        ".\\src\\app.py",
        "`src/app.py`:",
        "`src/app.py`",
        "**`src/app.py`**",
        "`src/app.py` (rewritten)",
        "`src/app.py` — the module",
        '"src/app.py"',
        "'src/app.py'",
        "“src/app.py”",
        "src/app.py:",
        "src/app.py (new)",
        "src/app.py ###",
        " **`./src\\app.py`:** ",
    ],
)
def test_one_file_has_one_normal_form(name: str) -> None:
    """Emphasis, quotes, a colon, a remark, a leading dot and backslashes do not count."""
    assert normal_path(name, ASKED) == "src/app.py"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("pkg/__init__.py", "pkg/__init__.py"),
        ("**pkg/__init__.py**", "pkg/__init__.py"),
        ("test\\_coldstore.py", "test_coldstore.py"),
        ("pkg\\__init__.py", "pkg/__init__.py"),
        ("pkg/\\_\\_init\\_\\_.py", "pkg/__init__.py"),
        ("two words.txt", "two words.txt"),
        ("_private.py", "_private.py"),
        ("_", "_"),
        ("A.py", "A.py"),
        ("src/a.py", "src/a.py"),
        ("a.py.", "a.py."),
        ("..a.py", "..a.py"),
        ("a.py\u200b", "a.py\u200b"),
    ],
)
def test_what_belongs_to_a_name_stays(name: str, path: str) -> None:
    """Underscores, case, folders and odd letters are part of a name."""
    assert normal_path(name, ASKED) == path


@pytest.mark.parametrize(
    "name",
    [
        "../../suite/score.py",
        "..",
        "a/..",
        "a/../../b.py",
        "a/../a.py",
        "./../a.py",
        "..\\..\\score.py",
        "a\\..\\..\\b.py",
        "`../a.py`",
        "**../a.py**",
        "/tmp/x.py",
        "//tmp/x.py",
        "/a.py",
        "\\\\server\\share\\a.py",
        "~/a.py",
        "~root/a.py",
        "C:\\a.py",
        "c:a.py",
        "a.py\x00",
        "a\x00.py",
        "a\x1b[31m.py",
        "a\nb.py",
        "a" * 300 + ".py",
        "a/" * 200 + "a.py",
        "a" * 100_000,
        "a/",
        ".",
        "./",
        "",
        "   ",
        "**",
        "``",
    ],
)
def test_hostile_paths_are_never_made(name: str) -> None:
    """A path that is absolute, climbs, holds control characters, is too long or empty is none."""
    assert normal_path(name, ASKED) is None


def test_the_longest_path_is_a_path() -> None:
    """The limit itself is allowed, one character more is not."""
    assert normal_path("a" * LONGEST_PATH, ()) == "a" * LONGEST_PATH
    assert normal_path("a" * (LONGEST_PATH + 1), ()) is None
