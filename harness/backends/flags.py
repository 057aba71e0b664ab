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
    found = ((flag, _taken_name(flag, taken)) for flag in flags)
    return [
        Problem(
            f"models.{planned.id}.options.flags",
            f"{flag!r} is set by the backend itself",
            taken[name],
        )
        for flag, name in found
        if name is not None
    ]


def _taken_name(flag: str, taken: Mapping[str, str]) -> str | None:
    """Return the argument of the backend's that a flag sets, in whichever of its spellings.

    Both engines take `_` for `-` in a long name, and vLLM takes a beginning for the whole.
    """
    name = flag.partition("=")[0]
    if name in taken or not name.startswith("--") or name == "--":
        return name if name in taken else None
    name = name.replace("_", "-")
    return name if name in taken else next((t for t in taken if t.startswith(name)), None)
