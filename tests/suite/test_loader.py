"""What the loader takes, what it refuses, and how it says so. No file of a task is ever run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from campaigning import ROOT, arnes

from harness.errors import SuiteError
from harness.suite.forms import OPEN
from harness.suite.loader import folders_of, load_suite, with_form
from harness.suite.sets import read_sets

FIRST, SECOND = "a04_original_reasoning", "a05_counterfactual_tracing"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of two tasks, to be broken."""
    for name in (FIRST, SECOND):
        shutil.copytree(ROOT / "suite/core" / name, tmp_path / "suite/core" / name)
    shutil.copy(ROOT / "arnes.toml", tmp_path)
    return tmp_path


def keep(checkout: Path, form: str, *names: str) -> Path:
    """Lay the open forms of some tasks down as a private form; loading asks no more of one."""
    folder = checkout / "suite/private" / form
    folder.mkdir(parents=True)
    for name in names:
        shutil.copy(checkout / "suite/core" / name / "open.json", folder / f"{name}.json")
    return folder


def refusal(work: Callable[[], object]) -> SuiteError:
    with pytest.raises(SuiteError) as caught:
        work()
    return caught.value


# ---------------------------------------------------------------- private forms


def test_a_private_form_has_the_tasks_it_was_drawn_with(checkout: Path) -> None:
    """A task that came later is no part of an older form, and does not stop it."""
    keep(checkout, "0123456789ab", FIRST)
    suite = load_suite(checkout, "0123456789ab")
    assert (suite.form, suite.ids, tuple(suite.forms)) == ("0123456789ab", ("A04",), ("A04",))
    assert load_suite(checkout).ids == ("A04", "A05")


def test_a_later_task_that_is_broken_does_not_stop_an_older_form(checkout: Path) -> None:
    """Only the tasks of the form are looked at."""
    keep(checkout, "0123456789ab", FIRST)
    (checkout / "suite/core" / SECOND / "grader.py").write_text("def (")
    assert load_suite(checkout, "0123456789ab").ids == ("A04",)
    with pytest.raises(SuiteError):
        load_suite(checkout)


def test_a_form_of_a_task_that_is_gone_is_refused(checkout: Path) -> None:
    """A form that lost a task is another form."""
    keep(checkout, "0123456789ab", FIRST, SECOND)
    shutil.rmtree(checkout / "suite/core" / SECOND)
    error = refusal(lambda: load_suite(checkout, "0123456789ab"))
    assert [p.where for p in error.problems] == [f"suite/private/0123456789ab/{SECOND}.json"]
    assert SECOND in error.problems[0].what


def test_an_empty_private_form_is_refused(checkout: Path) -> None:
    """A suite without a task measures nothing."""
    keep(checkout, "0123456789ab")
    error = refusal(lambda: load_suite(checkout, "0123456789ab"))
    assert [p.what for p in error.problems] == ["holds no task's form"]


@pytest.mark.parametrize("form", ["aaaaaaaaaaaa", "", ".", "../core", "Open"])
def test_an_unknown_form_is_one_problem_of_arnes_toml(checkout: Path, form: str) -> None:
    """One finding that names the setting and what there is, not one for every task."""
    keep(checkout, "0123456789ab", FIRST)
    keep(checkout, "ba9876543210", FIRST)
    error = refusal(lambda: load_suite(checkout, form))
    assert len(error.problems) == 1
    said = str(error)
    assert said.startswith(f"SuiteError: no private form {form!r}\n")
    assert "arnes.toml: form: " in said
    assert "it holds 0123456789ab, ba9876543210" in said
    assert said.endswith("Nothing was run.")


def test_the_command_line_shows_an_unknown_form_once(checkout: Path) -> None:
    """A wrong `form` in arnes.toml is exit status 2 and no traceback."""
    path = checkout / "arnes.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count('form = "open"') == 1
    path.write_text(text.replace('form = "open"', 'form = "aaaaaaaaaaaa"'), encoding="utf-8")
    done = arnes("tasks", cwd=checkout, PYTHONPATH=str(ROOT))
    assert done.returncode == 2
    assert done.stderr.count("aaaaaaaaaaaa") == 2  # the headline and its one problem
    assert "it holds none" in done.stderr


# ---------------------------------------------------------------- broken folders


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("grader.py", b"import ast\ndef (:\n", "line 2"),
        ("grader.py", b"x = 1\0\n", "null bytes"),
        ("grader.py", b"x = '\xff'\n", "utf-8"),
        ("grader.py", b"x = " + b"-" * 100_000 + b"1\n", "is no Python: "),
        ("prompt.md", b"<!-- arnes canary \xff -->\n", "not UTF-8"),
        ("task.toml", b"id = '\xff'\n", "utf-8"),
        ("open.json", b'{"task": "\xff"}', "open.json"),
        ("open.json", b"", "open.json"),
    ],
    ids=["syntax", "nul", "latin", "deep", "prompt", "toml", "form", "empty"],
)
def test_a_damaged_file_is_a_problem_with_its_name(
    checkout: Path, name: str, data: bytes, words: str
) -> None:
    """No traceback: the folder, the file and the reason, and the other folders' problems too."""
    (checkout / "suite/core" / FIRST / name).write_bytes(data)
    (checkout / "suite/core" / SECOND / "NOTES.md").unlink()
    error = refusal(lambda: load_suite(checkout))
    first, second = error.problems
    assert FIRST in first.where
    assert name in first.where
    assert words in first.what + first.where
    assert (second.where, second.what) == (f"{SECOND}/NOTES.md", "missing")
    assert first.todo


def test_a_misspelt_key_names_the_folder_it_is_in(checkout: Path) -> None:
    """Every folder has a task.toml; the file's name alone leads nowhere."""
    path = checkout / "suite/core" / SECOND / "task.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("title =", "titel ="))
    error = refusal(lambda: load_suite(checkout))
    assert {p.where for p in error.problems} == {
        f"{SECOND}/task.toml: title",
        f"{SECOND}/task.toml: titel",
    }


def test_a_row_that_is_graded_twice_is_said_as_that(checkout: Path) -> None:
    """Of two functions for one row nobody knows which counts."""
    path = checkout / "suite/core" / FIRST / "grader.py"
    row = load_suite(checkout).task("A04").definition.rows[0].id
    path.write_text(path.read_text(encoding="utf-8") + f"\n\n@row({row!r})\ndef again(): ...\n")
    error = refusal(lambda: load_suite(checkout))
    assert [p.what for p in error.problems] == [f"2 functions are @row({row!r})"]


def test_the_form_of_another_task_is_refused(checkout: Path) -> None:
    """A file in the wrong place would ask one task and grade another."""
    wrong = checkout / "suite/core" / SECOND / "open.json"
    shutil.copy(wrong, checkout / "suite/core" / FIRST / "open.json")
    error = refusal(lambda: load_suite(checkout))
    assert [p.what for p in error.problems] == [
        "a form of the task 'A05', the task here is 'A04'",
    ]


def test_a_task_is_not_asked_in_the_form_of_another() -> None:
    """What a generator gives is held against its folder as well."""
    suite = load_suite(ROOT)
    with pytest.raises(SuiteError, match="a form of A05 for A04"):
        with_form(suite.task("A04"), suite.task("A05").form)


# ---------------------------------------------------------------- sets


def test_a_task_without_a_golden_is_refused(checkout: Path) -> None:
    """What nobody can reach is no maximum."""
    folder = checkout / "suite/core" / FIRST
    shutil.rmtree(folder / "golden")
    error = refusal(lambda: read_sets(folder))
    assert error.problems[0].where == f"{FIRST}/golden"
    assert error.problems[0].todo == "arnes suite freeze --task A04"


def test_a_reply_that_is_not_utf8_is_named(checkout: Path) -> None:
    """The member and its file, no traceback."""
    folder = checkout / "suite/core" / FIRST
    (folder / "defective/lazy/reply.md").write_bytes(b"UNITS = \xff\n")
    error = refusal(lambda: read_sets(folder))
    assert error.problems[0].where == str(folder / "defective/lazy/reply.md")
    assert "not UTF-8" in error.problems[0].what


# ---------------------------------------------------------------- freeze


def test_folders_are_chosen_by_id_each_once(checkout: Path) -> None:
    """All of them if none is named."""
    assert [f.name for f in folders_of(checkout, ())] == [FIRST, SECOND]
    assert [f.name for f in folders_of(checkout, ("A05", "A05"))] == [SECOND]


@pytest.mark.parametrize(
    ("task", "words"), [("A99", "known names: A04, A05"), ("a04", 'did you mean "A04"?')]
)
def test_freezing_an_unknown_task_is_refused(checkout: Path, task: str, words: str) -> None:
    """It says the nearest id, and no folder is written, not even a right one beside it."""
    path = checkout / "suite/core" / SECOND / "open.json"
    path.write_bytes(b"left alone")
    done = arnes(
        "suite", "freeze", "--task", "A05", "--task", task, cwd=checkout, PYTHONPATH=str(ROOT)
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.rstrip().endswith("Nothing was written.")
    assert path.read_bytes() == b"left alone"


def test_freeze_says_in_json_what_it_froze(checkout: Path) -> None:
    """One document, and the form is there again."""
    path = checkout / "suite/core" / FIRST / "open.json"
    before = path.read_bytes()
    path.unlink()
    done = arnes("suite", "freeze", "--task", "A04", "--json", cwd=checkout, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"frozen": [FIRST]}
    assert path.read_bytes() == before
    assert load_suite(checkout).form == OPEN
