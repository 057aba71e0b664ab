"""Run code for a grader, behind the walls, and remember every observation.

A grader asks for observations and compares them here, in a process that never runs, imports or
parses a deliverable. What was observed once is kept under the digest of everything it depends on
(files, hash seed, limits, what was asked, worker code, walls, interpreter), so that scoring again
gives the same verdicts, times included, without running anything.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from harness.arnes import SandboxLimits
from harness.errors import GraderError
from harness.records.base import Json, Record, digest
from harness.sandbox import (
    Candidate,
    FileFacts,
    Observation,
    Owned,
    SuiteRun,
    Tier,
    Worker,
    facts_of,
    open_worker,
    python_stamp,
    unittest_run,
    worker_digest,
)

Kept = TypeVar("Kept", bound=Record)


class Bench:
    """The place where one cell's code is run. A context manager; nothing runs after its exit.

    Parameters
    ----------
    tier : the walls
    limits : what each measure may use, unless a grader asks for less
    hash_seed : PYTHONHASHSEED of everything that runs here, from the cell's key
    remembered : key → observation, from an earlier scoring of the same cell
    """

    def __init__(
        self,
        tier: Tier,
        limits: SandboxLimits,
        hash_seed: int,
        remembered: Mapping[str, Json] | None = None,
    ) -> None:
        self.limits = limits
        self._tier = tier
        self._hash_seed = hash_seed
        self._before = dict(remembered or {})
        self._used: dict[str, Json] = {}
        self._workers: dict[str, Worker] = {}
        self._exit = ExitStack()

    @property
    def remembered(self) -> dict[str, Json]:
        """Every observation that this scoring used: what is worth keeping."""
        return dict(self._used)

    @property
    def walls(self) -> str:
        """What stood around the code, for the score sheet."""
        return self._tier.stamp

    def seat(self, files: Mapping[str, str]) -> "Seat":
        """Return a seat for a set of files: a deliverable's, or references of ours."""
        candidate = Candidate(files=files, hash_seed=self._hash_seed, limits=self.limits)
        return Seat(self, candidate)

    def facts(self, files: Mapping[str, str]) -> dict[str, FileFacts]:
        """Return the static facts of each file, by path; each is parsed behind the walls."""
        empty = Candidate(files={}, hash_seed=0, limits=self.limits)

        def read(path: str, text: str) -> FileFacts:
            return facts_of(self.worker(empty), path, text)

        return {
            path: self.recall(["facts", path, text], FileFacts, partial(read, path, text))
            for path, text in files.items()
        }

    def snippet(self, source: str, payload: Json) -> Observation:
        """Run a trusted text of ours over data behind the walls: ``main(payload)`` is the value."""
        empty = Candidate(files={}, hash_seed=0, limits=self.limits)
        return self.recall(
            ["snippet", source, payload],
            Observation,
            lambda: self.worker(empty).snippet(source, payload),
        )

    def worker(self, candidate: Candidate, *, for_tests: bool = False) -> Worker:
        """Return the warm worker of a candidate, started when it is first needed."""
        key = f"{candidate.digest} {for_tests}"
        if key not in self._workers:
            opened = open_worker(candidate, self._tier, for_tests=for_tests)
            self._workers[key] = self._exit.enter_context(opened)
        return self._workers[key]

    def recall(self, asked: Json, model: type[Kept], run: Callable[[], Kept]) -> Kept:
        """Return what was observed before under the same circumstances, or observe it now."""
        circumstances: Json = [
            asked,
            self._hash_seed,
            self.limits.model_dump(mode="json"),
            self._tier.stamp,
            python_stamp(),
            worker_digest(),
        ]
        key = digest(circumstances)
        known = self._used.get(key, self._before.get(key))
        if known is None:
            known = run().model_dump(mode="json")
        self._used[key] = known
        return model.model_validate(known)

    def __enter__(self) -> Self:
        """Nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every sandbox."""
        self._workers.clear()
        self._exit.close()


class Seat:
    """One set of files on a bench. Each call is a fork of its own; nothing carries over."""

    def __init__(self, bench: Bench, candidate: Candidate) -> None:
        self._bench = bench
        self._candidate = candidate

    @property
    def files(self) -> Mapping[str, str]:
        """The files that sit here."""
        return self._candidate.files

    def load(self, module: str) -> Observation:
        """Import one module; a value means that it loads."""
        asked: Json = ["load", self._candidate.digest, module]
        return self._bench.recall(
            asked, Observation, lambda: self._bench.worker(self._candidate).load(module)
        )

    def call(
        self,
        entry: str,
        *args: Any,
        limits: SandboxLimits | None = None,
        echo_arguments: bool = False,
        repeat: int = 0,
    ) -> Observation:
        """Call ``module:function`` with exact builtin values; an `Owned` list stays outside.

        Parameters
        ----------
        limits : instead of the bench's
        echo_arguments : also observe the arguments as they are after the call
        repeat : another number is another measure of the same thing, never recalled as the first
        """
        asked: Json = [
            "call",
            self._candidate.digest,
            entry,
            [_named(arg) for arg in args],
            limits.model_dump(mode="json") if limits else None,
            echo_arguments,
            repeat,
        ]
        return self._bench.recall(
            asked,
            Observation,
            lambda: self._bench.worker(self._candidate).call(
                entry, args, limits=limits, echo_arguments=echo_arguments
            ),
        )

    def test(
        self,
        test_module: str,
        variant: "Seat",
        module: str,
        functions: Sequence[str],
        *,
        budget: int,
        limits: SandboxLimits | None = None,
        module_limits: SandboxLimits | None = None,
        only: Sequence[str] | None = None,
        source: str | None = None,
        known: dict[str, Observation] | None = None,
        repeat: int = 0,
    ) -> SuiteRun:
        """Run this seat's test file against a module that sits elsewhere.

        Parameters
        ----------
        module, functions : name under which the tests import it, and what it offers them
        budget : calls that are answered; later ones raise RuntimeError in the tests
        only : identifiers of the tests to run; None runs all
        source : name of the module where it sits, if that is another
        known : answers of earlier runs of a variant whose functions always give the same

        Raises
        ------
        GraderError
            If the variant does not load: then no test is to blame.
        """
        asked: Json = [
            "test",
            self._candidate.digest,
            test_module,
            variant._candidate.digest,  # noqa: SLF001 (the same class)
            module,
            list(functions),
            budget,
            limits.model_dump(mode="json") if limits else None,
            module_limits.model_dump(mode="json") if module_limits else None,
            list(only) if only is not None else None,
            source,
            repeat,
        ]
        return self._bench.recall(
            asked,
            SuiteRun,
            lambda: unittest_run(
                self._bench.worker(self._candidate, for_tests=True),
                test_module,
                self._bench.worker(variant._candidate),  # noqa: SLF001
                module,
                functions,
                budget=budget,
                limits=limits,
                module_limits=module_limits,
                only=only,
                source=source,
                known=known,
            ),
        )


def _named(argument: Any) -> Json:
    """Return an argument as it goes into a key."""
    if isinstance(argument, Owned):
        return {"owned": digest(list(argument.values)), "budget": argument.budget}
    try:
        return digest({"value": argument})
    except (TypeError, ValueError) as error:
        raise GraderError(f"an argument of a grader has no JSON form: {error}") from error
