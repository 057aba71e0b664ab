"""How many requests a server can compute at once: by the plan, and by its own word.

Cells that are asked at once against too few slots wait for each other inside the server, where
the wait counts as time of the call, and nothing of it is seen.
"""

from harness.backends.embedded import EmbeddedOptions
from harness.backends.llama_server import LlamaServerOptions
from harness.records.campaign import PlannedModel
from harness.records.run import ServerInfo

# The backends whose plan decides it; other engines batch as many as they like, or do not tell.
DECIDED: dict[str, int] = {
    "embedded": EmbeddedOptions.model_fields["slots"].default,
    "llama_server": LlamaServerOptions.model_fields["slots"].default,
}
TOLD = ("total_slots", "n_parallel", "slots")  # the server's own word first


def planned_slots(planned: PlannedModel) -> int | None:
    """Return the slots that a planned model will have.

    Returns
    -------
    None where the plan does not decide it, and where its value is none that the backend takes.
    """
    if planned.backend not in DECIDED:
        return None
    return _count(planned.options.get("slots", DECIDED[planned.backend]))


def told_slots(server: ServerInfo) -> int | None:
    """Return the slots that a served model has; None where nobody tells."""
    counts = (_count(server.flags.get(name)) for name in TOLD)
    return next((count for count in counts if count is not None), None)


def _count(value: object) -> int | None:
    """Return a count; anything but a positive whole number is none."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None
