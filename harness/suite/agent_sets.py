"""What is played against an agent task: players, instead of single replies.

A player is a generator: it yields a reply, and is sent the harness's answer to it. It may react
to what it is shown, as a model would, but it draws on nothing else. Its written turns are then
replayed by the scripted server through the real loop, once per fault schedule.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from harness.suite.forms import Reply

Turns = Generator[str | Reply, str, None]
Player = Callable[[int], Turns]
"""Run number, from 1 → its replies. When the generator ends, the empty reply is sent."""


@dataclass(frozen=True)
class AgentGolden:
    """A player that must reach the maximum under every schedule."""

    name: str
    play: Player


@dataclass(frozen=True)
class AgentDefective:
    """A player with a known score: `rows[run - 1]` holds the points of every row above zero."""

    name: str
    play: Player
    rows: tuple[dict[str, float], ...]
    shows: str = ""


@dataclass(frozen=True)
class AgentExploit:
    """An attempt to score without the work: it stays at or under its ceiling in every run."""

    name: str
    play: Player
    ceiling: float
    trick: str


@dataclass(frozen=True)
class AgentSets:
    """Everything that is played against one form of an agent task."""

    golden: tuple[AgentGolden, ...]
    defective: tuple[AgentDefective, ...]
    exploits: tuple[AgentExploit, ...]
