"""Whoever answers in a campaign: a model behind a backend, or a control."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from harness.arnes import ArnesConfig
from harness.backends import make_backend
from harness.backends.base import Backend
from harness.backends.preflight import Need, preflight
from harness.campaign.controls import script_of
from harness.clock import Clock
from harness.models.http import HttpChat
from harness.models.scripted import ScriptedServer
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo
from harness.running.single import cap_of
from harness.suite.loader import Suite


@dataclass(frozen=True)
class Served:
    """A player that is up: where it answers, and what is known about it."""

    endpoint: Endpoint
    server: ServerInfo


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

    def bring_up(self) -> Served:
        """Start it, and find out what is really served, before any score."""
        ...

    def alive(self) -> bool:
        """True while it can answer."""
        ...

    def shut_down(self) -> None:
        """Stop what was started, and wait until it is gone. Harmless when nothing was."""
        ...


@dataclass
class ModelPlayer:
    """A model of the plan."""

    planned: PlannedModel
    suite: Suite
    config: ArnesConfig
    clock: Clock
    api_key: str | None
    allow_slow: bool
    log: Path
    tell: Callable[[str], None]
    _backend: Backend | None = field(default=None, init=False)

    @property
    def id(self) -> str:
        """The plan's id of the model."""
        return self.planned.id

    @property
    def backend(self) -> str:
        """The plan's backend."""
        return self.planned.backend

    @property
    def control(self) -> bool:
        """Never."""
        return False
