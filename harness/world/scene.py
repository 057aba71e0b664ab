"""What a world begins with, as a task's `world.py` describes it for a form and a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from harness.records.base import Json
from harness.records.world import Step, Table

if TYPE_CHECKING:
    from harness.world.world import World

SEARCH_HITS = 40


@dataclass(frozen=True)
class Case:
    """One test of a suite: a call, and what it must return. The world never shows `expected`.

    entry : ``package.module:function``, as the sandbox's worker calls it
    args : exact builtin values
    raises : name of the exception that must come instead of a value
    """

    name: str
    entry: str
    args: tuple[Json, ...]
    expected: Json = None
    raises: str = ""


@dataclass(frozen=True)
class Price:
    """The price of a call: a base, and one more for each started `step` of what is answered."""

    base: int
    step: int = 0
    of: Literal["characters", "rows"] = "characters"


@dataclass(frozen=True)
class Tariff:
    """Prices of a task with a budget. A refused call is free.

    prices : tool → price; a tool without one is free
    hard_stop : once the sum is at or above it, only the tools in `always` are run
    told : tool → its price in words, for the tool's line in the system text
    """

    prices: Mapping[str, Price]
    hard_stop: int
    always: tuple[str, ...] = ("write_file", "finish")
    told: Mapping[str, str] = field(default_factory=dict)


Trigger = Callable[["World", Step, Mapping[str, Table]], None]
"""(world after the call, the call's step, the tables as they were before the call)

Called after every executed call, once its answer is fixed: what it changes is seen by the next
call at the earliest."""


@dataclass(frozen=True)
class Scene:
    """The world of one form and run.

    files : path → text
    tables : SQL script that makes and fills the tables
    pages : ``host/path`` → body; a host that stands in no page does not exist
    read_only : path prefixes that cannot be written or deleted
    suites : suite → its tests, in the order of a report; the tests of `run_tests`
    tariff : for a task with a budget
    search_hits : lines that `search` shows at most
    stale_tables : script of the second database that `stale_db` asks
    variants : path → the text that `variant` shows instead
    wrong_values : test → the wrong value that `flip_report` shows for it
    triggers : what happens in the world by itself
    later : path → text of files that a trigger brings; for whoever checks the form
    """

    files: Mapping[str, str] = field(default_factory=dict)
    tables: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    read_only: tuple[str, ...] = ()
    suites: Mapping[str, tuple[Case, ...]] = field(default_factory=dict)
    tariff: Tariff | None = None
    search_hits: int = SEARCH_HITS
    stale_tables: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)
    wrong_values: Mapping[str, str] = field(default_factory=dict)
    triggers: tuple[Trigger, ...] = ()
    later: Mapping[str, str] = field(default_factory=dict)
