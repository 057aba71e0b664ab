"""Step 5: the signature, a digest over named parts of everything that can move a score.

Each part is *run-side* (what a model sees or may do) or *score-side* (how a reply becomes
points). Two results are comparable when their run-side digests are equal and both were
finalized under one score-side digest. A change of a run-side part costs the cells; a change
of a score-side part costs a `finalize`.
"""

import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from harness.arnes import ArnesConfig
from harness.errors import ConfigError, Problem
from harness.records.base import Json, digest
from harness.records.score import Stamps
from harness.suite.loader import Suite

Side = Literal["run", "score"]
LOCK_NAME = "arnes.lock"
NO_SUCH_PART = "0" * 64  # of a result that is older than the part
PACKAGE = Path(__file__).resolve().parent
RUN_KEYS = ("level", "mode", "deliverables", "tools", "finish", "limits")  # of task.toml


@dataclass(frozen=True)
class Part:
    """One named part.

    code : files of the package, as globs below `harness/`
    task_files : files of every task folder, as globs below it
    about : what it is, for people
    """

    name: str
    side: Side
    about: str
    code: tuple[str, ...] = ()
    task_files: tuple[str, ...] = ()
    outside_lock: bool = False


PARTS: tuple[Part, ...] = (
    Part("config", "run", "the values of arnes.toml that stand in no other part"),
    Part("tasks", "run", "ids, modes, asked files and limits of the tasks"),
    Part(
        "prompts",
        "run",
        "system texts and task prompts",
        code=("suite/prompts.py", "suite/loader.py"),
        task_files=("prompt.md",),
    ),
    Part(
        "tools",
        "run",
        "tool descriptions and tools",
        code=("world/tools.py", "records/tools.py"),
    ),
    Part("protocol", "run", "how a tool call is written and read", code=("protocol/*.py",)),
    Part(
        "loop",
        "run",
        "turns, elision, requests, transport limits and retries",
        code=(
            "running/*.py",
            *(
                f"models/{name}.py"
                for name in (
                    "body",
                    "chat",
                    "http",
                    "line",
                    "outcome",
                    "patience",
                    "secret",
                    "watch",
                )
            ),
            "parsing/wire.py",  # decides what is a reply and what is tried again
            "parsing/channel.py",  # decides which text of a reply a call is looked for in
            "parsing/completion.py",  # decides whether a reply was cut
            "arnes.py",  # caps and seeds are computed there
            "records/response.py",
        ),
    ),
    Part(
        "faults",
        "run",
        "fault schedules, payloads and their semantics",
        code=("world/faults.py",),
        task_files=("faults.toml", "payloads/**/*"),
    ),
    Part(
        "worlds",
        "run",
        "the simulated environments",
        code=(
            *(
                f"world/{name}.py"
                for name in (
                    "__init__",
                    "files",
                    "ledger",
                    "pages",
                    "scene",
                    "suites",
                    "tables",
                    "world",
                )
            ),
            "records/world.py",
        ),
        task_files=("world.py", "world/**/*"),
    ),
    Part("materials", "run", "files a model is given", task_files=("materials/**/*",)),
    Part(
        "form",
        "run",
        "which parallel form is asked",
        code=("suite/forms.py",),
        outside_lock=True,
    ),
    Part(
        "parsing",
        "score",
        "raw bytes to deliverable",
        code=(
            "parsing/*.py",
            "records/parsed.py",
            "stages/agent_cells.py",
            "stages/reparse.py",
        ),
    ),
    Part(
        "hygiene",
        "score",
        "structural rows and repairs",
        code=("grading/hygiene.py", "grading/hygiene_rows.py"),
    ),
    Part(
        "graders",
        "score",
        "deliverable to observations to fractions",
        code=(
            "grading/__init__.py",
            "grading/bench.py",
            "grading/deliverable.py",
            "grading/grader.py",
            "grading/mutation.py",
            "grading/verdict.py",
            "records/base.py",
            "records/score.py",
            "stages/grade.py",
            "stages/score.py",
        ),
        task_files=("grader.py",),
    ),
    Part(
        "rows",
        "score",
        "rows, points and declared observations of the tasks",
        code=("suite/definition.py", "suite/source.py"),
    ),
    Part("cases", "score", "reference inputs and outputs", task_files=("cases.json",)),
    Part(
        "sandbox",
        "score",
        "isolation and limits of what is run",
        code=("sandbox/*.py", "sandbox/inside/*.py"),
    ),
    Part(
        "candidate_python",
        "score",
        "minor version of the interpreter that runs deliverables",
        outside_lock=True,
    ),
)


@dataclass(frozen=True)
class Signature:
    """The table of parts and its digests.

    value : digest of the whole table
    run_side, score_side : digests of the parts of one side
    lock : digest of the parts that `arnes.lock` holds
    files : part → the files it was made from, for `arnes signature` and the tests
    """

    value: str
    run_side: str
    score_side: str
    lock: str
    parts: dict[str, str]
    files: dict[str, tuple[str, ...]]


def signature_of(config: ArnesConfig, suite: Suite, package: Path = PACKAGE) -> Signature:
    """Compute the signature of a config and a suite in its form.

    Parameters
    ----------
    config, suite : what is signed
    package : the folder of the code; another one than ours only when a checkout is examined
    """
    values = _values(config, suite)
    parts, files = {}, {}
    for part in PARTS:
        found = dict(_files(part, suite, package))
        parts[part.name] = digest({"files": found, "values": values.get(part.name)})
        files[part.name] = tuple(found)
    return Signature(
        value=digest(parts),
        run_side=side_digest(parts, "run"),
        score_side=side_digest(parts, "score"),
        lock=digest({p.name: parts[p.name] for p in PARTS if not p.outside_lock}),
        parts=parts,
        files=files,
    )


def check_lock(root: Path, config: ArnesConfig, signature: Signature) -> None:
    """Compare with `arnes.lock`, which is append-only: version and profile → lock digest.

    A version that ends in `-dev` is never locked.

    Raises
    ------
    ConfigError
        If the version is not locked, or is locked with another value.
    """
    if config.is_development:
        return
    key = f"{config.arnes_version}/{config.profile}"
    path = root / LOCK_NAME
    try:
        locked = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{LOCK_NAME} cannot be read",
            [Problem(str(path), str(error), "restore it; it is append-only")],
            "Nothing was run.",
        ) from error
    if key not in locked:
        raise ConfigError(
            f"{key} is not in {LOCK_NAME}",
            [Problem(LOCK_NAME, f"no entry {key!r}", f'append: "{key}" = "{signature.lock}"')],
            "Nothing was run.",
        )
    if locked[key] != signature.lock:
        raise ConfigError(
            f"the instrument is not what {key} was locked as",
            [
                Problem(
                    LOCK_NAME,
                    f"locked {str(locked[key])[:12]}…, now {signature.lock[:12]}…",
                    "give the change a new arnes_version, or take it back; arnes signature",
                )
            ],
            "Nothing was run.",
        )


def stamps_of(config: ArnesConfig, signature: Signature) -> Stamps:
    """Return what is stamped in every `RUN_INFO.json` and `CALIFICACION.json`."""
    return Stamps(
        arnes_version=config.arnes_version,
        profile=config.profile,
        signature=signature.value,
        run_side=signature.run_side,
        score_side=signature.score_side,
        parts=signature.parts,
    )


def scored_now(ran_under: Stamps, now: Stamps) -> Stamps:
    """Return the stamps of cells that ran under one signature and are scored under another.

    Run-side parts are those the cell ran under; score-side parts are the present ones.
    """
    parts = {
        part.name: (ran_under if part.side == "run" else now).parts.get(part.name, NO_SUCH_PART)
        for part in PARTS
    }
    return Stamps(
        arnes_version=ran_under.arnes_version,
        profile=ran_under.profile,
        signature=digest(parts),
        run_side=side_digest(parts, "run"),
        score_side=side_digest(parts, "score"),
        parts=parts,
    )


def side_digest(parts: dict[str, str], side: Side) -> str:
    """Return the digest of the parts of one side."""
    return digest({part.name: parts[part.name] for part in PARTS if part.side == side})


def changed_parts(before: dict[str, str], after: dict[str, str], side: Side) -> tuple[str, ...]:
    """Return the names of the parts of one side that differ, in the table's order."""
    return tuple(
        part.name
        for part in PARTS
        if part.side == side and before.get(part.name) != after.get(part.name)
    )


def _values(config: ArnesConfig, suite: Suite) -> dict[str, Json]:
    """Return what parts are made of besides files, as JSON values."""
    settings = config.model_dump(mode="json")
    for elsewhere in ("form", "plan", "prompts", "tools", "sandbox"):
        settings.pop(elsewhere)
    tasks = {t.id: t.definition.model_dump(mode="json") for t in suite.tasks}
    return {
        "config": settings,
        "tasks": {task_id: {key: task[key] for key in RUN_KEYS} for task_id, task in tasks.items()},
        "prompts": config.prompts.model_dump(mode="json"),
        "tools": dict(config.tools),
        # Read by parsing too, so a change of them is named on the score side as well.
        "parsing": {
            "tags": list(config.reasoning.tags),
            "deliverables": {t.id: list(t.definition.deliverables) for t in suite.tasks},
        },
        "form": {t.id: {"id": t.form_id, "content": digest(t.form)} for t in suite.tasks},
        "rows": {
            task_id: {
                "max_points": task["max_points"],
                "rows": [
                    {key: row[key] for key in ("id", "kind", "points", "observations")}
                    for row in task["rows"]
                ],
            }
            for task_id, task in tasks.items()
        },
        "sandbox": config.sandbox.model_dump(mode="json"),
        "candidate_python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }


def _files(part: Part, suite: Suite, package: Path) -> Iterable[tuple[str, str]]:
    for pattern in part.code:
        for path in sorted(package.glob(pattern)):
            yield f"harness/{path.relative_to(package).as_posix()}", _file_digest(path)
    for folder in (task.folder for task in suite.tasks):
        for pattern in part.task_files:
            for path in sorted(p for p in folder.glob(pattern) if p.is_file()):
                if "__pycache__" not in path.parts:
                    yield path.relative_to(suite.root).as_posix(), _file_digest(path)


def _file_digest(path: Path) -> str:
    status = path.stat()
    return _digest_at(path, status.st_size, status.st_mtime_ns)


@cache
def _digest_at(path: Path, size: int, mtime_ns: int) -> str:  # noqa: ARG001 (part of the key)
    return digest(path.read_bytes())
