"""What a fork does to itself before the first line of foreign code is read."""

import ctypes
import os
import resource
import signal
import sys
from dataclasses import dataclass
from typing import Any

from harness.sandbox.inside import landlock, seccomp

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
MIB = 1 << 20
OPEN_FILES = 64
IS_LINUX = sys.platform == "linux"


@dataclass(frozen=True)
class Limits:
    """The limits of one fork, in the kernel's units.

    processes : how many of the user's processes there may be, ours included; None leaves it
    """

    memory_bytes: int
    cpu_s: int
    file_bytes: int
    processes: int | None


def prctl(option: int, value: int) -> None:
    """Set one property of this process.

    Raises
    ------
    OSError
        If the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl {option} was refused")


def harden_zygote() -> None:
    """Let no process of the same user look into this one, and adopt every orphan below it."""
    if IS_LINUX:
        prctl(PR_SET_DUMPABLE, 0)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_NO_NEW_PRIVS, 1)


def drop_user(uid: int) -> None:
    """Become an ordinary user for good; all capabilities go with it."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def die_with(parent: int) -> None:
    """End this fork when the zygote ends, also if that happened already."""
    if IS_LINUX:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def set_limits(limits: Limits) -> None:
    """Set what the kernel can count for one process; both values, so that none can be raised."""
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: OPEN_FILES,
    }
    if IS_LINUX:
        wanted |= {
            resource.RLIMIT_AS: limits.memory_bytes,
            resource.RLIMIT_MSGQUEUE: 0,
            resource.RLIMIT_MEMLOCK: 0,
        }
    if limits.processes is not None:
        wanted[resource.RLIMIT_NPROC] = limits.processes
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (bound, bound))


def confine(rules: seccomp.Rules | None, ruleset: int | None) -> None:
    """Close files, signals and system calls to this process and all it will start."""
    if ruleset is not None:
        landlock.restrict(ruleset)
        os.close(ruleset)
    if rules is not None:
        seccomp.install(seccomp.program(rules, os.getpid()))


def limits_from(message: dict[str, Any]) -> Limits:
    """Read the limits of a start message."""
    return Limits(
        memory_bytes=int(message["memory_mib"]) * MIB,
        cpu_s=int(message["cpu_s"]),
        file_bytes=int(message["file_mib"]) * MIB,
        processes=message["processes"],
    )
