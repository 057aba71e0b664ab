"""What a grader sees of a cell: the parsed reply and the form it answers. Nothing else."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from harness.errors import GraderError
from harness.grading.bench import Bench, Seat
from harness.parsing import answers
from harness.records.base import Json
from harness.records.parsed import ParsedReply
from harness.records.score import Repair
from harness.records.world import AgentRecord
from harness.sandbox import FileFacts
from harness.suite.forms import Form

Measured = TypeVar("Measured")


class Deliverable:
    """The deliverable of one cell.

    Text of files is read, never run, imported or parsed here; what must run goes to the bench.

    Parameters
    ----------
    parsed : what parsing made of the reply
    form : the form that was asked
    bench : where code may be run; None for a task that runs none
    repaired : the copy that is graded, where something was repaired
    repairs : what was done to the copy
    """

    def __init__(
        self,
        parsed: ParsedReply,
        form: Form,
        bench: Bench | None = None,
        repaired: Mapping[str, str] | None = None,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        self._parsed = parsed
        self._form = form
        self._bench = bench
        self._repaired = repaired
        self.repairs = repairs
        self._measured: dict[Callable[..., Any], Any] = {}

    @property
    def values(self) -> Mapping[str, Json]:
        """What the prompt was rendered from."""
        return self._form.values

    @property
    def files(self) -> Mapping[str, str]:
        """Asked path → text, of the copy that is graded: repaired, if anything had to be."""
        return self._parsed.files if self._repaired is None else self._repaired

    @property
    def delivered(self) -> Mapping[str, str]:
        """Asked path → text, as it came. Hygiene rows judge these."""
        return self._parsed.files

    @property
    def cell(self) -> AgentRecord:
        """Journal and worlds of an agent cell.

        Raises
        ------
        GraderError
            If the task is a single one.
        """
        if self._parsed.cell is None:
            raise GraderError("this is no agent task, so it has no journal")
        return self._parsed.cell

    @property
    def bench(self) -> Bench:
        """Where code is run.

        Raises
        ------
        GraderError
            If the task declares no row that executes: then none is opened.
        """
        if self._bench is None:
            raise GraderError("this task declares no row that executes, so it has no bench")
        return self._bench

    @property
    def seat(self) -> Seat:
        """The graded copy on the bench."""
        return self.bench.seat(self.files)

    def facts(self, path: str) -> FileFacts | None:
        """Return the static facts of a delivered file, or None if it was not delivered."""
        if path not in self.delivered:
            return None
        return self.bench.facts({path: self.delivered[path]})[path]

    @property
    def flags(self) -> tuple[str, ...]:
        """Integrity marks of the parser; they never change points by themselves."""
        return self._parsed.flags

    def given(self, key: str) -> str | None:
        """Return the value the model wrote for a key, as it stands there, or None."""
        return self._parsed.answers.get(key)

    def expected(self, key: str) -> str:
        """Return the right answer of a key, in canonical text."""
        return self._form.answers[key]

    def trap(self, key: str, canonical: str) -> str | None:
        """Return the name of the error that leads to this answer, if it is a known one."""
        for name, answer in self._form.traps.get(key, {}).items():
            if answer == canonical:
                return name
        return None

    def whole_number(self, key: str) -> answers.Reading[int]:
        """Read the answer of a key as INT."""
        return answers.read_whole_number(self.given(key))

    def numbers(self, key: str) -> answers.Reading[tuple[int, ...]]:
        """Read the answer of a key as TUPLE."""
        return answers.read_numbers(self.given(key))

    def word(self, key: str) -> answers.Reading[str]:
        """Read the answer of a key as WORD: upper-case letters."""
        return answers.read_word(self.given(key))

    def letters(self, key: str) -> answers.Reading[frozenset[str]]:
        """Read the answer of a key as SET."""
        return answers.read_letters(self.given(key))


def per_deliverable(
    measure: Callable[[Deliverable], Measured],
) -> Callable[[Deliverable], Measured]:
    """Measure once per deliverable, for the rows that share the result."""

    def once(work: Deliverable) -> Measured:
        if measure not in work._measured:  # noqa: SLF001 (the cache belongs to this pair)
            work._measured[measure] = measure(work)  # noqa: SLF001
        result: Measured = work._measured[measure]  # noqa: SLF001
        return result

    return once
