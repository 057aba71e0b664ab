"""A night that the real orchestrator plays over a scripted server, and where its time goes.

What a model and its server take is written here and only told to the clock. What arnes does is
done, and takes the time it takes.
"""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from harness.backends.hardware import host_info
from harness.backends.preflight import PreflightReport
from harness.campaign import orchestrator
from harness.campaign.activity import Activity
from harness.campaign.controls import script_of
from harness.campaign.display import QuietDisplay
from harness.campaign.grading import Grading, Scoring
from harness.campaign.night import create
from harness.campaign.plan import resolve
from harness.campaign.players import ControlPlayer, ModelPlayer, Player, Served
from harness.clock import SystemClock
from harness.models.http import HttpChat
from harness.models.script import Behaviour, Script, prompt_key
from harness.models.scripted import ScriptedServer
from harness.parsing.completion import completion_of
from harness.records.campaign import GOLDEN_CONTROL, CampaignPlan, JournalEvent
from harness.records.response import ChatRequest, Exchange
from harness.records.run import Endpoint
from harness.running.single import cap_of
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Task

BEGIN = datetime(2000, 1, 1, 22, tzinfo=UTC)
# Written: what models and their servers take.
TOKENS_PER_S = (30.0, 50.0, 70.0, 90.0)  # of the models, in turn; reading of prompts included
TOKENS = 14_000  # of a cell, reasoning included, an agent's in equal parts; less under a lower cap
LOADING_S = 60.0  # weights, before each run
UNLOADING_S = 5.0
PREFLIGHT_TOKENS = {
    True: 900,
    False: 300,
}  # of all replies of a look, with the long one and without
PREFLIGHT_READING_S = 25.0  # of a look: its longest prompt, some 20,000 tokens at 800/s

GENERATING = "a model generates"
LOADING, UNLOADING = "weights are loaded", "a server is stopped, cards are looked at"
PREFLIGHT, RECHECK = "preflight before a run", "the look after a run"
CHANNEL, GRADING, AT_THE_END = "requests and replies", "grading", "waiting for grading at the end"
CONTROLS, REST = "controls", "all else: evidence, worlds and their tests, journal"
ENGINE = (LOADING, UNLOADING)
LABELS = (
    GENERATING, LOADING, PREFLIGHT, RECHECK, UNLOADING,
    CHANNEL, GRADING, CONTROLS, REST, AT_THE_END,
)  # fmt: skip
WORDS = Behaviour(content=" ".join(f"word{number}" for number in range(260)))  # for preflight


class NightClock:
    """Real time, and in addition what is only said to pass. `written` is the latter's sum."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._skipped = 0.0
        self.written = 0.0
        self.meanwhile = lambda _limit_s: None  # lets what is beside us go on

    def monotonic(self) -> float:
        return time.monotonic() - self._began + self._skipped

    def now(self) -> datetime:
        return datetime.fromtimestamp(BEGIN.timestamp() + self.monotonic(), tz=UTC)

    def sleep(self, seconds: float) -> None:
        began = time.monotonic()
        self.meanwhile(seconds)
        really = min(time.monotonic() - began, seconds)
        self._skipped += seconds - really
        self.written += seconds


class Ledger:
    """What the time of a clock was spent on: label → seconds, and those that were written."""

    def __init__(self, clock: NightClock) -> None:
        self._clock = clock
        self._open = [REST]
        self._since = (clock.monotonic(), clock.written)
        self.seconds: Counter[str] = Counter()
        self.written: Counter[str] = Counter()

    def _enter(self) -> None:
        now = (self._clock.monotonic(), self._clock.written)
        self.seconds[self._open[-1]] += now[0] - self._since[0]
        self.written[self._open[-1]] += now[1] - self._since[1]
        self._since = now

    def begin(self, label: str) -> None:
        self._enter()
        self._open.append(label)

    def end(self) -> None:
        self._enter()
        self._open.pop()

    @contextmanager
    def on(self, label: str) -> Iterator[None]:
        self.begin(label)
        try:
            yield
        finally:
            self.end()

    def passes(self, label: str, seconds: float) -> None:
        with self.on(label):
            self._clock.sleep(seconds)

    def close(self) -> None:
        """Count up to now; what comes later is not the night's."""
        self._enter()

    @property
    def total(self) -> float:
        return self.seconds.total()

    @property
    def really(self) -> float:
        """Seconds that were not written: arnes itself, its controls and the scripted server."""
        return self.total - self.written.total()


class TimedGrading(Grading):
    """The campaign's grading, with its time on the ledger; or all of it between the cells."""

    def __init__(
        self, scoring: Scoring, ledger: Ledger, clock: NightClock, *, beside: bool
    ) -> None:
        super().__init__(scoring)
        self._ledger, self._beside = ledger, beside
        clock.meanwhile = self._go_on

    def _go_on(self, limit_s: float) -> None:
        wait(self._running, timeout=limit_s)

    def submit(self, player: str, number: int, task: Task) -> None:
        with self._ledger.on(GRADING):
            if self._beside:
                super().submit(player, number, task)
            else:
                self._scoring.cell(player, number, task)

    def finish(self) -> None:
        with self._ledger.on(AT_THE_END):
            super().finish()

    def __exit__(self, *error) -> None:
        with self._ledger.on(AT_THE_END):
            super().__exit__(*error)


@dataclass
class TimedModel(ModelPlayer):
    """A model of the plan whose server is one for all, and is told what this run plays."""

    ledger: Ledger
    server: ScriptedServer
    scripts: dict[int, Script]
    tokens_per_s: float

    def bring_up(self, run: int) -> Served:
        self.server.play(self.scripts[run])
        self.ledger.passes(LOADING, LOADING_S)
        with self.ledger.on(PREFLIGHT):
            return super().bring_up(run)

    def _look(self, endpoint: Endpoint, *, long_reply: bool) -> PreflightReport:
        report = super()._look(endpoint, long_reply=long_reply)
        took_s = PREFLIGHT_TOKENS[long_reply] / self.tokens_per_s
        self.clock.sleep(took_s + PREFLIGHT_READING_S)
        return report

    def recheck(self) -> tuple[str, ...]:
        with self.ledger.on(RECHECK):
            return super().recheck()

    def shut_down(self) -> None:
        super().shut_down()
        self.ledger.passes(UNLOADING, UNLOADING_S)


@dataclass
class TimedControl(ControlPlayer):
    """A control; from its start to its stop, what is on no other label is its time."""

    ledger: Ledger

    def bring_up(self, run: int) -> Served:
        self.ledger.begin(CONTROLS)
        return super().bring_up(run)

    def shut_down(self) -> None:
        super().shut_down()
        self.ledger.end()


class TimedChat:
    """The real channel; then a model is said to generate for as long as its tokens take."""

    def __init__(self, channel: HttpChat, ledger: Ledger, tokens_per_s: float) -> None:
        self._channel, self._ledger, self._tokens_per_s = channel, ledger, tokens_per_s

    def complete(self, request: ChatRequest) -> Exchange:
        with self._ledger.on(CHANNEL):
            exchange = self._channel.complete(request)
        tokens = completion_of(exchange).completion_tokens or 0
        self._ledger.passes(GENERATING, tokens / self._tokens_per_s)
        return exchange

    def cut(self) -> None:
        self._channel.cut()

    def close(self) -> None:
        self._channel.close()


def script_of_run(instrument: Instrument, run: int) -> Script:
    """Return the golden control's script with the written tokens, and a reply for preflight."""
    golden = script_of(GOLDEN_CONTROL, instrument.suite, instrument.config, run)
    by_prompt, by_opening = {}, {}
    for task in instrument.suite.tasks:
        cap = cap_of(task, instrument.config)
        prompt = task.prompt(cap)
        kept, key = (
            (by_opening, prompt_key(prompt.strip()))
            if task.is_agent
            else (by_prompt, prompt_key(prompt))
        )
        plays = (golden.by_opening if task.is_agent else golden.by_prompt)[key]
        tokens = min(TOKENS, cap * 3 // 4) // len(plays)
        told = {"usage": True, "completion_tokens": tokens}
        kept[key] = tuple(play.model_copy(update=told) for play in plays)
    return Script(by_prompt=by_prompt, by_opening=by_opening, default=(WORDS,))


def plan_of(models: int, runs: int, tasks: tuple[str, ...], base_url: str) -> CampaignPlan:
    planned = [
        {
            "id": f"m{n}",
            "backend": "external",
            "base_url": base_url,
            "served_name": f"m{n}",
            "context_tokens": 65_536,
        }
        for n in range(1, models + 1)
    ]
    return CampaignPlan.model_validate(
        {
            "name": "night", "runs": runs, "tasks": tasks, "models": planned,
            "allow_slow": True, "simulated": True,
        }
    )  # fmt: skip


def play_night(
    place: Path, instrument: Instrument, plan: CampaignPlan, server: ScriptedServer, *, beside: bool
) -> tuple[Ledger, Campaign]:
    """Play a night from its first start to its last summary; return where its time went."""
    resolved = resolve(plan, b"", instrument)
    campaign = create(resolved, instrument, SystemClock(), place)  # its validation is not the night
    config, suite = instrument.config, instrument.suite.only(resolved.tasks)
    runs = range(1, resolved.runs + 1)
    scripts = {
        run: script_of_run(Instrument(instrument.root, config, suite, instrument.signature), run)
        for run in runs
    }
    speeds = {model.id: TOKENS_PER_S[n % len(TOKENS_PER_S)] for n, model in enumerate(plan.models)}
    clock = NightClock()
    ledger = Ledger(clock)
    controls = [TimedControl(name, suite, config, ledger) for name in campaign.record.controls]
    models = [
        TimedModel(
            planned=planned,
            suite=suite,
            config=config,
            clock=clock,
            api_key=None,
            allow_slow=True,
            log=campaign.folder.server_log(planned.id),
            tell=lambda _what: None,
            ledger=ledger,
            server=server,
            scripts=scripts,
            tokens_per_s=speeds[planned.id],
        )
        for planned in plan.models
    ]
    players: tuple[Player, ...] = (*controls, *models)

    def open_chat(served: Served) -> TimedChat | HttpChat:
        chat = HttpChat(served.endpoint, config.transport, config.call_timeout_s, clock)
        speed = speeds.get(served.endpoint.model)
        return chat if speed is None else TimedChat(chat, ledger, speed)

    def grading(scoring: Scoring) -> TimedGrading:
        return TimedGrading(scoring, ledger, clock, beside=beside)

    with store.exclusive(campaign), patch.object(orchestrator, "Grading", grading):
        campaign.log(JournalEvent(at=clock.now().isoformat(), event="campaign_started"))
        tally = orchestrator.Orchestrator(
            campaign=campaign,
            instrument=instrument,
            players=players,
            open_chat=open_chat,
            host=host_info(instrument.root),
            clock=clock,
            display=QuietDisplay(),
            activity=Activity(clock),
        ).run()
        campaign.log(JournalEvent(at=clock.now().isoformat(), event="campaign_finished"))
        ledger.close()
    if tally.done != campaign.size:
        raise SystemExit(f"only {tally.done} of {campaign.size} cells: {tally}")
    return ledger, campaign
