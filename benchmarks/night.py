"""What a night is spent on: the share in which a model generates, and cells at once.

    python benchmarks/night.py [--models 4] [--runs 3] [--tasks A01 A02 …] [--rounds 2]

The night: models × runs × tasks of level A, played by the real orchestrator with both controls
over a scripted server: each cell is the task's first golden, agents turn by turn. What a model and
its server take is written (measuring/played_night.py) and only told to the clock; all that arnes
does is done and takes its time: channel, evidence, parsing, worlds and their tests, grading,
journal, preflight, controls. While a model is said to generate, grading beside it goes on for as
long as the reply is said to take, and only what is left of that time is skipped: no more is graded
beside a reply than in a night of that length. A second night does one thing after the other: it
grades between the cells, and reads no weights ahead.
Validation comes before the start, and is not counted.

Cells at once: the embedded model with as many slots as `parallel_cells`, the caps of the demo,
cells asked as a campaign asks them; a new server each time, the settings in turn. `--rounds 0`
leaves this out, `--models 0` the night.
"""

import argparse
import os
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from statistics import median

from measuring.played_night import (
    ENGINE,
    FROM_DISK_S,
    FROM_MEMORY_S,
    GENERATING,
    LABELS,
    PREFLIGHT,
    RECHECK,
    TOKENS,
    TOKENS_PER_S,
    Ledger,
    plan_of,
    play_night,
)  # fmt: skip
from measuring.tables import print_machine, print_table

from harness.backends import make_backend, weights
from harness.campaign.activity import Activity
from harness.campaign.asking import Asker
from harness.campaign.demo import DEMO_PROFILE
from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.script import Script
from harness.models.scripted import ScriptedServer
from harness.parsing.completion import completion_of
from harness.records.campaign import PlannedModel
from harness.records.score import ScoreSheet
from harness.signature import PACKAGE
from harness.stages.instrument import Instrument, load_instrument
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.layout import CellFolder

GOAL = 0.97
AT_ONCE = (1, 2, 4)
CELLS_OF = ("A04", "A08", "A10", "A11")  # single, and short enough for the model's window


def refuse_missing_points(campaign: Campaign) -> None:
    """A model that plays goldens has full points, except where speed itself is graded."""
    for player, run, task in campaign.cells():
        sheet = store.read_outcome(campaign.cell(player, run, task))
        if not isinstance(sheet, ScoreSheet):
            raise SystemExit(f"{player} run {run} {task} has no sheet: {sheet}")
        if player.startswith("m") and sheet.points < sheet.max_points:
            print(f"{player} run {run} {task}: {sheet.points} of {sheet.max_points}")


def print_night(ledgers: dict[str, Ledger], cells: int) -> None:
    rows = []
    for label in (*LABELS, "in all"):
        row = [label]
        for ledger in ledgers.values():
            total = ledger.total
            whole = label == "in all"
            seconds = total if whole else ledger.seconds[label]
            really = ledger.really if whole else seconds - ledger.written[label]
            row += [f"{seconds:.1f}", f"{100 * seconds / total:.2f} %", f"{really:.1f}"]
        rows.append(row)
    heads = [head for name in ledgers for head in (f"{name}: s", "share", "really taken, s")]
    print_table(["", *heads], rows)
    for name, ledger in ledgers.items():
        total, busy = ledger.total, ledger.seconds[GENERATING]
        engine = sum(ledger.written[label] for label in ENGINE)
        looked = sum(ledger.written[label] for label in (PREFLIGHT, RECHECK))
        print(
            f"{name}: a model generates for cells in {busy / total:.1%} of {total / 3600:.2f} h "
            f"(goal {GOAL:.0%}), and answers preflight in {looked / total:.1%}; "
            f"the engine's loading and unloading takes {engine / total:.1%}, arnes itself "
            f"{ledger.really / total:.2%}, {1000 * ledger.really / cells:.0f} ms a cell"
        )
    print(flush=True)


def night(models: int, runs: int, tasks: tuple[str, ...]) -> None:
    instrument = load_instrument(PACKAGE.parent)
    chosen = tasks or instrument.suite.ids
    print(
        f"{models} models × {runs} runs × {', '.join(chosen)}; {TOKENS:,} tokens a cell at "
        f"{', '.join(f'{speed:g}' for speed in TOKENS_PER_S[:models])} tokens/s; "
        f"loading {FROM_DISK_S:g} s from the disk and {FROM_MEMORY_S:g} s from there"
    )
    ledgers, cells = {}, 0
    with (
        ScriptedServer(Script()) as server,
        tempfile.TemporaryDirectory(prefix="arnes-night-") as folder,
    ):
        for name, beside in (("beside", True), ("between", False)):
            plan = plan_of(models, runs, chosen, server.base_url)
            place = Path(folder) / name
            ledgers[name], campaign = play_night(place, instrument, plan, server, beside=beside)
            refuse_missing_points(campaign)
            cells = campaign.size
            print(f"{name}: played, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    print_night(ledgers, cells)
    beside, between = (ledger.really for ledger in ledgers.values())
    print(f"what arnes itself takes: {between / beside:.2f} × when it grades between the cells\n")


def cells_at_once(
    instrument: Instrument, at_once: int, run: int, place: Path
) -> tuple[float, float]:
    """Ask cells of a run; return how many an hour, and tokens written per second."""
    config = instrument.config.model_copy(update={"parallel_cells": at_once})
    clock = SystemClock()
    activity = Activity(clock, at_once=at_once)
    planned = PlannedModel(id="small", backend="embedded", options={"slots": at_once})
    with make_backend(planned, place / "server.log", clock) as endpoint:
        asker = Asker(
            config=config,
            run=run,
            model=endpoint.model,
            cell_of=lambda task: CellFolder(place / task.id),
            open_chat=lambda: HttpChat(endpoint, config.transport, config.call_timeout_s, clock),
            clock=clock,
            tell=lambda _what: None,
            doing=lambda task: activity.cell(planned.id, run, task.id),
        )
        tasks = [instrument.suite.task(task) for task in CELLS_OF]
        began = clock.monotonic()
        with closing(asker.ask(tasks, lambda _task: True)) as asked:
            done = list(asked)
        took_s = clock.monotonic() - began
    stopped = [cell.exchange.detail for cell in done if cell.exchange.ended != "reply"]
    if stopped or len(done) != len(tasks):
        raise SystemExit(f"{len(done)} of {len(tasks)} cells were asked: {stopped}")
    tokens = sum(completion_of(cell.exchange).completion_tokens or 0 for cell in done)
    return 3600 * len(done) / took_s, tokens / took_s


def parallel(rounds: int) -> None:
    if weights.missing_wheels():
        print("cells at once: skipped, needs the embedded model (make install)")
        return
    instrument = load_instrument(PACKAGE.parent, DEMO_PROFILE)
    found: dict[int, list[tuple[float, float]]] = {at_once: [] for at_once in AT_ONCE}
    with tempfile.TemporaryDirectory(prefix="arnes-night-") as folder:
        for number in range(1, rounds + 1):
            for at_once in AT_ONCE:
                place = Path(folder) / f"{number}-{at_once}"
                place.mkdir()
                found[at_once].append(cells_at_once(instrument, at_once, number, place))
                print(f"round {number}, {at_once} at once: {found[at_once][-1][0]:.0f} cells/h, "
                      f"load {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
    medians = {
        at_once: [median(part) for part in zip(*pairs, strict=True)]
        for at_once, pairs in found.items()
    }
    print(f"\nSmolLM2, one generating thread, caps of the demo: {', '.join(CELLS_OF)}")
    print_table(
        ("parallel_cells", "cells per hour", "× of 1", "written tokens/s"),
        [
            (str(n), f"{cells:.0f}", f"{cells / medians[1][0]:.2f}", f"{tokens:.0f}")
            for n, (cells, tokens) in medians.items()
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", nargs="+", default=[])
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    print_machine()
    if given.models:
        night(given.models, given.runs, tuple(given.tasks))
    if given.rounds:
        parallel(given.rounds)


if __name__ == "__main__":
    main()
