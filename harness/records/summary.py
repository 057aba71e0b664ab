"""The summary of a run: `CALIFICACION.json` one folder above its cells."""

from typing import Annotated, Literal

from pydantic import Field

from harness.records.base import Record
from harness.records.score import Stamps


class CellSummary(Record):
    """One line of a run: points, or the cause why there are none. None is not zero."""

    task: str
    points: float | None
    cause: str | None = None
    flags: tuple[str, ...] = ()


class RunSummary(Record):
    """One model's run. total is None as long as one cell has no score."""

    schema_version: Literal[1] = 1
    kind: Literal["run_summary"] = "run_summary"
    model: str
    run: Annotated[int, Field(ge=1)]
    total: float | None
    max_points: float | None
    repairs: int
    cells: tuple[CellSummary, ...]
    stamps: Stamps
