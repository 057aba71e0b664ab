"""The deep validation: is every line between an observation and its points held by a member?

Mutants of the code and of the row tables are judged over the replies that a validation parsed and
over the observations that it made. Nothing is asked or run again: a mutant that asks for an
observation which was never made changes what is observed, not what an observation is worth; it
counts neither as noticed nor as a survivor, and the report says how many there are.

A text that stands in reasons only is no mutant of points. A survivor with a reason in
`equivalent.toml` does not count. Of the rest, 95 % must be noticed.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from harness.arnes import ArnesConfig
from harness.errors import Problem
from harness.records.base import digest
from harness.records.parsed import ParsedReply
from harness.records.validation import (
    NOTICED,
    OperatorStrength,
    Strength,
    Survivor,
    TaskStrength,
)
from harness.signature import signature_of
from harness.stages.grade import Graded, hash_seed_of
from harness.stages.progress import Progress, silent
from harness.stages.strength.equivalents import FILE, Equivalent, read_equivalents
from harness.stages.strength.trial import Play, Trial, Tried
from harness.stages.strength.trials import run_trials
from harness.suite.loader import SUITE_FOLDER, Suite, Task, task_folders

BAR = 0.95
# At most so many mutants of a task are tried, always the same ones: about a minute on one core. The
# members of a task that runs code compare some hundred observations each time.
SAMPLE, SAMPLE_OF_CODE = 900, 200
TEXT_CHANGED = "text changed"
# Parts of the signature that lie between a reply and its points.
PARTS = ("parsing", "hygiene", "graders", "rows", "cases")


class Plays:
    """What a validation played, task by task: show it every play."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str, Play]] = {}

    def watch(self, task: Task, name: str, parsed: ParsedReply, graded: Graded) -> None:
        """Keep a play."""
        self.of.setdefault(task.id, {})[name] = Play(
            parsed=parsed,
            hash_seed=hash_seed_of(name),
            observations=dict(graded.observations),
            rows=graded.rows,
        )


def strength(
    suite: Suite,
    config: ArnesConfig,
    plays: Plays,
    progress: Progress = silent,
    sample: int | None = None,
) -> Strength:
    """Judge the mutants of every task.

    Parameters
    ----------
    plays : of the validation of this suite, which must have held
    sample : instead of the usual number; mutants that are said to be equivalent are always tried

    Raises
    ------
    InstrumentError
        If a process that judges them fails.
    """
    shared = read_equivalents(suite.root / SUITE_FOLDER)
    own = {task.id: read_equivalents(task.folder) for task in suite.tasks}
    of = {task.id: grader_digest(config, suite, task.id) for task in suite.tasks}
    trials = [
        Trial(
            root=suite.root,
            form=suite.form,
            task=task.id,
            limits=config.sandbox,
            plays=plays.of[task.id],
            sample=_usual_sample(task) if sample is None else sample,
            always=(*own[task.id], *shared),
        )
        for task in suite.tasks
    ]
    results: list[TaskStrength] = []
    problems: list[Problem] = []
    everything: list[Tried] = []
    for task, found in zip(suite.tasks, run_trials(trials, progress), strict=True):
        claims = (*own[task.id], *shared)
        result = _result(task, found.opening.made, found.tried, claims, of[task.id])
        results.append(result)
        problems += [Problem(task.folder.name, said) for said in found.opening.problems]
        problems += _below_the_bar(task, result)
        problems += _stale(own[task.id], found.tried, f"{task.folder.name}/{FILE}")
        everything += found.tried
    if len(suite.tasks) == len(task_folders(suite.root)):  # a part of them says nothing
        problems += _stale(shared, everything, f"{SUITE_FOLDER}/{FILE}")
    return Strength(
        holds=not problems,
        bar=BAR,
        problems=tuple(str(problem) for problem in problems),
        tasks=tuple(results),
    )


def grader_digest(config: ArnesConfig, suite: Suite, task_id: str) -> str:
    """Return the digest of everything that makes points from a reply of one task."""
    parts = signature_of(config, suite.only((task_id,))).parts
    return digest({name: parts[name] for name in PARTS})


def _usual_sample(task: Task) -> int:
    return SAMPLE_OF_CODE if task.definition.executes else SAMPLE


def _result(
    task: Task, made: int, tried: list[Tried], claims: tuple[Equivalent, ...], of: str
) -> TaskStrength:
    wording = asked = equivalent = 0
    mutants: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    survivors: list[Survivor] = []
    for one in tried:
        operator = one.mutant.operator
        if one.outcome in NOTICED:
            noticed[operator] += 1
        elif one.outcome == "asked":
            asked += 1
            continue
        elif one.outcome == "reasons" and operator == TEXT_CHANGED:
            wording += 1
            continue
        else:
            reason = next((c.reason for c in claims if c.covers(one.mutant)), "")
            told = one.mutant.model_dump()
            survivors.append(Survivor(**told, outcome=one.outcome, reason=reason))
            if reason:
                equivalent += 1
                continue
        mutants[operator] += 1
    return TaskStrength(
        id=task.id,
        made=made,
        judged=len(tried),
        wording=wording,
        asked=asked,
        equivalent=equivalent,
        operators=tuple(
            OperatorStrength(operator=name, mutants=count, noticed=noticed[name])
            for name, count in sorted(mutants.items())
        ),
        survivors=tuple(survivors),
        of=of,
    )


def _below_the_bar(task: Task, result: TaskStrength) -> Iterator[Problem]:
    if result.share < BAR:
        yield Problem(
            task.folder.name,
            f"{result.noticed} of {result.mutants} mutants are noticed, {result.share:.1%};"
            f" the bar is {BAR:.0%}",
            f"add members that tell the survivors apart, or say in {FILE} why nothing can",
        )


def _stale(claims: Iterable[Equivalent], tried: list[Tried], where: str) -> Iterator[Problem]:
    """Yield the entries that cover no survivor."""
    survivors = [one.mutant for one in tried if one.outcome in ("reasons", "nothing")]
    for claim in claims:
        gone = claim.untrue(survivors)
        if gone:
            yield Problem(
                where,
                f"no mutant of {', '.join(gone)} survives in {claim.file}: {claim.line}",
                "take that out of the entry",
            )
