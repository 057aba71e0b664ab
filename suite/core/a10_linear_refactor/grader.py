"""Grader of A10: four functions made linear, and what they do left as it was.

Executes the deliverable: yes, behind the walls. Reads: readings.py.
CPU time is asked first, beside our linear reference on the same lists. A function that is not cheap
earns nothing and is asked nothing more, so neither "correct and slow" nor "fast and wrong" pays:

    same_results  weight x right x cheap
    edge_inputs   weight x right x share of results x cheap
    linear_accesses  weight x within the bound x share of results x cheap

Times stand in no reason, because a score sheet is the same each time it is made.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from harness.grading import (
    Deliverable,
    Owned,
    Seat,
    Seen,
    Verdict,
    failed,
    loads_clean,
    observed,
    passed,
    per_deliverable,
    row,
    weighted,
)

FILE, MODULE = "readings.py", "readings"
WEIGHTS = {"first_repeat": 0.10, "pair_count": 0.20, "pair_search": 0.30, "window_sum": 0.40}
RESULTS = 12
FLOOR_S = 0.020  # a linear solution may be far faster than what a clock can compare with
DOUBTFUL = (5, 30)  # a ratio in between is measured once more, and the second one stands
INTROSPECTION = {"inspect", "linecache", "gc", "ctypes"}  # no list of numbers needs them
IDLE = {"idle.py": "def idle(*args):\n    return None\n"}  # what a call costs that does nothing


@dataclass(frozen=True)
class Case:
    """One observation of one function: whether it holds, and what was seen if not."""

    holds: bool
    reason: str = ""


@dataclass(frozen=True)
class Measured:
    """One function of the deliverable.

    lack : why nothing but CPU time was asked; empty if it was
    results, edges, reads : empty where they were not asked
    flags : what was noticed beside that; it changes no points
    """

    name: str
    weight: float
    lack: str = ""
    results: tuple[Case, ...] = ()
    edges: tuple[Case, ...] = ()
    reads: tuple[Case, ...] = ()
    flags: frozenset[str] = frozenset()

    @property
    def share(self) -> float:
        """The share of right results."""
        return sum(case.holds for case in self.results) / RESULTS


def series(runs: list[dict[str, int]]) -> list[int]:
    """Return the list that the runs of a form describe; NOTES.md says how."""
    xs = []
    for run in runs:
        for k in range(run["count"]):
            noise = (run["a"] * k**2 + run["b"] * k + run["c"]) % run["prime"] % run["spread"]
            xs.append(run["start"] + run["step"] * (k // run["every"]) + run["scale"] * noise)
    return xs


def said(seen: Seen) -> str:
    """Return an outcome in the words of the form's right results."""
    if seen.outcome == "value":
        return repr(seen.value)
    if seen.raised("ValueError"):
        return "raises ValueError"
    return seen.described


def judged(seen: Seen, right: str) -> Case:
    """Compare a result with the right one."""
    gave = said(seen)
    return Case(True) if gave == right else Case(False, f"{gave[:80]}, right is {right}")


@per_deliverable
def unchanged(work: Deliverable) -> bool:
    """Whether the file is the given one, up to docstrings, comments and local names.

    So is one in which each of the four functions is, whatever stands beside them.
    """
    facts = work.facts(FILE)
    if facts is None or not facts.compiles:
        return False
    given = work.bench.facts({FILE: work.values["modules"]["given"]})[FILE]
    same = [facts.function_digests.get(n) == d for n, d in given.function_digests.items()]
    return facts.tree_digest == given.tree_digest or all(same)


@per_deliverable
def functions(work: Deliverable) -> list[Measured]:
    """Measure the four functions; nothing is run of a file that is missing, broken or unchanged."""
    facts = work.facts(FILE)
    lack = ""
    if facts is None:
        lack = "not delivered"
    elif not facts.compiles:
        lack = "does not compile"
    elif unchanged(work):
        lack = "the given module"
    elif (loaded := work.seat.load(MODULE)).outcome != "value":
        lack = f"does not load: {loaded.described}"
    if lack:
        return [Measured(f["name"], WEIGHTS[f["slot"]], lack) for f in work.values["functions"]]
    bounds = [Bound(work, function) for function in work.values["functions"]]
    return [replace(bound.measured(), flags=frozenset(bound.flags)) for bound in bounds]


class Bound:
    """Measures one function: CPU time, then results, special inputs and reads."""

    def __init__(self, work: Deliverable, function: dict[str, Any]) -> None:
        self.work = work
        self.function = function
        self.name: str = function["name"]
        self.seat = work.seat
        self.flags: set[str] = set()
        files = {FILE: work.values["modules"]["linear"], **IDLE}
        self.reference: Seat = work.bench.seat(files)
        self.limits = work.bench.limits
        self.ratio_allowed: int = work.values["cpu_ratio"]

    def measured(self) -> Measured:
        """Return all that counts of this function."""
        weight = WEIGHTS[self.function["slot"]]
        results = []
        for long in self.function["long"]:
            lack, seen = self.cpu(long)
            if lack:
                return Measured(self.name, weight, lack)
            results.append(judged(seen, long["right"]))
        results += [self.asked(short) for short in self.function["short"]]
        if not any(case.holds for case in results):
            return Measured(self.name, weight, results=tuple(results))
        edges = (self.asked(edge) for edge in self.function["edges"])
        reads = (self.read(read) for read in self.function["reads"])
        return Measured(self.name, weight, "", tuple(results), tuple(edges), tuple(reads))

    def cpu(self, long: dict[str, Any]) -> tuple[str, Seen]:
        """Return why the function is not cheap, or nothing, and what it gave."""
        args = [series(long["runs"]), *long["rest"]]
        ratio, seen = self.side_by_side(args, long["right"], repeat=0)
        if DOUBTFUL[0] < ratio < DOUBTFUL[1]:
            ratio, seen = self.side_by_side(args, long["right"], repeat=1)
        if ratio > self.ratio_allowed:
            return f"CPU time above {self.ratio_allowed} times the linear reference", seen
        if seen.outcome in ("timeout", "died"):
            return f"did not end by itself: {seen.described}", seen
        return "", seen

    def side_by_side(self, args: list[Any], right: str, *, repeat: int) -> tuple[float, Seen]:
        """Return CPU time in units of the reference's, what a call costs at all taken away."""
        idle = used(self.reference.call("idle:idle", *args, repeat=repeat))
        linear = self.reference.call(f"{MODULE}:{self.name}", *args, repeat=repeat)
        if said(linear) != right:
            raise RuntimeError(f"the reference {self.name} gave {said(linear)}, not {right}")
        unit = max(FLOOR_S, used(linear) - idle)
        self.limits = self.work.bench.limits.model_copy(
            update={"cpu_s": min(self.work.bench.limits.cpu_s, idle + DOUBTFUL[1] * unit)}
        )
        seen = self.call(args, repeat=repeat)
        if seen.killed_by == "cpu":
            return float("inf"), seen
        return (used(seen) - idle) / unit, seen

    def call(self, args: list[Any], *, repeat: int = 0, echo: bool = False) -> Seen:
        """Call the delivered function under the limits of the CPU bound."""
        seen = self.seat.call(
            f"{MODULE}:{self.name}",
            *args,
            limits=self.limits,
            repeat=repeat,
            echo_arguments=echo,
        )
        self.flags |= signs(seen)
        return seen

    def asked(self, case: dict[str, Any]) -> Case:
        """Ask one list, and look at the arguments as they are after the call."""
        args = case["args"]
        seen = self.call(args, echo=True)
        verdict = judged(seen, case["right"])
        if verdict.holds and seen.arguments != [args, {"d": []}]:  # positional ones, no others
            return Case(False, "changed its argument")
        return verdict

    def read(self, read: dict[str, Any]) -> Case:
        """Give it a list that stays outside, and count what it reads.

        What it gives must be what it gives for a plain list, right or not: else the plain list
        and the counted one were not treated alike, and the count says nothing.
        """
        xs = series(read["runs"])
        allowed = self.work.values["reads_per_element"] * len(xs)
        owned = Owned(xs, allowed)
        seen = self.seat.call(f"{MODULE}:{self.name}", owned, *read["rest"])
        if seen.killed_by == "accesses":
            return Case(False, f"n = {len(xs)}: more than {allowed} reads")
        gave = said(seen)
        self.flags |= signs(seen)
        if gave != read["right"] and gave != said(self.call([xs, *read["rest"]])):
            # A TypeError is how a list that stays outside answers to who would change it.
            if seen.outcome in ("value", "exception") and not seen.raised("TypeError"):
                self.flags.add("told-apart")
            return Case(False, f"n = {len(xs)}: {gave[:80]} on a counted list")
        return Case(True)


def signs(seen: Seen) -> set[str]:
    """Return the flags of one outcome."""
    noticed = {"forged-frames"} if seen.evidence.garbage else set()
    if seen.outcome == "refused" and seen.text.startswith(f"a value of type {MODULE}."):
        noticed.add("own-type")
    return noticed


def used(seen: Seen) -> float:
    """Return the CPU time of a measure, which the outside took."""
    if seen.usage is None:
        raise RuntimeError("a measure without usage")
    return seen.usage.cpu_s


def over_functions(
    work: Deliverable, kind: str, names_of: Callable[[dict[str, Any]], list[str]], *, by_share: bool
) -> Verdict:
    """Return the verdict over one kind of cases of all functions."""
    found = []
    for function, one in zip(work.values["functions"], functions(work), strict=True):
        names = names_of(function)
        cases = getattr(one, kind) or [Case(False, one.lack or "no result is right")] * len(names)
        worth = one.share if by_share else 1.0
        for name, case in zip(names, cases, strict=True):
            credit = worth if case.holds else 0.0
            reason = (
                case.reason if not case.holds else f"holds; {worth:.3f} of the results are right"
            )
            key, weight = f"{one.name}: {name}", one.weight / len(names)
            found.append(observed(key, credit, weight, "" if credit == 1 else reason))
    facts = work.facts(FILE)
    imported = {one.module for one in facts.imports} if facts else set()
    noticed = {"introspection"} if imported & INTROSPECTION else set()
    return weighted(found).flagged(*noticed.union(*(one.flags for one in functions(work))))


@row("files_present")
def files_present(work: Deliverable) -> Verdict:
    if FILE not in work.delivered:
        return failed(f"not delivered: {FILE}")
    if unchanged(work):
        return failed("unchanged: the given module")
    return passed(f"{FILE} was delivered, and it is not the given one")


@row("syntax_valid")
def syntax_valid(work: Deliverable) -> Verdict:
    if unchanged(work):
        return failed("unchanged: the given module")
    return loads_clean(work, [FILE])


@row("same_results")
def same_results(work: Deliverable) -> Verdict:
    names = ["long 1", "long 2", *(f"short {k}" for k in range(1, RESULTS - 1))]
    return over_functions(work, "results", lambda _: names, by_share=False)


@row("edge_inputs")
def edge_inputs(work: Deliverable) -> Verdict:
    return over_functions(
        work, "edges", lambda f: [edge["what"] for edge in f["edges"]], by_share=True
    )


@row("linear_accesses")
def linear_accesses(work: Deliverable) -> Verdict:
    return over_functions(
        work,
        "reads",
        lambda f: [f"n = {sum(run['count'] for run in read['runs'])}" for read in f["reads"]],
        by_share=True,
    )
