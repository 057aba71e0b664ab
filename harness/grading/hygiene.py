"""Repairs of structural slips, on a copy: a closed list, each logged, each charged once.

A slip that keeps a package from being imported must not take every other row with it. So a copy is
repaired, rows that judge work see the copy, and hygiene rows see what came. What does not compile
is never repaired. Undefined names are found statically, behind the walls; nothing is run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from harness.records.score import Repair
from harness.sandbox import FileFacts

FUTURE = "__future__"

# Name → import, for names that mean one thing only. Score-side, and closed: a name that is a common
# word (`field`, `count`, `path`, `time`) is not here, since its absence may be another slip.
STDLIB_NAMES: dict[str, str] = {
    **{
        name: f"from typing import {name}"
        for name in (
            *("Any", "Callable", "ClassVar", "Dict", "Final", "FrozenSet", "Generator", "Generic"),
            *("Iterable", "Iterator", "List", "Literal", "Mapping", "NamedTuple", "NoReturn"),
            *("Optional", "Protocol", "Sequence", "Set", "Tuple", "Type", "TypeVar", "Union"),
        )
    },
    **{
        name: f"from collections import {name}"
        for name in ("ChainMap", "Counter", "OrderedDict", "defaultdict", "deque", "namedtuple")
    },
    **{name: f"from dataclasses import {name}" for name in ("dataclass",)},
    **{name: f"from decimal import {name}" for name in ("Decimal", "ROUND_HALF_UP")},
    **{name: f"from enum import {name}" for name in ("Enum", "IntEnum")},
    **{name: f"from fractions import {name}" for name in ("Fraction",)},
    **{name: f"from functools import {name}" for name in ("lru_cache", "total_ordering")},
    **{name: f"from pathlib import {name}" for name in ("Path", "PurePath")},
    **{
        name: f"import {name}"
        for name in (
            *("bisect", "collections", "copy", "dataclasses", "datetime", "decimal", "functools"),
            *("heapq", "itertools", "json", "math", "operator", "os", "re", "statistics", "string"),
            *("sys", "typing", "unittest"),
        )
    },
}


@dataclass(frozen=True)
class Repaired:
    """A copy after its repairs, and what was done to it."""

    files: Mapping[str, str]
    changes: tuple[Repair, ...] = field(default=())


def repair(
    files: Mapping[str, str],
    asked: Sequence[str],
    facts_of: Callable[[Mapping[str, str]], Mapping[str, FileFacts]],
) -> Repaired:
    """Repair a copy of a deliverable; applying it twice is applying it once.

    Parameters
    ----------
    files : path → text, as delivered; never changed
    asked : the paths that the task asks for
    facts_of : reads the static facts of Python files behind the walls
    """
    facts = facts_of({path: text for path, text in files.items() if path.endswith(".py")})
    repaired, changes = dict(files), []
    for path in sorted(facts):
        missing = _missing_imports(facts[path])
        if not missing:
            continue
        text = _with_imports(files[path], facts[path], missing)
        if facts_of({path: text})[path].compiles:  # else it stays as it came
            repaired[path] = text
            changes += [
                Repair(file=path, kind="add_stdlib_import", detail=line) for line in missing
            ]
    for path in _missing_packages(asked, files):
        repaired[path] = ""
        changes.append(Repair(file=path, kind="add_init_file", detail="an empty file"))
    return Repaired(repaired, tuple(changes))


def _missing_imports(facts: FileFacts) -> list[str]:
    """Return the imports of standard-library names that are used and bound nowhere."""
    if not facts.compiles or facts.star_import:
        return []
    lines = (STDLIB_NAMES.get(name.name) for name in facts.undefined)
    return sorted({line for line in lines if line is not None})


def _with_imports(text: str, facts: FileFacts, lines: list[str]) -> str:
    """Put imports at the top, but behind imports from the future, which must come first."""
    after = max((i.line for i in facts.imports if i.module == FUTURE), default=0)
    kept = text.split("\n")
    return "\n".join([*kept[:after], *lines, *kept[after:]])


def _missing_packages(asked: Sequence[str], files: Mapping[str, str]) -> list[str]:
    """Return asked `__init__.py` files that are missing beside files that were delivered."""
    folders = {str(PurePosixPath(path).parent) for path in files}
    return [
        path
        for path in asked
        if PurePosixPath(path).name == "__init__.py"
        and path not in files
        and str(PurePosixPath(path).parent) in folders
    ]
