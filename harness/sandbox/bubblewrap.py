"""Tier 1: the distribution's bubblewrap. Everything is unshared, and the file system is built.

Inside there are the interpreter, the system's libraries, five devices, and a sized scratch; no
/proc, no network but an empty one, no home. Traps this file stands against: the launcher's
environment and descriptors reach the first process inside (so both are empty), root is exempt
from the process limit (so the zygote drops to a user of its own), and the folders that bubblewrap
makes itself are writable (so all of them are closed again).
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.sandbox import interpreter as inside_python
from harness.sandbox.interpreter import FLAGS, Interpreter
from harness.sandbox.launch import BOOT, Launch, Setup, environment, unprivileged_uid

PROGRAM = "bwrap"
SCRATCH = "/scratch"
PYTHON = "/python"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/random")
MIB = 1 << 20
ASK_S = 10.0


@dataclass(frozen=True)
class Bubblewrap:
    """The program found here: where, which version, and whether it can size a scratch."""

    path: str
    version: str
    sizes: bool


@cache
def find_bubblewrap() -> Bubblewrap | None:
    """Return the bubblewrap on the path, or None."""
    path = shutil.which(PROGRAM)
    if path is None:
        return None
    try:
        version, options = (_ask(path, word) for word in ("--version", "--help"))
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Bubblewrap(path, version.split()[-1] if version.split() else "", "--size" in options)


def bubblewrap_launch(
    python: Interpreter, hash_seed: int, scratch_mib: int, readable: tuple[str, ...]
) -> Launch:
    """Plan a sandbox behind bubblewrap.

    Parameters
    ----------
    python : the interpreter on the host
    readable : further host paths that are shown read-only under their own names

    Raises
    ------
    FileNotFoundError
        If there is no bubblewrap.
    """
    program = find_bubblewrap()
    if program is None:
        raise FileNotFoundError(PROGRAM)
    uid = unprivileged_uid() if os.geteuid() == 0 else None
    arguments = [
        *_namespaces(uid),
        *_shown(python, readable),
        *_scratch(uid, scratch_mib if program.sizes else None),
        *_settings(python, hash_seed),
    ]
    program_inside = f"{_home(python)}/bin/{python.executable.name}"
    setup = Setup(
        scratch=SCRATCH,
        readable=(_home(python), *SYSTEM_ROOTS, *readable),
        listable=(),
        devices=DEVICES,
        uid=uid,
        own_processes=True,
        own_file_system=True,
        host_files=False,
        hide_above=None,
        python=program_inside,
    )
    command = (program.path, "--args", "{fd}", "--", program_inside, *FLAGS, "-c", BOOT)
    return Launch(command, {}, setup, b"".join(a.encode() + b"\0" for a in arguments))


SYSTEM_ROOTS = (
    *inside_python.SYSTEM_LIBRARIES,
    *inside_python.SYSTEM_LINKS,
    inside_python.LOADER_CACHE,
    "/nix/store",
)


def _ask(path: str, word: str) -> str:
    answer = subprocess.run([path, word], capture_output=True, timeout=ASK_S, check=False, env={})
    return answer.stdout.decode("utf-8", "replace")


def _namespaces(uid: int | None) -> list[str]:
    """As root there is no user namespace: in one of bubblewrap's, no other user could be had."""
    names = ["ipc", "pid", "net", "uts", "cgroup-try"]
    arguments = [f"--unshare-{name}" for name in names]
    if uid is None:
        arguments += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    arguments += ["--hostname", "arnes", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if uid is not None:
        arguments += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return arguments


def _folders(binds: list[str]) -> list[str]:
    """Make the folders above what is shown, open to every user: bubblewrap's own are closed."""
    targets = [path for path in binds[2::3] if path.startswith("/")]
    above = {str(folder) for path in (*targets, *DEVICES) for folder in Path(path).parents}
    arguments = []
    for folder in sorted(above - {"/"}):
        arguments += ["--perms", "0755", "--dir", folder]
    return arguments


def _home(python: Interpreter) -> str:
    return "/usr" if str(python.prefix) == "/usr" else PYTHON


def _shown(python: Interpreter, readable: tuple[str, ...]) -> list[str]:
    binds = [*_interpreter_files(python), *_system_files()]
    for path in readable:
        binds += ["--ro-bind", path, path]
    arguments = [*_folders(binds), *binds, *_packages_hidden(python)]
    for device in DEVICES:
        arguments += ["--dev-bind", device, device]
    return arguments


def _scratch(uid: int | None, size_mib: int | None) -> list[str]:
    """Make the one writable folder, and close what bubblewrap made above everything."""
    arguments = ["--perms", "1777"] if uid is not None else []
    arguments += ["--size", str(size_mib * MIB)] if size_mib is not None else []
    return [*arguments, "--tmpfs", SCRATCH, "--remount-ro", "/", "--chdir", SCRATCH]


def _settings(python: Interpreter, hash_seed: int) -> list[str]:
    settings = environment(hash_seed)
    if _home(python) == PYTHON:
        settings["LD_LIBRARY_PATH"] = f"{PYTHON}/lib"
    return [part for name, value in settings.items() for part in ("--setenv", name, value)]


def _interpreter_files(python: Interpreter) -> list[str]:
    home = _home(python)
    program = f"{home}/bin/{python.executable.name}"
    arguments = ["--ro-bind", str(python.executable), program]
    if home != "/usr":
        for folder in python.libraries:
            arguments += ["--ro-bind", str(folder), f"{home}/{folder.name}"]
    return arguments


def _system_files() -> list[str]:
    arguments = []
    for path in SYSTEM_ROOTS:
        if Path(path).is_symlink():
            arguments += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            arguments += ["--ro-bind", path, path]
    return arguments


def _packages_hidden(python: Interpreter) -> list[str]:
    arguments = []
    for folder in python.package_folders():
        place = str(folder)
        if _home(python) == PYTHON and folder.is_relative_to(python.prefix):
            place = f"{PYTHON}/{folder.relative_to(python.prefix)}"
        elif not any(folder.is_relative_to(Path(root)) for root in SYSTEM_ROOTS):
            continue
        arguments += ["--tmpfs", place, "--remount-ro", place]
    return arguments
