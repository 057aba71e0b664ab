"""Mutants that no reply could tell from the original, listed by hand with the reason why.

`equivalent.toml` in a task's folder is for its own lines, `suite/equivalent.toml` for lines that
several tasks run. An entry names file, function, operator and the line as it is written, so that
it still holds when lines are added above; `change` makes it as narrow as one mutant.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.errors import SuiteError
from harness.records.base import Record
from harness.records.handwritten import read_toml
from harness.records.validation import Mutation

FILE = "equivalent.toml"


class Equivalent(Record):
    """One entry. Without `changes` it covers every survivor of its operators on its line."""

    file: str
    function: str = ""
    line: str
    operators: Annotated[tuple[str, ...], Field(min_length=1)]
    changes: tuple[str, ...] = ()
    reason: Annotated[str, Field(min_length=10)]

    def covers(self, mutant: Mutation) -> bool:
        """Say whether a mutant is one that is meant."""
        return (
            (self.file, self.function, self.line) == (mutant.file, mutant.function, mutant.text)
            and mutant.operator in self.operators
            and (not self.changes or mutant.change in self.changes)
        )

    def untrue(self, survivors: Iterable[Mutation]) -> list[str]:
        """Return the operators and changes of which no survivor is covered."""
        covered = [mutant for mutant in survivors if self.covers(mutant)]
        found = {text for mutant in covered for text in (mutant.operator, mutant.change)}
        return [text for text in (*self.operators, *self.changes) if text not in found]


class Equivalents(Record):
    """The whole file."""

    schema_version: Annotated[int, Field(ge=1, le=1)]
    equivalent: tuple[Equivalent, ...] = ()


def read_equivalents(folder: Path) -> tuple[Equivalent, ...]:
    """Read a folder's list, if it has one.

    Raises
    ------
    SuiteError
        If it cannot be read.
    """
    path = folder / FILE
    if not path.is_file():
        return ()
    return read_toml(path, Equivalents, SuiteError).equivalent
