"""Check the instrument before it measures anything.

Every golden, defective and exploit reply goes over real loopback HTTP through the very same
channel → parse → grade path as a model's reply. The instrument holds when every golden reaches
the maximum, every defective lands on its declared rows, every exploit stays under its ceiling
and the golden after it still reaches the maximum, an empty reply scores nothing, and the second
method agrees with every answer of the form.
"""

import math
from collections.abc import Callable, Iterator, Mapping
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
from harness.running.scenes import load_scene
from harness.running.single import request_for, run_single
from harness.stages.agent_plays import EMPTY, UNCAPPED, Plays, Written, agent_plays, parsed_cells
from harness.stages.at_once import Group, grade_groups
from harness.stages.forms import make_sets, prompt_of, second_answers, second_answers_of
from harness.stages.grade import Graded
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

    @property
    def flags(self) -> frozenset[str]:
        """Integrity marks of all rows."""
        return frozenset(flag for row in self.rows for flag in row.flags)


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
    members = {task.id: members_of(task, config) for task in suite.tasks}
    sets = {task_id: found.sets for task_id, found in members.items()}
    parsed = _parsed(suite, config, clock, members)
    groups = [group for task in suite.tasks for group in _groups(task, sets[task.id], parsed)]
    graded = grade_groups(groups, config.sandbox, progress)
    given = {
        name: one
        for group, ones in zip(groups, graded, strict=True)
        for (name, _), one in zip(group.members, ones, strict=True)
    }
    results: list[TaskValidation] = []
    problems: list[Problem] = []
    for task in suite.tasks:
        played = {}
        for name in replies_of(task, sets[task.id]):
            watch(task, name, parsed[name], given[name])
            played[name] = Played(given[name].rows, parsed[name].cause)
        results.append(_result(task, sets[task.id], played))
        problems += problems_of(task, sets[task.id], played.__getitem__)
        problems += _check_answers(task)
    progress("validate", len(given), len(given))
    return Validation(
        holds=not problems,
        problems=tuple(str(problem) for problem in problems),
        tasks=tuple(results),
    )


def members_of(task: Task, config: ArnesConfig) -> Plays:
    """Return what is played against a task's form, and what each member writes."""
    if task.is_agent:
        return agent_plays(task, config)
    sets = sets_of(task)
    written = {
        name.removeprefix(f"{task.id}/"): Written(1, (reply,))
        for name, reply in replies_of(task, sets).items()
    }
    return Plays(sets, written)


def _parsed(
    suite: Suite, config: ArnesConfig, clock: Clock, members: dict[str, Plays]
) -> dict[str, ParsedReply]:
    """Let a scripted server say every reply, and return name → what the parser took from it."""
    found = {}
    with ScriptedServer(_script(members)) as server:
        endpoint = Endpoint(base_url=server.base_url, model="validate")
        with HttpChat(
            endpoint, config.transport, config.call_timeout_s, clock, api_key=None
        ) as chat:
            for task in suite.tasks:
                written = members[task.id].written
                if task.is_agent:
                    found.update(parsed_cells(chat, task, config, members[task.id]))
                    continue
                for name in written:
                    told = f"{task.id}/{name}"
                    request = request_for(task, config, run=1, model=told)
                    request = request.model_copy(update={"max_tokens": UNCAPPED})
                    found[told] = parse_for(task, run_single(chat, request), config)
    return found


def _groups(task: Task, sets: Sets, parsed: Mapping[str, ParsedReply]) -> Iterator[Group]:
    """Yield every member alone, but an exploit together with the golden after it."""
    together: list[str] = []
    for name in replies_of(task, sets):
        together.append(name)
        if "/exploits/" not in name:
            yield Group(task, tuple((member, parsed[member]) for member in together))
            together = []


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


def _script(members: dict[str, Plays]) -> Script:
    """Return name of a member, which is asked for as a model's → what it writes."""
    by_model = {
        f"{task_id}/{name}": tuple(
            Behaviour(
                content=reply.text,
                reasoning=reply.reasoning,
                finish_reason=reply.finish_reason,
                chunk_words=200,
            )
            for reply in written.turns
        )
        for task_id, plays in members.items()
        for name, written in plays.written.items()
    }
    return Script(by_model=by_model)


def problems_of(task: Task, sets: Sets, played: Callable[[str], Played]) -> Iterator[Problem]:
    """Yield where a member is not given what is declared; it is asked for when it is needed."""
    for golden in sets.golden:
        name = f"{task.id}/golden/{golden.name}"
        found = played(name)
        yield from _golden_problems(task, golden, found)
        yield from _ledger_problems(task, name, found)
        if found.flags:
            what = f"is flagged {', '.join(sorted(found.flags))}, and does nothing of the kind"
            yield Problem(_place(task, name), what, "correct the grader")
    for defective in sets.defective:
        name = f"{task.id}/defective/{defective.name}"
        found = played(name)
        yield from _defective_problems(task, defective, found)
        yield from _ledger_problems(task, name, found)
        yield from _flag_problems(task, name, defective.flags, found)
    for exploit in sets.exploits:
        name = f"{task.id}/exploits/{exploit.name}"
        found = played(name)
        yield from _exploit_problems(
            task, exploit, found, played(f"{task.id}/after/{exploit.name}")
        )
        yield from _ledger_problems(task, name, found)
        yield from _flag_problems(task, name, exploit.flags, found)


def _result(task: Task, sets: Sets, played: dict[str, Played]) -> TaskValidation:
    empty = max(
        played[f"{task.id}/defective/{d.name}"].points
        for d in sets.defective
        if d.name.partition(" run ")[0] == EMPTY
    )
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


def _flag_problems(
    task: Task, name: str, declared: tuple[str, ...], played: Played
) -> Iterator[Problem]:
    missing = sorted(set(declared) - played.flags)
    if missing:
        what = f"is not flagged {', '.join(missing)}, as it is declared"
        yield Problem(_place(task, name), what, "the grader stopped noticing it; correct it")


def _place(task: Task, name: str) -> str:
    return f"{task.folder.name}/{name.partition('/')[2]}"


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
    """Return where the second method, which reads prompt and world alone, disagrees."""
    prompt = prompt_of(task.folder, task.form)
    if task.is_agent:
        second = second_answers_of(task.folder, prompt, load_scene(task.folder, task.form, 1))
    else:
        second = second_answers(task.folder, prompt)
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
