"""A night that the real orchestrator plays over a scripted server, and where its time goes.

What a model and its server take is written here and only told to the clock. What arnes does is
done, and takes the time it takes.
"""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from harness.backends import needle
from harness.backends.hardware import host_info
from harness.campaign import orchestrator, players
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
# Written: what models and their servers take. benchmarks/README.md says where the figures are from.
TOKENS_PER_S = (30.0, 50.0, 70.0, 90.0)  # of the models, in turn; a cell's prompts included
TOKENS = 14_000  # of a cell, reasoning included, an agent's in equal parts; less under a lower cap
READING = 20  # times as fast as writing: preflight's prompts; its replies use their caps up
FROM_DISK_S = 36.0  # 18 GB of weights at 0.5 GB/s, unless they were read ahead
FROM_MEMORY_S = 12.0  # from there to the card, and until a server answers
UNLOADING_S = 5.0

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
WINDOW = 65_536
# A server that tells its window, as llama.cpp does.
PAGES = {"/props": {"default_generation_settings": {"n_ctx": WINDOW}, "build_info": "played"}}
# For preflight: as long as it wants, with the words that it has to find.
REPLY = Behaviour(content=" ".join([*needle.WORDS, *(f"word{number}" for number in range(260))]))


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


@dataclass(kw_only=True)
class TimedModel(ModelPlayer):
    """A model of the plan whose server is one for all, and is told what this run plays."""

    ledger: Ledger
    server: ScriptedServer
    scripts: dict[int, Script]
    ahead: bool
    _read_since: float | None = field(default=None, init=False)

    def bring_up(self, run: int) -> Served:
        self.server.play(self.scripts[run])
        self.ledger.passes(LOADING, self._unread_s() + FROM_MEMORY_S)
        self._read_since = None  # what was read is not there any more when its turn comes again
        with self.ledger.on(PREFLIGHT):
            return super().bring_up(run)

    def read_ahead(self) -> None:
        if self.ahead and self._read_since is None:
            self._read_since = self.clock.monotonic()

    def _unread_s(self) -> float:
        """How long the rest of the weights takes that nobody has read yet."""
        if self._read_since is None:
            return FROM_DISK_S
        return max(0.0, FROM_DISK_S - (self.clock.monotonic() - self._read_since))

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
    """The real channel to a model; what it does meanwhile takes as long as is written.

    tokens_per_s : its speed
    """

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


class TimedLook(HttpChat):
    """The channel of preflight: prompts are read, and every reply is as long as it may be."""

    def __init__(
        self, endpoint: Endpoint, *given: Any, clock: NightClock, speed: float, **named: Any
    ) -> None:
        super().__init__(endpoint, *given, **named)
        self._night, self._speed = clock, speed

    def complete(self, request: ChatRequest) -> Exchange:
        exchange = super().complete(request)
        read = completion_of(exchange).prompt_tokens or 0
        self._night.sleep(read / (READING * self._speed) + request.max_tokens / self._speed)
        return exchange


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
    return Script(by_prompt=by_prompt, by_opening=by_opening, default=(REPLY,), pages=PAGES)


def plan_of(models: int, runs: int, tasks: tuple[str, ...], base_url: str) -> CampaignPlan:
    planned = [
        {
            "id": f"m{n}",
            "backend": "external",
            "base_url": base_url,
            "served_name": f"m{n}",
            "context_tokens": WINDOW,
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
    """Play a night from its first start to its last summary; return where its time went.

    beside : it is graded and the next weights are read while a model answers; else in between
    """
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
            ahead=beside,
        )
        for planned in plan.models
    ]
    playing: tuple[Player, ...] = (*controls, *models)

    def open_chat(served: Served) -> TimedChat | HttpChat:
        chat = HttpChat(served.endpoint, config.transport, config.call_timeout_s, clock)
        speed = speeds.get(served.endpoint.model)
        return chat if speed is None else TimedChat(chat, ledger, speed)

    def look(endpoint: Endpoint, *given: Any, **named: Any) -> TimedLook:
        return TimedLook(endpoint, *given, clock=clock, speed=speeds[endpoint.model], **named)

    def grading(scoring: Scoring) -> TimedGrading:
        return TimedGrading(scoring, ledger, clock, beside=beside)

    with (
        store.exclusive(campaign),
        patch.object(orchestrator, "Grading", grading),
        patch.object(players, "HttpChat", look),
    ):
        campaign.log(JournalEvent(at=clock.now().isoformat(), event="campaign_started"))
        tally = orchestrator.Orchestrator(
            campaign=campaign,
            instrument=instrument,
            players=playing,
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
