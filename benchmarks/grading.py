"""What grading one test suite costs, next to one process for each test and variant.

    python benchmarks/grading.py [--rounds 3]

Both sides judge the same suite, a golden of A11, against the same variants: three originals, six
equal copies and eight mutants. Ours is the grader itself, with its walls, the order that no test
knows, and the confirmation (for eight mutants found: 45 more runs). The other side is
`python -m unittest file.Class.method` once per method and variant, with no walls, no call budget
and no confirmation, as a script of a page would do it. Sides take turns, so that a change of the
machine's load meets both. The last line says whether both found the same mutants.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.arnes import load_arnes
from harness.grading import Bench, Matrix, Subject, kill_matrix, method_rules
from harness.grading.mutation import ORIGINALS
from harness.sandbox import probe
from harness.stages.forms import make_form, make_sets
from harness.suite.forms import OPEN

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "suite" / "core" / "a11_mutation_suite"
TESTS = "test_charges"


def subject() -> tuple[Subject, str]:
    """Return the open form's module with its variants, and the text of a suite of nine methods."""
    form = make_form(FOLDER, OPEN)
    values = form.values
    reply = next(g.reply.text for g in make_sets(FOLDER, form).golden if g.name == "subtests")
    bill = values["functions"][-1]
    whole = Subject(
        module=values["module"],
        functions=values["functions"],
        original=values["original"],
        mutants=values["mutants"],
        equal=values["equal"],
        probes=[(bill, arguments) for arguments in values["probes"]],
        budget=values["budget"],
        seconds=values["seconds"],
    )
    return whole, reply.partition("```python\n")[2].rpartition("```")[0]


def ours(whole: Subject, text: str) -> Matrix:
    config = load_arnes(ROOT)
    with Bench(probe(), config.sandbox, 1) as bench:
        rules = method_rules(bench, text, whole.module, whole.functions)
        return kill_matrix(bench, bench.seat({f"{TESTS}.py": text}), TESTS, whole, rules)


def one_process_each(whole: Subject, text: str, methods: list[str]) -> tuple[set[str], int]:
    """Return the mutants on which some method fails, and how many processes that took."""
    variants = {f"original_{n}": whole.original for n in range(ORIGINALS)}
    variants |= {**whole.equal, **whole.mutants}
    found, count = set(), 0
    with tempfile.TemporaryDirectory(prefix="arnes-grading-") as name:
        folder = Path(name)
        (folder / f"{TESTS}.py").write_text(text)
        for variant, source in variants.items():
            (folder / f"{whole.module}.py").write_text(source)
            for method in methods:
                # -B: a text of equal length in the same second would meet stale bytecode
                command = [sys.executable, "-B", "-m", "unittest", method]
                done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
                count += 1
                if done.returncode and variant in whole.mutants:
                    found.add(variant)
    return found, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    tier = probe()
    if tier.name == "none":
        print("skipped: this machine has no sandbox (arnes doctor)")
        return
    whole, text = subject()
    matrix = ours(whole, text)  # also warms what both sides read
    walls: dict[str, list[float]] = {"ours": [], "each": []}
    same, processes = True, 0
    for _ in range(asked.rounds):
        began = time.perf_counter()
        matrix = ours(whole, text)
        middle = time.perf_counter()
        found, processes = one_process_each(whole, text, list(matrix.found))
        walls["ours"].append(middle - began)
        walls["each"].append(time.perf_counter() - middle)
        same = same and found == set(matrix.kills)
    mine, theirs = (statistics.median(walls[side]) for side in ("ours", "each"))
    runs = 1 + ORIGINALS + len(whole.equal) + len(whole.mutants)
    runs += 5 * (1 + len(matrix.kills))
    load = f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, walls: {tier.name}"
    print(f"{len(matrix.found)} methods, medians of {asked.rounds} rounds, {load}")
    print(f"  ours, confirmed, behind walls: {mine:6.2f} s, {runs} runs of the suite")
    print(f"  one process for each, bare:    {theirs:6.2f} s, {processes} processes")
    print(f"  ratio {theirs / mine:.1f}")
    print(f"  both found {'the same mutants' if same else 'different mutants'}")


if __name__ == "__main__":
    main()
