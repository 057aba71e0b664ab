"""What tests of started programs ask about processes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from harness.clock import SystemClock

CLOCK = SystemClock()
OWNER_CODE = """
import importlib, json, sys
from pathlib import Path
from harness.clock import SystemClock
from harness.records.campaign import PlannedModel
module, name = sys.argv[1].split(":")
make = getattr(importlib.import_module(module), name)
planned = PlannedModel(id="m", backend="any", options=json.loads(sys.argv[2]))
backend = make(planned, Path(sys.argv[3]) / "owned.log", SystemClock())
backend.start()
print(backend.pid, flush=True)
SystemClock().sleep(60)
"""


def gone(pid: int, limit_s: float = 60.0) -> bool:
    """Wait until a process is no more, or only a corpse that its parent has not buried."""
    deadline = CLOCK.monotonic() + limit_s
    while CLOCK.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        CLOCK.sleep(0.02)
    return False


def dies_with_its_owner(backend: str, options: dict[str, str], folder: Path) -> None:
    """Start a backend in a process, kill that without a chance to clean up, and see all gone."""
    command = [sys.executable, "-c", OWNER_CODE, backend, json.dumps(options), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) as owner:
        assert owner.stdout is not None
        keeper = int(owner.stdout.readline())
        family = [p.pid for p in psutil.Process(keeper).children(recursive=True)]
        assert family
        owner.send_signal(signal.SIGKILL)
    assert all(gone(pid) for pid in [keeper, *family])
