"""Check the instrument before it measures anything.

Every golden, defective and exploit reply goes over real loopback HTTP through the very same
channel → parse → grade path as a model's reply. The instrument holds when every golden reaches
the maximum, every defective lands on its declared rows, every exploit stays under its ceiling
and the golden after it still reaches the maximum, an empty reply scores nothing, and the second
method agrees with every answer of the form.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.arnes import ArnesConfig
from harness.clock import Clock
from harness.errors import Problem
from harness.models.http import HttpChat
from harness.models.script import Behaviour, Script
from harness.models.scripted import ScriptedServer
from harness.records.parsed import ParsedReply
from harness.records.run import Endpoint
from harness.records.score import RowScore, total_of
from harness.records.validation import (
    DefectiveResult,
    ExploitResult,
    GoldenResult,
    TaskValidation,
    Validation,
)
from harness.running.single import request_for, run_single
from harness.stages.forms import make_sets, prompt_of, second_answers
from harness.stages.grade import Graded, grade_reply, hash_seed_of
from harness.stages.progress import Progress, silent
from harness.stages.reparse import parse_for
from harness.suite.forms import OPEN, Defective, Exploit, Golden, Reply, Sets
from harness.suite.loader import Suite, Task
from harness.suite.sets import common_sets, merged, read_sets

POINT_TOLERANCE = 5e-4  # expected.toml is written with three decimals
LEDGER_TOLERANCE = 1e-9  # only float noise passes


@dataclass(frozen=True)
class Played:
    """A member of a set and the rows it was given."""

    rows: tuple[RowScore, ...]
    cause: str | None

    @property
    def points(self) -> float:
        """Points of all rows."""
        return total_of(self.rows)


def sets_of(task: Task) -> Sets:
    """Return what is played against a task's form: frozen sets of the open form, else made ones."""
    own = read_sets(task.folder) if task.form.seed == OPEN else make_sets(task.folder, task.form)
    return merged(own, common_sets(prompt_of(task.folder, task.form), own.golden[0]))


Watch = Callable[[Task, str, ParsedReply, Graded], None]
"""(task, name of the member, its reply as parsed, what it was given)"""


def unwatched(_task: Task, _name: str, _parsed: ParsedReply, _graded: Graded) -> None:
    """Keep nothing."""


def validate(
    suite: Suite,
    config: ArnesConfig,
    clock: Clock,
    progress: Progress = silent,
    watch: Watch = unwatched,
) -> Validation:
    """Validate every task of a suite in its form; `watch` is shown every play."""
    sets = {task.id: sets_of(task) for task in suite.tasks}
    total = sum(len(replies_of(task, sets[task.id])) for task in suite.tasks)
    done = 0
    results: list[TaskValidation] = []
    problems: list[Problem] = []
    with ScriptedServer(_script(suite, sets)) as server:
        endpoint = Endpoint(base_url=server.base_url, model="validate")
        with HttpChat(
            endpoint, config.transport, config.call_timeout_s, clock, api_key=None
        ) as chat:
            for task in suite.tasks:
                played = {}
                for name in replies_of(task, sets[task.id]):
                    progress(f"validate {task.id}", done, total)
                    request = request_for(task, config, run=1, model=name)
                    request = request.model_copy(update={"max_tokens": UNCAPPED})
                    exchange = run_single(chat, request)
                    parsed = parse_for(task, exchange, config)
                    graded = grade_reply(task, parsed, config.sandbox, hash_seed_of(name))
                    watch(task, name, parsed, graded)
                    played[name] = Played(graded.rows, parsed.cause)
                    done += 1
                results.append(_result(task, sets[task.id], played))
                problems += problems_of(task, sets[task.id], played.__getitem__)
                problems += _check_answers(task)
    progress("validate", total, total)
    return Validation(
        holds=not problems,
        problems=tuple(str(problem) for problem in problems),
        tasks=tuple(results),
    )


UNCAPPED = 1_000_000  # a written reply is judged by what it holds, not by a profile's cap


def replies_of(task: Task, sets: Sets) -> dict[str, Reply]:
    """Return name → reply in playing order: after each exploit comes the first golden again."""
    replies: dict[str, Reply] = {}
    for golden in sets.golden:
        replies[f"{task.id}/golden/{golden.name}"] = golden.reply
    for defective in sets.defective:
        replies[f"{task.id}/defective/{defective.name}"] = defective.reply
    for exploit in sets.exploits:
        replies[f"{task.id}/exploits/{exploit.name}"] = exploit.reply
        replies[f"{task.id}/after/{exploit.name}"] = sets.golden[0].reply
    return replies


def _script(suite: Suite, sets: dict[str, Sets]) -> Script:
    by_model = {
        name: (
            Behaviour(
                content=reply.text,
                reasoning=reply.reasoning,
                finish_reason=reply.finish_reason,
                chunk_words=200,
            ),
        )
        for task in suite.tasks
        for name, reply in replies_of(task, sets[task.id]).items()
    }
    return Script(by_model=by_model)


def problems_of(task: Task, sets: Sets, played: Callable[[str], Played]) -> Iterator[Problem]:
    """Yield where a member is not given what is declared; it is asked for when it is needed."""
    for golden in sets.golden:
        name = f"{task.id}/golden/{golden.name}"
        found = played(name)
        yield from _golden_problems(task, golden, found)
        yield from _ledger_problems(task, name, found)
    for defective in sets.defective:
        name = f"{task.id}/defective/{defective.name}"
        found = played(name)
        yield from _defective_problems(task, defective, found)
        yield from _ledger_problems(task, name, found)
    for exploit in sets.exploits:
        name = f"{task.id}/exploits/{exploit.name}"
        found = played(name)
        yield from _exploit_problems(
            task, exploit, found, played(f"{task.id}/after/{exploit.name}")
        )
        yield from _ledger_problems(task, name, found)


def _result(task: Task, sets: Sets, played: dict[str, Played]) -> TaskValidation:
    empty = played[f"{task.id}/defective/empty"].points
    return TaskValidation(
        id=task.id,
        level=task.definition.level,
        max=task.definition.max_points,
        rows=len(task.definition.rows),
        observations=task.definition.observations,
        empty=empty,
        golden=tuple(
            GoldenResult(name=g.name, scored=played[f"{task.id}/golden/{g.name}"].points)
            for g in sets.golden
        ),
        defective=tuple(
            DefectiveResult(
                name=d.name,
                expected=round(sum(d.rows.values()), 3),
                scored=played[f"{task.id}/defective/{d.name}"].points,
            )
            for d in sets.defective
        ),
        exploits=tuple(
            ExploitResult(
                name=e.name,
                ceiling=e.ceiling,
                scored=played[f"{task.id}/exploits/{e.name}"].points,
            )
            for e in sets.exploits
        ),
    )


def _ledger_problems(task: Task, name: str, played: Played) -> Iterator[Problem]:
    """Yield rows whose fraction is not gate × Σ weight × credit, with weights that sum to 1."""
    for row in played.rows:
        weights = math.fsum(o.weight for o in row.observations)
        added = row.gate * math.fsum(o.weight * o.credit for o in row.observations)
        if abs(weights - 1) > LEDGER_TOLERANCE:
            yield Problem(
                f"{task.folder.name}/{name.partition('/')[2]}",
                f"{row.id}: the weights of its observations add up to {weights:g}",
                "correct the grader; statistics read the observations",
            )
        if abs(added - row.fraction) > LEDGER_TOLERANCE:
            yield Problem(
                f"{task.folder.name}/{name.partition('/')[2]}",
                f"{row.id}: its observations add up to {added:g}, its fraction is {row.fraction:g}",
                "correct the grader; statistics read the observations",
            )


def _golden_problems(task: Task, golden: Golden, played: Played) -> list[Problem]:
    if played.points == task.definition.max_points:
        return []
    lost = [f"{r.id} {r.points:g} of {r.max_points:g}" for r in played.rows if r.fraction < 1]
    return [
        Problem(
            f"{task.folder.name}/golden/{golden.name}",
            f"scored {played.points:g}, the maximum is {task.definition.max_points:g}"
            f" ({', '.join(lost)})",
            "the grader broke, or the golden is wrong; no campaign starts like this",
        )
    ]


def _defective_problems(task: Task, defective: Defective, played: Played) -> Iterator[Problem]:
    where = f"{task.folder.name}/defective/{defective.name}"
    for row in played.rows:
        expected = defective.rows.get(row.id, 0.0)
        if abs(row.points - expected) > POINT_TOLERANCE:
            yield Problem(
                where,
                f"{row.id} is declared {expected:g} but scored {row.points:g}",
                "the grader stopped detecting a known failure; fix the grader, not the declaration",
            )
    if defective.cause is not None and played.cause != defective.cause:
        yield Problem(
            where,
            f"its cause is declared {defective.cause!r} but was {played.cause!r}",
            "correct the parser, or the declaration",
        )


def _exploit_problems(
    task: Task, exploit: Exploit, played: Played, after: Played
) -> Iterator[Problem]:
    where = f"{task.folder.name}/exploits/{exploit.name}"
    if played.points > exploit.ceiling + POINT_TOLERANCE:
        yield Problem(
            where,
            f"scored {played.points:g}, its ceiling is {exploit.ceiling:g}",
            f"close the hole in the grader: {exploit.trick}",
        )
    if after.points != task.definition.max_points:
        yield Problem(
            where,
            f"the golden after it scored {after.points:g} of {task.definition.max_points:g}",
            "the exploit left something behind; isolate the grading",
        )


def _check_answers(task: Task) -> list[Problem]:
    """Return where the second method, which reads only the rendered prompt, disagrees."""
    second = second_answers(task.folder, prompt_of(task.folder, task.form))
    return [
        Problem(
            f"{task.folder.name}/oracle.py",
            f"{key}: the form says {task.form.answers.get(key)!r}, the second method"
            f" {second.get(key)!r}",
            "one of the two methods, or the prompt, is wrong",
        )
        for key in dict.fromkeys([*task.form.answers, *second])
        if second.get(key) != task.form.answers.get(key)
    ]
