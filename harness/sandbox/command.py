"""Run a program over foreign files, behind the same walls. What it prints is never a verdict."""

import json
from collections.abc import Mapping, Sequence

from harness.arnes import SandboxLimits
from harness.clock import Clock, SystemClock
from harness.errors import GraderError
from harness.records.base import Record
from harness.sandbox.interpreter import FLAGS, current_interpreter
from harness.sandbox.launch import environment
from harness.sandbox.measures import usage
from harness.sandbox.observation import KilledBy, Usage
from harness.sandbox.probe import launcher
from harness.sandbox.process import Sandbox, Terms
from harness.sandbox.tier import Tier

PYTHON = "{python}"
# Its folder holds foreign files alone, so they may import each other: no -P.
PYTHON_COMMAND = (PYTHON, *(flag for flag in FLAGS if flag != "-P"))
KEPT = ("HOME", "TMPDIR", "LD_LIBRARY_PATH")


class CommandRun(Record):
    """What a program printed and how it ended.

    exit_status : negative for a signal; None when the sandbox was lost
    not_started : why it could not be started, if it could not
    """

    exit_status: int | None
    stdout: bytes
    stderr: bytes
    killed_by: KilledBy
    not_started: str
    usage: Usage


def run_command(
    files: Mapping[str, str],
    argv: Sequence[str],
    tier: Tier,
    limits: SandboxLimits,
    *,
    hash_seed: int = 0,
    silence_s: float | None = None,
    readable: Sequence[str] = (),
    loopback: bool = False,
    clock: Clock | None = None,
) -> CommandRun:
    """Run one program in a sandbox of its own, with the files in its current folder.

    Parameters
    ----------
    argv : program and arguments; ``{python}`` is the interpreter's path inside, and
        `PYTHON_COMMAND` starts it with the flags that shut out other installations
    silence_s : longest time without output
    readable : further host paths that are shown read-only, such as a program's folder
    loopback : sockets inside a network of its own; only behind bubblewrap

    Raises
    ------
    GraderError
        If the tier has no private network and one was asked for.
    InstrumentError
        If the sandbox does not come up.
    """
    if loopback and tier.name != "bubblewrap":
        raise GraderError(f"the tier {tier.name} has no network of its own")
    start = launcher(tier.name)
    launch = start(current_interpreter(), hash_seed, limits.scratch_mib, tuple(readable))
    terms = Terms(limits, silence_s=silence_s, spawn=True, loopback=loopback)
    with Sandbox(launch, files, (), clock or SystemClock()) as sandbox:
        return _run(sandbox, terms, _message(argv, sandbox.python, hash_seed))


def _run(sandbox: Sandbox, terms: Terms, message: bytes) -> CommandRun:
    measure = sandbox.begin(terms)
    try:
        measure.send(message)
        reply = measure.receive()  # the channel closes when the program starts
    finally:
        ending = measure.finish(wait=True)
    return CommandRun(
        exit_status=ending.exit_status,
        stdout=ending.stdout,
        stderr=ending.stderr,
        killed_by=ending.killed_by,
        not_started="" if reply is None else reply.decode("utf-8", "replace")[:300],
        usage=usage(ending),
    )


def _message(argv: Sequence[str], python: str, hash_seed: int) -> bytes:
    task = {
        "job": "command",
        "argv": list(argv),
        "python": python,
        "env": environment(hash_seed) | {"PYTHONDONTWRITEBYTECODE": "1"},
        "keep": KEPT,
        "nonce": "",
        "index": 0,
    }
    return json.dumps(task).encode("ascii")
