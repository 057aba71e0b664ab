"""Discover task folders and read them without running anything of theirs.

Loading is static, and every problem is collected before anything fails. What plays a reply lives
in `stages/`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import Problem, SuiteError, nearest
from harness.records.base import Json
from harness.records.handwritten import read_toml
from harness.suite.checks import folder_problems
from harness.suite.definition import LEVEL_FOLDERS, TaskDefinition
from harness.suite.forms import OPEN, Form
from harness.suite.prompts import read_template, render

SUITE_FOLDER = "suite"
PRIVATE_FOLDER = "private"
OPEN_FORM_FILE = "open.json"
FORM_SETTING = "arnes.toml: form"


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

    @property
    def is_agent(self) -> bool:
        """True for a task that is worked on with tools, over several replies."""
        return self.definition.mode == "agent"

    def prompt(self, max_tokens: int) -> str:
        """Return the prompt as it is sent, for a generation cap in tokens."""
        return _prompt(self.template, self.form, max_tokens, self.folder.name)


@dataclass(frozen=True)
class Suite:
    """The tasks of a form, in the order of their ids.

    form : `open`, or a private form's id; `arnes.toml` names it
    """

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


def folders_of(root: Path, task_ids: Iterable[str]) -> list[Path]:
    """Return the folders of these tasks, of all if there are none, by nothing but their names.

    Raises
    ------
    SuiteError
        With every id that no folder has, and the nearest that one has.
    """
    by_id: dict[str, list[Path]] = {}
    for folder in task_folders(root):
        by_id.setdefault(folder.name.partition("_")[0].upper(), []).append(folder)
    wanted = tuple(dict.fromkeys(task_ids)) or tuple(by_id)
    unknown = [task_id for task_id in wanted if task_id not in by_id]
    if unknown:
        raise SuiteError(
            f"no task {', '.join(map(repr, unknown))}",
            [
                Problem("--task", f"{task_id!r} is no task of this suite", nearest(task_id, by_id))
                for task_id in unknown
            ],
            "Nothing was written.",
        )
    return [folder for task_id in wanted for folder in by_id[task_id]]


def private_forms(root: Path) -> tuple[str, ...]:
    """Return the ids of the private forms that lie here."""
    private = root / SUITE_FOLDER / PRIVATE_FOLDER
    return tuple(sorted(path.name for path in private.glob("*") if path.is_dir()))


def load_suite(root: Path, form: str = OPEN, *, named_in: str = FORM_SETTING) -> Suite:
    """Read the suite in one form.

    A private form has the tasks that it was drawn with: those of which a file lies in its folder.
    A task that came later is no part of it.

    Parameters
    ----------
    root : the folder that holds `suite/`
    form : `open`, or the id of a private form under `suite/private/`
    named_in : where the form is named, for the error if there is none of that id

    Raises
    ------
    SuiteError
        With every problem of every folder.
    """
    folders = task_folders(root)
    if not folders:
        raise SuiteError(
            "no task was found",
            [Problem(str(root / SUITE_FOLDER), "holds no task.toml", "run arnes in its checkout")],
            "Nothing was run.",
        )
    problems: list[Problem] = []
    if form != OPEN:
        folders, problems = _drawn_with(root, form, folders, named_in)
    tasks: list[Task] = []
    for folder in folders:
        try:
            tasks.append(_load_task(folder, root, form))
        except SuiteError as error:
            problems += _placed(folder, error)
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


def _drawn_with(
    root: Path, form: str, folders: list[Path], named_in: str
) -> tuple[list[Path], list[Problem]]:
    """Return the folders of a private form's tasks, and its files that belong to no task here."""
    known = private_forms(root)
    private = root / SUITE_FOLDER / PRIVATE_FOLDER
    if form not in known:
        there = f"it holds {', '.join(known)}" if known else "it holds none"
        raise SuiteError(
            f"no private form {form!r}",
            [
                Problem(
                    named_in,
                    f"{form!r} is no folder of {SUITE_FOLDER}/{PRIVATE_FOLDER}; {there}",
                    f'take one of these or "{OPEN}", or draw one: arnes suite new-form',
                )
            ],
            "Nothing was run.",
        )
    parts = {path.stem for path in (private / form).glob("*.json")}
    by_name = {folder.name: folder for folder in folders}
    problems = [
        Problem(
            f"{SUITE_FOLDER}/{PRIVATE_FOLDER}/{form}/{name}.json",
            f"the form was drawn with the task {name!r}, the suite has none",
            "bring its folder back, or draw another form",
        )
        for name in sorted(parts - by_name.keys())
    ]
    if not parts:
        place = f"{SUITE_FOLDER}/{PRIVATE_FOLDER}/{form}"
        problems.append(Problem(place, "holds no task's form", "draw it again from its seed"))
    return [folder for name, folder in by_name.items() if name in parts], problems


def _placed(folder: Path, error: SuiteError) -> list[Problem]:
    """Return the problems of one folder, each with the folder's name in its place."""
    return [
        problem
        if folder.name in problem.where
        else replace(problem, where=f"{folder.name}/{problem.where}")
        for problem in error.problems or (Problem(folder.name, error.headline),)
    ]


def _load_task(folder: Path, root: Path, form: str) -> Task:
    path = form_path(root, folder, form)
    return read_task(folder, path)


def read_task(folder: Path, form: Form | Path) -> Task:
    """Read one task folder, in a form or in the one that a file holds.

    Raises
    ------
    SuiteError
        With every problem of the folder.
    """
    definition = read_toml(folder / "task.toml", TaskDefinition, SuiteError)
    problems = folder_problems(folder, definition)
    if problems:
        raise SuiteError(f"{folder.name} is not sound", problems)
    template = read_template(folder / "prompt.md")
    given, where = (read_form(form), str(form)) if isinstance(form, Path) else (form, "form.py")
    own = _form_of(definition, given, where)
    return Task(folder, definition, own, form_id(template, own, folder.name), template)


def with_form(task: Task, form: Form) -> Task:
    """Return the same task asked in another form of it.

    Raises
    ------
    SuiteError
        If the form is another task's.
    """
    where = f"{task.folder.name}/form.py"
    own = _form_of(task.definition, form, where)
    return replace(task, form=own, form_id=form_id(task.template, own, task.folder.name))


def _form_of(definition: TaskDefinition, form: Form, where: str) -> Form:
    if form.task != definition.id:
        raise SuiteError(
            f"a form of {form.task} for {definition.id}",
            [
                Problem(
                    where,
                    f"a form of the task {form.task!r}, the task here is {definition.id!r}",
                    f"the form of {definition.id} belongs there",
                )
            ],
            "Nothing was run.",
        )
    return form


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
