"""What a task folder must hold, checked without running anything of it.

Names, files, the canary, and rows against functions by syntax tree.
"""

import ast
from pathlib import Path

from harness.errors import Problem, SuiteError, nearest
from harness.suite.definition import LEVEL_FOLDERS, TaskDefinition
from harness.suite.prompts import CANARY, read_template

TASK_FILES = ("prompt.md", "grader.py", "form.py", "oracle.py", "policy.py", "NOTES.md")
AGENT_FILES = ("world.py", "faults.toml")


def folder_problems(folder: Path, definition: TaskDefinition) -> list[Problem]:
    """Return what is wrong with a task folder, apart from its form and its sets."""
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
        for name in (*TASK_FILES, *(AGENT_FILES if definition.mode == "agent" else ()))
        if not (folder / name).is_file()
    ]
    if problems:
        return problems
    return _prompt_problems(folder) + _row_problems(folder, definition)


def _prompt_problems(folder: Path) -> list[Problem]:
    try:
        template = read_template(folder / "prompt.md")
    except SuiteError as error:
        return list(error.problems)
    if CANARY.match(template):
        return []
    return [
        Problem(
            f"{folder.name}/prompt.md",
            "its first line is no canary",
            "begin with <!-- arnes canary (32 hex digits) -->",
        )
    ]


def _row_problems(folder: Path, definition: TaskDefinition) -> list[Problem]:
    """Rows and functions one to one, by syntax tree."""
    try:
        # From bytes, as it is run later: an encoding that is no UTF-8 is a SyntaxError too.
        tree = ast.parse((folder / "grader.py").read_bytes(), "grader.py")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [
            Problem(
                f"{folder.name}/grader.py",
                f"is no Python: {str(error) or type(error).__name__}",
                "correct it",
            )
        ]
    graded = _graded(tree)
    declared = [row.id for row in definition.rows]
    problems = [
        Problem(
            f"{folder.name}/task.toml",
            f"row {row_id!r} has no function in grader.py",
            nearest(row_id, graded),
        )
        for row_id in declared
        if row_id not in graded
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
    problems += [
        Problem(
            f"{folder.name}/grader.py",
            f"{graded.count(row_id)} functions are @row({row_id!r})",
            "keep one of them",
        )
        for row_id in sorted({i for i in graded if graded.count(i) > 1})
    ]
    return problems


def _graded(tree: ast.Module) -> list[str]:
    """Return the ids of all `@row("id")` functions."""
    return [
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
