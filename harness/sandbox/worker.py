"""A candidate's files behind the walls, and calls of its functions, each in a fresh fork."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any

from pydantic import Field, field_validator

from harness.arnes import SandboxLimits
from harness.clock import Clock, SystemClock
from harness.errors import GraderError, InstrumentError, Problem
from harness.records.base import Json, Record, digest
from harness.sandbox.inside import box, codec
from harness.sandbox.interpreter import current_interpreter
from harness.sandbox.launch import python_stamp, worker_digest
from harness.sandbox.measures import observe, snippet_task
from harness.sandbox.observation import Observation
from harness.sandbox.owner import Owned
from harness.sandbox.probe import launcher
from harness.sandbox.process import Sandbox, Terms
from harness.sandbox.tier import Tier

ENTRY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
# Imported before the fork, so that a call does not pay for them: what solutions commonly use.
PRELOAD = ("bisect", "collections", "dataclasses", "functools", "heapq", "itertools", "math")
PRELOAD_FOR_TESTS = ("unittest", "harness.sandbox.inside.suite_run")
HashSeed = Annotated[int, Field(ge=0, lt=2**32)]


class Candidate(Record):
    """What is put behind the walls. Its digest is part of an execution's cache key.

    files : relative path → text
    hash_seed : PYTHONHASHSEED of its interpreter, from the cell key
    """

    files: Mapping[str, str]
    hash_seed: HashSeed
    limits: SandboxLimits

    @field_validator("files")
    @classmethod
    def _inside(cls, files: Mapping[str, str]) -> Mapping[str, str]:
        outside = [path for path in files if not box.leads_inside(path)]
        if outside:
            raise ValueError(f"paths that lead out of the box: {outside}")
        return files

    @property
    def digest(self) -> str:
        """The sha256 of files, hash seed and limits."""
        return digest(self)


def execution_key(candidate: Candidate, tier: Tier, inputs: Json) -> str:
    """Return the digest under which the observations of an execution may be kept.

    inputs : what was asked, in order, with every limit that is not the candidate's own
    """
    return digest(
        {
            "candidate": candidate.digest,
            "inputs": inputs,
            "worker": worker_digest(),
            "tier": tier.stamp,
            "python": python_stamp(),
        }
    )


class Worker:
    """A warm sandbox with one candidate in it. Use `open_worker`.

    A sandbox that was lost or could not be cleaned is replaced before the next call. A call whose
    sandbox was lost is asked once more in a new one: twice is not the machine's doing any more.
    """

    def __init__(
        self, candidate: Candidate, tier: Tier, preload: tuple[str, ...], clock: Clock
    ) -> None:
        self.candidate = candidate
        self.tier = tier
        self._preload = preload
        self._clock = clock
        self._sandbox: Sandbox | None = None

    def load(self, module: str, *, limits: SandboxLimits | None = None) -> Observation:
        """Import one module of the candidate; a value means that it loads."""
        return self._observe({"job": "load", "module": module}, limits)

    def call(
        self,
        entry: str,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        limits: SandboxLimits | None = None,
        echo_arguments: bool = False,
    ) -> Observation:
        """Call one function in a fork of its own.

        Parameters
        ----------
        entry : ``module:function``
        args, kwargs : exact builtin types; an `Owned` at the top level stays outside
        limits : instead of the candidate's
        echo_arguments : also return the arguments as they are after the call

        Raises
        ------
        GraderError
            For arguments of other types: they are ours, so this is our fault.
        """
        owned = [value for value in (*args, *(kwargs or {}).values()) if isinstance(value, Owned)]
        task: dict[str, Json] = {
            "job": "call",
            "echo": echo_arguments,
            **call_message(entry, args, kwargs or {}, owned),
        }
        return self._observe(task, limits, owned)

    def snippet(
        self, source: str, payload: Any, *, limits: SandboxLimits | None = None
    ) -> Observation:
        """Run a trusted text of ours over foreign data: ``main(payload)`` gives the value."""
        return self._observe(snippet_task(source, payload), limits)

    def _observe(
        self, task: dict[str, Json], limits: SandboxLimits | None, owned: Sequence[Owned] = ()
    ) -> Observation:
        """Ask once; a sandbox that was lost is the machine's doing, so then once more."""
        with suppress(InstrumentError):
            seen = observe(self.sandbox(), task, self.terms(limits), owned)
            if not seen.lost:
                return seen
        return observe(self.sandbox(), task, self.terms(limits), owned)

    def terms(self, limits: SandboxLimits | None = None) -> Terms:
        """Return the terms of one call: no process, no socket."""
        return Terms(limits or self.candidate.limits)

    def sandbox(self) -> Sandbox:
        """Return the running sandbox, started anew if the last one cannot be used."""
        if self._sandbox is not None and self._sandbox.broken:
            self.close()
        if self._sandbox is None:
            launch = launcher(self.tier.name)(
                current_interpreter(),
                self.candidate.hash_seed,
                self.candidate.limits.scratch_mib,
                (),
            )
            self._sandbox = Sandbox(launch, self.candidate.files, self._preload, self._clock)
        return self._sandbox

    def close(self) -> None:
        """End the sandbox; the next call would start another."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


@contextmanager
def open_worker(
    candidate: Candidate, tier: Tier, *, for_tests: bool = False, clock: Clock | None = None
) -> Iterator[Worker]:
    """Start a sandbox with this candidate, and end all of it at the exit.

    Parameters
    ----------
    tier : from `probe` or `tiers`; with the tier "none" nothing is run; use the worker in the
        thread that opened it, because a sandbox ends with that thread
    for_tests : unittest is imported before the forks

    Raises
    ------
    InstrumentError
        If there is no tier, or the sandbox does not come up.
    """
    preload = (*PRELOAD, *(PRELOAD_FOR_TESTS if for_tests else ()))
    worker = Worker(candidate, tier, preload, clock or SystemClock())
    try:
        worker.sandbox()
        yield worker
    finally:
        worker.close()


def call_message(
    entry: str, args: Sequence[Any], kwargs: Mapping[str, Any], owned: Sequence[Owned] = ()
) -> dict[str, Json]:
    """Return the part of a message that says what is called with what.

    Raises
    ------
    GraderError
        For a name that is none, and for arguments that have no text.
    """
    if not ENTRY.fullmatch(entry):
        raise GraderError(f"{entry!r} is not module:function")
    try:
        return {
            "entry": entry,
            "args": [_argument(value, owned) for value in args],
            "kwargs": {"d": [[name, _argument(value, owned)] for name, value in kwargs.items()]},
        }
    except codec.RefusedError as error:
        raise GraderError(
            f"the arguments of {entry} cannot be sent",
            [Problem(entry, str(error), "send None, bool, int, float, str, list, tuple, dict")],
        ) from error


def _argument(value: Any, owned: Sequence[Owned]) -> Json:
    for number, known in enumerate(owned):
        if known is value:
            return {"o": number}
    encoded: Json = codec.encode(value)
    return encoded
