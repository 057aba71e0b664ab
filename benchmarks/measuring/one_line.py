"""A temporary checkout whose tasks are one line each, and the same lines for other harnesses.

The checkout is whole: our code, our `arnes.toml`, and a suite of `TASKS` folders that pass
`arnes validate`. So what is measured in it is the command that a person types. An id of a task
has two digits, so the cells of a campaign are 100 tasks × models × runs.
"""

import json
import shutil
from pathlib import Path

from harness.arnes import CONFIG_NAME
from harness.models.script import Behaviour, Script, prompt_key
from harness.signature import PACKAGE

TASKS = 100
KEY = "SUM"
PREFLIGHT_REPLY = " ".join(f"word{n}" for n in range(260))  # preflight asks for 200 words

TASK_TOML = """\
schema_version = 1
id = "A{number:02d}"
title = "One line"
level = "A"
mode = "single"
max_points = 1.0
measures = "What a cell costs."
does_not_measure = "Anything about a model."

[limits]
prompt_tokens = 100

[[rows]]
id = "total"
kind = "answers"
points = 1.0
observations = 1
asks = "The total."
"""
PROMPT = "Add {first} and {second}. Give the result in one line that reads SUM = and the number."
PROMPT_MD = (
    f"<!-- arnes canary {'0' * 32} -->\n"
    + PROMPT.format(first="{{ first }}", second="{{ second }}")
    + "\n"
)
GRADER = """\
from harness.grading import Deliverable, Verdict, failed, passed, row


@row("total")
def total(work: Deliverable) -> Verdict:
    reading = work.whole_number("SUM")
    if reading.value == int(work.expected("SUM")):
        return passed("right")
    return failed(reading.problem or "wrong")
"""
FORM = """\
from pathlib import Path

from harness.suite.forms import Form


def form(seed: str) -> Form:
    number = int(Path(__file__).parent.name[1:3])
    return Form(
        task=f"A{number:02d}",
        family=1,
        seed=seed,
        values={"first": number, "second": 7 * number},
        keys=("SUM",),
        answers={"SUM": str(8 * number)},
    )
"""
ORACLE = """\
import re


def answers(prompt: str) -> dict[str, str]:
    first, second = re.findall(r"[0-9]+", prompt)
    return {"SUM": str(int(first) + int(second))}
"""
POLICY = """\
from harness.suite.forms import Form, Golden, Reply, Sets


def sets(form: Form) -> Sets:
    return Sets((Golden("plain", Reply(f"SUM = {form.answers['SUM']}\\n")),), (), ())
"""


def question(number: int) -> str:
    """Return the prompt of a task as it is sent."""
    return PROMPT.format(first=number, second=7 * number) + "\n"


def reply(number: int) -> str:
    """Return the right reply to a task."""
    return f"SUM = {8 * number}"


def script() -> Script:
    """Return what the server plays to every harness: the right reply, at once."""
    by_prompt = {}
    for number in range(TASKS):
        behaviour = (Behaviour(content=reply(number)),)
        text = question(number)
        by_prompt[prompt_key(text)] = by_prompt[prompt_key(text.strip())] = behaviour
    return Script(by_prompt=by_prompt, default=(Behaviour(content=PREFLIGHT_REPLY),))


def write_checkout(root: Path) -> None:
    """Write the checkout."""
    ours = PACKAGE.parent
    shutil.copytree(PACKAGE, root / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ours / CONFIG_NAME, root / CONFIG_NAME)
    for number in range(TASKS):
        folder = root / "suite" / "core" / f"a{number:02d}_one_line"
        golden = folder / "golden" / "plain"
        golden.mkdir(parents=True)
        (golden / "reply.md").write_text(reply(number) + "\n")
        for name, text in (
            ("task.toml", TASK_TOML.format(number=number)),
            ("prompt.md", PROMPT_MD),
            ("grader.py", GRADER),
            ("form.py", FORM),
            ("oracle.py", ORACLE),
            ("policy.py", POLICY),
            ("NOTES.md", "A measure of cost.\n"),
            ("open.json", _open_form(number)),
        ):
            (folder / name).write_text(text)


def _open_form(number: int) -> str:
    form = {
        "task": f"A{number:02d}",
        "family": 1,
        "seed": "open",
        "values": {"first": number, "second": 7 * number},
        "keys": [KEY],
        "answers": {KEY: str(8 * number)},
    }
    return json.dumps(form)


def write_plan(path: Path, base_url: str, *, models: int, runs: int) -> None:
    """Write a plan of TASKS × models × runs cells, all against one server, without controls."""
    text = f'schema_version = 1\nname = "one-line"\nruns = {runs}\ncontrols = false\n'
    text += "allow_slow = true\n"
    for number in range(models):
        text += f'\n[[models]]\nid = "m{number}"\nbackend = "external"\nbase_url = "{base_url}"\n'
        text += f'served_name = "m{number}"\ncontext_tokens = 65536\n'
    path.write_text(text)
