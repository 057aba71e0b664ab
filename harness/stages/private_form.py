"""Private parallel forms: drawn from a secret seed, checked, and named by an id.

The id of a private form is a digest over the form ids of its tasks. It may be published; the
seed may be published later, and then anybody can draw the form again and see that it is the one.
"""

from collections.abc import Mapping
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

SHORTEST_SEED = 12  # fewer characters are tried out in an evening


def draw(root: Path, seed: str, progress: Progress = silent) -> Suite:
    """Draw every task's form from a seed; nothing is written.

    Raises
    ------
    FormError
        If the seed is the open form's name or can be guessed, or a generator's bands fail.
    """
    _refuse_weak(seed)
    suite = load_suite(root)
    tasks: list[Task] = []
    for done, task in enumerate(suite.tasks):
        progress(f"draw {task.id}", done, len(suite.tasks))
        form: Form = make_form(task.folder, seed)
        tasks.append(with_form(task, form))
    return Suite(root, tuple(tasks), whole_id({task.id: task.form_id for task in tasks}))


def whole_id(forms: Mapping[str, str]) -> str:
    """Return the id of a whole form: 12 hex digits over the form ids of its tasks."""
    return digest(dict(forms))[:12]


def _refuse_weak(seed: str) -> None:
    if seed == OPEN:
        raise FormError(
            "this seed is not private",
            [Problem("--seed", f"{OPEN!r} is the published form", "use words of your own")],
            "Nothing was written.",
        )
    if len(seed.strip()) < SHORTEST_SEED:
        raise FormError(
            "this seed can be guessed",
            [
                Problem(
                    "--seed",
                    f"{len(seed.strip())} characters, at least {SHORTEST_SEED} are needed",
                    "take a sentence that nobody would guess",
                )
            ],
            "Nothing was written.",
        )


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
    """Validate a form that is on disk, its id, and that its generators still draw it.

    Raises
    ------
    SuiteError
        If there is no such form.
    """
    suite = load_suite(root, form_id, named_in="check-form")
    outcome = validate(suite, load_arnes(root), clock, progress)
    found = [*identity_problems(suite), *_drawn_otherwise(suite)]
    problems = (*outcome.problems, *map(str, found))
    return outcome.model_copy(update={"holds": not problems, "problems": problems})


def identity_problems(suite: Suite) -> list[Problem]:
    """Return why a whole suite is not the form that it is called; for the open one, its seeds.

    The seeds themselves are not said: they are secret.
    """
    where = suite.form if suite.form == OPEN else f"{SUITE_FOLDER}/{PRIVATE_FOLDER}/{suite.form}"
    problems = []
    drawn = whole_id(suite.forms)
    if suite.form not in (OPEN, drawn):
        problems.append(
            Problem(
                where,
                f"is called {suite.form!r}, its {len(suite.tasks)} tasks make the form {drawn!r}",
                "a task's form or prompt changed, a file is missing, or the folder was renamed:"
                " take that back, or draw a new form",
            )
        )
    by_seed: dict[str, list[str]] = {}
    for task in suite.tasks:
        by_seed.setdefault(task.form.seed, []).append(task.id)
    if len(by_seed) > 1:
        groups = " and ".join(", ".join(ids) for ids in by_seed.values())
        problems.append(
            Problem(
                where,
                f"its tasks are drawn from {len(by_seed)} seeds: {groups}",
                "all tasks of a form are drawn from one seed: draw it again",
            )
        )
    public = [ids for seed, ids in by_seed.items() if (seed == OPEN) != (suite.form == OPEN)]
    problems += [
        Problem(
            where,
            f"{', '.join(ids)}: drawn from {'a secret' if suite.form == OPEN else 'the open'} seed",
            "arnes suite freeze" if suite.form == OPEN else "draw it from a secret seed",
        )
        for ids in public
    ]
    return problems


def _drawn_otherwise(suite: Suite) -> list[Problem]:
    """Return the tasks whose generator does not draw this form from its seed."""
    problems: list[Problem] = []
    for task in suite.tasks:
        try:
            same = make_form(task.folder, task.form.seed) == task.form
        except FormError as error:
            problems += error.problems
            continue
        if not same:
            problems.append(
                Problem(
                    f"{task.folder.name}/form.py",
                    f"the seed of form {suite.form} no longer gives this form",
                    "take the change back, or give the generator a new FAMILY",
                )
            )
    return problems
