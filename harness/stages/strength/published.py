"""`suite/strength.json`: how strong each grader was found, and whether it is still that grader.

A rank that rests on a grader below the bar, or on one that was never measured as it is now, is
shown as such; `below_bar` is what reports ask.
"""

from pathlib import Path

from pydantic import ValidationError

from harness.arnes import load_arnes
from harness.errors import Problem, SuiteError
from harness.records.base import readable_json
from harness.records.validation import Measured, MeasuredStrength, Strength
from harness.stages.strength.measure import BAR, grader_digest
from harness.store.files import write_whole
from harness.suite.forms import OPEN
from harness.suite.loader import SUITE_FOLDER, Suite

FILE = "strength.json"
SHARE_DECIMALS = 4


def publish(suite: Suite, found: Strength) -> None:
    """Write what was found; tasks that were not asked keep their entry.

    Only the open form's result is published: its members are the ones that everybody has.
    """
    if suite.form != OPEN:
        return
    entries = {entry.id: entry for entry in read_measured(suite.root).tasks}
    for task in found.tasks:
        entries[task.id] = Measured(
            id=task.id,
            made=task.made,
            judged=task.judged,
            wording=task.wording,
            asked=task.asked,
            equivalent=task.equivalent,
            mutants=task.mutants,
            noticed=task.noticed,
            share=round(task.share, SHARE_DECIMALS),
            of=task.of,
        )
    result = MeasuredStrength(tasks=tuple(entries[task_id] for task_id in sorted(entries)))
    write_whole(_path(suite.root), readable_json(result))


def below_bar(root: Path, suite: Suite) -> dict[str, str]:
    """Return task → why a rank should not rest on its grader; only tasks that have a reason.

    Raises
    ------
    SuiteError
        If the published result cannot be read.
    """
    config = load_arnes(root)
    entries = {entry.id: entry for entry in read_measured(root).tasks}
    reasons = {
        task_id: _reason(entries.get(task_id), grader_digest(config, suite, task_id))
        for task_id in suite.ids
    }
    return {task_id: reason for task_id, reason in reasons.items() if reason}


def read_measured(root: Path) -> MeasuredStrength:
    """Return the published result; an empty one if there is no file.

    Raises
    ------
    SuiteError
        If it cannot be read.
    """
    path = _path(root)
    if not path.is_file():
        return MeasuredStrength(tasks=())
    try:
        return MeasuredStrength.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise SuiteError(
            f"{SUITE_FOLDER}/{FILE} cannot be read",
            [Problem(str(path), str(error), "delete it, and run: arnes validate --deep")],
        ) from error


def _reason(entry: Measured | None, now: str) -> str:
    if entry is None:
        return "not measured yet"
    if entry.of != now:
        return "not measured since the grader changed"
    if entry.noticed < BAR * entry.mutants:
        percent = 100 * entry.noticed // entry.mutants  # never rounded up to the bar
        return f"noticed {percent} %, the bar is {BAR * 100:.0f} %"
    return ""


def _path(root: Path) -> Path:
    return root / SUITE_FOLDER / FILE
