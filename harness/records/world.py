"""An agent cell as graders see it: what was done, step by step, and what the world was at the end.

Pure evidence: rows are judged from these records, never from prose.
"""

from typing import Annotated, Literal

from pydantic import Field

from harness.records.base import Record

EndedBy = Literal[
    "finish",  # a valid call of finish
    "idle",  # too many replies in a row without a call
    "turns",  # no reply was left
    "tokens",  # idle, and every reply of that row was cut by the generation cap
    "time",  # the whole-call limit cut a reply while tokens flowed
    "guard",  # a loop guard of arnes.toml ended it
]
"""How an agent cell ended. State is graded alike for all of them."""

FaultKind = Literal["timeout", "malformed", "deceptive"]
Derive = Literal["cut", "variant", "stale_db", "flip_report"]
CellValue = int | float | str | None


class Fault(Record):
    """One fault of a schedule (`faults.toml`).

    from_call : armed from this executed call on, counted over all tools from 1
    tool : the tool that it meets; `*` is every tool that observes
    derive : how the shown answer is made from the honest one; None for a timeout
    """

    from_call: Annotated[int, Field(ge=1)]
    tool: str
    kind: FaultKind
    derive: Derive | None = None


class FaultFate(Record):
    """What became of one scheduled fault: where it fired, or that it never did.

    call, turn : None when it never fired; target as in `Step`
    """

    fault: Fault
    call: int | None = None
    turn: int | None = None
    target: str = ""


class Step(Record):
    """One reply of the model and what came of it: one record of the journal.

    turn : number of the reply, from 1
    call : number of the executed call over all tools, from 1; None if nothing was run
    tool, args : as they were read; the body of a call is the argument `content`
    target : the thing that was touched: a normalised path, `host/path` of a page, the tables of a
        statement (sorted, joined by a comma), the suite of a test run (empty for all suites)
    ok : whether the tool answered with a result; None if nothing was run
    shown : the tool's answer as the model was shown it, before it was cut to the window
    honest : the tool's own answer where a fault replaced it
    fault : number of the fault in the schedule, from 1
    made, changed, deleted : paths that this call created, gave another content, or removed
    changed_tables : tables whose rows or columns this call changed
    price : what the call cost; None in a task without prices
    code : why a call was malformed
    flags : marks of the protocol; they never change points
    ignored : further calls in the reply, which were not run
    green : suites all of whose tests held in this (honest) test run
    """

    turn: int
    kind: Literal["call", "malformed", "idle"]
    call: int | None = None
    tool: str = ""
    args: dict[str, str] = Field(default_factory=dict)
    target: str = ""
    ok: bool | None = None
    shown: str = ""
    honest: str | None = None
    fault: int | None = None
    made: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    changed_tables: tuple[str, ...] = ()
    price: int | None = None
    code: str = ""
    flags: tuple[str, ...] = ()
    ignored: int = 0
    green: tuple[str, ...] = ()

    @property
    def answer(self) -> str:
        """What the tool itself answered, whatever was shown."""
        return self.shown if self.honest is None else self.honest


class Table(Record):
    """A table: its columns, and its rows in their canonical order (sorted)."""

    columns: tuple[str, ...]
    rows: tuple[tuple[CellValue, ...], ...]

    def dicts(self) -> tuple[dict[str, CellValue], ...]:
        """Return the rows by column name."""
        return tuple(dict(zip(self.columns, row, strict=True)) for row in self.rows)


class WorldState(Record):
    """Files (path → text) and tables (name → table) at one moment."""

    files: dict[str, str] = Field(default_factory=dict)
    tables: dict[str, Table] = Field(default_factory=dict)


class WorldEvent(Record):
    """Something that happened in the world by itself, after an executed call."""

    call: int
    name: str
    detail: str = ""


class Guards(Record):
    """How far loops went; measured in every cell, whether or not a guard ends one.

    identical_calls : the longest row of executed calls with the same tool and arguments
    rewrites : the most often that one file was written
    malformed_in_a_row : the longest row of malformed calls
    """

    identical_calls: int = 0
    rewrites: int = 0
    malformed_in_a_row: int = 0


class AgentRecord(Record):
    """An agent cell: its end, its journal, its world before and after.

    finish : the arguments of the call that ended the cell; None where none did
    faults : what became of every fault of the schedule, in its order
    events : what the world did by itself
    spent : sum of the prices; None in a task without prices
    longest_chars : the longest conversation that was sent, in characters
    guard : which guard ended the cell
    """

    run: int
    ended: EndedBy
    guard: str = ""
    finish: dict[str, str] | None = None
    steps: tuple[Step, ...] = ()
    start: WorldState
    end: WorldState
    faults: tuple[FaultFate, ...] = ()
    events: tuple[WorldEvent, ...] = ()
    spent: int | None = None
    longest_chars: int = 0
    guards: Guards = Guards()

    @property
    def calls(self) -> tuple[Step, ...]:
        """The executed calls, in order."""
        return tuple(step for step in self.steps if step.kind == "call")
