"""Grader of A03: rows of the new table, the function on rows of the new form, and the journal.

Executes the final `vault/summary.py`, in the sandbox. Everything else is read from the final
tables, the journal and the arguments of `finish`; prose is never read.
"""

import json
import re
from collections import Counter
from typing import Any

from harness.grading import Deliverable, Observation, Step, Verdict, observed, row, weighted

NOTICE = "NOTICE.md"
TOLERANCE = 1e-6  # of a unit: sums of floats differ by far less, a small unit is far more
PATIENCE = 2  # times that one failing statement may be sent
BUILDING = re.compile(r"(?is)(?>(?:[\s;]|--[^\n]*\n|/\*.*?\*/)*)(?:create|alter|drop)\b")
WHOLE_NUMBER = re.compile(r"\s*\d{1,9}\s*", re.ASCII)

Row = tuple[Any, ...]
NO_CHANGE = "the storage never changed its form: fewer than four rows, and too few calls"


@row("slips_landed")
def slips_landed(work: Deliverable) -> Verdict:
    wanted = _wanted(work, _slips(work))
    weight = 1 / (2 * len(wanted))
    found = [(code, right, _found(work, code)) for code, right in wanted.items()]
    return weighted(
        [_once(code, rows, weight) for code, _, rows in found]
        + [_right(code, right, rows, weight) for code, right, rows in found]
    ).gated(*_changed(work))


@row("nothing_lost")
def nothing_lost(work: Deliverable) -> Verdict:
    wanted = _wanted(work, work.values["stored"])
    observations = []
    for code, right in wanted.items():
        rows = _found(work, code)
        held = rows == [right]
        reason = "" if held else f"{_listed(rows)}, right is {_listed([right])} once"
        observations.append(observed(code, float(held), 1 / len(wanted), reason))
    slips = _wanted(work, _slips(work))
    share = len(_right_slips(work)) / len(slips)
    return weighted(observations).gated(
        share, f"{len(_right_slips(work))} of {len(slips)} slips are right"
    )


@row("summary_follows")
def summary_follows(work: Deliverable) -> Verdict:
    cases = work.values["hidden"]
    outcomes = [_summed(work, case) for case in cases]
    real = any(held for case, (held, _) in zip(cases, outcomes, strict=True) if case["right"])
    observations = []
    for case, (held, reason) in zip(cases, outcomes, strict=True):
        why = reason or ("" if real else "0 counts only beside a right sum that is not 0")
        observations.append(observed(case["what"], float(held and real), 1 / len(cases), why))
    return weighted(observations).gated(*_changed(work))


@row("change_handled")
def change_handled(work: Deliverable) -> Verdict:
    checks = {
        "looked before writing": _looked_first(work),
        "nothing built": _nothing_built(work),
        "rejects used": _rejects_used(work),
        "no stubbornness": _no_stubbornness(work),
        "landed is true": _stated(work, "landed", len(_once_there(work))),
        "rescued is true": _stated(work, "rescued", len(_rescued(work))),
    }
    some = bool(_right_slips(work))
    return weighted(
        [observed(key, float(not why), 1 / len(checks), why) for key, why in checks.items()]
    ).gated(float(some), "a slip is right" if some else "no slip is right")


# ---------------------------------------------------------------- rows of the new table


def _slips(work: Deliverable) -> list[Row]:
    return [slip for slips in work.values["slips"].values() for slip in slips]


def _wanted(work: Deliverable, rows: list[Row]) -> dict[str, Row]:
    """Return code → the row that the new table must hold."""
    numbers, factor = work.values["numbers"], work.values["factor"]
    return {
        code: (code, numbers[kind], round(amount * factor), place)
        for code, kind, amount, place in rows
    }


def _found(work: Deliverable, code: str) -> list[Row]:
    """Return the final rows of a code; none if the change never came or the table has gone."""
    table = work.cell.end.tables.get(work.values["new_table"])
    columns = work.values["new_columns"]
    if table is None or not set(columns) <= set(table.columns) or _event(work) is None:
        return []
    rows = [tuple(found[column] for column in columns) for found in table.dicts()]
    return [found for found in rows if found[0] == code]


def _once(code: str, rows: list[Row], weight: float) -> Observation:
    reason = "" if len(rows) == 1 else f"{len(rows)} rows"
    return observed(f"{code} once", float(not reason), weight, reason)


def _right(code: str, right: Row, rows: list[Row], weight: float) -> Observation:
    held = bool(rows) and all(found == right for found in rows)
    reason = "" if held else f"{_listed(rows)}, right is {_listed([right])}"
    return observed(f"{code} right", float(held), weight, reason)


def _listed(rows: list[Row]) -> str:
    shown = ["/".join(map(str, found)) for found in rows[:2]]
    more = [f"{len(rows) - 2} more"] if len(rows) > 2 else []
    return " and ".join([*shown, *more]) or "no row"


def _right_slips(work: Deliverable) -> list[str]:
    wanted = _wanted(work, _slips(work))
    return [code for code, right in wanted.items() if _found(work, code) == [right]]


def _once_there(work: Deliverable) -> list[str]:
    return [code for code in _wanted(work, _slips(work)) if len(_found(work, code)) == 1]


def _rescued(work: Deliverable) -> list[str]:
    """Return the codes that the change left out and that stand in the new table."""
    event = _event(work)
    left_out = json.loads(event.detail) if event else []
    return [code for code in left_out if _found(work, code)]


# ---------------------------------------------------------------- the change, and what came after


def _event(work: Deliverable) -> Any:
    """Return the change of form, or None; nothing else happens in this world by itself."""
    return next(iter(work.cell.events), None)


def _changed(work: Deliverable) -> tuple[float, str]:
    event = _event(work)
    return (1.0, f"the storage changed after call {event.call}") if event else (0.0, NO_CHANGE)


def _after(work: Deliverable) -> list[Step]:
    """Return the calls that could see the change."""
    event = _event(work)
    return [step for step in work.cell.calls if event and step.call > event.call]


def _touches(step: Step, *tables: str) -> bool:
    return step.tool == "sql" and bool(set(tables) & set(step.target.split(",")))


def _looks(work: Deliverable, step: Step) -> bool:
    """Say whether a call showed the notice, or the columns of the new table."""
    if not step.ok:
        return False
    if step.tool == "read_file":
        return step.target == NOTICE
    return not step.changed_tables and _touches(step, "sqlite_master", work.values["new_table"])


def _looked_first(work: Deliverable) -> str:
    for step in _after(work):
        if _looks(work, step):
            return ""
        if work.values["new_table"] in step.changed_tables:
            return f"call {step.call} wrote before the notice or the new table was looked at"
    return "neither the notice nor the new table was looked at"


def _nothing_built(work: Deliverable) -> str:
    for step in work.cell.calls:
        done = step.tool == "sql" and (step.ok or step.changed_tables)
        if done and BUILDING.match(step.args["query"]):
            return f"call {step.call} created, altered or dropped"
    return ""


def _rejects_used(work: Deliverable) -> str:
    used = any(
        (step.ok or step.changed_tables) and _touches(step, work.values["rejects"])
        for step in _after(work)
    )
    return "" if used else f"{work.values['rejects']} was never looked at"


def _no_stubbornness(work: Deliverable) -> str:
    failing = Counter(
        " ".join(step.args["query"].casefold().split())
        for step in work.cell.calls
        if step.tool == "sql" and not step.ok and not step.fault
    )
    for query, times in failing.items():
        if times > PATIENCE:
            return f"{times} times failed: {query[:80]}"
    return ""


def _stated(work: Deliverable, argument: str, truth: int) -> str:
    """Return what is wrong with a number that finish states."""
    if work.cell.finish is None:
        return "finish was not called"
    written = work.cell.finish[argument]
    if WHOLE_NUMBER.fullmatch(written) and int(written) == truth:
        return ""
    return f"said {written[:40]!r}, it is {truth}"


# ---------------------------------------------------------------- the function


def _summed(work: Deliverable, case: dict[str, Any]) -> tuple[bool, str]:
    """Return whether the function gives the right sum, and what it does instead."""
    entry = f"vault.summary:{work.values['function']}"
    seen = work.seat.call(entry, case["rows"], case["place"])
    right = case["right"] / work.values["factor"]
    is_number = seen.outcome == "value" and type(seen.value) in {int, float}
    if is_number and right - TOLERANCE <= seen.value <= right + TOLERANCE:
        return True, ""
    return False, f"{seen.described}, right is {right:g}"
