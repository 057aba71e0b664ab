"""What `arnes validate` found; also `VALIDATION.json` of a campaign."""

from typing import Literal

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


Outcome = Literal["noticed", "raised", "hung", "died", "asked", "reasons", "nothing"]
"""What becomes of a mutant. The first four notice it: rows that are not the declared ones, an
exception, a loop without end, the end of the process. `asked`: for an observation that was never
made. `reasons`: only reasons changed."""

NOTICED: frozenset[Outcome] = frozenset({"noticed", "raised", "hung", "died"})


class Mutation(Record):
    """One mutant: where it stands, the line as it is written, and the change.

    function : qualified name, empty at the top of a module; a row's id in `task.toml`
    """

    file: str
    function: str
    line: int
    text: str
    operator: str
    change: str


class Survivor(Mutation):
    """A mutant that no member notices.

    outcome : it changed reasons but no points, or nothing at all
    reason : why it is equivalent, empty if nobody says so
    """

    outcome: Outcome
    reason: str = ""


class OperatorStrength(Record):
    """How many mutants one operator made that count, and how many of them are noticed."""

    operator: str
    mutants: int
    noticed: int


class TaskStrength(Record):
    """How well a task's sets notice a change of what grades it.

    made : mutants of every line that ran
    judged : of these, mutants that were tried: all, or a fixed sample of them
    wording : of these, texts that only stand in reasons
    asked : of these, mutants that ask for an observation that was never made
    equivalent : of these, survivors with a reason
    operators : the rest, which counts
    of : digest of what makes points from a reply of this task
    """

    id: str
    made: int
    judged: int
    wording: int
    asked: int
    equivalent: int
    operators: tuple[OperatorStrength, ...]
    survivors: tuple[Survivor, ...]
    of: str

    @property
    def mutants(self) -> int:
        """How many count."""
        return sum(o.mutants for o in self.operators)

    @property
    def noticed(self) -> int:
        """How many of them are noticed."""
        return sum(o.noticed for o in self.operators)

    @property
    def share(self) -> float:
        """Noticed share; 1 where nothing counts."""
        return self.noticed / self.mutants if self.mutants else 1.0


class Strength(Record):
    """What the deep validation found, and whether every task reaches the bar."""

    holds: bool
    bar: float
    problems: tuple[str, ...]
    tasks: tuple[TaskStrength, ...]


class Measured(Record):
    """What was found of one task, and of which grader; all as in `TaskStrength`."""

    id: str
    made: int
    judged: int
    wording: int
    asked: int
    equivalent: int
    mutants: int
    noticed: int
    share: float
    of: str


class MeasuredStrength(Record):
    """`suite/strength.json`: the last deep validation of every task."""

    schema_version: Literal[1] = 1
    tasks: tuple[Measured, ...]
