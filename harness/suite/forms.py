"""Parallel forms: what a generator makes, and what is played against it.

This module is the only one of ours that a task's `form.py` and `policy.py` import. `form(seed)`
is pure: it draws from ``random.Random(f"{task}/{family}/{seed}")`` only, reads no clock and
iterates over no set.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from harness.errors import FormError, Problem
from harness.records.base import Json, Record, digest
from harness.records.score import ModelCause

OPEN = "open"


class Form(Record):
    """One form of one task.

    task, family : which generator and which version of it
    seed : what it was drawn from; `open` is the published form, any other is a secret
    values : what the prompt is rendered from; graders may read them too
    keys : the answer keys that are asked, in order; empty for tasks of files
    answers : key → the right answer by method 1, in the canonical text a model would write
    traps : key → {name of the error: the answer that error leads to}; diagnostic, no points
    structure : numbers that must lie in the task's bands
    """

    task: str
    family: Annotated[int, Field(ge=1)]
    seed: str
    values: dict[str, Json]
    keys: tuple[str, ...] = ()
    answers: dict[str, str] = Field(default_factory=dict)
    traps: dict[str, dict[str, str]] = Field(default_factory=dict)
    structure: dict[str, float] = Field(default_factory=dict)

    def id_with(self, prompt: str) -> str:
        """Return the form id: 12 hex digits over task, family, seed, prompt and answers.

        Parameters
        ----------
        prompt : the prompt rendered with its parameters left standing by name, so that the id
            is the same under every profile
        """
        return digest([self.task, self.family, self.seed, prompt, self.answers])[:12]


def generator(task: str, family: int, seed: str) -> random.Random:
    """Return the only source of chance that a form may draw from."""
    return random.Random(f"{task}/{family}/{seed}")  # noqa: S311 (forms are no cryptography)


def refuse(task: str, seed: str, problems: list[str]) -> FormError:
    """Return the error for a form that fails its bands; the caller raises it."""
    return FormError(
        f"{len(problems)} band(s) of {task} failed for seed {seed!r}",
        [Problem(f"{task} form", problem, "take another seed") for problem in problems],
        "No form was drawn.",
    )


@dataclass(frozen=True)
class Reply:
    """A written reply, as a server would send it."""

    text: str
    finish_reason: str = "stop"
    reasoning: str = ""


@dataclass(frozen=True)
class Golden:
    """A deliverable that must reach the maximum."""

    name: str
    reply: Reply


@dataclass(frozen=True)
class Defective:
    """A deliverable with a known score: `rows` holds the points of every row above zero.

    flags : integrity marks that its grader must set; it may set others
    """

    name: str
    reply: Reply
    rows: dict[str, float] = field(default_factory=dict)
    cause: ModelCause | None = None
    shows: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exploit:
    """An attempt to score without the work: it must stay at or under its ceiling.

    flags : integrity marks that its grader must set; it may set others
    """

    name: str
    reply: Reply
    ceiling: float
    trick: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sets:
    """Everything that is played against one form."""

    golden: tuple[Golden, ...]
    defective: tuple[Defective, ...]
    exploits: tuple[Exploit, ...]


LONGEST_READ = 400  # characters of a value, and digits of a number: what readers take at most
MOST_DIGITS = 40


def dressed(values: Mapping[str, str]) -> dict[str, str]:
    """Return right values, each in markup that a reader takes off, one kind after another.

    A golden of such lines holds the readers from below, `misdressed` from above.
    """
    return {
        key: _dresses(value)[place % len(_dresses(value))]
        for place, (key, value) in enumerate(values.items())
    }


def _dresses(value: str) -> tuple[str, ...]:
    grouped, wide = value, value
    if value.isdigit():
        grouped, wide = f"{int(value):05,}", value.zfill(MOST_DIGITS)
    return (
        f"\\boxed{{ **{value}.** }}",
        "\\(" + grouped.replace(",", "\\,") + "\\)",
        f"\\[{grouped}\\]",
        f"$$ {wide} $$",
        f"\\text{{`{value}` |}}",
        f"\\mathbf{{**\t{value}\t**}}",
        f"\\mathrm{{’{value}’}}",
        "\\$" + grouped.replace(",", "{,}"),
        f"$\\boxed{{\\text{{{value}}}}}$.",
        _padded(value, LONGEST_READ),
    )


def misdressed(values: Mapping[str, str]) -> dict[str, str]:
    """Return right whole numbers, each written as something that is another number or none."""
    return {
        key: _misfits(value)[place % len(_misfits(value))]
        for place, (key, value) in enumerate(values.items())
    }


def _misfits(number: str) -> tuple[str, ...]:
    return (
        f"{number}..",
        f"{number} or so",
        f"-{number}",
        f"{number}.0",
        number.zfill(MOST_DIGITS + 1),
        _padded(number, LONGEST_READ + 1),
        f"0{number[:-2]},{number[-2:]}",
        f"0{number[:-2]}{{,}}{number[-2:]}",
        f"0{number[:-2]}\\,{number[-2:]}",
        f"0{number[:-1]}\\${number[-1]}",
        f"\\boxed{{{number}}} or so",
        f"\\boxed{{{number}",
        f"no. {number}",
    )


def _padded(value: str, length: int) -> str:
    """Write dollars around a value until it has this many characters."""
    dollars = length - len(value)
    return "$" * (dollars // 2) + value + "$" * (dollars - dollars // 2)
