"""Try the mutants of one task, each in a process of its own, over replies that were parsed before.

    python -m harness.stages.strength TRIAL.json

prints one JSON line with what there is to try, then one for every mutant. It runs in a fresh
interpreter with one thread, so that it can fork; what a mutant does to its process, or how long
it would run, touches nothing else. A mutant is noticed when `arnes validate` would report it.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.arnes import SandboxLimits, load_arnes
from harness.errors import InstrumentError
from harness.records.base import Json, Record, digest
from harness.records.parsed import ParsedReply
from harness.records.score import RowScore
from harness.records.validation import Mutation, Outcome
from harness.stages import grade, validate
from harness.stages.strength.equivalents import Equivalent
from harness.stages.strength.forked import cpu_used_s, in_a_fork
from harness.stages.strength.mutants import Mutant, mutants_of
from harness.stages.strength.specimen import NotRememberedError, Source, Specimen, lines_run
from harness.suite.loader import Task, load_suite

LEAST_LIMIT_S = 0.4  # of CPU time
TIMES_THE_USUAL = 3  # and this many times what all members take together
ORDERS = 3  # random orders in which the members are graded again
MOVED = "points moved"
MOVED_SHARE = 0.1  # of a row's points, moved to the next row


class Play(Record):
    """What one member was made of, and what it was given.

    observations : what its code was seen to do, empty for a task that runs none
    """

    parsed: ParsedReply
    hash_seed: int
    observations: dict[str, Json]
    rows: tuple[RowScore, ...]


class Trial(Record):
    """All that the process needs.

    sample : most mutants that are tried
    always : mutants that are tried in any case, because somebody calls them equivalent
    """

    root: Path
    form: str
    task: str
    limits: SandboxLimits
    plays: dict[str, Play]
    sample: int
    always: tuple[Equivalent, ...] = ()


class Opening(Record):
    """The first line: how many mutants there are, how many will follow, what did not hold."""

    made: int
    judged: int
    problems: tuple[str, ...]


class Tried(Record):
    """One mutant, and what became of it."""

    mutant: Mutation
    outcome: Outcome


@dataclass(frozen=True)
class Candidate:
    """A mutant, and what puts it in place; that returns the task as it is then."""

    mutant: Mutation
    put: Callable[[], Task]


class Judge:
    """Grades the members of a task with whatever copy of the code is in place."""

    def __init__(self, trial: Trial, task: Task) -> None:
        self._plays = trial.plays
        self._limits = trial.limits
        self._task = task
        self._sets = validate.members_of(task, load_arnes(trial.root)).sets
        self._usual = {name: _said(play.rows) for name, play in trial.plays.items()}
        self._asked = self._reasons = False
        self._after: validate.Played | None = None

    @property
    def names(self) -> list[str]:
        """The members, each once: the golden after an exploit is the golden."""
        return [name for name in self._plays if "/after/" not in name]

    def outcome(self, task: Task) -> Outcome:
        """Say what becomes of the code in place; the first problem is enough."""
        self._task = task
        self._asked = self._reasons = False
        self._after = None
        try:
            for _ in _current(validate).problems_of(task, self._sets, self._played):
                return "noticed"
        except Exception:  # noqa: BLE001 (whatever a mutant raises, that is how it is noticed)
            return "raised"
        if self._asked:
            return "asked"
        return "reasons" if self._reasons else "nothing"

    def differs(self, name: str) -> bool:
        """Say whether a member is given anything else than at first, to the letter."""
        return _said(self._graded(name)) != self._usual[name]

    def _graded(self, name: str) -> tuple[RowScore, ...]:
        play = self._plays[name]
        rows: tuple[RowScore, ...] = (
            _current(grade)
            .grade_reply(self._task, play.parsed, self._limits, play.hash_seed, play.observations)
            .rows
        )
        return rows

    def _played(self, name: str) -> validate.Played:
        """Grade a member; the golden after an exploit is graded once more, not after each."""
        if "/after/" not in name:
            return self._regraded(name)
        if self._after is None:
            self._after = self._regraded(f"{self._task.id}/golden/{self._sets.golden[0].name}")
        return self._after

    def _regraded(self, name: str) -> validate.Played:
        try:
            rows = self._graded(name)
        except Exception as error:
            if not _is_not_remembered(error):
                raise
            self._asked = True
            rows = self._plays[name].rows
        if _said(rows) != self._usual[name]:
            self._reasons = True
        played: validate.Played = _current(validate).Played(rows, self._plays[name].parsed.cause)
        return played


def tries(trial: Trial) -> Iterator[Opening | Tried]:
    """Yield what there is to try, then every mutant that was tried."""
    task = load_suite(trial.root, trial.form).task(trial.task)
    specimen = Specimen(task, grade.walls_for(task))
    judge = Judge(trial, task)
    specimen.load()
    begun = cpu_used_s()
    problems = list(_disordered(trial, judge))
    limit_s = LEAST_LIMIT_S + TIMES_THE_USUAL * (cpu_used_s() - begun) / ORDERS
    usual: list[Outcome] = []
    ran = lines_run(specimen.changeable, lambda: usual.append(judge.outcome(task)))
    if usual[0] not in ("nothing", "reasons"):  # an equal copy must not be found
        raise InstrumentError(f"the unchanged copy of the code that grades {task.id} is {usual[0]}")
    made = [*_code(specimen, task, ran), *_points(task)]
    chosen = _chosen(made, trial)
    yield Opening(made=len(made), judged=len(chosen), problems=tuple(problems))
    for candidate in chosen:
        outcome = in_a_fork(partial(_outcome, judge, candidate), limit_s)
        yield Tried.model_validate({"mutant": candidate.mutant, "outcome": outcome})


def _outcome(judge: Judge, candidate: Candidate) -> Outcome:
    """Put a mutant in place and judge it; a module that no longer loads is noticed by that."""
    try:
        task = candidate.put()
    except Exception:  # noqa: BLE001 (whatever it raises)
        return "raised"
    return judge.outcome(task)


def _disordered(trial: Trial, judge: Judge) -> Iterator[str]:
    """Yield which members are given other rows when all are graded in a random order."""
    for number in range(ORDERS):
        names = judge.names
        random.Random(f"{trial.task}/order/{number}").shuffle(names)  # noqa: S311 (no secret)
        for place, name in enumerate(names):
            if judge.differs(name):
                before = names[place - 1] if place else "nothing"
                yield f"{name} is given other rows when it is graded after {before}"


def _code(specimen: Specimen, task: Task, ran: Mapping[str, frozenset[int]]) -> Iterator[Candidate]:
    """Yield the mutants of code."""
    for source in specimen.changeable:
        for mutant in mutants_of(source.shown, source.text, source.tree, ran[str(source.path)]):

            def put(mutant: Mutant = mutant, source: Source = source) -> Task:
                mutant.place.put(mutant.node)
                specimen.load(source)
                return task

            yield Candidate(mutant.told, put)


def _points(task: Task) -> Iterator[Candidate]:
    """Yield the mutants of the row table: points moved to the next row, the sum as before."""
    rows = task.definition.rows
    for place in range(len(rows) if len(rows) > 1 else 0):
        one, other = rows[place], rows[(place + 1) % len(rows)]
        moved = one.points * MOVED_SHARE
        changed = {
            one.id: one.model_copy(update={"points": one.points - moved}),
            other.id: other.model_copy(update={"points": other.points + moved}),
        }
        table = tuple(changed.get(row.id, row) for row in rows)
        definition = task.definition.model_copy(update={"rows": table})
        yield Candidate(
            Mutation(
                file=f"{task.folder.relative_to(task.folder.parents[2]).as_posix()}/task.toml",
                function=one.id,
                line=0,
                text=f"points = {one.points}",
                operator=MOVED,
                change=f"{moved:g} to {other.id}",
            ),
            partial(replace, task, definition=definition),
        )


def _chosen(made: list[Candidate], trial: Trial) -> list[Candidate]:
    """Return all, or a sample that is always the same, in the order in which they were made."""
    if len(made) <= trial.sample:
        return made
    lots = [digest([place, c.mutant.model_dump(mode="json")]) for place, c in enumerate(made)]
    drawn = set(sorted(range(len(made)), key=lots.__getitem__)[: trial.sample])
    return [
        c
        for place, c in enumerate(made)
        if place in drawn or any(claim.covers(c.mutant) for claim in trial.always)
    ]


def _said(rows: tuple[RowScore, ...]) -> list[object]:
    """Return everything that rows say, so that rows of two copies of the code can be compared."""
    return [
        (
            (row.id, row.points, row.fraction, row.reason, row.gate, row.gate_reason),
            [(o.key, o.credit, o.weight, o.reason) for o in row.observations],
        )
        for row in rows
    ]


def _is_not_remembered(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, NotRememberedError):
            return True
        error = error.__cause__
    return False


def _current(module: ModuleType) -> Any:
    """Return the copy of a module that is in place now."""
    return sys.modules[module.__name__]


def main(arguments: list[str]) -> int:
    """Try, and print; exit status 2 if there is nothing to try."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m harness.stages.strength TRIAL.json\n")
        return 2
    trial = Trial.model_validate_json(Path(arguments[0]).read_bytes())
    for line in tries(trial):
        sys.stdout.write(line.model_dump_json() + "\n")
        sys.stdout.flush()
    return 0
