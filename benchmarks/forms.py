"""Two hundred forms of every task: do all pass, how long they take, how much they share.

    python benchmarks/forms.py [--seeds 200] [--task A04 ...]

A form passes when its generator keeps its bands (it refuses the seed otherwise), the second
method reads the same answers out of the prompt, and every golden reaches the maximum through
parse and grade. Goldens of tasks that run code are left to `arnes validate`.

Two forms share an answer when a key has the same one in both. Every pair of forms is compared,
over the keys that are asked. A task of files asks none; there, a key is left out that is the same
in every form or drawn from few values by its specification: it has fewer values than a tenth of
the forms that have it. Where no key is left, there is nothing to compare.

Times are CPU milliseconds of one form; `check` is everything after drawing it.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from statistics import median

from measuring.tables import print_machine, print_table

from harness.arnes import load_arnes
from harness.errors import HarnessError
from harness.models.rendering import JSON_TYPE, render
from harness.models.script import Behaviour
from harness.records.response import Exchange, Timings
from harness.running.single import request_for
from harness.signature import PACKAGE
from harness.stages.forms import make_form, make_sets, prompt_of, second_answers
from harness.stages.grade import grade_reply, hash_seed_of
from harness.stages.reparse import parse_for
from harness.suite.loader import Suite, Task, load_suite, with_form

ROOT = PACKAGE.parent
FEW = 0.10
GOAL_SHARE = 0.10


@dataclass(frozen=True)
class Drawn:
    """A form as far as it got."""

    task: str
    seed: str
    draw_s: float
    check_s: float = 0.0
    asked: tuple[str, ...] = ()
    answers: dict[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@cache
def suite() -> Suite:
    return load_suite(ROOT)


def drawn(task_id: str, seed: str) -> Drawn:
    folder = suite().task(task_id).folder
    began = time.process_time()
    try:
        form = make_form(folder, seed)
    except HarnessError as error:
        return Drawn(task_id, seed, time.process_time() - began, problems=(str(error),))
    made = time.process_time()
    second = second_answers(folder, prompt_of(folder, form))
    problems = [
        f"{key}: {form.answers.get(key)!r} or {second.get(key)!r}"
        for key in {**form.answers, **second}
        if form.answers.get(key) != second.get(key)
    ]
    problems += golden_problems(with_form(suite().task(task_id), form))
    checked = time.process_time()
    return Drawn(
        task_id, seed, made - began, checked - made, form.keys, form.answers, tuple(problems)
    )


def golden_problems(task: Task) -> list[str]:
    if task.definition.executes or task.definition.mode != "single":
        return []
    config, maximum = load_arnes(ROOT), task.definition.max_points
    request = request_for(task, config, run=1, model="written")
    problems = []
    for golden in make_sets(task.folder, task.form).golden:
        sent = render(Behaviour(content=golden.reply.text, ignore_stream=True), {})
        exchange = Exchange(
            request=request,
            started_at="",
            ended="reply",
            status=200,
            content_type=JSON_TYPE,
            body=b"".join(sent.pieces).decode("utf-8"),
            timings=Timings(total_s=0),
        )
        parsed = parse_for(task, exchange, config)
        graded = grade_reply(task, parsed, config.sandbox, hash_seed_of(task.id))
        points = round(sum(row.points for row in graded.rows), 6)
        if points != maximum:
            problems.append(f"golden {golden.name}: {points:g} of {maximum:g}")
    return problems


def compared(forms: list[Drawn]) -> list[dict[str, str]]:
    """Return of each form the answers that are compared."""
    if forms[0].asked:
        keys = set(forms[0].asked)
    else:
        values: dict[str, list[str]] = {}
        for form in forms:
            for key, answer in form.answers.items():
                values.setdefault(key, []).append(answer)
        keys = {key for key, found in values.items() if len(set(found)) >= FEW * len(found)}
    return [{key: form.answers[key] for key in keys & form.answers.keys()} for form in forms]


def row_of(task_id: str, forms: list[Drawn]) -> tuple[str, ...]:
    whole = [form for form in forms if not form.problems]
    draws = [1000 * form.draw_s for form in forms]
    checks = [1000 * form.check_s for form in forms]
    answers = compared(whole)
    pairs = combinations([one for one in answers if one], 2)
    found = [len(one.items() & two.items()) / len(one) for one, two in pairs]
    above = sum(share > GOAL_SHARE for share in found)
    return (
        task_id,
        f"{len(whole)} of {len(forms)}",
        f"{median(draws):.0f}",
        f"{max(draws):.0f}",
        f"{median(checks):.0f}",
        str(len(answers[0])),
        f"{max(found):.1%}" if found else "–",
        f"{above} of {len(found)}",
    )


def every_form(task_ids: list[str], seeds: int) -> Iterable[Drawn]:
    asked = [(task_id, f"benchmark {n}") for task_id in task_ids for n in range(1, seeds + 1)]
    with ProcessPoolExecutor() as pool:
        for number, form in enumerate(pool.map(drawn, *zip(*asked, strict=True), chunksize=5)):
            if number % 50 == 0:
                print(f"{number} of {len(asked)} forms", file=sys.stderr)
            yield form


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--task", action="append", choices=suite().ids)
    arguments = parser.parse_args()
    task_ids = arguments.task or list(suite().ids)
    print_machine()
    forms = list(every_form(task_ids, arguments.seeds))
    rows = [row_of(task_id, [f for f in forms if f.task == task_id]) for task_id in task_ids]
    print_table(
        ("task", "pass", "draw ms", "most", "check ms", "keys", "most shared", "pairs > 10 %"),
        rows,
    )
    for form in forms:
        for problem in form.problems:
            print(f"{form.task}, seed {json.dumps(form.seed)}: {problem}")


if __name__ == "__main__":
    main()
