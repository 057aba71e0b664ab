"""What comes back from foreign code: observations with an outcome kind, never a verdict."""

from typing import Any, Literal

from harness.records.base import Json, Record
from harness.sandbox.inside import codec

OutcomeKind = Literal["value", "exception", "timeout", "died", "refused", "not_run"]
"""A value came; an exception was raised; a limit of time, data or reads ended it; the process ended
without a word; what came back is no value of exact builtin types; it was never asked."""

KilledBy = Literal[
    "",
    "wall",
    "cpu",
    "silence",
    "memory",
    "processes",
    "disk",
    "output",
    "accesses",
    "garbage",
]
"""Which limit ended a measure; empty when none did."""


class Usage(Record):
    """What a measure used, as the trusted processes counted it. Outside every digest.

    cpu_s : user and system time of all its processes, by wait4
    peak_mib : largest resident memory of its first process
    stray_processes : how many it left for others to end
    """

    wall_s: float
    cpu_s: float
    peak_mib: float
    stray_processes: int


class Evidence(Record):
    """What may be read by a person and never for a verdict. Both texts are cut.

    exit_status : of the measure's process; negative for a signal
    garbage : frames that were no answer to what was asked
    """

    stdout: str = ""
    stderr: str = ""
    exit_status: int | None = None
    garbage: int = 0


class Observation(Record):
    """The outcome of one call.

    encoded : the value in the form of `inside.codec`, which JSON can hold
    arguments : the arguments after the call, in the same form, when they were asked for
    error : class of the exception, with its module unless it is a builtin one
    error_bases : names of the builtin classes among its bases, itself included
    accesses : reads of each list that its owner holds, in the order of their appearance
    """

    index: int
    outcome: OutcomeKind
    encoded: Json = None
    arguments: Json = None
    error: str = ""
    error_bases: tuple[str, ...] = ()
    text: str = ""
    killed_by: KilledBy = ""
    accesses: tuple[int, ...] = ()
    usage: Usage | None = None
    evidence: Evidence = Evidence()

    @property
    def value(self) -> Any:
        """The value, of exact builtin types.

        Raises
        ------
        ValueError
            If the outcome is not a value: absence must not read as None.
        """
        if self.outcome != "value":
            raise ValueError(f"call {self.index} gave no value: {self.described}")
        return codec.decode(self.encoded)

    @property
    def described(self) -> str:
        """One line for a reason: what happened, with its cause."""
        if self.outcome == "value":
            return f"returned {self.value!r}"[:300]
        if self.outcome == "exception":
            return f"raised {self.error}: {self.text}"[:300]
        cause = f" ({self.killed_by})" if self.killed_by else ""
        return f"{self.outcome}{cause}{': ' + self.text if self.text else ''}"[:300]

    @property
    def lost(self) -> bool:
        """True when the sandbox itself went away during the call."""
        return self.usage is not None and self.evidence.exit_status is None

    def raised(self, name: str) -> bool:
        """True when a builtin exception of that class, or a subclass of it, was raised."""
        return self.outcome == "exception" and name in self.error_bases
