"""What a tier decides before it starts: the command, and what the far side is told."""

import os
import secrets
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType

from harness.records.base import digest

INSIDE = Path(__file__).parent / "inside"
PACKAGE = "harness.sandbox.inside"
FIRST_UID, UIDS = 2_000_000_000, 1_000_000_000

# Reads one frame (our code and the setup), makes the code importable, and hands over. Compiled
# here and not there: both sides are the same interpreter, and each start saves a third.
BOOT = """
import importlib.machinery, marshal, os, sys
def receive():
    def exactly(n):
        data = b""
        while len(data) < n:
            chunk = os.read(0, n - len(data))
            if not chunk: sys.exit(1)
            data += chunk
        return data
    return exactly(int.from_bytes(exactly(4), "big"))
first = marshal.loads(receive())
class Ours:
    arnes_code = first["code"]
    def find_spec(self, name, path=None, target=None):
        if name in self.arnes_code:
            package = self.arnes_code[name] is None
            return importlib.machinery.ModuleSpec(name, self, is_package=package)
    def create_module(self, spec): return None
    def exec_module(self, module):
        code = self.arnes_code[module.__name__]
        if code is not None: exec(code, module.__dict__)
sys.meta_path.insert(0, Ours())
from harness.sandbox.inside import zygote
zygote.main(first["setup"], receive)
"""


@dataclass(frozen=True)
class Setup:
    """What the zygote is told about its place.

    scratch : folder that holds the box of a measure
    readable, listable, devices : paths for Landlock, as they are named inside
    uid : the user to become; None where we are an ordinary one already
    own_processes : a process namespace of its own, in which all others may be killed
    own_file_system : the scratch is a file system of its own
    host_files : files inside are the host's, so their metadata must be kept safe
    hide_above : private folder that is covered, for root without bubblewrap
    python : the interpreter's path inside
    """

    scratch: str
    readable: tuple[str, ...]
    listable: tuple[str, ...]
    devices: tuple[str, ...]
    uid: int | None
    own_processes: bool
    own_file_system: bool
    host_files: bool
    hide_above: str | None
    python: str


@dataclass(frozen=True)
class Launch:
    """How to start one sandbox.

    arguments : NUL-separated arguments that are read from a descriptor, never shown in a listing;
        ``{fd}`` in the command stands for its number
    session : folder on the host that belongs to this sandbox and goes with it
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    setup: Setup
    arguments: bytes = b""
    session: Path | None = None


@cache
def inside_code() -> dict[str, CodeType | None]:
    """Return module name → code of all that runs inside; None for a package without code."""
    parts = PACKAGE.split(".")
    code: dict[str, CodeType | None] = {
        ".".join(parts[: depth + 1]): None for depth in range(len(parts))
    }
    for path in sorted(INSIDE.glob("*.py")):
        if path.stem != "__init__":
            name = f"{PACKAGE}.{path.stem}"
            code[name] = compile(path.read_bytes(), name, "exec", dont_inherit=True)
    return code


@cache
def worker_digest() -> str:
    """Return the digest of all code that decides what an observation is, for cache keys."""
    folder = Path(__file__).parent
    files = sorted(folder.rglob("*.py"))
    return digest({str(f.relative_to(folder)): digest(f.read_bytes()) for f in files})


def python_stamp() -> str:
    """Return the interpreter of candidates: implementation and full version."""
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{sys.implementation.name} {version}"


def environment(hash_seed: int) -> dict[str, str]:
    """Return the whole environment of foreign code, apart from the box's own folders."""
    return {
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",  # its threads alone can exceed the memory limit
        "PATH": "/usr/bin:/bin",
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONIOENCODING": "utf-8",
        "TZ": "UTC",
    }


def session_prefix() -> str:
    """Return how the names of this process's session folders begin."""
    return f"arnes-box-{os.getpid()}-"


def unprivileged_uid() -> int | None:
    """Return a user id that nobody else has, for root to become; None where there is none.

    A number of its own for each sandbox: the kernel counts processes per user.
    """
    ranges = []
    for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines():
        first, _, count = map(int, line.split())
        ranges.append((first, first + count))
    for first, end in ranges:
        if end > FIRST_UID + UIDS:
            return FIRST_UID + secrets.randbelow(UIDS)
        if end - max(first, 1) > 1:
            return max(first, 1) + secrets.randbelow(end - max(first, 1))
    return None
