"""A checkout with one small task, to be made weak or strong by a test."""

import shutil
from pathlib import Path

from campaigning import ROOT

from harness.arnes import load_arnes
from harness.clock import SystemClock
from harness.records.base import readable_json
from harness.records.validation import Strength, Validation
from harness.stages.strength import Plays, strength
from harness.stages.validate import validate
from harness.suite.forms import Form
from harness.suite.loader import load_suite

FOLDER = "suite/core/a90_ten_or_more"

TASK = """\
schema_version = 1
id = "A90"
title = "Ten or more"
level = "A"
mode = "single"
max_points = 2.0
measures = "Whether a number is ten or more."
does_not_measure = "Anything else."

[limits]
prompt_tokens = 100

[[rows]]
id = "large"
kind = "answers"
points = 1.5
observations = 1
asks = "A number of ten or more."

[[rows]]
id = "even"
kind = "answers"
points = 0.5
observations = 1
asks = "An even number."
"""

GRADER = '''\
"""Grader of A90: a number of ten or more, and an even one."""

from harness.grading import Deliverable, Verdict, failed, passed, row


@row("large")
def large(work: Deliverable) -> Verdict:
    number = int(work.given("N") or 0)
    if number >= 10:
        return passed("it is large")
    return failed("it is small")


@row("even")
def even(work: Deliverable) -> Verdict:
    number = int(work.given("N") or 1)
    return passed("it is even") if number % 2 == 0 else failed("it is odd")
'''

ANSWERS = 'def answers(prompt):\n    return {"N": "12"}\n'

FORM = Form(task="A90", family=1, seed="open", values={}, keys=("N",), answers={"N": "12"})


def write_suite(root: Path, grader: str = GRADER) -> Path:
    """Write the checkout; its sets are weak: nothing stands near ten."""
    folder = root / FOLDER
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "arnes.toml", root)
    canary = f"<!-- arnes canary {'0' * 32} -->\n"
    for name, text in {
        "task.toml": TASK,
        "prompt.md": canary + "Answer with an even number of ten or more, as `N = 0`.\n",
        "grader.py": grader,
        "oracle.py": ANSWERS,
        "form.py": "",
        "policy.py": "",
        "NOTES.md": "# A90\n",
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "open.json").write_bytes(readable_json(FORM))
    add(root, "golden", "twelve", 12)
    add(root, "golden", "forty", 40)
    add(root, "defective", "three", 3)
    add(root, "exploits", "minus", -13, "ceiling = 0.0\ntrick = 'a sign'\n")
    return root


def add(root: Path, kind: str, name: str, number: int, expected: str = "points = 0.0\n") -> None:
    """Add a member that answers with a number."""
    place = root / FOLDER / kind / name
    place.mkdir(parents=True)
    (place / "reply.md").write_text(f"N = {number}\n", encoding="utf-8")
    if kind != "golden":
        (place / "expected.toml").write_text(expected, encoding="utf-8")


def deep(root: Path, sample: int = 1000) -> tuple[Validation, Strength]:
    """Validate the checkout deeply."""
    config, suite, plays = load_arnes(root), load_suite(root), Plays()
    found = validate(suite, config, SystemClock(), watch=plays.watch)
    return found, strength(suite, config, plays, sample=sample)
