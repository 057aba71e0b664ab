"""A second copy of the code that turns observations into points, one tree of it perhaps changed.

Meant for a process that is thrown away: the copy takes the place of the modules it was made from.
Nothing can be run in a sandbox from here. A bench only remembers; a row that asks for what was
never observed raises `NotRememberedError`.

`bench.py`, the repairs of `hygiene.py` and the sandbox are no part of the copy: they come before an
observation, not between it and its points.
"""

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from harness.errors import InstrumentError
from harness.grading.bench import Bench
from harness.grading.verdict import ROW_ATTRIBUTE
from harness.sandbox import Candidate, Tier, Worker
from harness.signature import PACKAGE
from harness.suite.loader import Task

# In an order in which each needs only what stands before it.
PATHWAY = (
    "harness.records.score",
    "harness.parsing.answers",
    "harness.grading.deliverable",
    "harness.grading.verdict",
    "harness.grading.hygiene_rows",
    "harness.grading.mutation",
    "harness.grading.grader",
    "harness.grading",
    "harness.stages.grade",
    "harness.stages.validate",  # the judge, which must see the same sums
)
UNCHANGED = frozenset({"harness.grading", "harness.stages.validate"})
GRADE, GRADER = "harness.stages.grade", "harness.grading.grader"
TASK_GRADER = "grader.py"


class NotRememberedError(Exception):
    """A grader asked for an observation that was not made when the members were played."""


class Memory(Bench):
    """A bench that remembers and runs nothing."""

    def worker(self, candidate: Candidate, *, for_tests: bool = False) -> Worker:
        """Refuse: what is asked for was not observed before."""
        raise NotRememberedError(f"{candidate.digest} {for_tests}")


@dataclass(frozen=True)
class Source:
    """One module of the copy; name is empty for the task's grader."""

    name: str
    path: Path
    shown: str
    text: str
    tree: ast.Module
    code: CodeType


class Specimen:
    """The copy for one task.

    Parameters
    ----------
    task : whose grader it holds
    tier : the walls behind which its code was run, None if it runs none
    """

    def __init__(self, task: Task, tier: Tier | None) -> None:
        self._task = task
        self._tier = tier
        found = [_source(name, _path_of(name), PACKAGE.parent) for name in PATHWAY]
        root = task.folder.parents[2]
        self.sources = (*found, _source("", task.folder / TASK_GRADER, root))

    @property
    def changeable(self) -> tuple[Source, ...]:
        """The modules that hold a line between an observation and its points."""
        return tuple(source for source in self.sources if source.name not in UNCHANGED)

    def load(self, changed: Source | None = None) -> None:
        """Put the copy in place, from a changed module on; its tree is compiled as it is now."""
        first = self.sources.index(changed) if changed is not None else 0
        *modules, task_grader = self.sources
        for source in modules[first:]:
            _place(source.name, _code_of(source, changed))
        self._connect(_code_of(task_grader, changed))

    def _connect(self, task_grader: CodeType) -> None:
        """Bind the task's own grader and a bench that only remembers."""
        module = ModuleType(f"arnes_suite.{self._task.folder.name}.grader")
        module.__file__ = str(self._task.folder / TASK_GRADER)
        exec(task_grader, module.__dict__)  # noqa: S102 (our own file, in a process of its own)
        functions = {
            getattr(function, ROW_ATTRIBUTE): function
            for _, function in inspect.getmembers(module, inspect.isfunction)
            if hasattr(function, ROW_ATTRIBUTE)
        }
        _bind(GRADER, "row_functions", lambda _folder: functions)
        _bind(GRADE, "walls_for", lambda _task: self._tier)
        _bind(GRADE, "Bench", Memory)


def lines_run(sources: Iterable[Source], run: Callable[[], object]) -> dict[str, frozenset[int]]:
    """Return path → numbers of the lines that ran."""
    seen: dict[str, set[int]] = {str(source.path): set() for source in sources}

    def within(frame: FrameType, event: str, _arg: object) -> Any:
        if event == "line":
            seen[frame.f_code.co_filename].add(frame.f_lineno)
        return within

    def enter(frame: FrameType, _event: str, _arg: object) -> Any:
        return within if frame.f_code.co_filename in seen else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(before)
    return {path: frozenset(lines) for path, lines in seen.items()}


def _path_of(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise InstrumentError(f"the module {name} has no file")
    return Path(spec.origin)


def _source(name: str, path: Path, root: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    code = compile(tree, str(path), "exec")
    return Source(name, path, path.relative_to(root).as_posix(), text, tree, code)


def _code_of(source: Source, changed: Source | None) -> CodeType:
    if source is not changed:
        return source.code
    return compile(ast.fix_missing_locations(source.tree), str(source.path), "exec")


def _place(name: str, code: CodeType) -> None:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102
    package, _, last = name.rpartition(".")
    setattr(sys.modules[package], last, module)


def _bind(module: str, name: str, value: object) -> None:
    setattr(sys.modules[module], name, value)
