"""Grader of A05: one row per rule, then rows for three and for six rules at once.

Executes the deliverable: no. Reads: the answer lines of the reply. A program counts or does not:
its whole number is right or it is not. The weights of a row's levels are those of the task
family: .20 .35 .45 for three levels, .15 .25 .30 .30 for four.
"""

from harness.grading import Deliverable, Observation, Verdict, observed, row, weighted

THREE_LEVELS = (0.20, 0.35, 0.45)
FOUR_LEVELS = (0.15, 0.25, 0.30, 0.30)


@row("inclusive")
def inclusive(work: Deliverable) -> Verdict:
    return _programs(work, 1, THREE_LEVELS)


@row("round_up")
def round_up(work: Deliverable) -> Verdict:
    return _programs(work, 2, THREE_LEVELS)


@row("one_based")
def one_based(work: Deliverable) -> Verdict:
    return _programs(work, 3, THREE_LEVELS)


@row("copies")
def copies(work: Deliverable) -> Verdict:
    return _programs(work, 4, THREE_LEVELS)


@row("tight_plus")
def tight_plus(work: Deliverable) -> Verdict:
    return _programs(work, 5, THREE_LEVELS)


@row("late_writes")
def late_writes(work: Deliverable) -> Verdict:
    return _programs(work, 6, FOUR_LEVELS)


@row("three_rules")
def three_rules(work: Deliverable) -> Verdict:
    return _programs(work, 7, FOUR_LEVELS)


@row("six_rules")
def six_rules(work: Deliverable) -> Verdict:
    return _programs(work, 8, FOUR_LEVELS)


def _programs(work: Deliverable, number: int, weights: tuple[float, ...]) -> Verdict:
    """Compare the answers of one row's programs, key P<row>.<level>."""
    return weighted(
        _program(work, f"P{number}.{level}", weight) for level, weight in enumerate(weights, 1)
    )


def _program(work: Deliverable, key: str, weight: float) -> Observation:
    reading = work.whole_number(key)
    if reading.value is None:
        return observed(key, 0, weight, reading.problem)
    right = work.expected(key)
    if reading.value == int(right):
        return observed(key, 1, weight, f"{right} is right")
    trap = work.trap(key, reading.canonical)
    because = f" ({trap})" if trap else ""
    return observed(key, 0, weight, f"wrote {reading.canonical}, right is {right}{because}")
