"""Whoever answers in a campaign: a model behind a backend, or a control."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.arnes import ArnesConfig
from harness.backends import make_backend
from harness.backends.base import Backend
from harness.backends.preflight import Need, PreflightReport, preflight
from harness.backends.read_ahead import read_ahead
from harness.backends.served import recheck
from harness.backends.slots import told_slots
from harness.campaign.controls import script_of
from harness.clock import Clock
from harness.errors import EndpointError, Problem
from harness.models.http import HttpChat
from harness.models.scripted import ScriptedServer
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo
from harness.running.single import cap_of, system_text
from harness.stages.agent_cells import longest_text
from harness.suite.loader import Suite

CONTROL_BACKEND = "scripted"


@dataclass(frozen=True)
class Served:
    """A player that is up: where it answers, with which key, and what is known about it."""

    endpoint: Endpoint
    server: ServerInfo
    api_key: str | None = field(default=None, repr=False)


class Player(Protocol):
    """What the orchestrator asks of whoever answers."""

    @property
    def id(self) -> str:
        """The name in folders and tables."""
        ...

    @property
    def backend(self) -> str:
        """Which backend brings it up."""
        ...

    @property
    def control(self) -> bool:
        """True for a control, which is never ranked."""
        ...

    def bring_up(self, run: int) -> Served:
        """Start it for a run, and find out what is really served, before any score.

        Raises
        ------
        EndpointError
            If it cannot be measured as it is.
        """
        ...

    def read_ahead(self) -> None:
        """Read what a start needs from the disk, beside what goes on; nothing is promised."""
        ...

    def recheck(self) -> tuple[str, ...]:
        """Look once more at what is served, after a run; say what is not as it was before."""
        ...

    def alive(self) -> bool:
        """True while it can answer."""
        ...

    def shut_down(self) -> None:
        """Stop what was started, and wait until it is gone. Harmless when nothing was."""
        ...


@dataclass
class ModelPlayer:
    """A model of the plan.

    tell : is told what preflight is doing
    left_s : seconds until all must be over; the look before a run is cut there
    """

    planned: PlannedModel
    suite: Suite
    config: ArnesConfig
    clock: Clock
    api_key: str | None = field(repr=False)
    allow_slow: bool
    log: Path
    tell: Callable[[str], None]
    left_s: Callable[[], float] = lambda: math.inf
    control = False
    _ahead: bool = field(default=False, init=False)
    _backend: Backend | None = field(default=None, init=False)
    _report: PreflightReport | None = field(default=None, init=False)

    @property
    def id(self) -> str:
        """The plan's id of the model."""
        return self.planned.id

    @property
    def backend(self) -> str:
        """The plan's backend."""
        return self.planned.backend

    def bring_up(self, run: int) -> Served:
        """Start the backend, and look at what it serves; the same for every run."""
        del run
        self._ahead = False
        self._backend = make_backend(self.planned, self.log, self.clock)
        report = self._look(self._backend.start())
        slots = told_slots(report.server)
        if slots is not None and slots < self.config.parallel_cells:
            raise self._too_few_slots(slots)
        if report.refused:
            raise self._does_not_fit(report)
        unknown = [fit.task for fit in report.fits if fit.fits is None]
        if unknown:
            raise self._window_unknown(unknown)
        self._report = report
        return Served(report.endpoint, report.server, self.api_key)

    def _look(self, endpoint: Endpoint, before: PreflightReport | None = None) -> PreflightReport:
        """Find out what is served; `before` is the look before a run, for the one after it."""
        assert self._backend is not None
        transport, limit = self.config.transport, self.config.call_timeout_s
        # A look that is cut after a run would seem to be a change: it may end after the deadline.
        left_s = self.left_s if before is None else lambda: math.inf
        given = (endpoint, transport, limit, self.clock, self.api_key)
        with HttpChat(*given, left_s=left_s) as chat:
            return preflight(
                endpoint,
                chat.complete,
                self._backend.info,
                self._needs(),
                sampling=self.config.sampling,
                call_timeout_s=limit,
                allow_slow=self.allow_slow,
                before=before,
                api_key=self.api_key,
                progress=self.tell,
            )

    def read_ahead(self) -> None:
        """Read the weights once before each start, where the backend knows them."""
        if not self._ahead:
            self._ahead = True
            with suppress(OSError):  # its own start says what is wrong with its files
                read_ahead(make_backend(self.planned, self.log, self.clock).weights())

    def recheck(self) -> tuple[str, ...]:
        """Look again, and compare."""
        before = self._report
        if before is None:
            return ()
        _, found = recheck(before, lambda: self._look(before.endpoint, before))
        return tuple(map(str, found))

    def alive(self) -> bool:
        """Ask the backend."""
        return self._backend is not None and self._backend.alive()

    def shut_down(self) -> None:
        """Stop the backend."""
        if self._backend is not None:
            self._backend.stop()
            self._backend = None

    def _needs(self) -> dict[str, Need]:
        """What each task sends, and may get back."""
        needs = {}
        for task in self.suite.tasks:
            cap = cap_of(task, self.config)
            if task.is_agent:
                text = longest_text(task, self.config)
            else:
                text = f"{system_text(task, self.config)}\n{task.prompt(cap)}"
            needs[task.id] = Need(prompt_text=text, max_tokens=cap)
        return needs

    def _window_unknown(self, tasks: list[str]) -> EndpointError:
        return EndpointError(
            f"the window of {self.id} is not known",
            [
                Problem(
                    ", ".join(tasks),
                    "the server does not say how many tokens one request may have",
                    "say it in the plan: context_tokens = 32768, if that is what it serves",
                )
            ],
            "Nothing of this model was scored.",
        )

    def _too_few_slots(self, slots: int) -> EndpointError:
        wanted = self.config.parallel_cells
        return EndpointError(
            f"{self.id} cannot take as many requests at once as will be sent",
            [
                Problem(
                    "slots",
                    f"the server has {slots}, the config asks {wanted} cells at once "
                    "(parallel_cells)",
                    f"serve it with {wanted} slots, and that many times the window",
                )
            ],
            "Nothing of this model was scored.",
        )

    def _does_not_fit(self, report: PreflightReport) -> EndpointError:
        rest = [task for task in self.suite.ids if task not in report.refused]
        todo = "serve it with a larger window"
        if rest:
            todo += f", or declare a subset in the plan: tasks = {rest}"
        return EndpointError(
            f"{len(report.refused)} task(s) do not fit {self.id}",
            [Problem(task, why, todo) for task, why in report.refused.items()],
            "Nothing of this model was scored.",
        )


@dataclass
class ControlPlayer:
    """A control behind a scripted loopback server."""

    id: str
    suite: Suite
    config: ArnesConfig
    backend = CONTROL_BACKEND
    control = True
    _server: ScriptedServer | None = field(default=None, init=False)

    def bring_up(self, run: int) -> Served:
        """Start the scripted server with what it plays in this run."""
        self._server = ScriptedServer(script_of(self.id, self.suite, self.config, run))
        self._server.start()
        endpoint = Endpoint(base_url=self._server.base_url, model=self.id)
        return Served(endpoint, ServerInfo(engine=CONTROL_BACKEND))

    def read_ahead(self) -> None:
        """A script has no weights."""

    def recheck(self) -> tuple[str, ...]:
        """A script does not change."""
        return ()

    def alive(self) -> bool:
        """True between start and stop."""
        return self._server is not None

    def shut_down(self) -> None:
        """Stop the scripted server."""
        if self._server is not None:
            self._server.stop()
            self._server = None
