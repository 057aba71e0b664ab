"""Static facts of foreign Python files. They are parsed behind the walls, one file per fork.

A text can crash or starve the parser; then only its own facts are missing.
"""

from collections.abc import Mapping
from functools import cache

from pydantic import Field

from harness.arnes import SandboxLimits
from harness.clock import Clock
from harness.errors import GraderError, Problem
from harness.records.base import Record
from harness.sandbox.launch import INSIDE
from harness.sandbox.tier import Tier
from harness.sandbox.worker import Candidate, Worker, open_worker

NO_SEED = 0


class ImportFact(Record):
    """One import: ``from module import names`` or, without names, ``import module``."""

    module: str
    names: tuple[str, ...]
    line: int
    level: int


class NameFact(Record):
    """One name, and the line where it is first read."""

    name: str
    line: int


class MethodFact(Record):
    """One test method by the syntax tree, and the names that stand in it."""

    id: str
    line: int
    names: tuple[str, ...]


class FileFacts(Record):
    """What is known of one file without running it.

    undefined : names that are read and bound nowhere; empty where a star import hides it
    tree_digest : equal for texts that differ in docstrings, comments, annotations, and names that
        are bound in the file; function_digests the same for each function, its own name left out
    """

    compiles: bool
    error: str = ""
    error_line: int | None = None
    imports: tuple[ImportFact, ...] = ()
    star_import: bool = False
    undefined: tuple[NameFact, ...] = ()
    defines: tuple[str, ...] = ()
    test_methods: tuple[MethodFact, ...] = ()
    tree_digest: str = ""
    function_digests: dict[str, str] = Field(default_factory=dict)


def read_facts(
    files: Mapping[str, str], tier: Tier, limits: SandboxLimits, *, clock: Clock | None = None
) -> dict[str, FileFacts]:
    """Return the facts of each file, by path.

    Raises
    ------
    InstrumentError
        If the sandbox does not come up.
    GraderError
        If our own reader fails on a file.
    """
    empty = Candidate(files={}, hash_seed=NO_SEED, limits=limits)
    with open_worker(empty, tier, clock=clock) as worker:
        return {path: facts_of(worker, path, text) for path, text in files.items()}


def facts_of(worker: Worker, path: str, text: str) -> FileFacts:
    """Return the facts of one file, read in a fork of a sandbox that is open already."""
    if not _is_text(text):
        return FileFacts(compiles=False, error="half a surrogate pair: no bytes of a file are this")
    seen = worker.snippet(facts_source(), {"path": path, "text": text})
    if seen.outcome == "exception" and seen.error not in ("RecursionError", "MemoryError"):
        raise GraderError(
            "the reader of foreign files failed",
            [Problem(path, seen.described, "correct harness/sandbox/inside/facts.py")],
        )
    if seen.outcome != "value":
        return FileFacts(compiles=False, error=f"the parser gave up: {seen.described}"[:300])
    return FileFacts.model_validate(seen.value)


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@cache
def facts_source() -> str:
    """Return the text of the reader that runs inside."""
    return (INSIDE / "facts.py").read_text(encoding="utf-8")
