"""Private parallel forms: drawn from a secret seed, checked, and named by an id.

The id of a private form is a digest over the form ids of its tasks. It may be published; the
seed may be published later, and then anybody can draw the form again and see that it is the one.
"""

from pathlib import Path

from harness.arnes import load_arnes
from harness.clock import Clock
from harness.errors import FormError, Problem
from harness.records.base import digest, readable_json
from harness.records.validation import Validation
from harness.stages.forms import make_form
from harness.stages.progress import Progress, silent
from harness.stages.validate import validate
from harness.store.files import replace_folder
from harness.suite.forms import OPEN, Form
from harness.suite.loader import (
    PRIVATE_FOLDER,
    SUITE_FOLDER,
    Suite,
    Task,
    load_suite,
    with_form,
)


def draw(root: Path, seed: str, progress: Progress = silent) -> Suite:
    """Draw every task's form from a seed; nothing is written.

    Raises
    ------
    FormError
        If the seed is the open form's name, or a generator's bands fail.
    """
    if seed == OPEN:
        raise FormError(
            "this seed is not private",
            [Problem("--seed", f"{OPEN!r} is the published form", "use words of your own")],
        )
    suite = load_suite(root)
    tasks: list[Task] = []
    for done, task in enumerate(suite.tasks):
        progress(f"draw {task.id}", done, len(suite.tasks))
        form: Form = make_form(task.folder, seed)
        tasks.append(with_form(task, form))
    ids = {task.id: task.form_id for task in tasks}
    return Suite(root, tuple(tasks), digest(ids)[:12])


def write_private_form(
    root: Path, seed: str, clock: Clock, progress: Progress = silent
) -> tuple[str, Path]:
    """Draw a form, validate it in every direction, write it; return its id and its folder.

    Raises
    ------
    FormError
        If a band fails or the instrument does not hold on it. Then nothing is written.
    """
    suite = draw(root, seed, progress)
    outcome = validate(suite, load_arnes(root), clock, progress)
    if not outcome.holds:
        raise FormError(
            f"{len(outcome.problems)} check(s) failed for this seed",
            [Problem("", problem) for problem in outcome.problems],
            "Nothing was written. Take another seed.",
        )
    folder = root / SUITE_FOLDER / PRIVATE_FOLDER / suite.form
    replace_folder(
        folder, {f"{task.folder.name}.json": readable_json(task.form) for task in suite.tasks}
    )
    return suite.form, folder


def check(root: Path, form_id: str, clock: Clock, progress: Progress = silent) -> Validation:
    """Validate a form that is on disk, and that its generator still draws the same from its seed.

    Raises
    ------
    SuiteError
        If there is no such form.
    """
    suite = load_suite(root, form_id)
    outcome = validate(suite, load_arnes(root), clock, progress)
    moved = [
        str(
            Problem(
                f"{task.folder.name}/form.py",
                f"the seed of form {form_id} no longer gives this form",
                "take the change back, or give the generator a new FAMILY",
            )
        )
        for task in suite.tasks
        if make_form(task.folder, task.form.seed) != task.form
    ]
    problems = (*outcome.problems, *moved)
    return outcome.model_copy(update={"holds": not problems, "problems": problems})
