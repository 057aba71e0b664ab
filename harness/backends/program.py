"""A server program of others as we run it: its port, its health, its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.backends.base import tail_of
from harness.backends.probe import API_ENDING, Probe
from harness.backends.process import ServerProcess, kept
from harness.backends.ready import HOST
from harness.clock import Clock
from harness.errors import EndpointError, Problem

HEALTH_POLL_S = 0.1
HEALTH_LIMIT_S = 10.0  # a server that computes still answers this route at once
COMPLETION_LIMIT_S = 600.0  # the first one may compile or load what later ones have


@dataclass
class Program:
    """One program, from launch to end. A launch that fails leaves nothing running.

    log : file for what the server says
    start_limit_s : how long it may take until its health route answers 200
    stop_wait_s : how long it may take to end when it is asked to
    health : the route
    """

    log: Path
    clock: Clock
    start_limit_s: float
    stop_wait_s: float
    health: str = "/health"
    _process: ServerProcess | None = field(default=None, init=False)
    _base_url: str = field(default="", init=False)

    @property
    def pid(self) -> int | None:
        """The process id of the keeper, which leads the server's group, while there is one."""
        return None if self._process is None else self._process.pid

    def launch(self, port: int, command: Sequence[str], environment: Mapping[str, str]) -> Probe:
        """Start the program, wait for its health, and return a probe of its API.

        Parameters
        ----------
        port : where it was told to listen
        command : the program and its arguments
        environment : the program's variables

        Raises
        ------
        EndpointError
            If it ends, or does not come up in time, or another program has its port.
        """
        self._base_url = f"http://{HOST}:{port}{API_ENDING}"
        arguments = kept(command, self.stop_wait_s)
        try:
            self._process = ServerProcess(
                arguments, environment, self.log, self.clock, self.stop_wait_s, announces=False
            )
            self._wait_for_health(self._process, port)
        except BaseException:
            self.stop()
            raise
        return Probe(self._base_url, answer_limit_s=COMPLETION_LIMIT_S)

    def alive(self) -> bool:
        """True while the process runs and its health route answers 200.

        An engine can die inside a process that lives on.
        """
        return self._process is not None and self._process.alive() and self._healthy()

    def stop(self) -> None:
        """End the program with all that it started, and wait until it is gone."""
        if self._process is not None:
            self._process.stop()
            self._process = None

    def refusal(self, who: str, problem: str) -> EndpointError:
        """Return the error of a program that is up and is not what was planned."""
        said = f"{problem}\n{tail_of(self.log)}"
        return EndpointError(
            f"{who} did not come up as it is planned",
            [Problem(str(self.log), said, "read the whole log, correct the plan")],
            "Nothing was run.",
        )

    def _healthy(self) -> bool:
        with Probe(self._base_url, answer_limit_s=HEALTH_LIMIT_S) as probe:
            return probe.get(self.health).status == 200

    def _wait_for_health(self, process: ServerProcess, port: int) -> None:
        deadline = self.clock.monotonic() + self.start_limit_s
        with Probe(self._base_url, answer_limit_s=HEALTH_LIMIT_S) as probe:
            while True:
                if not process.alive():
                    raise process.failure(process.ending())
                answer = probe.get(self.health)
                if answer.status == 200 and process.owns(port):
                    return
                if answer.status == 200:
                    raise process.failure(f"another program answers at port {port}")
                if self.clock.monotonic() >= deadline:
                    said = answer.error or f"status {answer.status}"
                    what = f"its health route says {said} after {self.start_limit_s:g} s"
                    raise process.failure(what)
                self.clock.sleep(HEALTH_POLL_S)
