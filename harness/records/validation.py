"""What `arnes validate` found; also `VALIDATION.json` of a campaign."""

from harness.records.base import Record


class GoldenResult(Record):
    """A golden and what it scored; it must be the maximum."""

    name: str
    scored: float


class DefectiveResult(Record):
    """A defective, what it is declared to score, and what it scored."""

    name: str
    expected: float
    scored: float


class ExploitResult(Record):
    """An exploit, its ceiling, and what it scored."""

    name: str
    ceiling: float
    scored: float


class TaskValidation(Record):
    """One line of the table. rows and observations are counts, max and empty are points."""

    id: str
    level: str
    max: float
    rows: int
    observations: int
    empty: float
    golden: tuple[GoldenResult, ...]
    defective: tuple[DefectiveResult, ...]
    exploits: tuple[ExploitResult, ...]


class Validation(Record):
    """The whole table, and whether the instrument holds."""

    holds: bool
    problems: tuple[str, ...]
    tasks: tuple[TaskValidation, ...]
