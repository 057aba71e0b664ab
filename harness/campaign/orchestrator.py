"""Bring a server up, ask the cells that are not done, take it down: run-major over players.

What is on disk after each step is all that counts: an orchestrator that is killed at any
instant loses at most the call in flight, and another one goes on where it stopped.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from harness.backends import gpu
from harness.backends.hardware import Gpus, gpus
from harness.campaign.activity import Activity, CellActivity
from harness.campaign.asking import Asked, Asker
from harness.campaign.display import Display
from harness.campaign.grading import Grading, Scoring
from harness.campaign.history import cells_text, estimated_run_s, previous_run_s, usual_tokens
from harness.campaign.players import Player, Served
from harness.campaign.same_model import refuse_another_model
from harness.campaign.schedule import order_of
from harness.campaign.tally import Tally
from harness.campaign.time_guard import Fit, next_run_fits
from harness.clock import Clock
from harness.errors import EndpointError
from harness.models.chat import ChatModel
from harness.records.campaign import JournalEvent
from harness.records.response import Exchange
from harness.records.run import HostInfo, RunInfo
from harness.records.score import CellOutcome, Unscored
from harness.stages.instrument import Instrument
from harness.stages.moved import standing_outcome
from harness.stages.score import write_summary
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Task

RESTARTS = 2  # of a server that dies in one run; the third time nobody looks into it before morning
CUT = "the deadline came in the middle of this run"


class ServerDiedError(EndpointError):
    """A server that was up is gone. task : the cell that was asked then."""

    def __init__(self, player: str, task: str, detail: str) -> None:
        self.task = task
        super().__init__(f"the server of {player} died in {task}: {detail}")


@dataclass(frozen=True)
class Orchestrator:
    """One pass over a campaign.

    open_chat : opens the channel to an endpoint; its caller closes it
    activity : is told what goes on; the display and the sampler read it
    left_s : seconds until all must be over; the channel cuts the call in flight
    cards : the graphics cards as they were before the first model
    """

    campaign: Campaign
    instrument: Instrument
    players: tuple[Player, ...]
    open_chat: Callable[[Served], ChatModel]
    host: HostInfo
    clock: Clock
    display: Display
    activity: Activity
    left_s: Callable[[], float] = lambda: math.inf
    cards: Gpus = field(default_factory=gpus)
    tally: Tally = field(default_factory=Tally)

    def run(self) -> Tally:
        """Ask every cell that has no reply yet."""
        store.remove_leftovers(self.campaign)
        self.tally.count_what_is_done(self.campaign, self.instrument.suite)
        self.tally.finished_before = self.tally.done
        scoring = Scoring(self.campaign, self.instrument.config, self.instrument.stamps)
        with Grading(scoring) as grading:
            for number in range(1, self.campaign.record.runs + 1):
                for player in self._in_order(number):
                    self._consider(player, number, grading)
            grading.finish()
            self._score_the_rest(scoring)
        self.tally.count_what_is_done(self.campaign, self.instrument.suite)
        return self.tally

    @property
    def stopped(self) -> bool:
        """True once somebody has asked for a stop after the present cell."""
        return self.campaign.folder.stop.exists()

    @property
    def _may_go_on(self) -> bool:
        """True until a stop is asked for, or the deadline has come."""
        return not self.stopped and self.left_s() > 0

    def _consider(self, player: Player, number: int, grading: Grading) -> None:
        """Play what is left of a run, if there is anything and it fits."""
        pending = self._pending(player, number)
        if not pending or player.id in self.tally.set_aside or self.stopped:
            return
        fit = self._fits(player, len(pending))
        if fit.fits:
            with self.activity.playing(player.id, number):
                self._play_run(player, number, pending, grading)
        else:
            self._skip(player, number, fit)

    def _in_order(self, number: int) -> tuple[Player, ...]:
        """Return the controls, and then the models in the order of a run."""
        plan = self.campaign.record.plan
        models = [player for player in self.players if not player.control]
        controls = [player for player in self.players if player.control]
        return (*controls, *order_of(models, number, plan.order, plan.order_seed))

    def _fits(self, player: Player, cells: int) -> Fit:
        """Say whether what is left of a run ends before the deadline; a control always does."""
        left_s = self.left_s()
        if player.control or math.isinf(left_s):
            return next_run_fits(None, previous_s=None, estimate_s=None)
        share = cells / len(self.campaign.record.tasks)
        previous_s = previous_run_s(self.campaign, player.id, cells)
        suite, config = (
            self.instrument.suite.only(self.campaign.record.tasks),
            self.instrument.config,
        )
        usual = usual_tokens(suite.tasks, config)
        estimate_s = estimated_run_s(self.campaign, player.id, usual)
        return next_run_fits(
            left_s,
            previous_s=previous_s,
            estimate_s=None if estimate_s is None else estimate_s * share,
        )

    def _skip(self, player: Player, number: int, fit: Fit) -> None:
        """Record a run that does not fit, with its arithmetic."""
        self.tally.skipped[f"{player.id} run {number}"] = fit.why
        self.activity.give_up(player.id, number)
        self._log("run_skipped", player, number, detail=fit.why)
        self.display.note(f"{player.id} run {number} is skipped: {fit.why}")

    def _play_run(self, player: Player, number: int, pending: list[Task], grading: Grading) -> None:
        """One player, one run: up, cells, down, whatever happens in between."""
        began = self.clock.monotonic()
        try:
            info = self._serve(player, number, pending, grading)
            if info is not None:
                self._finish(player, number, info)
                took_s, cells = self.clock.monotonic() - began, cells_text(len(pending))
                self._log("run_finished", player, number, took_s, detail=cells)
            elif not self.stopped:
                self._cut(player, number)
        except EndpointError as error:
            if self.left_s() <= 0:  # it is not the model's: the look at it was cut
                self._cut(player, number)
                return
            self.tally.set_aside[player.id] = str(error)
            self.activity.give_up(player.id)
            self._log("model_set_aside", player, number, detail=str(error))
            self.display.note(f"{player.id} is set aside, the campaign goes on.\n{error}\n")
        finally:
            self._take_down(player)

    def _cut(self, player: Player, number: int) -> None:
        """Record a run in which the deadline came."""
        self.tally.skipped[f"{player.id} run {number}"] = CUT
        self._log("run_skipped", player, number, detail=CUT)

    def _serve(
        self, player: Player, number: int, pending: list[Task], grading: Grading
    ) -> RunInfo | None:
        """Bring a server up, again where it dies, and ask; None where a run was left unfinished.

        A cell in which it died is asked once more: what is not the server's end alone may be that
        cell's, as when its prompt takes more memory than there is. Nothing is started again that
        would come up after the deadline, by how long it took, or where a stop was asked for.

        Raises
        ------
        EndpointError
            If it cannot be brought up, is another model, or dies too often.
        """
        died: Counter[str] = Counter()
        while True:
            began = self.clock.monotonic()
            info, served = self._bring_up(player, number)
            up_s = self.clock.monotonic() - began
            left = [task for task in pending if died[task.id] <= 1]
            try:
                return info if self._cells(player, number, left, served, grading) else None
            except ServerDiedError as error:
                died[error.task] += 1
                if died.total() > RESTARTS:
                    raise
                if self.stopped or self.left_s() <= up_s:
                    return None
                self._log("server_restarted", player, number, task=error.task, detail=str(error))
                self.display.note(f"{error}\nIt is started again.")
                self._take_down(player)
                undone = self._pending(player, number)
                pending = [task for task in pending if task in undone]

    def _bring_up(self, player: Player, number: int) -> tuple[RunInfo, Served]:
        began = self.clock.monotonic()
        self._show(f"{player.id} run {number}: starting")
        served = player.bring_up(number)
        refuse_another_model(self.campaign, player.id, served)
        self._log("model_up", player, number, self.clock.monotonic() - began)
        self._read_ahead(player, number)
        return self._begin(player, number, served), served

    def _read_ahead(self, player: Player, number: int) -> None:
        """Let the model that comes next read its weights while this player answers."""
        runs = range(number, self.campaign.record.runs + 1)
        coming = [(run, other) for run in runs for other in self._in_order(run)]
        at = [(run, other.id) for run, other in coming].index((number, player.id))
        for run, other in coming[at + 1 :]:
            waits = other.id not in self.tally.set_aside and self._pending(other, run)
            if waits and not other.control and other.id != player.id:
                other.read_ahead()
                return

    def _take_down(self, player: Player) -> None:
        """Stop a server, and wait until the cards are as they were."""
        player.shut_down()
        if not player.control:
            said = gpu.wait_until_clean(self.cards, self.clock, tell=self.display.phase)
            self.campaign.log(JournalEvent(at=self._now(), event="gpu_checked", detail=said))

    def _finish(self, player: Player, number: int, info: RunInfo) -> None:
        """Record the end of a run, and whether what was served is still what it began with."""
        changes = player.recheck()
        if changes:
            told = "; ".join(changes)
            self._log("model_changed", player, number, detail=told)
            self.display.note(f"{player.id} run {number}: what is served has changed: {told}")
        store.write_run_info(
            self.campaign.folder.run(player.id, number),
            info.model_copy(
                update={
                    "finished_at": self._now(),
                    "status": "changed" if changes else "finished",
                    "detail": "; ".join(changes),
                }
            ),
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
            earlier=before.passes if before else (),
            status="started",
        )
        store.write_run_info(folder, info)
        self._log("run_started", player, number)
        return info

    def _cells(
        self,
        player: Player,
        number: int,
        pending: list[Task],
        served: Served,
        grading: Grading,
    ) -> bool:
        """Ask the cells of a run; False where something ended it before the last of them."""
        asker = Asker(
            config=self.instrument.config,
            run=number,
            model=served.endpoint.model,
            cell_of=lambda task: self.campaign.cell(player.id, number, task.id),
            open_chat=lambda: self.open_chat(served),
            clock=self.clock,
            tell=self.display.phase,
            doing=lambda task: self._doing(player, number, task),
        )

        asked_before = self.tally.asked
        with closing(asker.ask(pending, lambda _task: self._may_go_on)) as cells:
            for cell in cells:
                self._take_in(player, number, cell, grading)
        return self.tally.asked == asked_before + len(pending)

    @contextmanager
    def _doing(self, player: Player, number: int, task: Task) -> Iterator[CellActivity]:
        """Show a cell while it is asked."""
        with self.activity.cell(player.id, number, task.id) as doing:
            self._show(f"{player.id} run {number}: {task.id}")
            yield doing

    def _take_in(self, player: Player, number: int, cell: Asked, grading: Grading) -> None:
        """Score a cell that was asked, count it, and see whether there is still a server.

        One that took a call and sent no byte within the limit is dead, whatever its health says.
        """
        exchange, task = cell.exchange, cell.task
        self.tally.asked += 1
        grading.submit(player.id, number, task)
        self._count(player, exchange, f"{player.id} run {number}: {task.id}")
        why = exchange.cause or exchange.ended
        self._log("cell_finished", player, number, cell.seconds, task=task.id, detail=why)
        silent = exchange.cause == "no_first_byte"
        if exchange.ended == "infrastructure" and (silent or not player.alive()):
            raise ServerDiedError(player.id, task.id, exchange.detail)

    def _count(self, player: Player, exchange: Exchange, what: str) -> None:
        if exchange.ended != "infrastructure":
            self.tally.done_by[player.id] += 1
            self.tally.causes.pop(what, None)
        else:
            self.tally.causes[what] = str(exchange.cause)
            self.display.note(f"{what}: unscored ({exchange.cause}): {exchange.detail}")

    def _score_the_rest(self, scoring: Scoring) -> None:
        """Give every cell a sheet, those that were never asked too, and every run a summary."""
        for player, number in self.campaign.runs():
            outcomes = [
                self._outcome(player, number, self.instrument.suite.task(task), scoring)
                for task in self.campaign.record.tasks
            ]
            write_summary(self.campaign, player, number, outcomes)

    def _outcome(self, player: str, number: int, task: Task, scoring: Scoring) -> CellOutcome:
        """Return a cell's outcome, made now if it was never asked or killed before its score."""
        cell = self.campaign.cell(player, number, task.id)
        outcome = standing_outcome(cell)
        late = isinstance(outcome, Unscored) and self._is_done(player, number, task)
        if outcome is not None and not late:
            return outcome
        return scoring.cell(player, number, task)

    def _pending(self, player: Player, number: int) -> list[Task]:
        tasks = [self.instrument.suite.task(task) for task in self.campaign.record.tasks]
        return [task for task in tasks if not self._is_done(player.id, number, task)]

    def _is_done(self, player: str, number: int, task: Task) -> bool:
        cell = self.campaign.cell(player, number, task.id)
        return store.is_done(cell, task.definition.mode)

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
