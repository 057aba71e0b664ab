"""Score sheets. A failure of the model is points with a reason; ours is no score at all.

The two are different types, so that nobody can average them by mistake.
"""

import math
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.records.base import Record
from harness.records.response import InfrastructureCause
from harness.records.world import EndedBy

POINT_DECIMALS = 6  # of a row's points, and of sums of them

ModelCause = Literal[
    "truncated",  # the generation cap, or reasoning that never closed
    "time",  # the whole-call limit while tokens flowed
    "empty",  # a reply without visible text
    "refused",  # a refusal instead of a deliverable
    "no_deliverable",  # text, but nothing that was asked for
]
"""Why a model's reply holds less than was asked; a metric beside the points, not instead."""

UnscoredCause = Literal["not_run", "no_sandbox", "not_applicable"] | InfrastructureCause
"""Why a cell has no score. Never a zero."""

RowFlag = Literal[
    "chance",  # a test names a source of chance, or passed and failed on modules of one behaviour
    "forged-frames",  # the code wrote to the sandbox's own channel what nobody asked for
    "introspection",  # it reaches for source text, callers or its own place, by `inspect` or such
    "load-tests",  # a test file says by a hook which tests there are; the hook was ignored
    "own-type",  # a result is of a class that the deliverable made; it was refused
    "told-apart",  # a counted list got another result than a plain one of the same items
    "unittest-changed",  # loading the test file replaced something of unittest's own
]
"""What a grader noticed beside the score. It never changes points: each may have a good reason."""

Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Points = Annotated[float, Field(ge=0, strict=True)]


class Observation(Record):
    """One sub-observation of a row: how much of it holds, and why.

    credit and weight are in [0, 1]; the weights of a row sum to 1.
    """

    key: str
    credit: Share
    weight: Share
    reason: str = ""


class RowScore(Record):
    """One row of a score sheet.

    points = max_points × fraction, fraction = gate × Σ weight × credit. The ungated value is
    recoverable, so a gate can be seen at work.
    """

    id: str
    points: Points
    max_points: Annotated[float, Field(gt=0, strict=True)]
    fraction: Share
    reason: str
    gate: Share = 1.0
    gate_reason: str = ""
    observations: tuple[Observation, ...] = ()
    flags: tuple[RowFlag, ...] = ()


class Repair(Record):
    """One repair of the closed list, made on a copy and charged once."""

    file: str
    kind: Literal["add_stdlib_import", "add_init_file"]
    detail: str


class CellKey(Record):
    """Which cell: model × run × task, and the form the task was asked in."""

    model: str
    run: Annotated[int, Field(ge=1)]
    task: str
    form_id: str


class Stamps(Record):
    """What a score was made with: a number that cannot say this is not a measurement."""

    arnes_version: str
    profile: str
    signature: str
    run_side: str
    score_side: str
    parts: dict[str, str]


class ScoreSheet(Record):
    """`CALIFICACION.json` of a scored cell. Holds verdicts and bands, no times and no ids.

    rows_as_is is None when nothing was repaired: then `rows` are the rows as they came.
    sandbox names the walls around what was run; empty where nothing was.
    ended says how an agent cell ended; None for a single one.
    flags are marks of the parser, of the protocol and of the rows; they never change points.
    """

    schema_version: Literal[1] = 1
    kind: Literal["scored"] = "scored"
    cell: CellKey
    points: Points
    max_points: Points
    points_as_is: Points
    rows: tuple[RowScore, ...]
    rows_as_is: tuple[RowScore, ...] | None = None
    repairs: tuple[Repair, ...] = ()
    flags: tuple[str, ...] = ()
    cause: ModelCause | None = None
    evidence: str
    sandbox: str = ""
    ended: EndedBy | None = None
    stamps: Stamps

    @model_validator(mode="after")
    def _sums(self) -> "ScoreSheet":
        total = round(math.fsum(row.points for row in self.rows), POINT_DECIMALS)
        if abs(total - self.points) > 10**-POINT_DECIMALS:
            raise ValueError(f"rows add up to {total}, points says {self.points}")
        rows = (*self.rows, *(self.rows_as_is or ()))
        pairs = [(row.points, row.max_points) for row in rows]
        for points, most in [*pairs, (self.points, self.max_points)]:
            if points > most + 10**-POINT_DECIMALS:  # points are rounded
                raise ValueError(f"{points} points of {most}")
        if (self.rows_as_is is None) != (not self.repairs):
            raise ValueError("rows_as_is is stored exactly when something was repaired")
        return self

    def row(self, row_id: str) -> RowScore:
        """Return one row by its id; KeyError names the rows there are."""
        for row in self.rows:
            if row.id == row_id:
                return row
        raise KeyError(f"{row_id}; rows: {', '.join(r.id for r in self.rows)}")


class Unscored(Record):
    """`CALIFICACION.json` of a cell without a score: the instrument's failure, explained."""

    schema_version: Literal[1] = 1
    kind: Literal["unscored"] = "unscored"
    cell: CellKey
    cause: UnscoredCause
    detail: str = ""
    stamps: Stamps


CellOutcome = Annotated[ScoreSheet | Unscored, Field(discriminator="kind")]


def points_of(max_points: float, fraction: float) -> float:
    """Return a row's points, rounded once and for all to `POINT_DECIMALS`."""
    return round(max_points * fraction, POINT_DECIMALS)


def total_of(rows: tuple[RowScore, ...]) -> float:
    """Return the sum of rows' points, free of accumulated rounding."""
    return round(math.fsum(row.points for row in rows), POINT_DECIMALS)
