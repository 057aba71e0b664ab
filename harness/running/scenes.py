"""The scene and the fault schedule of a run, read from a task's folder."""

from pathlib import Path
from traceback import extract_tb
from typing import Literal

from harness.errors import HarnessError, Problem, SuiteError, nearest
from harness.records.base import Record
from harness.records.handwritten import read_toml
from harness.records.world import Derive, Fault
from harness.suite.forms import Form
from harness.suite.source import load_source
from harness.world.faults import ANY_OBSERVING
from harness.world.scene import Scene
from harness.world.tools import TOOLS

SCENE_FILE = "world.py"
SCHEDULE_FILE = "faults.toml"
ONLY_FOR: dict[Derive, tuple[str, ...]] = {  # of other tools' answers there is no such lie
    "variant": ("read_file", "http_get"),
    "stale_db": ("sql",),
    "flip_report": ("run_tests",),
}

KINDS = "timeout has none, malformed cut, deceptive one of variant, stale_db and flip_report"


class RunSchedule(Record):
    """The faults of one run, in the order that decides which of two fires."""

    faults: tuple[Fault, ...]


class Schedules(Record):
    """`faults.toml`: one table per run, the first for run 1."""

    schema_version: Literal[1] = 1
    run: tuple[RunSchedule, ...]


def load_scene(folder: Path, form: Form, run: int) -> Scene:
    """Return the world that a run of a form begins with, by the task's own `world.py`.

    Raises
    ------
    SuiteError
        If the file does not load, has no function `scene`, or that raises or gives something else.
        What the function itself refuses goes through as it is.
    """
    path = folder / SCENE_FILE
    try:
        found = load_source(path, f"arnes_suite.{folder.name}.world").scene(form, run)
    except HarnessError:
        raise
    except Exception as error:
        lines = [f.lineno for f in extract_tb(error.__traceback__) if f.filename == str(path)]
        where = f"line {lines[-1]}" if lines else "it"
        what = f"scene() of run {run} raised {type(error).__name__}: {error}"
        raise _unusable(folder, path, what, f"correct {where}") from error
    if not isinstance(found, Scene):
        what = f"scene() gives a {type(found).__name__}, not a Scene"
        raise _unusable(folder, path, what, "correct it")
    return found


def read_schedules(folder: Path) -> tuple[tuple[Fault, ...], ...]:
    """Return the written fault schedules of a task, run 1 first.

    Raises
    ------
    SuiteError
        With every fault that could never fire.
    """
    path = folder / SCHEDULE_FILE
    schedules = read_toml(path, Schedules, SuiteError).run
    problems = [
        Problem(f"{SCHEDULE_FILE}: run {run}, fault {place}", what, todo)
        for run, schedule in enumerate(schedules, 1)
        for place, fault in enumerate(schedule.faults, 1)
        for what, todo in _wrong_with(fault)
    ]
    if problems:
        raise SuiteError(f"{len(problems)} problem(s) in {path}", problems, "Nothing was run.")
    return tuple(schedule.faults for schedule in schedules)


def schedule_of(folder: Path, run: int) -> tuple[Fault, ...]:
    """Return the fault schedule of a run, from 1.

    Raises
    ------
    SuiteError
        If none is written for it: a run without one would be easier than the others.
    """
    schedules = read_schedules(folder)
    if 1 <= run <= len(schedules):
        return schedules[run - 1]
    raise SuiteError(
        f"{folder.name} has no fault schedule for run {run}",
        [
            Problem(
                f"{folder.name}/{SCHEDULE_FILE}",
                f"schedules for {len(schedules)} runs are written, run {run} was asked",
                f"ask for runs 1 to {len(schedules)}, or write a schedule (a new signature)",
            )
        ],
        "Nothing was run.",
    )


def _wrong_with(fault: Fault) -> list[tuple[str, str]]:
    """Return why a fault could never fire, each with what to do."""
    wrong = []
    observing = [name for name, tool in TOOLS.items() if tool.observes]
    if fault.tool not in (ANY_OBSERVING, *observing):
        todo = nearest(fault.tool, [ANY_OBSERVING, *observing])
        wrong.append((f"the tool {fault.tool!r} observes nothing", todo))
    derive = fault.derive or "none"
    fits = {
        "timeout": fault.derive is None,
        "malformed": fault.derive == "cut",
        "deceptive": fault.derive in ONLY_FOR,
    }
    if not fits[fault.kind]:
        wrong.append((f"derive is {derive}, the kind is {fault.kind}", KINDS))
    elif fault.derive in ONLY_FOR and fault.tool not in ONLY_FOR[fault.derive]:
        tools = ", ".join(ONLY_FOR[fault.derive])
        wrong.append((f"{derive} lies about {tools}, the tool is {fault.tool!r}", "correct one"))
    return wrong


def _unusable(folder: Path, path: Path, what: str, todo: str) -> SuiteError:
    return SuiteError(
        f"{folder.name}/{path.name} cannot be used",
        [Problem(str(path), what, todo)],
        "Nothing was run.",
    )
