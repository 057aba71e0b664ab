"""Make forms: run a task's generator, ask its second method, freeze the open form.

Loading a suite is static; this module is where a task's own `form.py`, `oracle.py` and
`policy.py` run.
"""

from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import TypeVar

from harness.errors import FormError, HarnessError, Problem
from harness.records.base import readable_json
from harness.suite.agent_sets import AgentSets
from harness.suite.forms import OPEN, Form, Sets
from harness.suite.loader import OPEN_FORM_FILE
from harness.suite.prompts import read_template, render
from harness.suite.source import load_source
from harness.world.scene import Scene

ORACLE_MAX_TOKENS = 24576  # the second method reads a prompt as a model gets it

Asked = TypeVar("Asked")


def task_module(folder: Path, name: str) -> ModuleType:
    """Import one of a task's own files: `form`, `oracle` or `policy`.

    Raises
    ------
    FormError
        If it does not load.
    """
    path = folder / f"{name}.py"
    try:
        return load_source(path, f"arnes_suite.{folder.name}.{name}")
    except Exception as error:
        raise _unusable(folder, path, f"{type(error).__name__}: {error}", "correct it") from error


def make_form(folder: Path, seed: str) -> Form:
    """Draw a task's form from a seed; the generator refuses what fails its own bands."""
    return _asked(folder, "form", "form", (seed,), Form)


def prompt_of(folder: Path, form: Form, max_tokens: int = ORACLE_MAX_TOKENS) -> str:
    """Render a form's prompt as a model gets it."""
    source = read_template(folder / "prompt.md")
    return render(source, {**form.values, "max_tokens": max_tokens}, f"{folder.name}/prompt.md")


def second_answers(folder: Path, prompt: str) -> dict[str, str]:
    """Return the answers of the second method, which reads nothing but the rendered prompt."""
    answers: dict[str, str] = _asked(folder, "oracle", "answers", (prompt,), dict)
    return answers


def second_answers_of(folder: Path, prompt: str, scene: Scene) -> dict[str, str]:
    """Return the answers of an agent task's second method: it reads prompt and world alone."""
    answers: dict[str, str] = _asked(folder, "oracle", "answers", (prompt, scene), dict)
    return answers


def make_sets(folder: Path, form: Form) -> Sets:
    """Return the golden, defective and exploit replies of a form, by the task's `policy.py`."""
    sets = _asked(folder, "policy", "sets", (form,), Sets)
    _refuse_no_golden(folder, len(sets.golden))
    return sets


def make_players(folder: Path, form: Form) -> AgentSets:
    """Return the players of an agent task's form, by its `policy.py`."""
    sets = _asked(folder, "policy", "sets", (form,), AgentSets)
    _refuse_no_golden(folder, len(sets.golden))
    return sets


def _refuse_no_golden(folder: Path, goldens: int) -> None:
    if not goldens:
        raise _unusable(
            folder,
            folder / "policy.py",
            "sets() gives 0 goldens, at least 1 is needed",
            "add one that reaches the maximum",
        )


def _asked(
    folder: Path, name: str, function: str, arguments: tuple[object, ...], kind: type[Asked]
) -> Asked:
    """Call a function of one of a task's own files.

    Raises
    ------
    FormError
        If the file does not load, has no such function, or that raises or gives something else.
        What the function itself refuses goes through as it is.
    """
    path = folder / f"{name}.py"
    asked = getattr(task_module(folder, name), function, None)
    if not callable(asked):
        raise _unusable(folder, path, f"has no function {function!r}", f"write {function}()")
    try:
        found = asked(*arguments)
    except HarnessError:
        raise
    except Exception as error:
        what = f"{function}() raised {type(error).__name__}: {error}"
        lines = [f.lineno for f in extract_tb(error.__traceback__) if f.filename == str(path)]
        where = f"line {lines[-1]}" if lines else "it"
        raise _unusable(folder, path, what, f"correct {where}") from error
    if not isinstance(found, kind):
        what = f"{function}() gives a {type(found).__name__}, not a {kind.__name__}"
        raise _unusable(folder, path, what, "correct it")
    return found


def _unusable(folder: Path, path: Path, what: str, todo: str) -> FormError:
    return FormError(
        f"{folder.name}/{path.name} cannot be used",
        [Problem(str(path), what, todo)],
        f"{folder.name} was left as it was.",
    )


def freeze(folder: Path) -> None:
    """Write the open form and the replies of its sets into the task folder.

    `expected.toml` is not written: the open form's points are put there by hand, from the
    specification, so that they stand against the points that `policy.py` computes.
    """
    form = make_form(folder, OPEN)
    sets = make_sets(folder, form)  # both before anything is written: a folder is never half new
    (folder / OPEN_FORM_FILE).write_bytes(readable_json(form))
    for kind, members in (
        ("golden", sets.golden),
        ("defective", sets.defective),
        ("exploits", sets.exploits),
    ):
        for member in members:
            place = folder / kind / member.name
            place.mkdir(parents=True, exist_ok=True)
            (place / "reply.md").write_bytes(member.reply.text.encode("utf-8"))
