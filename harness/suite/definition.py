"""`task.toml` as a model: identity, points, rows, limits."""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.records.base import Record
from harness.records.tools import FINISH, RUN_TESTS, TOOL_NAMES

Level = Literal["A", "B", "C", "M"]
Mode = Literal["single", "agent"]

LEVEL_FOLDERS: dict[Level, str] = {
    "A": "core",
    "B": "calibration",
    "C": "split_date",
    "M": "multimodal",
}


class RowDefinition(Record):
    """One row: what it asks, what it is worth, how many sub-observations it has.

    kind : `hygiene` rows judge the deliverable as it came; all others judge the repaired copy.
    """

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    kind: Literal["hygiene", "answers", "text", "executes", "state"]
    points: Annotated[float, Field(gt=0)]
    observations: Annotated[int, Field(gt=0)]
    asks: str


class Limits(Record):
    """Run-side limits of a task. max_tokens may lower what arnes.toml allows, never raise it."""

    prompt_tokens: Annotated[int, Field(gt=0)]
    max_tokens: Annotated[int, Field(gt=0)] | None = None


class TaskDefinition(Record):
    """`task.toml`.

    deliverables : paths of the files that are asked for; empty for tasks of answer lines
    tools : what an agent task offers, in the order in which it is told
    finish : arguments that this task's `finish` needs beside `summary`
    """

    schema_version: Literal[1]
    id: Annotated[str, Field(pattern=r"^[ABCM]\d{2}$")]
    title: str
    level: Level
    mode: Mode
    max_points: Annotated[float, Field(gt=0)]
    deliverables: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    finish: tuple[str, ...] = ()
    measures: str
    does_not_measure: str
    limits: Limits
    rows: Annotated[tuple[RowDefinition, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _sums(self) -> "TaskDefinition":
        ids = [row.id for row in self.rows]
        if len(set(ids)) != len(ids):
            raise ValueError(f"row ids repeat: {', '.join(ids)}")
        total = math.fsum(row.points for row in self.rows)
        if not math.isclose(total, self.max_points, abs_tol=1e-9):
            raise ValueError(
                f"rows add up to {total:g} points, max_points says {self.max_points:g}"
            )
        return self

    @model_validator(mode="after")
    def _tools_of_agents(self) -> "TaskDefinition":
        if self.mode == "single" and (self.tools or self.finish):
            raise ValueError("a single task has no tools and no finish")
        if self.mode == "agent":
            unknown = [name for name in self.tools if name not in TOOL_NAMES]
            if unknown:
                raise ValueError(f"tools that do not exist: {', '.join(unknown)}")
            if RUN_TESTS in self.tools and not self.executes:
                raise ValueError(f"{RUN_TESTS!r} runs code, so a row must be of kind 'executes'")
            if FINISH not in self.tools:
                raise ValueError(f"an agent task offers {FINISH!r}, or nothing could end it")
        return self

    @property
    def observations(self) -> int:
        """Sub-observations of all rows together."""
        return sum(row.observations for row in self.rows)

    @property
    def executes(self) -> bool:
        """True when a row runs what a model wrote: then it needs a sandbox."""
        return any(row.kind == "executes" for row in self.rows)

    def row(self, row_id: str) -> RowDefinition:
        """Return one row's definition; KeyError if there is none."""
        for row in self.rows:
            if row.id == row_id:
                return row
        raise KeyError(row_id)
