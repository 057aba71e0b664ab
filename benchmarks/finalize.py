"""What the end of a campaign costs: finalize with nothing to execute again, then the report.

    python benchmarks/finalize.py [--rounds 3] [--tasks A04 A05 A06 A08 A09 A11]

Campaigns of 1, 4, 6 and 20 models × 5 runs lie on the disk, each cell one of its task's written
replies, better ones for better models. A first finalize executes what has to be executed; every
measured one finds its observations. Seconds are those of a process, its start included.
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median

from measuring import meter
from measuring.tables import print_machine, print_table
from rescore import record, replies

from harness.records.base import canonical_json
from harness.records.response import Exchange
from harness.signature import PACKAGE
from harness.stages.instrument import Instrument, load_instrument
from harness.store import campaign as store
from harness.store.files import write_whole

MODELS = (1, 4, 6, 20)  # × 5 runs: 5, 20, 30 and 100 runs
TASKS = ("A04", "A05", "A06", "A08", "A09", "A11")
GOAL_S = 20.0


def written(
    place: Path, instrument: Instrument, tasks: list[str], models: int,
    played: dict[str, list[Exchange]],
) -> Path:  # fmt: skip
    chosen = [instrument.suite.task(task) for task in tasks]
    campaign = store.create(place, record(instrument, chosen, models), b"")
    for player, run, task in campaign.cells():
        ability = int(player[1:]) / models
        draw = random.Random(f"{player} {run} {task}")
        found = played[task]  # goldens first
        place_in = min(int(abs(draw.gauss(ability, 0.2)) * len(found)), len(found) - 1)
        raw = canonical_json(found[place_in]) + b"\n"
        write_whole(campaign.cell(player, run, task).raw(1), raw)
    return campaign.folder.path


def verb(name: str, campaign: Path, *more: str) -> meter.Cost:
    arguments = (name, str(campaign), *more, "--json")
    return meter.measured(Path(sys.executable), "harness", arguments, cwd=PACKAGE.parent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS))
    parser.add_argument("--models", nargs="+", type=int, default=list(MODELS))
    given = parser.parse_args()
    print_machine()
    instrument = load_instrument(PACKAGE.parent)
    played = {task: replies(instrument, instrument.suite.task(task)) for task in given.tasks}
    rows = []
    with tempfile.TemporaryDirectory(prefix="arnes-finalize-") as folder:
        for models in given.models:
            campaign = written(
                Path(folder) / f"of_{models}", instrument, given.tasks, models, played
            )
            print(f"{models} models: the first finalize executes", file=sys.stderr)
            verb("finalize", campaign)
            into = ("--output", str(Path(folder) / "report"))
            ended = [verb("finalize", campaign) for _ in range(given.rounds)]
            reported = [verb("report", campaign, *into) for _ in range(given.rounds)]
            walls = [median(cost.wall_s for cost in costs) for costs in (ended, reported)]
            cpu_s = [median(cost.cpu_s for cost in costs) for costs in (ended, reported)]
            runs = models * 5
            rows.append(
                (
                    f"{models} models, {runs} runs",
                    *(f"{value:.2f}" for value in (*walls, *cpu_s)),
                    f"{1000 * sum(cpu_s) / runs:.0f}",
                )
            )
    print(f"{', '.join(given.tasks)}; goal: {GOAL_S:g} s in all for 6 models × 5 runs, linear")
    heads = ("", "finalize, wall s", "report, wall s", "CPU s", "CPU s", "CPU ms a run")
    print_table(heads, rows)


if __name__ == "__main__":
    main()
