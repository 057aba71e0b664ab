"""Small nights on a clock that moves only when somebody sleeps: real servers, real files."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from campaigning import golden_text

from harness.backends.hardware import host_info
from harness.campaign.activity import Activity
from harness.campaign.deadline import Countdown
from harness.campaign.display import QuietDisplay
from harness.campaign.history import cell_times, rest_of
from harness.campaign.night import create
from harness.campaign.orchestrator import Orchestrator
from harness.campaign.plan import resolve
from harness.campaign.players import Served
from harness.campaign.tally import Tally
from harness.clock import FakeClock
from harness.models.chat import ChatModel
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, Script, ScriptedServer
from harness.records.campaign import CampaignPlan
from harness.records.run import Endpoint, ServerInfo
from harness.stages.instrument import Instrument
from harness.store.campaign import Campaign

HOUR_S = 3600.0
TEN_IN_THE_EVENING = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


class WallClock(FakeClock):
    """A clock whose wall time somebody sets, while its monotonic time only goes on."""

    _set_by = timedelta()

    def now(self) -> datetime:
        """What it was set to, and what was slept since."""
        return super().now() + self._set_by

    def set_by(self, hours: float) -> None:
        """Set the wall time forward, or back; a machine that slept is set forward."""
        self._set_by += timedelta(hours=hours)


@dataclass
class HourlyPlayer:
    """A model whose server takes an hour to come up.

    began : the runs that were begun, as `a1`; shared by the players of a night
    changes : run → what is found to have changed after it
    when_up : is called with the name of each run when its server is up
    deaths : model → how many of its next servers die in their first call; shared too
    read : is told who reads ahead while which run is served, as `a1 b`; shared too
    """

    id: str
    clock: FakeClock
    text: str
    began: list[str]
    when_up: Callable[[str], None]
    backend = "scripted"
    control = False
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)
    read: list[str] = field(default_factory=list)
    _server: ScriptedServer | None = None
    _dies: bool = False

    def bring_up(self, run: int) -> Served:
        """Sleep for an hour, and serve one written reply."""
        self.began.append(f"{self.id}{run}")
        self.clock.sleep(HOUR_S)
        self._dies = self.deaths[self.id] > 0
        self.deaths[self.id] -= self._dies
        self._server = ScriptedServer(self.script()).start()
        self.when_up(self.began[-1])
        endpoint = Endpoint(base_url=self._server.base_url, model=self.id)
        return Served(endpoint, ServerInfo(engine="scripted"))

    def script(self) -> Script:
        """What its server plays."""
        played = Behaviour(content=self.text, close_before_reply=self._dies)
        return Script(default=(played,))

    def read_ahead(self) -> None:
        """Note it."""
        self.read.append(f"{self.began[-1]} {self.id}")

    def recheck(self) -> tuple[str, ...]:
        """Nothing has changed, unless a test says so of this run."""
        return self.changes.get(self.began[-1], ())

    def alive(self) -> bool:
        """True between start and stop, unless its call was its death."""
        return self._server is not None and not self._dies

    def shut_down(self) -> None:
        """Stop the server."""
        if self._server is not None:
            self._server.stop()
            self._server = None


@dataclass
class Night:
    """Two models, three runs of one task.

    place : where the campaign lies
    plan : what the plan says besides
    """

    core: Instrument
    place: Path
    plan: dict[str, object] = field(default_factory=dict)
    when_up: Callable[[str], None] = lambda _run: None
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deaths: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Make the campaign."""
        models = [{"id": name, "backend": "embedded"} for name in ("a", "b")]
        usual = {"name": "night", "models": models, "tasks": ["A08"], "controls": False}
        plan = CampaignPlan.model_validate({**usual, **self.plan})
        self.clock = WallClock(TEN_IN_THE_EVENING)
        resolved = resolve(plan, b"", self.core, now=self.clock.now())
        self.campaign: Campaign = create(resolved, self.core, self.clock, self.place / "campaign")
        self.began: list[str] = []
        self.read: list[str] = []

    def pass_over(self) -> Tally:
        """Run what is left of it."""
        self.activity = Activity(self.clock)
        self.activity.plan(rest_of(self.campaign, self.core.suite), cell_times(self.campaign))
        told = self.campaign.record.deadline
        deadline = None if told is None else datetime.fromisoformat(told)
        left_s = Countdown(deadline, self.clock).left_s

        def open_chat(served: Served) -> ChatModel:
            config = self.core.config
            limit = config.call_timeout_s
            return HttpChat(
                served.endpoint, config.transport, limit, self.clock, None, left_s=left_s
            )

        return Orchestrator(
            campaign=self.campaign,
            instrument=self.core,
            players=tuple(map(self.player, ("a", "b"))),
            open_chat=open_chat,
            host=host_info(self.core.root),
            clock=self.clock,
            display=QuietDisplay(),
            activity=self.activity,
            left_s=left_s,
        ).run()

    def player(self, name: str) -> HourlyPlayer:
        """Make a model's player."""
        return HourlyPlayer(
            name,
            self.clock,
            golden_text(self.core.suite.task("A08")),
            self.began,
            self.when_up,
            changes=self.changes,
            deaths=self.deaths,
            read=self.read,
        )
