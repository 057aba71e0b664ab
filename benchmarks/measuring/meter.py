"""What one process costs: CPU seconds, wall seconds, peak memory; its children do not count.

Harnesses are compared by running each as its users do, `python -m MODULE ARGUMENTS`, under the
same meter. As a program, this file is that meter:

    python benchmarks/measuring/meter.py RESULT.json MODULE [ARGUMENTS...]

It runs the module in this process and writes the cost when the process ends. Nothing but the
standard library is imported, since it runs in other harnesses' environments, too.
"""

import atexit
import json
import os
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LIMIT_S = 900
SHOWN = 2000


@dataclass(frozen=True)
class Cost:
    """CPU and wall time in seconds, peak resident memory in MiB."""

    cpu_s: float
    wall_s: float
    peak_mib: float


def measured(
    python: Path,
    module: str,
    arguments: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """Run a module in a process of its own and return what it cost.

    Raises
    ------
    RuntimeError
        If it fails; with the end of what it wrote.
    """
    with tempfile.TemporaryDirectory(prefix="arnes-meter-") as folder:
        result = Path(folder) / "cost.json"
        began = time.perf_counter()
        done = subprocess.run(
            [str(python), __file__, str(result), module, *arguments],
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        wall_s = time.perf_counter() - began
        if done.returncode != 0:
            written = (done.stdout + done.stderr)[-SHOWN:]
            raise RuntimeError(f"{module} {arguments[0]} ended with {done.returncode}:\n{written}")
        cost = json.loads(result.read_text())
    return Cost(cost["cpu_s"], wall_s, cost["peak_mib"])


def _write_cost(result: Path) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    cost = {"cpu_s": used.ru_utime + used.ru_stime, "peak_mib": _peak_kib() / 1024}
    result.write_text(json.dumps(cost))


def _peak_kib() -> int:
    """Return the peak of this program alone; `ru_maxrss` would begin with its parent's size."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    atexit.register(_write_cost, Path(sys.argv[1]))  # registered first, so it runs last
    module_name = sys.argv[2]
    sys.argv = [module_name, *sys.argv[3:]]
    sys.path[0] = str(Path.cwd())  # as `python -m` has it
    runpy.run_module(module_name, run_name="__main__", alter_sys=True)
