"""What a harness costs around the calls: 1,000 one-line cells × 3 runs, an instant server.

    python benchmarks/harness_cost.py [--rounds 3]

arnes, inspect-ai and lm-eval run the same prompts by their own command lines, round after
round in turn, against the same scripted server of a process of its own, over one connection.
CPU seconds and peak memory are those of the harness's process alone, its start included. The
column `ms/cell` is CPU, and the ratio is of CPU to that of arnes.

arnes runs `arnes campaign start` in a temporary checkout with 100 one-line tasks: 10 models
× 3 runs, looked at by preflight at the start of each of the 30. So a cell is what it is in a
real campaign: every reply is on the disk and synced before it is parsed, parsed and scored
from there, and noted in the journal. The validation before the campaign is in the cache. The
others write their logs without waiting for the disk.

The second table is arnes alone: does its memory grow with the number of cells, and what does a
cell cost beyond the start of the process, when the first size is taken from the last?
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from measuring import meter, one_line
from measuring.environments import environment
from measuring.others import Inspect, LmEval
from measuring.tables import print_machine, print_table

from harness import __version__
from harness.models.scripted import ScriptedServer

SAMPLES = 1000
RUNS = 3
SIZES = ((1, 3), (10, 1), (10, 3))  # models, runs: 300, 1,000 and 3,000 cells
GOAL_MS = 3.0


@dataclass(frozen=True)
class Arnes:
    """Our own command line in a temporary checkout."""

    root: Path
    folder: Path
    base_url: str

    def evaluate(self, samples: int, runs: int) -> meter.Cost:
        """Run `arnes campaign start` with a model for each hundred samples."""
        campaign = self.folder / f"campaign-{len(list(self.folder.iterdir()))}"
        plan = self.folder / f"{campaign.name}.toml"
        models = samples // one_line.TASKS
        one_line.write_plan(plan, self.base_url, models=models, runs=runs)
        cost = meter.measured(
            Path(sys.executable),
            "harness",
            ("campaign", "start", str(plan), "--folder", str(campaign), "--json"),
            cwd=self.root,
        )
        totals = [
            json.loads(path.read_bytes())["total"]
            for path in campaign.glob("*/run_*/CALIFICACION.json")
        ]
        if totals != [float(one_line.TASKS)] * (models * runs):
            raise RuntimeError("arnes did not give every point where every reply is right")
        return cost


def contenders(place: Path, base_url: str) -> dict[str, Arnes | Inspect | LmEval]:
    root, campaigns = place / "checkout", place / "campaigns"
    campaigns.mkdir()
    one_line.write_checkout(root)
    found: dict[str, Arnes | Inspect | LmEval] = {
        f"arnes {__version__}": Arnes(root, campaigns, base_url)
    }
    inspect_ai = environment("inspect-ai", "openai")
    if inspect_ai:
        found[inspect_ai.label] = Inspect(inspect_ai, place / "inspect", base_url)
    lm_eval = environment("lm-eval[api]")
    if lm_eval:
        found[lm_eval.label] = LmEval(lm_eval, place / "lm-eval", base_url)
    for contender in found.values():
        contender.evaluate(one_line.TASKS, 1)  # bytecode, and our validation, are written once
    return found


def print_comparison(costs: dict[str, list[meter.Cost]], cells: int) -> None:
    ours = median(cost.cpu_s for cost in next(iter(costs.values())))
    rows = []
    for name, found in costs.items():
        cpu_s = median(cost.cpu_s for cost in found)
        rows.append(
            (
                name,
                f"{cpu_s:.2f}",
                f"{1000 * cpu_s / cells:.2f}",
                f"{cpu_s / ours:.1f}",
                f"{min(cost.cpu_s for cost in found):.2f}–{max(cost.cpu_s for cost in found):.2f}",
                f"{median(cost.wall_s for cost in found):.1f}",
                f"{median(cost.peak_mib for cost in found):.0f}",
            )
        )
    print(f"{cells} cells, medians of {len(found)} rounds; goal: arnes ≤ {GOAL_MS} ms/cell")
    print_table(("", "CPU s", "ms/cell", "ratio", "CPU s range", "wall s", "peak MiB"), rows)


def print_sizes(ours: Arnes | Inspect | LmEval) -> None:
    rows, cpu_s = [], {}
    for models, runs in SIZES:
        cells = models * runs * one_line.TASKS
        cost = ours.evaluate(models * one_line.TASKS, runs)
        cpu_s[cells] = cost.cpu_s
        milliseconds = f"{1000 * cost.cpu_s / cells:.2f}"
        rows.append((str(cells), f"{cost.cpu_s:.2f}", milliseconds, f"{cost.peak_mib:.1f}"))
    print_table(("arnes, cells", "CPU s", "ms/cell", "peak MiB"), rows)
    fewest, most = min(cpu_s), max(cpu_s)
    further_ms = 1000 * (cpu_s[most] - cpu_s[fewest]) / (most - fewest)
    print(f"each cell beyond the first {fewest}: {further_ms:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print_machine()
    with (
        tempfile.TemporaryDirectory(prefix="arnes-cost-") as folder,
        ScriptedServer(one_line.script()) as server,
    ):
        competing = contenders(Path(folder), server.base_url)
        costs: dict[str, list[meter.Cost]] = {name: [] for name in competing}
        for number in range(rounds):
            for name, contender in competing.items():
                print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
                costs[name].append(contender.evaluate(SAMPLES, RUNS))
        print_comparison(costs, SAMPLES * RUNS)
        print_sizes(next(iter(competing.values())))


if __name__ == "__main__":
    main()
