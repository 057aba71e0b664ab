"""A night of six scripted players of graded ability, from the first call to the report.

    PYTHONPATH=tests .venv/bin/python -m simulated_campaign FOLDER [REPORT]

makes `FOLDER/campaign` and, from it, a report in `FOLDER/report`, or where it is told.

Written are the replies (mixtures of right lines and wrong ones), the time that they take, the
machine, and the one record of a grader that is shown under doubt. Servers, orchestrator, deadline,
parsing, grading, finalizing and the report are the ones that measure models. It shows tied pairs,
tiers, runs that a deadline cut, repairs, truncated replies and a task under doubt. Everything is
drawn from fixed seeds and timed by a written clock, so two such campaigns differ in port numbers
and in what the machine took, which no page shows.
"""

import random
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from campaigning import LONG_REPLY, ROOT, defective_text, golden_text, model_player, plan_text

from harness.arnes import CONFIG_NAME
from harness.backends.hardware import Gpus
from harness.campaign.activity import Activity
from harness.campaign.deadline import Countdown
from harness.campaign.display import QuietDisplay
from harness.campaign.night import Summary, create
from harness.campaign.orchestrator import Orchestrator
from harness.campaign.plan import read_plan, resolve
from harness.campaign.players import ControlPlayer, Player, Served
from harness.clock import FakeClock, SystemClock
from harness.models.http import HttpChat
from harness.models.script import Behaviour, Script, model_and_prompt
from harness.models.scripted import ScriptedServer
from harness.parsing.completion import completion_of
from harness.records.base import digest, readable_json
from harness.records.campaign import Final, JournalEvent
from harness.records.response import ChatRequest, Exchange
from harness.records.run import HostInfo
from harness.records.validation import Measured, MeasuredStrength
from harness.report.about import about_tasks
from harness.report.write import write_report
from harness.running.single import cap_of
from harness.signature import LOCK_NAME
from harness.stages.evidence import refuse_stale
from harness.stages.finalize import finalize
from harness.stages.instrument import Instrument, load_instrument
from harness.stages.strength.published import FILE as STRENGTH_FILE
from harness.stages.strength.published import SHARE_DECIMALS, read_measured
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import SUITE_FOLDER, Suite, Task

RUNS = 5
HOURS = 5.5
TASKS = ("A04", "A05", "A06", "A08", "A09", "A11")  # A10 measures time, so it would not repeat
BEGIN = datetime(2000, 1, 1, 22, tzinfo=UTC)  # a night that nobody takes for a real one
TOKENS = (2_000, 9_000)  # of a reply

# From poor to perfect; the mean ability of a task says about where a player stands.
LADDERS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "A08": ("one_section", "office_prose", "thin", "scars", "near_miss", "scars_of_form"),
        "A11": ("no_tests", "happy_path", "typical_3b", "near_miss", "missing_import"),
    }
)
DOUBTED = "A06"
NOTICED = 0.9  # of the mutants of its grader, in the copy that says so
HATCHED = f"""\
[hatched]
"{DOUBTED}" = "SIMULATED: that record was written for this example, in a copy of the suite"
"""
MACHINE = HostInfo(
    python="3",
    implementation="CPython",
    platform="no platform",
    machine="none",
    hostname_digest=digest("simulated"),
    cpu="SIMULATED machine",
    cores=8,
    memory_bytes=2**35,
    packages={},
    code_revision=None,
    code_dirty=None,
)


@dataclass(frozen=True)
class SimulatedPlayer:
    """A player that sends written replies.

    ability : chance that a line is right, before task, schedule and run move it
    tokens_per_s : how fast it is said to write
    truncates : chance that a reply is cut in the middle
    """

    name: str
    ability: float
    tokens_per_s: float
    truncates: float = 0.0


# The slowest play last: theirs are the runs that the end of the night does not leave room for.
PLAYERS = (
    SimulatedPlayer("sim-amber", 0.97, 52),
    SimulatedPlayer("sim-birch", 0.965, 58),
    SimulatedPlayer("sim-cedar", 0.86, 90),
    SimulatedPlayer("sim-dune", 0.66, 74, truncates=0.03),
    SimulatedPlayer("sim-elm", 0.65, 30),
    SimulatedPlayer("sim-flint", 0.40, 24, truncates=0.08),
)
SHARED = 0.6  # chance that luck is the schedule's, the same for every player, and not a player's


def reply_of(player: SimulatedPlayer, run: int, task: Task, cap: int) -> Behaviour:
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
    tokens = random.Random(f"tokens {player.name} {run} {task.id}").randrange(*TOKENS)
    if draw.random() < player.truncates:
        half = text[: len(text) // 2]
        return Behaviour(content=half, completion_tokens=cap, finish_reason="length")
    return Behaviour(content=text, completion_tokens=min(tokens, cap - 1))


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
            cap = cap_of(task, instrument.config)
            by_model[model_and_prompt(player.name, task.prompt(cap))] = tuple(
                reply_of(player, run, task, cap) for run in range(1, runs + 1)
            )
    return Script(by_model=by_model)


@dataclass(frozen=True)
class SlowChat:
    """The real channel, on a clock that a reply's tokens move on at a written speed."""

    channel: HttpChat
    clock: FakeClock
    tokens_per_s: float

    def complete(self, request: ChatRequest) -> Exchange:
        """Ask, and let the time pass that the reply is said to take."""
        began = self.clock.now().isoformat()
        exchange = self.channel.complete(request)
        took_s = (completion_of(exchange).completion_tokens or 0) / self.tokens_per_s
        self.clock.sleep(took_s)
        times = {"first_byte_s": 0.0, "first_token_s": 0.0, "last_token_s": took_s}
        timings = exchange.timings.model_copy(update={**times, "total_s": took_s})
        return exchange.model_copy(update={"started_at": began, "timings": timings})

    def cut(self) -> None:
        """End the call in flight."""
        self.channel.cut()

    def close(self) -> None:
        """Give the connection back."""
        self.channel.close()


def simulate(
    folder: Path,
    *,
    tasks: Sequence[str] = TASKS,
    runs: int = RUNS,
    players: Sequence[SimulatedPlayer] = PLAYERS,
    hours: float = HOURS,
) -> tuple[Campaign, Summary, Final]:
    """Run a simulated campaign into a folder, and finalize it.

    Parameters
    ----------
    players : in the order in which they play
    hours : from the start to the deadline, by the written clock
    """
    whole = load_instrument(ROOT)
    instrument = Instrument(
        whole.root, whole.config, whole.suite.only(tuple(tasks)), whole.signature
    )
    clock = FakeClock(BEGIN)
    with ScriptedServer(script_of(players, instrument, runs)) as server:
        campaign = _begin(folder, whole, clock, _plan(server, players, tasks, runs, hours))
        summary = _night(campaign, instrument, clock, players)
    if DOUBTED in tasks:
        campaign.folder.hatched.write_text(HATCHED, encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="arnes-simulated-") as place:
        suite = doubted_suite(Path(place))
        return campaign, summary, finalize(campaign, suite, whole.config, whole.stamps)


def _plan(
    server: ScriptedServer,
    players: Sequence[SimulatedPlayer],
    tasks: Sequence[str],
    runs: int,
    hours: float,
) -> str:
    """Return a plan that says that it is simulated."""
    urls = {player.name: server.base_url for player in players}
    more = f"hours = {hours}\nsimulated = true"
    text = plan_text(urls, tasks=list(tasks), runs=runs, more=more)
    return text.replace('"small"', '"simulated-six-models"')


def _begin(folder: Path, instrument: Instrument, clock: FakeClock, plan: str) -> Campaign:
    """Make the campaign's folder from a plan."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    path = folder.with_name(f"{folder.name}.plan.toml")
    path.write_text(plan, encoding="utf-8")
    resolved = resolve(read_plan(path), path.read_bytes(), instrument)
    path.unlink()
    return create(resolved, instrument, clock, folder)


def _night(
    campaign: Campaign,
    instrument: Instrument,
    clock: FakeClock,
    players: Sequence[SimulatedPlayer],
) -> Summary:
    """Play the campaign by the written clock, on no machine."""
    record, config, real = campaign.record, instrument.config, SystemClock()
    speeds = {player.name: player.tokens_per_s for player in players}

    def open_chat(served: Served) -> SlowChat | HttpChat:
        chat = HttpChat(served.endpoint, config.transport, config.call_timeout_s, real)
        speed = speeds.get(served.endpoint.model)
        return chat if speed is None else SlowChat(chat, clock, speed)

    deadline = datetime.fromisoformat(record.deadline) if record.deadline else None
    orchestrator = Orchestrator(
        campaign=campaign,
        instrument=instrument,
        players=_players(campaign, instrument),
        open_chat=open_chat,
        host=MACHINE,
        clock=clock,
        display=QuietDisplay(),
        activity=Activity(clock),
        left_s=Countdown(deadline, clock).left_s,
        cards=Gpus((), "SIMULATED: no cards"),
    )
    with store.exclusive(campaign):
        campaign.log(JournalEvent(at=clock.now().isoformat(), event="campaign_started"))
        tally = orchestrator.run()
        campaign.log(JournalEvent(at=clock.now().isoformat(), event="campaign_finished"))
    return Summary(tally, campaign.size)


def _players(campaign: Campaign, instrument: Instrument) -> tuple[Player, ...]:
    """Return controls and models as a night brings them up; what they take is not the night's."""
    models = [
        model_player(
            instrument,
            campaign.folder.path,
            planned,
            log=campaign.folder.server_log(planned.id),
        )
        for planned in campaign.record.plan.models
    ]
    names, suite = campaign.record.controls, instrument.suite
    return (*(ControlPlayer(name, suite, instrument.config) for name in names), *models)


def doubted_suite(place: Path) -> Suite:
    """Return the suite with a published record that puts one grader below the bar."""
    for name in (CONFIG_NAME, LOCK_NAME):
        shutil.copy(ROOT / name, place / name)
    (place / SUITE_FOLDER).mkdir()
    for entry in (ROOT / SUITE_FOLDER).iterdir():  # linked: a copy is some two thousand files
        if entry.name not in ("private", STRENGTH_FILE):
            (place / SUITE_FOLDER / entry.name).symlink_to(entry)
    entries = tuple(
        _lowered(entry) if entry.id == DOUBTED else entry for entry in read_measured(ROOT).tasks
    )
    path = place / SUITE_FOLDER / STRENGTH_FILE
    path.write_bytes(readable_json(MeasuredStrength(tasks=entries)))
    return load_instrument(place).suite


def _lowered(entry: Measured) -> Measured:
    """Return the record of a grader with fewer mutants noticed than were."""
    noticed = round(NOTICED * entry.mutants)
    share = round(noticed / entry.mutants, SHARE_DECIMALS)
    return entry.model_copy(update={"noticed": noticed, "share": share})


def example(folder: Path, report: Path | None = None) -> Summary:
    """Make the whole example: campaign, end result, report."""
    campaign, summary, final = simulate(folder / "campaign")
    refuse_stale(campaign, final)
    about = about_tasks(ROOT, final.campaign.tasks)
    write_report(final, report or folder / "report", about=about)
    return summary


if __name__ == "__main__":
    print(example(*map(Path, sys.argv[1:])).text())  # noqa: T201 (a script)
