"""Private forms: their ids, their seeds, and task files of ours that do not do what they must."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from campaigning import ROOT, arnes

from harness.clock import SystemClock
from harness.errors import FormError
from harness.records.base import readable_json
from harness.stages.forms import freeze, make_form, make_sets, prompt_of, second_answers
from harness.stages.private_form import check, draw, identity_problems, write_private_form
from harness.suite.loader import load_suite, with_form

FIRST, SECOND = "a04_original_reasoning", "a05_counterfactual_tracing"
SEED = "a sentence for nobody but this test"


def two_tasks(root: Path) -> None:
    for name in (FIRST, SECOND):
        shutil.copytree(ROOT / "suite/core" / name, root / "suite/core" / name)
    shutil.copy(ROOT / "arnes.toml", root)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of two tasks, to be broken."""
    two_tasks(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def form_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, bytes]]:
    """A private form of both tasks, drawn and validated once: its id and its files."""
    root = tmp_path_factory.mktemp("drawn")
    two_tasks(root)
    form, folder = write_private_form(root, SEED, SystemClock())
    return form, {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def written(checkout: Path, form_once: tuple[str, dict[str, bytes]]) -> tuple[Path, str, Path]:
    """The checkout with that form: root, the form's id, its folder."""
    form, files = form_once
    folder = checkout / "suite/private" / form
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return checkout, form, folder


def found(root: Path, form: str) -> tuple[str, ...]:
    outcome = check(root, form, SystemClock())
    assert outcome.holds == (not outcome.problems)
    return outcome.problems


# ---------------------------------------------------------------- the id


def test_a_written_form_holds_and_keeps_its_id_beside_a_later_task(
    written: tuple[Path, str, Path],
) -> None:
    """A task that the suite gets later changes nothing of a form that was drawn before."""
    root, form, folder = written
    assert sorted(p.stem for p in folder.iterdir()) == [FIRST, SECOND]
    assert found(root, form) == ()
    name = "a08_negative_constraints"
    shutil.copytree(ROOT / "suite/core" / name, root / "suite/core" / name)
    assert load_suite(root, form).ids == ("A04", "A05")
    assert found(root, form) == ()


def test_the_same_seed_gives_the_same_id(written: tuple[Path, str, Path]) -> None:
    """Whoever gets the seed later sees that it is the form."""
    root, form, _ = written
    assert draw(root, SEED).form == form
    assert draw(root, SEED + ".").form != form


def test_a_renamed_folder_does_not_hold(written: tuple[Path, str, Path]) -> None:
    """The id is what the tasks make it, not what the folder is called; both are said."""
    root, form, folder = written
    folder.rename(folder.parent / "aaaaaaaaaaaa")
    (problem,) = found(root, "aaaaaaaaaaaa")
    assert problem.startswith("suite/private/aaaaaaaaaaaa: ")
    assert repr("aaaaaaaaaaaa") in problem
    assert repr(form) in problem


def test_tasks_of_two_seeds_do_not_hold(written: tuple[Path, str, Path]) -> None:
    """A mixed form is refused even under its own digest; the seeds stay secret."""
    root, _, folder = written
    suite = load_suite(root)
    other = "another sentence for nobody but it"
    (folder / f"{SECOND}.json").write_bytes(
        readable_json(make_form(suite.task("A05").folder, other))
    )
    mixed = load_suite(root, folder.name)
    wrong_id, two_seeds = identity_problems(mixed)
    assert "make the form" in wrong_id.what
    assert two_seeds.what == "its tasks are drawn from 2 seeds: A04 and A05"
    right = wrong_id.what.split("'")[-2]
    assert identity_problems(replace(mixed, form=right)) == [
        replace(two_seeds, where=f"suite/private/{right}")
    ]
    shown = "\n".join(found(root, folder.name))
    assert "2 seeds" in shown
    assert SEED not in shown
    assert other not in shown


def test_a_changed_prompt_does_not_hold(written: tuple[Path, str, Path]) -> None:
    """The published id fixes the prompt as well as the answers."""
    root, form, _ = written
    path = root / "suite/core" / FIRST / "prompt.md"
    path.write_text(path.read_text(encoding="utf-8") + "\nTake your time.\n", encoding="utf-8")
    (problem,) = found(root, form)
    assert "prompt changed" in problem


def test_a_missing_file_does_not_hold(written: tuple[Path, str, Path]) -> None:
    """A part that somebody deleted is not taken for a task that came later."""
    root, form, folder = written
    (folder / f"{SECOND}.json").unlink()
    (problem,) = found(root, form)
    assert "its 1 tasks make the form" in problem


def test_a_generator_that_moved_is_named(written: tuple[Path, str, Path]) -> None:
    """A seed that gives another form proves nothing any more; one that fails says why."""
    root, form, _ = written
    path = root / "suite/core" / SECOND / "form.py"
    before = path.read_text(encoding="utf-8")
    later = "\n_drawn = form\ndef form(seed):\n    return _drawn(seed + '!')\n"
    path.write_text(before + later, encoding="utf-8")
    (problem,) = found(root, form)
    assert problem.startswith(f"{SECOND}/form.py: the seed of form {form} no longer gives")
    path.write_text(before + "\ndef form(seed):\n    return 1 // 0\n", encoding="utf-8")
    (problem,) = found(root, form)
    assert "ZeroDivisionError" in problem


def test_the_open_form_is_drawn_from_the_open_seed_alone(checkout: Path) -> None:
    """A secret form in open.json would be published; an open one under private is no secret."""
    suite = load_suite(checkout)
    assert identity_problems(suite) == []
    drawn = draw(checkout, SEED)
    mixed = replace(suite, tasks=(suite.tasks[0], drawn.tasks[1]))
    assert [p.what for p in identity_problems(mixed)] == [
        "its tasks are drawn from 2 seeds: A04 and A05",
        "A05: drawn from a secret seed",
    ]
    public = replace(drawn, tasks=tuple(with_form(t, t.form) for t in suite.tasks))
    assert "A04, A05: drawn from the open seed" in [p.what for p in identity_problems(public)]


def test_check_form_of_an_unknown_id_names_the_known_ones(
    written: tuple[Path, str, Path],
) -> None:
    """It was asked for on the command line, so arnes.toml is not blamed."""
    root, form, _ = written
    done = arnes("suite", "check-form", "aaaaaaaaaaaa", cwd=root, PYTHONPATH=str(ROOT))
    assert done.returncode == 2
    assert f"it holds {form}" in done.stderr
    assert "arnes.toml" not in done.stderr
    done = arnes("suite", "check-form", form, "--json", cwd=root, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["holds"] is True


# ---------------------------------------------------------------- the seed


@pytest.mark.parametrize("seed", ["", "open", "short", "eleven char", " " * 40, "  eleven char  "])
def test_a_seed_that_can_be_guessed_is_refused(checkout: Path, seed: str) -> None:
    """Twelve characters at least, blanks around them not counted; nothing is written."""
    with pytest.raises(FormError) as caught:
        write_private_form(checkout, seed, SystemClock())
    assert str(caught.value).endswith("Nothing was written.")
    assert caught.value.problems[0].todo
    assert not (checkout / "suite/private").exists()


def test_twelve_characters_are_enough(checkout: Path) -> None:
    """The bound is met from above."""
    assert len(draw(checkout, "twelve chars").form) == 12


# ---------------------------------------------------------------- task files that fail

NO_FUNCTION = "pass\n"
RAISES = "def {}(x):\n    return x.no_such_thing\n"
GIVES_ELSE = "def {}(x):\n    return 7\n"
NO_PYTHON = "def (\n"
CALLS: tuple[tuple[str, str, Callable[[Path], object]], ...] = (
    ("form", "form", lambda folder: make_form(folder, SEED)),
    ("oracle", "answers", lambda folder: second_answers(folder, "a prompt")),
    ("policy", "sets", lambda folder: make_sets(folder, load_suite(ROOT).task("A04").form)),
)


@pytest.mark.parametrize(("name", "function", "call"), CALLS, ids=[c[0] for c in CALLS])
@pytest.mark.parametrize(
    ("source", "words"),
    [
        (NO_FUNCTION, "has no function '{}'"),
        (RAISES, "{}() raised AttributeError: "),
        (GIVES_ELSE, "{}() gives a int, not a "),
        (NO_PYTHON, "SyntaxError"),
        ("1 // 0\n", "ZeroDivisionError"),
        ("x = 1\0\n", "null bytes"),
    ],
    ids=["nothing", "raises", "else", "syntax", "import", "nul"],
)
def test_a_task_file_that_fails_is_named_with_its_reason(  # noqa: PLR0917 (a table of cases)
    checkout: Path,
    name: str,
    function: str,
    call: Callable[[Path], object],
    source: str,
    words: str,
) -> None:
    """An author sees the file and the reason, never a traceback of the harness."""
    folder = checkout / "suite/core" / FIRST
    (folder / f"{name}.py").write_text(source.format(function), encoding="utf-8")
    with pytest.raises(FormError) as caught:
        call(folder)
    (problem,) = caught.value.problems
    assert problem.where == str(folder / f"{name}.py")
    assert words.format(function) in problem.what
    assert problem.todo
    if source == RAISES:
        assert problem.todo == "correct line 2"


def test_a_policy_without_a_golden_is_refused(checkout: Path) -> None:
    """A form that nobody can solve is no form."""
    folder = checkout / "suite/core" / FIRST
    source = "from harness.suite.forms import Sets\ndef sets(form):\n    return Sets((), (), ())\n"
    (folder / "policy.py").write_text(source, encoding="utf-8")
    with pytest.raises(FormError, match=r"policy\.py cannot be used") as caught:
        make_sets(folder, load_suite(ROOT).task("A04").form)
    assert "0 goldens" in caught.value.problems[0].what


def test_freeze_writes_nothing_when_the_policy_fails(checkout: Path) -> None:
    """A folder never holds a new form beside the replies of the old one."""
    folder = checkout / "suite/core" / FIRST
    (folder / "open.json").write_bytes(b"the old one")
    (folder / "policy.py").write_text(NO_FUNCTION, encoding="utf-8")
    with pytest.raises(FormError):
        freeze(folder)
    assert (folder / "open.json").read_bytes() == b"the old one"


def test_what_a_generator_refuses_itself_goes_through_as_it_is(checkout: Path) -> None:
    """Its own bands speak for themselves."""
    folder = checkout / "suite/core" / FIRST
    source = (
        "from harness.suite.forms import refuse\n"
        "def form(seed):\n    raise refuse('A04', seed, ['too short'])\n"
    )
    (folder / "form.py").write_text(source, encoding="utf-8")
    with pytest.raises(FormError, match="1 band") as caught:
        make_form(folder, SEED)
    assert [p.what for p in caught.value.problems] == ["too short"]


def test_a_prompt_that_is_not_utf8_is_named(checkout: Path) -> None:
    """Rendering says which file it could not read."""
    folder = checkout / "suite/core" / FIRST
    form = load_suite(checkout).task("A04").form
    (folder / "prompt.md").write_bytes(b"\xff")
    with pytest.raises(Exception, match=rf"{FIRST}/prompt\.md is not UTF-8"):
        prompt_of(folder, form)
