"""Does a test file find changes in a module? A kill matrix that chance and cheating do not move.

The tests never hold the module: they call a stub, and which variant answers is chosen here. So
whatever they can react to *is* behaviour, and what is left is luck, waiting and copies:

- originals and equal copies are mixed blind among the mutants; a method that fails on any of them
  is not counted;
- a detection is one method that passes on the original and fails, by an exception of a declared
  list, on the mutant; a skip, a time-out, a dead process or a spent budget is none;
- each detection is confirmed by five more runs of the mutant and five of the original, mixed;
- a method that computes what it compares is not even run (`sandbox/inside/literals.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from harness.errors import GraderError, Problem
from harness.grading.bench import Bench, Seat
from harness.records.base import Json, Record, digest
from harness.records.score import RowFlag
from harness.sandbox import Observation as Seen
from harness.sandbox import SuiteRun
from harness.sandbox.launch import INSIDE

ORIGINALS = 3
CONFIRMATIONS = 5
EQUAL_AT_LEAST = 6
ORIGINAL = "original"
# Of the exceptions that end a method: these say that a value was another one.
DETECTING = frozenset(
    {
        "AssertionError",
        "ArithmeticError",
        "AttributeError",
        "LookupError",
        "TypeError",
        "ValueError",
    }
)
FAILING = ("failure", "error", "subtest_failed")
# Words of a broken rule that are a sign beside it; most broken rules are none.
CHANCE = frozenset({"random", "secrets"})
INTROSPECTION = frozenset(
    {
        *("inspect", "hashlib", "linecache", "gc"),
        *("__file__", "__spec__", "__cached__", "__loader__", "__code__"),
    }
)

Outcome = Literal["passed", "detected", "other"]


class MethodRules(Record):
    """What the syntax tree of a test file says; see `sandbox/inside/literals.py`.

    shared : why no method counts; empty if code outside the methods keeps the rules
    methods : ``Class.method`` → why it does not count, or nothing
    """

    compiles: bool
    uses_module: bool = False
    shared: str = ""
    methods: dict[str, str] = {}  # noqa: RUF012 (pydantic copies it)

    def against(self, test: str) -> str:
        """Return why a test, by the loader's identifier, does not count; or nothing."""
        owner, _, method = test.rpartition(".")
        known = f"{owner.rpartition('.')[2]}.{method}"
        if self.shared or known in self.methods:
            return self.shared or self.methods[known]
        # Made while the file loads: its code stands outside, or in a method of the same name.
        alike = (why for key, why in self.methods.items() if key.endswith(f".{method}"))
        return next((why for why in alike if why), "")


@dataclass(frozen=True)
class Subject:
    """A module of ours, and what is run in its place.

    module, functions : the name under which tests import it, and what it offers them
    mutants : name → text with one deliberate change
    equal : name → another text with the same behaviour
    probes : (function, arguments); each mutant shows on one of them, no equal copy on any
    budget, seconds : calls that one run may make, and how long it may compute
    """

    module: str
    functions: Sequence[str]
    original: str
    mutants: Mapping[str, str]
    equal: Mapping[str, str]
    probes: Sequence[tuple[str, Sequence[Json]]]
    budget: int
    seconds: float

    @property
    def texts(self) -> dict[str, str]:
        """Every variant's text by its name."""
        return {ORIGINAL: self.original, **self.mutants, **self.equal}


@dataclass(frozen=True)
class Matrix:
    """What was found.

    found : every test by the loader, in its order
    excluded : test → why it is not counted
    kills : mutant → tests that found it, confirmed; only mutants that were found
    note : what happened to the whole file, if anything did
    flags : what was noticed beside that, of the closed list `RowFlag`
    """

    found: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    kills: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    note: str = ""
    flags: frozenset[RowFlag] = frozenset()

    @property
    def valid(self) -> tuple[str, ...]:
        """The tests that count."""
        return tuple(test for test in self.found if test not in self.excluded)


def method_rules(bench: Bench, text: str, module: str, functions: Sequence[str]) -> MethodRules:
    """Return what a test file's syntax tree says; it is parsed behind the walls.

    Parameters
    ----------
    module, functions : what is tested, and what it offers

    Raises
    ------
    GraderError
        If our own reader fails.
    """
    payload: Json = {"text": text, "module": module, "functions": list(functions)}
    seen = bench.snippet(_inside("literals"), payload)
    if seen.outcome == "exception" and seen.error not in ("RecursionError", "MemoryError"):
        raise GraderError(f"the reader of test files failed: {seen.described}")
    if seen.outcome != "value":
        return MethodRules(compiles=False)
    return MethodRules.model_validate(seen.value)


def check_variants(bench: Bench, subject: Subject) -> None:
    """Hold that each mutant is one, and that each equal copy is equal.

    Raises
    ------
    GraderError
        With every variant that is not what it is called, and the probes that say so.
    """
    texts = subject.texts
    probes: Json = [[function, list(arguments)] for function, arguments in subject.probes]
    payload: Json = {"texts": dict(texts), "probes": probes}
    seen = bench.snippet(_inside("variants"), payload)
    if seen.outcome != "value":
        raise GraderError(f"the variants of {subject.module} could not be run: {seen.described}")
    problems = []
    known = seen.value[ORIGINAL]
    for name, text in texts.items():
        problem = _against(name, text, seen.value[name], known, subject)
        if problem:
            problems.append(Problem(f"{subject.module}: {name}", problem, "correct the form"))
    if len(subject.equal) < EQUAL_AT_LEAST:
        few = f"{len(subject.equal)} equal copies, {EQUAL_AT_LEAST} needed"
        problems.append(Problem(subject.module, few, "correct the form"))
    if problems:
        raise GraderError(f"{len(problems)} variant(s) are not what they are called", problems)


def kill_matrix(
    bench: Bench, tests: Seat, test_module: str, subject: Subject, rules: MethodRules
) -> Matrix:
    """Run a test file against every variant, blind, and confirm what it finds.

    Raises
    ------
    GraderError
        If a variant is not what it is called, or if nothing runs, not even a test of ours.
    """
    check_variants(bench, subject)
    runs = _Runs(bench, tests, test_module, subject)
    first = runs.one(ORIGINAL, 0, only=None)  # names the tests; its outcomes are not asked
    found = tuple(dict.fromkeys(first.tests))
    excluded = {test: why for test in found if (why := rules.against(test))}
    counted = tuple(test for test in found if test not in excluded)
    note, flags = _note(first, found), _flags(first, rules)
    if not counted:
        _hold_that_tests_run(bench, subject)
        return Matrix(found, excluded, {}, note, flags)
    same = [*[(ORIGINAL, n) for n in range(1, ORIGINALS + 1)], *[(e, 1) for e in subject.equal]]
    seen = runs.mixed([*same, *[(mutant, 1) for mutant in subject.mutants]], counted)
    excluded |= _failing(counted, {key: seen[key] for key in same})
    valid = [test for test in counted if test not in excluded]
    if not valid:
        _hold_that_tests_run(bench, subject)
    claims = {
        mutant: killers
        for mutant in subject.mutants
        if (killers := [t for t in valid if outcome_of(seen[mutant, 1], t) == "detected"])
    }
    again = runs.mixed(_confirmations(claims), counted)
    excluded |= _failing(valid, {key: run for key, run in again.items() if key[0] == ORIGINAL})
    kills = {
        mutant: tuple(t for t in killers if t not in excluded and _always(t, mutant, again))
        for mutant, killers in claims.items()
    }
    flags |= _by_chance(counted, subject, seen | again)
    return Matrix(found, excluded, {m: tests for m, tests in kills.items() if tests}, note, flags)


def outcome_of(run: SuiteRun, test: str) -> Outcome:
    """Return what one run says about one test; only declared exceptions are a detection."""
    for event in run.events:
        if event.test == test and event.kind in FAILING and DETECTING & set(event.error_bases):
            return "detected"
    return "passed" if run.outcomes.get(test) == "passed" else "other"


class _Runs:
    """One test file against variants that share one sandbox, each in a fork of its own."""

    def __init__(self, bench: Bench, tests: Seat, test_module: str, subject: Subject) -> None:
        self._tests = tests
        self._test_module = test_module
        self._subject = subject
        # The wall's time stays the bench's: on a busy machine it is not the deliverable's own.
        self._limits = bench.limits.model_copy(update={"cpu_s": subject.seconds})
        self._names = {name: f"variant_{n}" for n, name in enumerate(sorted(subject.texts))}
        files = {f"{self._names[name]}.py": text for name, text in subject.texts.items()}
        self._variants = bench.seat(files)
        # Variants are ours and have no state, so each is asked for one answer once.
        self._known: dict[str, dict[str, Seen]] = {name: {} for name in subject.texts}

    def one(self, variant: str, repeat: int, only: Sequence[str] | None) -> SuiteRun:
        """Run it once; another `repeat` is another run."""
        return self._tests.test(
            self._test_module,
            self._variants,
            self._subject.module,
            self._subject.functions,
            budget=self._subject.budget,
            limits=self._limits,
            module_limits=self._limits,
            only=only,
            source=self._names[variant],
            known=self._known[variant],
            repeat=repeat,
        )

    def mixed(
        self, plan: list[tuple[str, int]], only: Sequence[str]
    ) -> dict[tuple[str, int], SuiteRun]:
        """Run a plan of (variant, repeat) in an order that no test can know."""
        tests = dict(self._tests.files)
        order = sorted(plan, key=lambda step: digest([tests, self._subject.original, *step]))
        return {(variant, n): self.one(variant, n, only) for variant, n in order}


def _confirmations(claims: Mapping[str, list[str]]) -> list[tuple[str, int]]:
    if not claims:
        return []
    return [
        (variant, 100 + n) for variant in (ORIGINAL, *claims) for n in range(1, CONFIRMATIONS + 1)
    ]


def _always(test: str, mutant: str, runs: Mapping[tuple[str, int], SuiteRun]) -> bool:
    mine = [run for (variant, _), run in runs.items() if variant == mutant]
    return bool(mine) and all(outcome_of(run, test) == "detected" for run in mine)


def _failing(tests: Sequence[str], runs: Mapping[tuple[str, int], SuiteRun]) -> dict[str, str]:
    """Return the tests that do not pass on every correct module, with the first reason."""
    found: dict[str, str] = {}
    for (variant, _), run in sorted(runs.items(), key=lambda item: item[0][0] != ORIGINAL):
        for test in tests:
            if test in found or outcome_of(run, test) == "passed":
                continue
            where = "the correct module" if variant == ORIGINAL else f"an equal copy ({variant})"
            found[test] = f"on {where}: {_described(run, test)}"
    return found


def _by_chance(
    tests: Sequence[str], subject: Subject, runs: Mapping[tuple[str, int], SuiteRun]
) -> frozenset[RowFlag]:
    """Return the flag of a test that passed and failed on modules of one behaviour.

    A time-out or a spent budget is no failure here: a busy machine makes them too.
    """
    seen: dict[tuple[str, str], set[Outcome]] = {}
    for (variant, _), run in runs.items():
        behaviour = ORIGINAL if variant in subject.equal else variant
        for test in tests:
            seen.setdefault((behaviour, test), set()).add(outcome_of(run, test))
    both = any({"passed", "detected"} <= outcomes for outcomes in seen.values())
    return frozenset({"chance"}) if both else frozenset()


def _flags(run: SuiteRun, rules: MethodRules) -> frozenset[RowFlag]:
    """Return what the file does, by one run and its rules, that tests have no need of."""
    words = {word for why in (rules.shared, *rules.methods.values()) for word in why.split()[:2]}
    signs: dict[RowFlag, bool] = {
        "chance": bool(words & CHANCE),
        "introspection": bool(words & INTROSPECTION),
        "load-tests": "load_tests_ignored" in run.kinds(),
        "unittest-changed": "unittest_changed" in run.kinds(),
    }
    return frozenset(flag for flag, seen in signs.items() if seen)


def _described(run: SuiteRun, test: str) -> str:
    for event in run.events:
        if event.test == test and event.kind in FAILING:
            return f"{event.error}: {event.text.strip()}"[:200]
    ending = f" ({run.killed_by})" if run.killed_by else ""
    return f"{run.outcomes.get(test, 'not_run').replace('_', ' ')}{ending}"


def _note(run: SuiteRun, found: Sequence[str]) -> str:
    """Return what a stranger should know of the file as a whole."""
    said = [f"{e.error}: {e.text}" for e in run.events if e.kind == "load_error"]
    notes = [f"the file does not load: {said[0]}"] if said else []
    if not run.ended:
        notes.append(f"the file ended the process while it loaded {run.killed_by}".strip())
    elif not found and not said:
        notes.append("no test was found")
    notes += ["load_tests was ignored"] if "load_tests_ignored" in run.kinds() else []
    notes += ["unittest was changed"] if "unittest_changed" in run.kinds() else []
    return "; ".join(notes)


def _against(
    name: str, text: str, seen: Mapping[str, Json], known: Mapping[str, Json], subject: Subject
) -> str:
    """Return what is wrong with one variant, by its text and by what it does on the probes."""
    if seen["loads"]:
        return f"does not load: {seen['loads']}"
    if name == ORIGINAL:
        return ""
    if text == subject.original:
        return "has the text of the original"
    same = seen["results"] == known["results"]
    if name in subject.mutants and same:
        return f"none of {len(subject.probes)} probes tells it from the original"
    if name in subject.equal and not same:
        results = zip(seen["results"], known["results"], subject.probes, strict=True)  # type: ignore[arg-type] # lists, by the snippet
        return next(f"on {probe}: {one}, not {two}" for one, two, probe in results if one != two)
    return ""


def _hold_that_tests_run(bench: Bench, subject: Subject) -> None:
    """Run one test of ours when none of theirs passed: the fault must not lie with us."""
    function, arguments = subject.probes[0]
    text = (
        f"import unittest\nimport {subject.module}\n\n\nclass Ours(unittest.TestCase):\n"
        f"    def test_runs(self):\n        {subject.module}.{function}(*{arguments!r})\n"
    )
    runs = _Runs(bench, bench.seat({"test_ours.py": text}), "test_ours", subject)
    run = runs.one(ORIGINAL, 1, only=("test_ours.Ours.test_runs",))
    if run.outcomes != {"test_ours.Ours.test_runs": "passed"}:
        raise GraderError(
            "no test can be run here, not even one of ours",
            [Problem(subject.module, str(run.outcomes), "run: arnes doctor")],
        )


@cache
def _inside(name: str) -> str:
    """Return the text of a snippet that runs behind the walls."""
    return (INSIDE / f"{name}.py").read_text(encoding="utf-8")
