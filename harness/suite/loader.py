"""Discover task folders and check them without running anything of theirs.

Loading is static: rows and functions are matched by syntax tree, sums and files are checked,
and every problem is collected before anything fails. What plays a reply lives in `stages/`.
"""

import ast
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import Problem, SuiteError, nearest
from harness.records.base import Json
from harness.records.handwritten import read_toml
from harness.suite.definition import LEVEL_FOLDERS, TaskDefinition
from harness.suite.forms import OPEN, Form
from harness.suite.prompts import CANARY, render

SUITE_FOLDER = "suite"
PRIVATE_FOLDER = "private"
OPEN_FORM_FILE = "open.json"
TASK_FILES = ("prompt.md", "grader.py", "form.py", "oracle.py", "policy.py", "NOTES.md")


@dataclass(frozen=True)
class Task:
    """One task folder, read and checked, with the form it is asked in."""

    folder: Path
    definition: TaskDefinition
    form: Form
    form_id: str
    template: str

    @property
    def id(self) -> str:
        """The task's id, such as A04."""
        return self.definition.id

    def prompt(self, max_tokens: int) -> str:
        """Return the prompt as it is sent, for a generation cap in tokens."""
        return _prompt(self.template, self.form, max_tokens, self.folder.name)


@dataclass(frozen=True)
class Suite:
    """The tasks, in the order of their ids."""

    root: Path
    tasks: tuple[Task, ...]
    form: str

    def task(self, task_id: str) -> Task:
        """Return one task; SuiteError names the nearest id."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise SuiteError(
            f"no task {task_id!r}",
            [Problem("suite", f"{task_id!r} is no task", nearest(task_id, self.ids))],
        )

    def only(self, task_ids: tuple[str, ...]) -> "Suite":
        """Return the suite with these tasks alone."""
        wanted = {self.task(task_id).id for task_id in task_ids}
        return Suite(self.root, tuple(t for t in self.tasks if t.id in wanted), self.form)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all tasks."""
        return tuple(task.id for task in self.tasks)

    @property
    def forms(self) -> dict[str, str]:
        """Task id → form id."""
        return {task.id: task.form_id for task in self.tasks}


def task_folders(root: Path) -> list[Path]:
    """Return every task folder of every level, sorted."""
    return sorted(
        path.parent
        for level in LEVEL_FOLDERS.values()
        for path in (root / SUITE_FOLDER / level).glob("*/task.toml")
    )


def load_suite(root: Path, form: str = OPEN) -> Suite:
    """Read the suite in one form.

    Parameters
    ----------
    root : the folder that holds `suite/`
    form : `open`, or the id of a private form under `suite/private/`

    Raises
    ------
    SuiteError
        With every problem of every folder.
    """
    problems: list[Problem] = []
    tasks: list[Task] = []
    folders = task_folders(root)
    if not folders:
        raise SuiteError(
            "no task was found",
            [Problem(str(root / SUITE_FOLDER), "holds no task.toml", "run arnes in its checkout")],
        )
    for folder in folders:
        try:
            tasks.append(_load_task(folder, root, form))
        except SuiteError as error:
            problems += error.problems or [Problem(folder.name, error.headline)]
    ids = [task.id for task in tasks]
    problems += [
        Problem("suite", f"the id {task_id} stands in two folders", "give one another id")
        for task_id in sorted({i for i in ids if ids.count(i) > 1})
    ]
    if problems:
        raise SuiteError(
            f"{len(problems)} problem(s) in {root / SUITE_FOLDER}",
            problems,
            "Nothing was run. Check again with: arnes validate",
        )
    return Suite(root, tuple(sorted(tasks, key=lambda task: task.id)), form)


def _load_task(folder: Path, root: Path, form: str) -> Task:
    definition = read_toml(folder / "task.toml", TaskDefinition, SuiteError)
    problems = _check_folder(folder, definition)
    if problems:
        raise SuiteError(f"{folder.name} is not sound", problems)
    template = (folder / "prompt.md").read_text(encoding="utf-8")
    loaded = read_form(form_path(root, folder, form))
    return Task(folder, definition, loaded, form_id(template, loaded, folder.name), template)


def with_form(task: Task, form: Form) -> Task:
    """Return the same task asked in another form."""
    return replace(task, form=form, form_id=form_id(task.template, form, task.folder.name))


def form_path(root: Path, folder: Path, form: str) -> Path:
    """Return the file that holds a task's part of a form (`open`, or a private id)."""
    if form == OPEN:
        return folder / OPEN_FORM_FILE
    return root / SUITE_FOLDER / PRIVATE_FOLDER / form / f"{folder.name}.json"


def read_form(path: Path) -> Form:
    """Read a frozen form.

    Raises
    ------
    SuiteError
        If the file is missing or no form.
    """
    try:
        return Form.model_validate_json(path.read_bytes())
    except OSError as error:
        raise SuiteError(
            f"no form file {path.name}",
            [Problem(str(path), "no such file", "arnes suite freeze, or arnes suite new-form")],
        ) from error
    except ValueError as error:
        raise SuiteError(
            f"{path.name} is no form", [Problem(str(path), str(error), "write it anew")]
        ) from error


def form_id(template: str, form: Form, where: str) -> str:
    """Return a form's id; the cap stands in it by name, so profiles share their ids."""
    return form.id_with(_prompt(template, form, "max_tokens", where))


def _prompt(template: str, form: Form, max_tokens: Json, where: str) -> str:
    return render(template, {**form.values, "max_tokens": max_tokens}, f"{where}/prompt.md")


def _check_folder(folder: Path, definition: TaskDefinition) -> list[Problem]:
    problems = []
    if folder.parent.name != LEVEL_FOLDERS[definition.level]:
        problems.append(
            Problem(
                f"{folder.name}/task.toml",
                f"level {definition.level!r} in the folder {folder.parent.name!r}",
                f"move it to suite/{LEVEL_FOLDERS[definition.level]}",
            )
        )
    if not folder.name.startswith(definition.id.lower() + "_"):
        problems.append(
            Problem(
                f"{folder.name}/task.toml",
                f"id {definition.id!r} in the folder {folder.name!r}",
                f"name the folder {definition.id.lower()}_…",
            )
        )
    problems += [
        Problem(f"{folder.name}/{name}", "missing", "write it")
        for name in TASK_FILES
        if not (folder / name).is_file()
    ]
    if problems:
        return problems
    if not CANARY.match((folder / "prompt.md").read_text(encoding="utf-8")):
        problems.append(
            Problem(
                f"{folder.name}/prompt.md",
                "its first line is no canary",
                "begin with <!-- arnes canary (32 hex digits) -->",
            )
        )
    return problems + _match_rows(folder, definition)


def _match_rows(folder: Path, definition: TaskDefinition) -> list[Problem]:
    """Rows and functions one to one, by syntax tree."""
    tree = ast.parse((folder / "grader.py").read_text(encoding="utf-8"))
    graded = [
        decorator.args[0].value
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "row"
        and decorator.args
        and isinstance(decorator.args[0], ast.Constant)
        and isinstance(decorator.args[0].value, str)
    ]
    declared = [row.id for row in definition.rows]
    problems = [
        Problem(
            f"{folder.name}/task.toml",
            f"row {row_id!r} has no function in grader.py",
            nearest(row_id, graded),
        )
        for row_id in declared
        if graded.count(row_id) != 1
    ]
    problems += [
        Problem(
            f"{folder.name}/grader.py",
            f"@row({row_id!r}) is no row of task.toml",
            nearest(row_id, declared),
        )
        for row_id in graded
        if row_id not in declared
    ]
    return problems
