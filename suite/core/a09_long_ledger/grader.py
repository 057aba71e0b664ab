"""Grader of A09: 24 whole numbers, six in each row, each worth the same share of its row.

Reads the answer lines only. A wrong value that a known error leads to is named by that error.
"""

from harness.grading import Deliverable, Observation, Verdict, observed, row, weighted

SHARE = 1 / 6


@row("look_ups")
def look_ups(work: Deliverable) -> Verdict:
    """Quantity as written of the one MOVE between two holds on a day."""
    return six(work, "L")


@row("balances")
def balances(work: Deliverable) -> Verdict:
    """Final balance of holds that were never counted."""
    return six(work, "B")


@row("counts_and_rule")
def counts_and_rule(work: Deliverable) -> Verdict:
    """Final balance of holds with a COUNT and with IN lines on both sides of RULE 7."""
    return six(work, "C")


@row("voided_sums")
def voided_sums(work: Deliverable) -> Verdict:
    """Sacks moved out of holds by all MOVE lines that stand."""
    return six(work, "V")


def six(work: Deliverable, letter: str) -> Verdict:
    """Return the verdict over the six questions whose keys begin with a letter."""
    return weighted(judged(work, f"{letter}{number}") for number in range(1, 7))


def judged(work: Deliverable, key: str) -> Observation:
    """Compare one answer with the right one."""
    reading, right = work.whole_number(key), work.expected(key)
    if reading.value is None:
        given = work.given(key)
        wrote = "" if given is None else f", wrote {given[:40]!r}"
        return observed(key, 0, SHARE, f"{reading.problem}{wrote}, right is {right}")
    if reading.value == int(right):
        return observed(key, 1, SHARE, f"{right} is right")
    name = work.trap(key, reading.canonical)
    named = f" ({name})" if name else ""
    return observed(key, 0, SHARE, f"wrote {reading.value}, right is {right}{named}")
