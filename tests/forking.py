"""The command line in processes that are forked from one that has imported everything.

A command costs half a second of imports in an interpreter of its own. A fork has nothing of an
earlier command's in it: its parent has imported and done nothing else.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
IMPORTED = (
    "harness.cli",
    "harness.campaign.night",
    "harness.report.advice",
    "harness.report.compare",
    "harness.report.explain",
    "harness.report.transcript",
    "harness.report.write",
    "harness.stages.group",
    "harness.stages.private_form",
)


class Commands:
    """Run commands one after another, each in a fresh fork with the caller's surroundings."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )

    def run(
        self, arguments: tuple[str, ...], cwd: Path, environment: Mapping[str, str], limit_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end; it is killed at its limit, as status and signal then say."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        with tempfile.TemporaryDirectory(prefix="arnes-command-") as folder:
            places = [str(Path(folder) / name) for name in ("stdout", "stderr")]
            request = [arguments, str(cwd), dict(environment), limit_s, places]
            self._parent.stdin.write(json.dumps(request) + "\n")
            self._parent.stdin.flush()
            status = int(self._parent.stdout.readline())
            texts = [Path(place).read_text(encoding="utf-8") for place in places]
        return subprocess.CompletedProcess(list(arguments), status, *texts)

    def close(self) -> None:
        """End the parent; it ends by itself when its input does."""
        self._parent.communicate()


@cache
def commands() -> Commands:
    """Return the one of this process, started when it is asked for."""
    started = Commands()
    atexit.register(started.close)
    return started


def _serve() -> None:
    """Fork for each request, until there are no more."""
    del sys.path[0]  # this folder: no command may find a module of the tests
    for name in IMPORTED:
        importlib.import_module(name)
    from harness.cli import main  # noqa: PLC0415 (in this process alone)

    gc.freeze()  # a collection in a fork would copy all that it shares with this process
    for line in sys.stdin:
        arguments, *surroundings = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(*surroundings)
            sys.argv = ["arnes", *arguments]
            end_with(main)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(cwd: str, environment: dict[str, str], limit_s: float, places: list[str]) -> None:
    """Take the surroundings of a command; descriptors 0 to 2 are those of its parent no more."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, path in enumerate((os.devnull, *places)):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(os.devnull)  # noqa: SIM115, PTH123 (the old one has read ahead)
    signal.setitimer(signal.ITIMER_REAL, limit_s)  # its signal ends whoever does not handle it


def end_with(main: Callable[[], None], crashed: int = 1) -> NoReturn:
    """End a child with the status of its command, without taking all that it shares apart."""
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 (a forked child must never go on as its parent)
        traceback.print_exc()
        status = crashed
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()
