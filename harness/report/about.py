"""What tasks say of themselves, from the suite in this checkout."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import SuiteError
from harness.records.handwritten import read_toml
from harness.suite.definition import TaskDefinition
from harness.suite.loader import task_folders


@dataclass(frozen=True)
class TaskText:
    """What a task says of itself."""

    title: str
    measures: str
    does_not_measure: str


def about_tasks(root: Path, tasks: Iterable[str]) -> dict[str, TaskText]:
    """Return what the tasks of a campaign say of themselves.

    A task that is gone, or whose folder cannot be read now, is left out and stands in the report by
    its id: what was measured does not depend on what the suite has become.

    Parameters
    ----------
    root : the folder that holds `suite/`
    tasks : the ids asked for
    """
    wanted = set(tasks)
    found = {}
    for folder in task_folders(root):
        try:
            task = read_toml(folder / "task.toml", TaskDefinition, SuiteError)
        except SuiteError:
            continue  # `arnes validate` says what is wrong with it
        if task.id in wanted:
            found[task.id] = TaskText(task.title, task.measures, task.does_not_measure)
    return dict(sorted(found.items()))
