"""Arguments that a plan adds to a server's command, and those that it may not."""

from collections.abc import Mapping, Sequence

from harness.errors import Problem
from harness.records.campaign import PlannedModel


def flag_problems(
    planned: PlannedModel, flags: Sequence[str], taken: Mapping[str, str]
) -> list[Problem]:
    """Return a problem for each argument that the backend sets itself.

    Parameters
    ----------
    planned : the plan's entry
    flags : the arguments as the plan has them, `--name value` or `--name=value`
    taken : argument → what to write instead
    """
    return [
        Problem(
            f"models.{planned.id}.options.flags",
            f"{flag!r} is set by the backend itself",
            taken[flag.partition("=")[0]],
        )
        for flag in flags
        if flag.partition("=")[0] in taken
    ]
