"""What the sandbox costs: launches, calls, counted reads, and runs of a test suite, per tier.

    python benchmarks/sandbox.py [--rounds 15] [--reads 20000]

Rounds go through all tiers and kinds in turn, so that a change of the machine's load meets all of
them; medians of the rounds are printed. `plain` is the same interpreter without any wall.
"""

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from harness.arnes import load_arnes
from harness.sandbox import Candidate, Owned, Tier, open_worker, tiers, unittest_run
from harness.sandbox.interpreter import FLAGS, current_interpreter

ROOT = Path(__file__).resolve().parents[1]
LIMITS = load_arnes(ROOT).sandbox.model_copy(update={"wall_s": 120.0, "cpu_s": 120.0})
VARIANTS = 17  # one original, eight mutants, eight controls
MODULE = "def fee(days, late=False):\n    return days * 3 + (5 if late else 0)\n"
TEST = """
import unittest
from cold import fee

class T(unittest.TestCase):
"""
TEST += "\n".join(
    f"    def test_{n}(self):\n        self.assertEqual(fee({n}), {3 * n})" for n in range(15)
)
READS = """
def steps(xs):
    return sum(xs[i] <= xs[i + 1] for i in range(len(xs) - 1))

def one():
    return 1
"""


def candidate(files: dict[str, str]) -> Candidate:
    return Candidate(files=files, hash_seed=0, limits=LIMITS)


def plain() -> float:
    return timed(
        lambda: subprocess.run(
            [str(current_interpreter().executable), *FLAGS, "-c", "pass"], check=True
        )
    )


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def round_of(tier: Tier, reads: int) -> dict[str, float]:
    found: dict[str, float] = {}
    started = time.perf_counter()
    with open_worker(candidate({"m.py": READS}), tier) as worker:
        worker.call("m:one")
        found["launch and first call"] = (time.perf_counter() - started) * 1000
        found["warm call"] = timed(lambda: [worker.call("m:one") for _ in range(10)]) / 10
        owned = Owned(range(reads), 4 * reads)
        found[f"{2 * reads - 2} counted reads"] = timed(lambda: worker.call("m:steps", [owned]))
        numbers = list(range(reads))
        seen = worker.call("m:steps", [numbers])
        assert seen.usage is not None
        found["the same on a plain list, CPU"] = seen.usage.cpu_s * 1000
        closing = time.perf_counter()
    found["close"] = (time.perf_counter() - closing) * 1000
    return found | suite_runs(tier)


def suite_runs(tier: Tier) -> dict[str, float]:
    started = time.perf_counter()
    with (
        open_worker(candidate({"test_cold.py": TEST}), tier, for_tests=True) as tests,
        open_worker(candidate({"cold.py": MODULE}), tier) as module,
    ):
        opened = time.perf_counter()
        for _ in range(VARIANTS):
            run = unittest_run(tests, "test_cold", module, "cold", ["fee"], budget=40)
            assert set(run.outcomes.values()) == {"passed"}
        return {
            "two sandboxes for a suite": (opened - started) * 1000,
            f"{VARIANTS} suite runs of 15 tests": (time.perf_counter() - opened) * 1000,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--reads", type=int, default=20_000)
    options = parser.parse_args()
    here = [tier for tier in tiers() if tier.available]
    rows: dict[tuple[str, str], list[float]] = {}
    loads = []
    for _ in range(options.rounds):
        loads.append(os.getloadavg()[0])
        rows.setdefault(("plain", "interpreter start"), []).append(plain())
        for tier in here:
            for what, value in round_of(tier, options.reads).items():
                rows.setdefault((tier.name, what), []).append(value)
    print(f"{options.rounds} rounds, load {min(loads):.1f}-{max(loads):.1f}, medians in ms")
    for (where, what), values in rows.items():
        print(f"{where:12} {what:34} {statistics.median(values):9.1f}")


if __name__ == "__main__":
    main()
