"""Run something that may hang, die or ruin its process, in a fork that is thrown away."""

import os
import resource
import select
import signal
from collections.abc import Callable
from contextlib import suppress

MEMORY_BYTES = 4 << 30
WALL_PER_CPU = 30  # a busy machine may give a process this small a part of a core
HUNG, DIED = "hung", "died"


def in_a_fork(run: Callable[[], str], cpu_limit_s: float) -> str:
    """Return the word that `run` returns; `hung` at its limit, `died` if it ends without a word.

    The limit is CPU time, so that a loop without end is told from a busy machine. For a process
    with one thread only.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        _child(run, write, cpu_limit_s)
    os.close(write)
    try:
        ready, _, _ = select.select([read], [], [], cpu_limit_s * WALL_PER_CPU)
        word = os.read(read, 100).decode() if ready else HUNG
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(read)
    if not word and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        return HUNG
    return word or DIED


def cpu_used_s() -> float:
    """Return the CPU time that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _child(run: Callable[[], str], write: int, cpu_limit_s: float) -> None:
    """Say the word and end, without whatever the parent would do at its own end."""
    try:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_limit_s)
        with suppress(ValueError, OSError):  # some systems have no such limit
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        os.write(write, run().encode())
    finally:
        os._exit(0)
