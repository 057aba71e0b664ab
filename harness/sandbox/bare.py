"""Tier 2: Landlock, a system call filter and limits, without any namespace.

The file system is the host's; all of it is closed but the interpreter, the system's libraries and
one folder. What bubblewrap gives and this does not is listed in `LACKS`.
"""

import os
import tempfile
from pathlib import Path

from harness.sandbox.interpreter import (
    FLAGS,
    LOADER_CACHE,
    PACKAGE_FOLDERS,
    SYSTEM_LIBRARIES,
    SYSTEM_LINKS,
    Interpreter,
)
from harness.sandbox.launch import (
    BOOT,
    Launch,
    Setup,
    environment,
    session_prefix,
    unprivileged_uid,
)

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")
PUBLIC = "/tmp"  # noqa: S108 (a folder of a random name is made there; root's own is closed)
LACKS = (
    "that a host file exists, and its size, can be seen, though not what is in it",
    "the scratch is watched, not sized: it can exceed its limit for a tenth of a second",
    "for an ordinary user, a process too many ends the measure instead of failing to start",
    "no private loopback: programs that need one are not run",
)


def bare_launch(
    python: Interpreter, hash_seed: int, scratch_mib: int, readable: tuple[str, ...]
) -> Launch:
    """Plan a sandbox of Landlock and a filter.

    Parameters
    ----------
    python : the interpreter on the host
    scratch_mib : not used: this tier cannot size a folder; the zygote watches it
    readable : further host paths that may be read
    """
    del scratch_mib
    uid = unprivileged_uid() if os.geteuid() == 0 else None
    private = python.private_above if uid is not None else None
    session = Path(tempfile.mkdtemp(prefix=session_prefix(), dir=PUBLIC if private else None))
    if uid is not None:
        os.chown(session, uid, uid)
    setup = Setup(
        scratch=str(session),
        readable=(str(python.executable), *_python_files(python), *_system(), *readable),
        listable=tuple(map(str, python.standard_library)),
        devices=DEVICES,
        uid=uid,
        own_processes=False,
        own_file_system=False,
        host_files=True,
        hide_above=None if private is None else str(private),
        python=str(python.executable),
    )
    command = (str(python.executable), *FLAGS, "-c", BOOT)
    return Launch(command, environment(hash_seed), setup, session=session)


def _python_files(python: Interpreter) -> list[str]:
    """Everything in its library folders but installed packages."""
    shown: list[str] = []
    for folder in python.libraries:
        for path in sorted(folder.iterdir()):
            if path in python.standard_library:
                shown += [str(p) for p in sorted(path.iterdir()) if p.name not in PACKAGE_FOLDERS]
            elif not path.is_dir() or str(folder) in SYSTEM_LIBRARIES:
                shown.append(str(path))
    return shown


def _system() -> list[str]:
    return [*SYSTEM_LIBRARIES, *SYSTEM_LINKS, LOADER_CACHE]
