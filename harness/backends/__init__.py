"""Step 5: bring servers up and take them down, and find out what is really served.

A backend is one file here and one entry in `BACKENDS`; tests/backends/contract.py holds what
all of them promise. The table is literal: a plug-in from elsewhere would be unsigned variance.
"""

from collections.abc import Callable
from pathlib import Path

from harness.backends.base import Backend
from harness.backends.embedded import embedded
from harness.backends.external import external
from harness.backends.llama_server import llama_server
from harness.backends.lmstudio import lmstudio
from harness.backends.ollama import ollama
from harness.backends.options import refused
from harness.backends.vllm import vllm
from harness.clock import Clock
from harness.errors import Problem, nearest
from harness.records.campaign import PlannedModel

BACKENDS: dict[str, Callable[[PlannedModel, Path, Clock], Backend]] = {
    "embedded": embedded,
    "external": external,
    "llama_server": llama_server,
    "lmstudio": lmstudio,
    "ollama": ollama,
    "vllm": vllm,
}


def make_backend(planned: PlannedModel, log: Path, clock: Clock) -> Backend:
    """Return the backend of a planned model. Nothing is started yet, so it also checks a plan.

    Parameters
    ----------
    planned : the plan's entry
    log : file for what a server that we start ourselves says
    clock : waits are taken from it

    Raises
    ------
    PlanError
        For an unknown backend or option, with the nearest name, and for a setting that the
        backend would ignore.
    """
    make = BACKENDS.get(planned.backend)
    if make is None:
        where = f"models.{planned.id}.backend"
        what = f"{planned.backend!r} is no backend"
        raise refused(planned, [Problem(where, what, nearest(planned.backend, BACKENDS))])
    return make(planned, log, clock)
