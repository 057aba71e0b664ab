"""The one part of a world that really runs something: tests of a model's files, in the sandbox.

The process inside gets the inputs of calls and returns values. What they must be stays outside,
where they are compared and the report is written; so neither a report nor a file of the world
shows an expected value. The outcome is feedback for the model, never a score.
"""

import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, Self, assert_never

from harness.arnes import SandboxLimits
from harness.records.base import Json
from harness.sandbox import Candidate, Observation, Tier, Worker, execution_key, open_worker
from harness.sandbox.inside import codec
from harness.world.scene import Case

RUN_WALL_S = 20.0
TEST_WALL_S = 5.0  # so that one endless loop leaves the others their time
MEMORY_MIB = 256
LONGEST_GOT = 60  # characters of a value that a report shows
CLASS_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
Status = Literal["ok", "FAIL", "ERROR", "TIMEOUT"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test. detail : the value, or the exception; never what was expected."""

    name: str
    status: Status
    detail: str = ""

    @property
    def line(self) -> str:
        """The test's line of a report."""
        detail = {"FAIL": f": got {self.detail}", "ERROR": f": {self.detail}"}
        return f"{self.name} ... {self.status}{detail.get(self.status, '')}"


@dataclass(frozen=True)
class Report:
    """The outcomes of a run, in the order of the tests."""

    outcomes: tuple[Outcome, ...]

    @property
    def failing(self) -> int:
        """How many tests do not hold."""
        return sum(outcome.status != "ok" for outcome in self.outcomes)

    @property
    def text(self) -> str:
        """The report as it is shown."""
        lines = [outcome.line for outcome in self.outcomes]
        return "\n".join([*lines, f"{len(self.outcomes)} tests, {self.failing} failing"])


class Runner(Protocol):
    """What a world asks of whoever runs its tests."""

    def run(self, files: Mapping[str, str], cases: tuple[Case, ...], hash_seed: int = 0) -> Report:
        """Run tests on a copy of the files."""
        ...


class SuiteRunner:
    """Runs tests in the sandbox, and remembers what came of them. A context manager.

    Parameters
    ----------
    tier : the walls
    limits : of the sandbox; time and memory are those of the tool where these are higher
    remembered : key → statuses and details, from an earlier run
    test_wall_s, run_wall_s : of one test, and of one call of `run_tests`
    """

    def __init__(
        self,
        tier: Tier,
        limits: SandboxLimits,
        remembered: Mapping[str, Json] | None = None,
        *,
        test_wall_s: float = TEST_WALL_S,
        run_wall_s: float = RUN_WALL_S,
    ) -> None:
        self._tier = tier
        self._run_wall_s = run_wall_s
        self._limits = limits.model_copy(
            update={
                "memory_mib": min(limits.memory_mib, MEMORY_MIB),
                "wall_s": min(limits.wall_s, test_wall_s),
                "cpu_s": min(limits.cpu_s, test_wall_s),
            }
        )
        self._before = dict(remembered or {})
        self._used: dict[str, Json] = {}
        self._exit = ExitStack()
        self._worker: Worker | None = None

    @property
    def remembered(self) -> dict[str, Json]:
        """Every outcome that was asked for: what is worth keeping."""
        return dict(self._used)

    def run(self, files: Mapping[str, str], cases: tuple[Case, ...], hash_seed: int = 0) -> Report:
        """Run tests on a copy of the files, or recall what came of the same tests and files.

        Raises
        ------
        InstrumentError
            If the sandbox does not come up.
        """
        candidate = Candidate(files=dict(files), hash_seed=hash_seed, limits=self._limits)
        asked: list[Json] = [_asked(case) for case in cases]
        key = execution_key(candidate, self._tier, ["run_tests", self._run_wall_s, asked])
        known = self._used.get(key, self._before.get(key))
        report = _recalled(known, cases)
        if report is None:
            report = self._measure(candidate, cases)
        self._used[key] = [[outcome.status, outcome.detail] for outcome in report.outcomes]
        return report

    def _measure(self, candidate: Candidate, cases: tuple[Case, ...]) -> Report:
        worker = self._worker_of(candidate)
        left = self._run_wall_s
        outcomes: list[Outcome] = []
        for case in cases:
            if left <= 0:
                outcomes.append(Outcome(case.name, "TIMEOUT"))
                continue
            limits = self._limits.model_copy(update={"wall_s": min(self._limits.wall_s, left)})
            seen = worker.call(case.entry, case.args, limits=limits)
            left -= seen.usage.wall_s if seen.usage else 0
            outcomes.append(judged(case, seen))
        return Report(tuple(outcomes))

    def _worker_of(self, candidate: Candidate) -> Worker:
        """Return a warm worker; the one of other files is ended."""
        if self._worker is None or self._worker.candidate != candidate:
            self._worker = None
            self._exit.close()
            self._worker = self._exit.enter_context(open_worker(candidate, self._tier))
        return self._worker

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the sandbox."""
        self._worker = None
        self._exit.close()


def _asked(case: Case) -> list[Json]:
    """Return everything that a test's outcome depends on, beside the files."""
    args, expected = codec.encode(list(case.args)), codec.encode(case.expected)
    return [case.name, case.entry, args, expected, case.raises]


def judged(case: Case, seen: Observation) -> Outcome:
    """Compare what was observed with what must be."""
    status: Status
    match seen.outcome:
        case "value":
            holds = not case.raises and same(seen.value, case.expected)
            status, detail = "FAIL", shortened(repr(seen.value))
        case "exception":
            holds = bool(case.raises) and seen.raised(case.raises)
            status, detail = "ERROR", _exception_name(seen.error)
        case "refused":
            holds, status, detail = False, "FAIL", "a value of another type"
        case "timeout" | "not_run":
            holds, status, detail = False, "TIMEOUT", ""
        case "died":
            holds, status, detail = False, "ERROR", "the process ended without an answer"
        case _:
            assert_never(seen.outcome)
    return Outcome(case.name, "ok") if holds else Outcome(case.name, status, detail)


def same(value: Any, expected: Any) -> bool:
    """Say whether two values are equal and of the same types throughout: 1 is not True or 1.0."""
    if type(value) is not type(expected):
        return False
    if isinstance(value, list | tuple):
        return len(value) == len(expected) and all(map(same, value, expected))
    if isinstance(value, dict):
        keys = {(type(key), key) for key in value} == {(type(key), key) for key in expected}
        return keys and all(same(value[key], expected[key]) for key in value)
    return bool(value == expected)


def shortened(text: str) -> str:
    """Return a text that is not too long for a line of a report."""
    return text if len(text) <= LONGEST_GOT else text[: LONGEST_GOT - 1] + "…"


def _exception_name(error: str) -> str:
    """Return the class's own name; what cannot be one was made up to look like something else."""
    name = error.rpartition(".")[2]
    return name if CLASS_NAME.fullmatch(name) else "Exception"


def _recalled(known: Json, cases: tuple[Case, ...]) -> Report | None:
    """Return a remembered report; None if what is remembered is none of these tests."""
    if not isinstance(known, list) or len(known) != len(cases):
        return None
    outcomes = []
    for case, pair in zip(cases, known, strict=True):
        match pair:
            case [("ok" | "FAIL" | "ERROR" | "TIMEOUT") as status, str(detail)]:
                outcomes.append(Outcome(case.name, status, detail))
            case _:
                return None
    return Report(tuple(outcomes))
