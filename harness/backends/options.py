"""A plan's `options` for a backend, checked against what that backend knows."""

from collections.abc import Iterable
from typing import TypeVar

from pydantic import ValidationError

from harness.errors import EndpointError, PlanError, Problem, nearest
from harness.records.base import Record
from harness.records.campaign import PlannedModel
from harness.records.handwritten import value_problem

AnyOptions = TypeVar("AnyOptions", bound=Record)


def options_of(planned: PlannedModel, model: type[AnyOptions]) -> AnyOptions:
    """Return the options of a planned model as the record that its backend declares.

    Raises
    ------
    PlanError
        With every unknown option (and the nearest right name) and every value out of range.
    """
    try:
        return model.model_validate(planned.options, strict=True)
    except ValidationError as failure:
        problems = []
        for finding in failure.errors():
            name = str(finding["loc"][0]) if finding["loc"] else ""
            where = f"models.{planned.id}.options.{name}"
            if finding["type"] == "extra_forbidden":
                todo = nearest(name, model.model_fields)
                problems.append(
                    Problem(where, f"{name!r} is no option of {planned.backend!r}", todo)
                )
            elif finding["type"] == "missing":
                problems.append(Problem(where, "missing", "add this option"))
            else:
                problems.append(value_problem(where, finding))
        raise refused(planned, problems) from failure


def refuse_fields(planned: PlannedModel, fields: tuple[str, ...], why: str) -> None:
    """Refuse fields of a plan that this backend would ignore: an ignored setting misleads.

    Raises
    ------
    PlanError
        With every such field that is set.
    """
    problems = [
        Problem(f"models.{planned.id}.{name}", f"{getattr(planned, name)!r}: {why}", "leave it out")
        for name in fields
        if getattr(planned, name) is not None
    ]
    if problems:
        raise refused(planned, problems)


def refused(planned: PlannedModel, problems: list[Problem]) -> PlanError:
    """Return the error of a model that cannot be brought up as it is planned."""
    return PlanError(
        f"{len(problems)} problem(s) with the model {planned.id!r}", problems, "Nothing was run."
    )


def refuse_start(planned: PlannedModel, problems: Iterable[Problem | None]) -> None:
    """Refuse to start a server where something was found; None is nothing found.

    Raises
    ------
    EndpointError
        With every problem.
    """
    found = [problem for problem in problems if problem is not None]
    if found:
        raise EndpointError(f"{planned.id} cannot be started", found, "Nothing was run.")
