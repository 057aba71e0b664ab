"""Step 4: the grader's API. The only harness import that a `grader.py` may have.

A grader holds one function per row. It gets a `Deliverable` and returns a `Verdict`: a
fraction in [0, 1] with a reason and, where the row has several, its sub-observations. Points
never appear in a grader; they come from `task.toml`.
"""

from harness.grading.bench import Bench, Seat
from harness.grading.deliverable import Deliverable, per_deliverable
from harness.grading.hygiene_rows import files_present, loads_clean
from harness.grading.mutation import Matrix, MethodRules, Subject, kill_matrix, method_rules
from harness.grading.verdict import (
    Verdict,
    failed,
    observed,
    partial,
    passed,
    row,
    weighted,
)
from harness.parsing.answers import Reading
from harness.records.score import Observation
from harness.records.world import AgentRecord, FaultFate, Step, Table, WorldState
from harness.sandbox import FileFacts, Owned, SuiteRun
from harness.sandbox import Observation as Seen

__all__ = [
    "AgentRecord",
    "Bench",
    "Deliverable",
    "FaultFate",
    "FileFacts",
    "Matrix",
    "MethodRules",
    "Observation",
    "Owned",
    "Reading",
    "Seat",
    "Seen",
    "Step",
    "Subject",
    "SuiteRun",
    "Table",
    "Verdict",
    "WorldState",
    "failed",
    "files_present",
    "kill_matrix",
    "loads_clean",
    "method_rules",
    "observed",
    "partial",
    "passed",
    "per_deliverable",
    "row",
    "weighted",
]
