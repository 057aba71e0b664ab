"""Bring a server up, ask the cells that are not done, take it down: run-major over players.

What is on disk after each step is all that counts: an orchestrator that is killed at any
instant loses at most the call in flight, and another one goes on where it stopped.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.campaign.display import Display
from harness.campaign.players import Player, Served
from harness.clock import Clock
from harness.errors import EndpointError, Problem
from harness.models.chat import ChatModel
from harness.records.campaign import JournalEvent
from harness.records.response import Exchange
from harness.records.run import Endpoint, HostInfo, RunInfo, ServerInfo, Session
from harness.records.score import ScoreSheet, Unscored
from harness.running.single import request_for, run_single
from harness.stages.instrument import Instrument
from harness.stages.moved import standing_outcome
from harness.stages.reparse import reparse_cell
from harness.stages.score import score_cell, write_summary
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Task

SAME_MODEL = ("engine", "build", "model_digest", "window_tokens", "chat_template_digest")
SAME_FLAGS = ("model_file", "model_ftype", "cache_prompt", "n_parallel")


@dataclass
class Tally:
    """What one pass over the campaign did.

    done_by : player → cells with a reply, of all passes together
    """

    finished_before: int = 0
    done_by: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    unscored: dict[str, int] = field(default_factory=dict)
    set_aside: dict[str, str] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Cells with a reply."""
        return self.done_by.total()


@dataclass(frozen=True)
class Orchestrator:
    """One pass over a campaign.

    open_chat : opens the channel to an endpoint; its caller closes it
    """

    campaign: Campaign
    instrument: Instrument
    players: tuple[Player, ...]
    open_chat: Callable[[Served], ChatModel]
    host: HostInfo
    clock: Clock
    display: Display
    tally: Tally = field(default_factory=Tally)

    def run(self) -> Tally:
        """Ask every cell that has no reply yet."""
        store.remove_leftovers(self.campaign)
        for player_id, number, task in self.campaign.cells():
            if store.is_done(self.campaign.cell(player_id, number, task)):
                self.tally.done_by[player_id] += 1
        self.tally.finished_before = self.tally.done
        for number in range(1, self.campaign.record.runs + 1):
            for player in self.players:
                pending = self._pending(player, number)
                if pending and player.id not in self.tally.set_aside:
                    self._play_run(player, number, pending)
        self._score_the_rest()
        return self.tally

    def _play_run(self, player: Player, number: int, pending: list[Task]) -> None:
        """One player, one run: up, cells, down, whatever happens in between."""
        began = self.clock.monotonic()
        self._show(f"{player.id} run {number}: starting")
        try:
            served = player.bring_up()
            self._refuse_another_model(player, served)
            self._log("model_up", player, number, self.clock.monotonic() - began)
            info = self._begin(player, number, served)
            self._cells(player, number, pending, served)
            store.write_run_info(
                self.campaign.folder.run(player.id, number),
                info.model_copy(update={"finished_at": self._now(), "status": "finished"}),
            )
            self._log("run_finished", player, number, self.clock.monotonic() - began)
        except EndpointError as error:
            self.tally.set_aside[player.id] = str(error)
            self._log("model_set_aside", player, number, detail=str(error))
            self.display.note(f"{player.id} is set aside, the campaign goes on.\n{error}\n")
        finally:
            player.shut_down()

    def _refuse_another_model(self, player: Player, served: Served) -> None:
        """What serves under this name must be what served its earlier runs.

        Raises
        ------
        EndpointError
            If a fact that both servers tell is another one now.
        """
        for number in range(1, self.campaign.record.runs + 1):
            info = store.read_run_info(self.campaign.folder.run(player.id, number))
            if info is None:
                continue
            problems = [
                Problem(
                    f"{player.id}: {name.replace('_', ' ')}",
                    f"run {number} had {was}, now {now}",
                    "serve what was served before, or give it an id of its own in another campaign",
                )
                for (name, was), (_, now) in zip(
                    _identity(info.endpoint, info.server),
                    _identity(served.endpoint, served.server),
                    strict=True,
                )
                if was is not None and now is not None and was != now
            ]
            if problems:
                raise EndpointError(
                    f"{player.id} is not the model that this campaign began with",
                    problems,
                    "Nothing was asked of it.",
                )

    def _begin(self, player: Player, number: int, served: Served) -> RunInfo:
        folder = self.campaign.folder.run(player.id, number)
        before = store.read_run_info(folder)
        info = RunInfo(
            model=player.id,
            run=number,
            backend=player.backend,
            endpoint=served.endpoint,
            server=served.server,
            allow_slow=self.campaign.record.plan.allow_slow,
            control=player.control,
            tasks=self.campaign.record.tasks,
            seed=self.instrument.config.seed_for(number),
            stamps=self.instrument.stamps,
            host=self.host,
            started_at=self._now(),
            earlier=_with_session(before),
            status="started",
        )
        store.write_run_info(folder, info)
        self._log("run_started", player, number)
        return info

    def _cells(self, player: Player, number: int, pending: list[Task], served: Served) -> None:
        chat = self.open_chat(served)
        try:
            for task in pending:
                what = f"{player.id} run {number}: {task.id}"
                self._show(what)
                began = self.clock.monotonic()
                exchange = self._ask(chat, player, number, task, served)
                cell = self.campaign.cell(player.id, number, task.id)
                reparse_cell(cell, task, self.instrument.config)
                self._score(player.id, number, task)
                self._count(player, exchange, what)
                self._log(
                    "cell_finished",
                    player,
                    number,
                    self.clock.monotonic() - began,
                    task=task.id,
                    detail=exchange.cause or exchange.ended,
                )
                if exchange.ended == "infrastructure" and not player.alive():
                    raise EndpointError(
                        f"the server of {player.id} died in {task.id}: {exchange.detail}",
                        state=f"Go on with: arnes campaign resume {self.campaign.folder.path}",
                    )
        finally:
            chat.close()

    def _ask(
        self, chat: ChatModel, player: Player, number: int, task: Task, served: Served
    ) -> Exchange:
        """Ask one cell; the channel has repeated what may be repeated. Evidence first."""
        config = self.instrument.config
        request = request_for(task, config, run=number, model=served.endpoint.model)
        exchange = run_single(chat, request)
        store.write_exchange(self.campaign.cell(player.id, number, task.id), exchange)
        self.tally.asked += 1
        return exchange

    def _count(self, player: Player, exchange: Exchange, what: str) -> None:
        if exchange.ended != "infrastructure":
            self.tally.done_by[player.id] += 1
        else:
            cause = str(exchange.cause)
            self.tally.unscored[cause] = self.tally.unscored.get(cause, 0) + 1
            self.display.note(f"{what}: unscored ({cause}): {exchange.detail}")

    def _score(self, player: str, number: int, task: Task) -> ScoreSheet | Unscored:
        config, stamps = self.instrument.config, self.instrument.stamps
        return score_cell(self.campaign, player, number, task, config=config, now=stamps)

    def _score_the_rest(self) -> None:
        """Give every cell a sheet, those that were never asked too, and every run a summary."""
        for player, number in self.campaign.runs():
            outcomes = [
                self._outcome(player, number, self.instrument.suite.task(task))
                for task in self.campaign.record.tasks
            ]
            write_summary(self.campaign, player, number, outcomes)

    def _outcome(self, player: str, number: int, task: Task) -> ScoreSheet | Unscored:
        """Return a cell's outcome, made now if it was never asked or killed before its score."""
        cell = self.campaign.cell(player, number, task.id)
        outcome = standing_outcome(cell)
        late = isinstance(outcome, Unscored) and store.is_done(cell)
        if outcome is not None and not late:
            return outcome
        reparse_cell(cell, task, self.instrument.config)
        return self._score(player, number, task)

    def _pending(self, player: Player, number: int) -> list[Task]:
        return [
            self.instrument.suite.task(task)
            for task in self.campaign.record.tasks
            if not store.is_done(self.campaign.cell(player.id, number, task))
        ]

    def _show(self, what: str) -> None:
        """Count the models' cells only: a control takes no time, and would spoil the estimate."""
        models = [player.id for player in self.players if not player.control]
        cells = self.campaign.record.runs * len(self.campaign.record.tasks)
        done = sum(self.tally.done_by[model] for model in models)
        self.display.doing(what, done, len(models) * cells)

    def _now(self) -> str:
        return self.clock.now().isoformat(timespec="seconds")

    def _log(
        self,
        event: str,
        player: Player,
        number: int,
        seconds: float | None = None,
        *,
        task: str | None = None,
        detail: str = "",
    ) -> None:
        record = JournalEvent.model_validate(
            {
                "at": self._now(),
                "event": event,
                "model": player.id,
                "run": number,
                "task": task,
                "seconds": None if seconds is None else round(seconds, 3),
                "detail": detail,
            }
        )
        self.campaign.log(record)


def _identity(endpoint: Endpoint, server: ServerInfo) -> list[tuple[str, object]]:
    """Return the facts that make a served model the same one; None where a server does not tell."""
    facts: list[tuple[str, object]] = [(name, getattr(server, name) or None) for name in SAME_MODEL]
    facts += [(name, server.flags.get(name)) for name in SAME_FLAGS]
    facts += [("system_role", endpoint.system_role), ("extra_body", endpoint.extra_body)]
    return [*facts, ("served_name", endpoint.model)]


def _with_session(before: RunInfo | None) -> tuple[Session, ...]:
    """Return the earlier passes over a run, the one before this included."""
    if before is None:
        return ()
    last = Session(started_at=before.started_at, server=before.server, host=before.host)
    return (*before.earlier, last)
