"""Make forms: run a task's generator, ask its second method, freeze the open form.

Loading a suite is static; this module is where a task's own `form.py`, `oracle.py` and
`policy.py` run.
"""

from pathlib import Path
from types import ModuleType

from harness.errors import FormError, Problem
from harness.records.base import readable_json
from harness.suite.forms import OPEN, Form, Sets
from harness.suite.loader import OPEN_FORM_FILE
from harness.suite.prompts import render
from harness.suite.source import load_source

ORACLE_MAX_TOKENS = 24576  # the second method reads a prompt as a model gets it


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
        raise FormError(
            f"{folder.name}/{name}.py cannot be loaded",
            [Problem(str(path), f"{type(error).__name__}: {error}", "correct it")],
        ) from error


def make_form(folder: Path, seed: str) -> Form:
    """Draw a task's form from a seed; the generator refuses what fails its own bands."""
    form: Form = task_module(folder, "form").form(seed)
    return form


def prompt_of(folder: Path, form: Form, max_tokens: int = ORACLE_MAX_TOKENS) -> str:
    """Render a form's prompt as a model gets it."""
    source = (folder / "prompt.md").read_text(encoding="utf-8")
    return render(source, {**form.values, "max_tokens": max_tokens}, f"{folder.name}/prompt.md")


def second_answers(folder: Path, prompt: str) -> dict[str, str]:
    """Return the answers of the second method, which reads nothing but the rendered prompt."""
    answers: dict[str, str] = task_module(folder, "oracle").answers(prompt)
    return answers


def make_sets(folder: Path, form: Form) -> Sets:
    """Return the golden, defective and exploit replies of a form, by the task's `policy.py`."""
    sets: Sets = task_module(folder, "policy").sets(form)
    return sets


def freeze(folder: Path) -> None:
    """Write the open form and the replies of its sets into the task folder.

    `expected.toml` is not written: the open form's points are put there by hand, from the
    specification, so that they stand against the points that `policy.py` computes.
    """
    form = make_form(folder, OPEN)
    (folder / OPEN_FORM_FILE).write_bytes(readable_json(form))
    sets = make_sets(folder, form)
    for kind, members in (
        ("golden", sets.golden),
        ("defective", sets.defective),
        ("exploits", sets.exploits),
    ):
        for member in members:
            place = folder / kind / member.name
            place.mkdir(parents=True, exist_ok=True)
            (place / "reply.md").write_bytes(member.reply.text.encode("utf-8"))
