"""Read a plan and resolve it against the instrument. A wrong plan is refused whole."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from harness.backends import make_backend
from harness.backends.slots import planned_slots
from harness.campaign.controls import CONTROLS
from harness.campaign.deadline import deadline_of
from harness.campaign.history import usual_tokens
from harness.clock import SystemClock
from harness.errors import PlanError, Problem, nearest
from harness.models.body import extra_body_problems
from harness.records.campaign import CampaignPlan, PlannedModel
from harness.records.handwritten import read_toml
from harness.sandbox import Tier, probe
from harness.stages.instrument import Instrument

RUN_CEILING = 5  # fault schedules are written by hand for runs 1 to 5


@dataclass(frozen=True)
class Resolved:
    """A plan with its defaults filled in.

    usual_tokens : of a run of a model for which the plan names none
    left_out : task → why it is not asked although the plan wants it: no sandbox for its grading
    subset : True when tasks of level A are left out: a declared subset has no total of level A
    """

    plan: CampaignPlan
    text: bytes
    runs: int
    tasks: tuple[str, ...]
    subset: bool
    left_out: dict[str, str]
    usual_tokens: int


def read_plan(path: Path) -> CampaignPlan:
    """Read `plan.toml`.

    Raises
    ------
    PlanError
        With every problem of the file at once.
    """
    return read_toml(path, CampaignPlan, PlanError)


def resolve(
    plan: CampaignPlan,
    text: bytes,
    instrument: Instrument,
    environment: Mapping[str, str] | None = None,
    tier: Tier | None = None,
    *,
    now: datetime | None = None,
) -> Resolved:
    """Check a plan against the instrument and fill in its defaults.

    Parameters
    ----------
    plan, text : the plan, and the file as it was written
    instrument : config and suite of the plan's profile
    environment : where keys are looked up; the process's own by default
    tier : the sandbox in force; what this machine gives by default
    now : aware, in local time; the deadline is checked against it

    Raises
    ------
    PlanError
        With every problem at once.
    """
    environment = os.environ if environment is None else environment
    defaults = instrument.config.plan
    tasks = plan.tasks or defaults.tasks or instrument.suite.ids
    runs = plan.runs or defaults.runs
    problems = [
        Problem("tasks", f"{task!r} is no task", nearest(task, instrument.suite.ids))
        for task in tasks
        if task not in instrument.suite.ids
    ]
    problems += [
        Problem("tasks", f"{task!r} stands twice", "name it once; runs says how often it is asked")
        for task in sorted({t for t in tasks if tasks.count(t) > 1})
    ]
    if runs > RUN_CEILING:
        problems.append(
            Problem("runs", f"{runs}, schedules are written for {RUN_CEILING}", "ask for fewer")
        )
    ids = [model.id for model in plan.models]
    problems += [
        Problem("models", f"the id {model_id!r} stands twice", "give each model its own id")
        for model_id in sorted({i for i in ids if ids.count(i) > 1})
    ]
    # Where a file system does not tell capitals apart, one would find the other's replies.
    todo = "choose others: not every disk makes two folders of them"
    problems += [
        Problem("models", f"the ids {' and '.join(alike)} differ in capitals alone", todo)
        for alike in _alike(ids)
    ]
    for model in plan.models:
        problems += _model_problems(model, environment)
        problems += _slot_problems(model, instrument.config.parallel_cells)
    problems += _deadline_problems(plan, now or SystemClock().now().astimezone())
    if problems:
        raise PlanError(
            f"{len(problems)} problem(s) in the plan {plan.name!r}", problems, "Nothing was run."
        )
    left_out = _without_walls(tasks, instrument, tier)
    chosen = tuple(t for t in instrument.suite.ids if t in tasks and t not in left_out)
    if not chosen:
        raise PlanError(
            "no task is left",
            [Problem(task, "runs what models write", todo) for task, todo in left_out.items()],
            "Nothing was run.",
        )
    return Resolved(
        plan=plan,
        text=text,
        runs=runs,
        tasks=chosen,
        subset=chosen != instrument.suite.ids,
        left_out=left_out,
        usual_tokens=usual_tokens(instrument.suite.only(chosen).tasks, instrument.config),
    )


def missing_in(plan: CampaignPlan) -> tuple[Problem, ...]:
    """Return the programs and weights that a sound plan names and that are not on this machine."""
    return tuple(
        Problem(f"models.{planned.id}: {problem.where}", problem.what, problem.todo)
        for planned in plan.models
        for problem in make_backend(planned, Path(os.devnull), SystemClock()).missing()
    )


def _alike(ids: list[str]) -> list[list[str]]:
    """Return the groups of ids that are different, and one where capitals do not count."""
    groups: dict[str, set[str]] = {}
    for model_id in ids:
        groups.setdefault(model_id.lower(), set()).add(model_id)
    return [sorted(group) for group in groups.values() if len(group) > 1]


def _deadline_problems(plan: CampaignPlan, now: datetime) -> tuple[Problem, ...]:
    try:
        deadline_of(plan, now)
    except PlanError as error:
        return error.problems
    return ()


def _without_walls(
    tasks: tuple[str, ...], instrument: Instrument, tier: Tier | None
) -> dict[str, str]:
    """Return the tasks whose grading runs code, where there is no sandbox to run it in."""
    runs_code = [task for task in tasks if instrument.suite.task(task).definition.executes]
    if not runs_code:
        return {}
    tier = tier or probe()
    todo = tier.todo or "see arnes doctor"
    return {} if tier.available else dict.fromkeys(runs_code, f"no sandbox here: {todo}")


def _model_problems(model: PlannedModel, environment: Mapping[str, str]) -> list[Problem]:
    where = f"models.{model.id}"
    problems: list[Problem] = []
    try:
        make_backend(model, Path(os.devnull), SystemClock())  # checks, and starts nothing
    except PlanError as error:
        problems += error.problems
    problems += [
        Problem(f"{where}.{found.where}", found.what, found.todo)
        for found in extra_body_problems(model.extra_body)
    ]
    if model.id.lower() in CONTROLS:
        problems.append(Problem(f"{where}.id", "is the name of a control", "choose another id"))
    if model.api_key_env and not environment.get(model.api_key_env):
        problems.append(
            Problem(
                f"{where}.api_key_env",
                f"the variable {model.api_key_env} is not set",
                f"export {model.api_key_env}=… before you start; the key is written to no file",
            )
        )
    return problems


def _slot_problems(model: PlannedModel, parallel_cells: int) -> list[Problem]:
    """Refuse a server that could not compute as many cells at once as will be asked."""
    slots = planned_slots(model)
    if slots is None or slots >= parallel_cells:
        return []
    return [
        Problem(
            f"models.{model.id}.options.slots",
            f"{slots}, the config asks {parallel_cells} cells at once (parallel_cells)",
            f"write slots = {parallel_cells}; each slot has the whole window, and costs its memory",
        )
    ]
