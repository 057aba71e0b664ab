"""The two usual hygiene conditions, for graders that have no other. They judge what came."""

from collections.abc import Sequence

from harness.grading.deliverable import Deliverable
from harness.grading.verdict import Verdict, failed, passed


def files_present(work: Deliverable, asked: Sequence[str]) -> Verdict:
    """Every asked file was delivered."""
    missing = [path for path in asked if path not in work.delivered]
    if missing:
        return failed(f"not delivered: {', '.join(missing)}")
    return passed("every asked file was delivered")


def loads_clean(work: Deliverable, asked: Sequence[str]) -> Verdict:
    """Every asked Python file compiles, and nothing had to be repaired."""
    for path in asked:
        facts = work.facts(path)
        if facts is None:
            return failed(f"not delivered: {path}")
        if not facts.compiles:
            where = f", line {facts.error_line}" if facts.error_line else ""
            return failed(f"{path} does not compile{where}: {facts.error}")
    if work.repairs:
        done = "; ".join(f"{r.file}: {r.detail}" for r in work.repairs)
        return failed(f"had to be repaired: {done}")
    return passed("compiles, and needed no repair")
