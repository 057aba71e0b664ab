"""What a row function returns, and how a function says which row it grades."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from harness.grading.deliverable import Deliverable
from harness.records.score import Observation, RowFlag

RowFunction = Callable[[Deliverable], "Verdict"]
ROW_ATTRIBUTE = "arnes_row"
WEIGHT_TOLERANCE = 1e-9  # weights are written with two or three decimals; only float noise passes
KNOWN_FLAGS = TypeAdapter(tuple[RowFlag, ...])


@dataclass(frozen=True)
class Verdict:
    """How much of a row holds, and a reason that a stranger can check.

    fraction : gate × Σ weight × credit, in [0, 1]
    gate : a number in [0, 1] that scales the row, with its own reason
    flags : what else was noticed, of the closed list `RowFlag`; it never changes points
    """

    fraction: float
    reason: str
    observations: tuple[Observation, ...]
    gate: float = 1.0
    gate_reason: str = ""
    flags: tuple[RowFlag, ...] = ()

    def gated(self, gate: float, because: str) -> "Verdict":
        """Return this verdict scaled by a gate, which stays visible beside it."""
        if not 0 <= gate <= 1:
            raise ValueError(f"a gate lies in [0, 1], not {gate}")
        ungated = self.fraction / self.gate if self.gate else 0.0
        return replace(self, fraction=ungated * gate, gate=gate, gate_reason=because)

    def flagged(self, *flags: str) -> "Verdict":
        """Return this verdict with flags beside it, sorted and once each.

        Raises
        ------
        ValueError
            For a flag that is not in the list: a misspelt one would be shown and never found.
        """
        known = KNOWN_FLAGS.validate_python((*self.flags, *flags))
        return replace(self, flags=tuple(sorted(set(known))))


def row(row_id: str) -> Callable[[RowFunction], RowFunction]:
    """Mark a function as the one that grades this row of `task.toml`."""

    def mark(function: RowFunction) -> RowFunction:
        setattr(function, ROW_ATTRIBUTE, row_id)
        return function

    return mark


def passed(reason: str) -> Verdict:
    """The whole row holds; it has one observation."""
    return Verdict(1.0, reason, (Observation(key="row", credit=1, weight=1, reason=reason),))


def failed(reason: str) -> Verdict:
    """Nothing of the row holds; it has one observation."""
    return Verdict(0.0, reason, (Observation(key="row", credit=0, weight=1, reason=reason),))


def observed(key: str, credit: float, weight: float, reason: str) -> Observation:
    """Return one sub-observation: how much of it holds, what it weighs in its row, and why."""
    # A truth value is all or nothing here; in a record it is no number.
    return Observation(key=key, credit=float(credit), weight=weight, reason=reason)


def partial(held: int, *, of: int, because: str) -> Verdict:
    """`held` of `of` equal things hold. The row has one observation, a share."""
    if not 0 <= held <= of or of == 0:
        raise ValueError(f"{held} of {of} is no share")
    reason = f"{held} of {of}: {because}"
    credit = held / of
    return Verdict(
        credit, reason, (Observation(key="row", credit=credit, weight=1, reason=reason),)
    )


def weighted(observations: Iterable[Observation], because: str = "") -> Verdict:
    """Return the verdict over sub-observations whose weights sum to 1.

    Raises
    ------
    ValueError
        If the weights do not sum to 1: a row that cannot reach its points is our mistake.
    """
    found = tuple(observations)
    weights = math.fsum(o.weight for o in found)
    if abs(weights - 1) > WEIGHT_TOLERANCE:
        raise ValueError(f"weights of {[o.key for o in found]} sum to {weights}, not to 1")
    fraction = min(1.0, math.fsum(o.weight * o.credit for o in found))
    full = sum(o.credit == 1 for o in found)
    reason = because or f"{full} of {len(found)} observations hold"
    lost = "; ".join(f"{o.key}: {o.reason}" for o in found if o.credit < 1 and o.reason)
    return Verdict(fraction, f"{reason}. {lost}" if lost else reason, found)
