"""What it costs to score again what is stored: 3,000 cells, no server.

    python benchmarks/rescore.py [--rounds 3]

Before each `arnes finalize` a grader is touched, so that no score sheet can stay as it is:
every raw reply is read, parsed and graded, every sheet and `FINAL.json` are written anew.
`inspect score` scores the log of 3,000 samples and writes it. CPU seconds and peak memory are
those of the one process, its start included; rounds go in turn.

The first two lines are the one-line cells of `harness_cost.py`. The last is arnes with the
answer tasks of the suite, whose sheets are larger: its written replies, right and wrong, in
turn. Tasks that run code are left out; what was observed of a deliverable is kept and not
executed again.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from measuring import meter, one_line
from measuring.environments import environment
from measuring.others import Inspect
from measuring.tables import print_machine, print_table

from harness import __version__
from harness.arnes import CONFIG_NAME
from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.script import Behaviour, Script
from harness.models.scripted import ScriptedServer
from harness.records.base import canonical_json
from harness.records.campaign import CampaignPlan, CampaignRecord, PlannedModel
from harness.records.response import Exchange
from harness.records.run import Endpoint
from harness.running.single import request_for, run_single
from harness.signature import PACKAGE
from harness.stages.instrument import Instrument, load_instrument
from harness.stages.validate import sets_of
from harness.store import campaign as store
from harness.store.files import write_whole
from harness.suite.forms import OPEN
from harness.suite.loader import Task

SAMPLES, RUNS = 1000, 3
CELLS = SAMPLES * RUNS
RUNS_OF_SUITE = 5
GOAL_S = 5.0


@dataclass
class Line:
    """One line of the table: how it is measured, and what came out.

    compared : False for cells that only arnes has, which have no ratio
    """

    name: str
    measure: Callable[[], meter.Cost]
    compared: bool = True
    costs: list[meter.Cost] = field(default_factory=list)


def finalize(root: Path, campaign: Path) -> meter.Cost:
    grader = next(root.glob("suite/core/*/grader.py"))
    grader.write_text(grader.read_text() + "# touched\n")
    arguments = ("finalize", str(campaign), "--json")
    return meter.measured(Path(sys.executable), "harness", arguments, cwd=root)


def one_line_campaign(place: Path, base_url: str) -> tuple[Path, Path]:
    root, campaign, plan = place / "checkout", place / "campaign", place / "plan.toml"
    one_line.write_checkout(root)
    one_line.write_plan(plan, base_url, models=SAMPLES // one_line.TASKS, runs=RUNS)
    arguments = ("campaign", "start", str(plan), "--folder", str(campaign), "--json")
    meter.measured(Path(sys.executable), "harness", arguments, cwd=root)
    return root, campaign


def suite_campaign(place: Path) -> tuple[Path, Path, str]:
    """Write a campaign over the suite's own tasks from their written replies."""
    root = place / "suite-checkout"
    ours = PACKAGE.parent
    for folder in (PACKAGE.name, "suite"):
        ignored = shutil.ignore_patterns("__pycache__", "private")
        shutil.copytree(ours / folder, root / folder, ignore=ignored)
    shutil.copy(ours / CONFIG_NAME, root / CONFIG_NAME)
    instrument = load_instrument(root)
    tasks = [
        task
        for task in instrument.suite.tasks
        if task.definition.mode == "single" and not task.definition.executes
    ]
    models = CELLS // (RUNS_OF_SUITE * len(tasks))
    played = {task.id: replies(instrument, task) for task in tasks}
    campaign = store.create(place / "suite-campaign", record(instrument, tasks, models), b"")
    for number, (player, run, task) in enumerate(campaign.cells()):
        exchange = played[task][(number // len(tasks)) % len(played[task])]
        write_whole(campaign.cell(player, run, task).raw(1), canonical_json(exchange) + b"\n")
    return root, campaign.folder.path, f"{campaign.size} cells of {', '.join(played)}"


def replies(instrument: Instrument, task: Task) -> list[Exchange]:
    sets = sets_of(task)
    texts = [member.reply.text for member in (*sets.golden, *sets.defective)]
    script = Script(default=tuple(Behaviour(content=text, chunk_words=200) for text in texts))
    transport, limit_s = instrument.config.transport, instrument.config.call_timeout_s
    with ScriptedServer(script) as server:
        endpoint = Endpoint(base_url=server.base_url, model="m0")
        with HttpChat(endpoint, transport, limit_s, SystemClock()) as chat:
            request = request_for(task, instrument.config, run=1, model="m0")
            return [run_single(chat, request) for _ in texts]


def record(instrument: Instrument, tasks: list[Task], models: int) -> CampaignRecord:
    planned = tuple(PlannedModel(id=f"m{n}", backend="external") for n in range(models))
    return CampaignRecord(
        name="rescore",
        created_at="",
        plan=CampaignPlan(name="rescore", models=planned),
        runs=RUNS_OF_SUITE,
        tasks=tuple(task.id for task in tasks),
        subset=True,
        controls=(),
        form=OPEN,
        forms={task.id: task.form_id for task in tasks},
        open_form=True,
        stamps=instrument.stamps,
    )


def lines(place: Path, base_url: str) -> list[Line]:
    root, campaign = one_line_campaign(place, base_url)
    found = [Line(f"arnes {__version__}, finalize", lambda: finalize(root, campaign))]
    inspect_ai = environment("inspect-ai", "openai")
    if inspect_ai:
        other = Inspect(inspect_ai, place / "inspect", base_url)
        print(f"writing a log of {CELLS} samples, which takes a minute", file=sys.stderr)
        other.evaluate(SAMPLES, RUNS)
        found.append(Line(f"{inspect_ai.label}, score", other.score))
    suite_root, suite_folder, cells = suite_campaign(place)
    suite_line = Line(f"arnes, {cells}", lambda: finalize(suite_root, suite_folder), compared=False)
    found.append(suite_line)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print_machine()
    with (
        tempfile.TemporaryDirectory(prefix="arnes-rescore-") as folder,
        ScriptedServer(one_line.script()) as server,
    ):
        measured = lines(Path(folder), server.base_url)
        for line in measured:
            line.measure()  # the first pass writes bytecode, and sheets where there are none
        for number in range(rounds):
            for line in measured:
                print(f"round {number + 1} of {rounds}: {line.name}", file=sys.stderr)
                line.costs.append(line.measure())
    ours = median(cost.cpu_s for cost in measured[0].costs)
    rows = []
    for line in measured:
        cpu_s = median(cost.cpu_s for cost in line.costs)
        wall_s = median(cost.wall_s for cost in line.costs)
        peak_mib = median(cost.peak_mib for cost in line.costs)
        ratio = f"{cpu_s / ours:.1f}" if line.compared else ""
        rows.append((line.name, f"{cpu_s:.2f}", ratio, f"{wall_s:.1f}", f"{peak_mib:.0f}"))
    print(f"{CELLS} stored cells, medians of {rounds} rounds; goal: arnes ≤ {GOAL_S} s of CPU")
    print_table(("", "CPU s", "ratio", "wall s", "peak MiB"), rows)


if __name__ == "__main__":
    main()
