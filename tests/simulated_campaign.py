"""A campaign of six scripted players of graded ability, through the real pipeline.

    PYTHONPATH=tests .venv/bin/python -m simulated_campaign FOLDER

Only the replies are written: mixtures of right lines and wrong ones. Servers, orchestrator,
parsing, grading and finalizing are the ones that measure models. It shows two tied pairs, tiers, a
cut (two players lack run 5), repairs, truncated replies and a row under doubt. Everything is drawn
from fixed seeds, so two such campaigns differ in times and port numbers only.
"""

import random
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from campaigning import LONG_REPLY, ROOT, defective_text, golden_text, plan_text

from harness.campaign.night import create, run_campaign
from harness.campaign.plan import read_plan, resolve
from harness.clock import SystemClock
from harness.models.script import Behaviour, Script, model_and_prompt
from harness.models.scripted import ScriptedServer
from harness.records.campaign import Final
from harness.running.single import cap_of
from harness.stages.finalize import finalize
from harness.stages.instrument import Instrument, load_instrument
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Task

RUNS = 5
TASKS = ("A04", "A05", "A06", "A08", "A09", "A10")
LAST_RUN_OF_THE_CUT = 4
POLL_S = 0.02

# From poor to perfect; the mean ability of a task says about where a player stands.
LADDERS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "A08": ("one_section", "office_prose", "thin", "scars", "near_miss", "scars_of_form"),
        "A10": ("lazy", "slip", "five_passes", "missing_import", "near_miss"),
    }
)
HATCHED = """\
[hatched]
"A06.attribution" = "SIMULATED: an author of the suite doubts this row; its points stand"
"""


@dataclass(frozen=True)
class SimulatedPlayer:
    """ability : chance that a line is right, before task, schedule and run move it.

    truncates : chance that a reply is cut in the middle; cut : True when it lacks the last run
    """

    name: str
    ability: float
    truncates: float = 0.0
    cut: bool = False


PLAYERS = (
    SimulatedPlayer("sim-amber", 0.97),
    SimulatedPlayer("sim-birch", 0.965),
    SimulatedPlayer("sim-cedar", 0.86),
    SimulatedPlayer("sim-dune", 0.66, truncates=0.03),
    SimulatedPlayer("sim-elm", 0.65, cut=True),
    SimulatedPlayer("sim-flint", 0.40, truncates=0.08, cut=True),
)
SHARED = 0.6  # chance that luck is the schedule's, the same for every player, and not a player's


def reply_of(player: SimulatedPlayer, run: int, task: Task) -> Behaviour:
    """Return what a player sends in one cell: the same every time it is asked for."""
    draw = random.Random(f"{player.name} {run} {task.id}")
    luck = random.Random(f"schedule {run} {task.id}")
    shock = random.Random(f"schedule {run}").gauss(0, 0.03)
    taste = random.Random(f"taste {player.name} {task.id}").gauss(0, 0.03)
    chance = min(max(player.ability + shock + taste, 0.02), 1.0)
    if task.id in LADDERS:
        text = _member(task, chance, draw)
    else:
        text = "\n".join(_lines(golden_text(task), chance, draw, luck)) + "\n"
    words = random.Random(f"words {player.name} {run} {task.id}").randrange(200, 900)
    if draw.random() < player.truncates:
        return Behaviour(content=text[: len(text) // 2], finish_reason="length")
    return Behaviour(content=text, completion_tokens=words)


def _lines(golden: str, chance: float, draw: random.Random, luck: random.Random) -> list[str]:
    """Keep a line with the given chance; else a number in it is another one."""
    kept = []
    for line in golden.strip().splitlines():
        key, sign, value = line.partition(" = ")
        shared, own, whose = luck.random(), draw.random(), draw.random()
        right = (shared if whose < SHARED else own) < chance
        wrong = re.sub(r"\d+", lambda found: str(int(found[0]) + 7), value, count=1)
        if wrong == value:  # no number in it: letters the other way round
            wrong = value[::-1]
        kept.append(f"{key}{sign}{value if right else wrong}")
    return kept


def _member(task: Task, chance: float, draw: random.Random) -> str:
    """Take a rung of a ladder, the golden at its top."""
    ladder = LADDERS[task.id]
    rung = min(max(round(draw.gauss(chance * len(ladder), 0.5)), 0), len(ladder))
    return golden_text(task) if rung == len(ladder) else defective_text(task, ladder[rung])


def script_of(players: Sequence[SimulatedPlayer], instrument: Instrument, runs: int) -> Script:
    """Return what the server of these players plays: its n-th reply to a prompt is run n's."""
    by_model: dict[str, tuple[Behaviour, ...]] = {}
    for player in players:
        # Whatever else preflight asks is answered by the player's usual reply.
        by_model[player.name] = (Behaviour(content=LONG_REPLY),)
        for task in instrument.suite.tasks:
            prompt = task.prompt(cap_of(task, instrument.config))
            by_model[model_and_prompt(player.name, prompt)] = tuple(
                reply_of(player, run, task) for run in range(1, runs + 1)
            )
    return Script(by_model=by_model)


def simulate(
    folder: Path,
    *,
    tasks: Sequence[str] = TASKS,
    runs: int = RUNS,
    players: Sequence[SimulatedPlayer] = PLAYERS,
    root: Path = ROOT,
) -> tuple[Campaign, Final]:
    """Run a simulated campaign into a folder, and finalize it.

    root : where `arnes.toml` and the suite lie
    players : who plays; those with a cut lose their server after run 4, as at a deadline
    """
    whole = load_instrument(root)
    instrument = Instrument(
        whole.root, whole.config, whole.suite.only(tuple(tasks)), whole.signature
    )
    groups = [[p for p in players if not p.cut], [p for p in players if p.cut]]
    with ExitStack() as stack:
        servers = [
            stack.enter_context(ScriptedServer(script_of(group, instrument, runs)))
            for group in groups
        ]
        urls = {
            player.name: server.base_url
            for group, server in zip(groups, servers, strict=True)
            for player in group
        }
        campaign = _begin(folder, whole, urls, tasks, runs)
        with _CutOff(campaign, groups[1], servers[1]):
            run_campaign(campaign, whole, live=False)
    if "A06" in tasks:
        campaign.folder.hatched.write_text(HATCHED, encoding="utf-8")
    return campaign, finalize(campaign, whole.suite, whole.config, whole.stamps)


def _begin(
    folder: Path, instrument: Instrument, urls: dict[str, str], tasks: Sequence[str], runs: int
) -> Campaign:
    """Make the campaign's folder from a plan that says that it is simulated."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = folder.with_name(f"{folder.name}.plan.toml")
    text = plan_text(urls, tasks=list(tasks), runs=runs, more="simulated = true")
    path.write_text(text.replace('"small"', '"simulated-six-models"'), encoding="utf-8")
    resolved = resolve(read_plan(path), path.read_bytes(), instrument)
    path.unlink()
    return create(resolved, instrument, SystemClock(), folder)


class _CutOff:
    """Stops a server as soon as its last player has finished the last run before the cut."""

    def __init__(
        self, campaign: Campaign, players: Sequence[SimulatedPlayer], server: ScriptedServer
    ) -> None:
        self._campaign = campaign
        self._players = players
        self._server = server
        self._over = threading.Event()
        self._watch = threading.Thread(target=self._wait)

    def _wait(self) -> None:
        while not self._over.wait(POLL_S):
            runs = [self._campaign.folder.run(p.name, LAST_RUN_OF_THE_CUT) for p in self._players]
            infos = [store.read_run_info(run) for run in runs]
            if infos and all(info is not None and info.status == "finished" for info in infos):
                self._server.stop()
                return

    def __enter__(self) -> None:
        self._watch.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()


if __name__ == "__main__":
    made, _ = simulate(Path(sys.argv[1]), root=Path(*sys.argv[2:3]) if sys.argv[2:] else ROOT)
    print(made.folder.path)  # noqa: T201 (a script)
