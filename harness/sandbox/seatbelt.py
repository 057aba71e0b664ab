"""Tier 3: macOS `sandbox-exec`, reduced isolation. Only written; it was never run by its authors.

Files and network are denied by the system's profile language. There is no process namespace, no
system call filter and no address space limit, so time and memory are watched from outside only.
"""

import sys
import tempfile
from pathlib import Path

from harness.sandbox.interpreter import FLAGS, Interpreter
from harness.sandbox.launch import BOOT, Launch, Setup, environment, session_prefix

PROGRAM = "/usr/bin/sandbox-exec"
LACKS = (
    "only written, not run by its authors",
    "no limit on address space; memory is watched from outside",
    "a process of the same user could be signalled",
    "the scratch is watched, not sized",
)
SYSTEM = ("/usr/lib", "/System/Library", "/Library/Apple", "/dev", "/private/var/db/dyld")


def seatbelt_found() -> bool:
    """True where the program exists."""
    return sys.platform == "darwin" and Path(PROGRAM).exists()


def seatbelt_launch(
    python: Interpreter, hash_seed: int, scratch_mib: int, readable: tuple[str, ...]
) -> Launch:
    """Plan a sandbox behind Seatbelt.

    Parameters
    ----------
    scratch_mib : not used: this tier cannot size a folder
    """
    del scratch_mib
    session = Path(tempfile.mkdtemp(prefix=session_prefix())).resolve()
    shown = (str(python.executable), *map(str, python.libraries), *SYSTEM, *readable)
    setup = Setup(
        scratch=str(session),
        readable=shown,
        listable=(),
        devices=(),
        uid=None,
        own_processes=False,
        own_file_system=False,
        host_files=True,
        hide_above=None,
        python=str(python.executable),
    )
    command = (PROGRAM, "-p", profile(shown, session), str(python.executable), *FLAGS, "-c", BOOT)
    return Launch(command, environment(hash_seed), setup, session=session)


def profile(readable: tuple[str, ...], session: Path) -> str:
    """Return the profile: deny by default, read what is shown, write the session's folder."""
    rules = ["(version 1)", "(deny default)", "(allow process-fork)", "(allow sysctl-read)"]
    rules += ["(allow process-exec* file-read-metadata)", "(allow signal (target same-sandbox))"]
    rules += [f'(allow file-read* (subpath "{path}"))' for path in readable]
    rules.append(f'(allow file-read* file-write* (subpath "{session}"))')
    rules.append('(allow file-write* (literal "/dev/null"))')
    return "\n".join(rules)
