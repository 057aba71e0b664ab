"""A backend that starts one program with one model: what llama-server and vLLM have in common."""

import os
from abc import abstractmethod

from harness.backends.base import Backend
from harness.backends.engines import describe
from harness.backends.probe import Probe, model_names
from harness.backends.program import Program
from harness.backends.ready import free_port, problem_with_completion
from harness.errors import EndpointError
from harness.records.base import Json
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo


class OwnedServer(Backend):
    """Whoever derives says how the command reads, and what only the starter knows.

    Parameters
    ----------
    planned : the plan's entry
    running : the program, not launched yet
    """

    extra_body: dict[str, Json] = {}  # noqa: RUF012 (never changed, only replaced)

    def __init__(self, planned: PlannedModel, running: Program) -> None:
        self._planned = planned
        self._program = running
        self._probe: Probe | None = None

    @abstractmethod
    def check(self) -> None:
        """Look at everything that can be checked before a launch.

        Raises
        ------
        EndpointError
            If it cannot be started on this machine.
        """

    @abstractmethod
    def command(self, port: int) -> list[str]:
        """Return the program and its arguments, once it was checked."""

    @abstractmethod
    def completed(self, told: ServerInfo) -> ServerInfo:
        """Return what the server tells, with what only its starter knows."""

    def environment(self) -> dict[str, str]:
        """Return the program's variables: our own, but for those that would change its settings."""
        return dict(os.environ)

    @property
    def alias(self) -> str:
        """The name by which requests ask for the model: the plan's, or its id."""
        return self._planned.served_name or self._planned.id

    @property
    def pid(self) -> int | None:
        """The process id that leads the server's group, while there is one."""
        return self._program.pid

    def start(self) -> Endpoint:
        """Start the program, wait until it is healthy, and ask it for one real token."""
        self.stop()
        self.check()
        try:
            port = free_port()
            self._probe = self._program.launch(port, self.command(port), self.environment())
            self._make_sure(self._probe)
        except BaseException:
            self.stop()
            raise
        return Endpoint(
            base_url=self._probe.base_url,
            model=self.alias,
            extra_body={**self.extra_body, **self._planned.extra_body},
        )

    def info(self) -> ServerInfo:
        """Ask the server what it is; the starter knows the rest."""
        if self._probe is None:
            raise EndpointError(f"{self._planned.id} was not started")
        return self.completed(describe(self._probe, self.alias, self._planned.context_tokens))

    def alive(self) -> bool:
        """True while the process runs and is healthy."""
        return self._program.alive()

    def stop(self) -> None:
        """End the program with all that it started, and wait until it is gone."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None
        self._program.stop()

    def _make_sure(self, probe: Probe) -> None:
        """Check that what answers is our model with the planned window."""
        problem, wanted = "", self._planned.context_tokens
        if self.alias not in (model_names(probe.get_api("/models")) or ()):
            problem = f"the server does not list {self.alias!r}"
        else:
            problem = problem_with_completion(probe, self.alias)
        if not problem and wanted is not None:
            window = self.info().window_tokens
            if window is not None and window < wanted:
                problem = f"{wanted} tokens were asked for, a request gets {window}"
        if problem:
            raise self._program.refusal(self._planned.id, problem)
