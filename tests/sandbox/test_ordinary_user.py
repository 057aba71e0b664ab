"""All of this folder once more, as an ordinary user."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sandbox.interpreter import current_interpreter

ROOT = Path(__file__).resolve().parents[2]
USER = 54_321  # nobody's number: it owns no file and no process
# A mount namespace of its own, in which the interpreter can be reached by everybody, although it
# may lie below root's home; then root is left for good.
AS_USER = """
set -e
prefix={prefix}
private={private}
if [ -n "$private" ]; then
    held=$(mktemp -d)
    mount --bind "$prefix" "$held"
    mount -t tmpfs -o mode=755 tmpfs "$private"
    mkdir -p "$prefix"
    mount --move "$held" "$prefix"
    rmdir "$held"
fi
exec setpriv --reuid {user} --regid {user} --clear-groups --inh-caps=-all -- "$@"
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="these tests run as an ordinary user already")
def test_everything_holds_for_an_ordinary_user(public: Path) -> None:
    """Namespaces, limits and sweeps work differently for root: each test must pass as both."""
    here = current_interpreter()
    script = AS_USER.format(
        prefix=shlex.quote(str(here.prefix)),
        private=shlex.quote(str(here.private_above or "")),
        user=USER,
    )
    base = public / "user"
    base.mkdir()
    os.chown(base, USER, USER)
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    tests += ["--basetemp", str(base / "pytest"), str(Path(__file__).parent)]
    environment = {"HOME": str(base), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}

    run = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *tests],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-5000:] + run.stderr[-2000:]
    assert " passed" in run.stdout
