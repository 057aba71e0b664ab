"""Score the cells of a campaign while others are asked."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from harness.arnes import ArnesConfig
from harness.records.score import CellOutcome, Stamps
from harness.stages.reparse import reparse_cell
from harness.stages.score import score_cell
from harness.stages.workers import Workers, cores
from harness.store.campaign import Campaign
from harness.suite.loader import Task

MOST = 4  # a night's cells come minutes apart; more processes would only hold memory


@dataclass(frozen=True)
class Scoring:
    """Parses a cell and scores it; the sheet is on disk when it returns."""

    campaign: Campaign
    config: ArnesConfig
    stamps: Stamps

    def cell(self, player: str, number: int, task: Task) -> CellOutcome:
        """Replace the sheet of one cell.

        Raises
        ------
        GraderError
            If a row function of ours fails.
        """
        reparse_cell(self.campaign.cell(player, number, task.id), task, self.config, number)
        config, stamps = self.config, self.stamps
        return score_cell(self.campaign, player, number, task, config=config, now=stamps)


class Grading:
    """Gives cells their score sheets: at once where nothing is run, else in a process beside.

    A row takes milliseconds; what a model wrote may take minutes to run, and no model waits for
    it. A grader that fails is a fault of ours and is raised in this process, when the next cell
    is submitted or at the end. A process that is lost (out of memory) costs nothing but time:
    what has no sheet yet is left to whoever scores the rest.
    """

    def __init__(self, scoring: Scoring) -> None:
        self._scoring = scoring
        self._workers = Workers(min(max(cores() - 1, 1), MOST))
        self._running: list[Future[CellOutcome]] = []
        self._lost = False

    def submit(self, player: str, number: int, task: Task) -> None:
        """Score a cell, now or beside.

        Raises
        ------
        GraderError, InstrumentError
            What this cell's grader, or that of one before it, raised.
        """
        self._look_at([future for future in self._running if future.done()])
        if not task.definition.executes:
            self._scoring.cell(player, number, task)
        elif not self._lost:
            try:
                self._running.append(self._workers.submit(self._scoring.cell, player, number, task))
            except BrokenProcessPool:
                self._lost = True

    def finish(self) -> None:
        """Wait for what is being scored.

        Raises
        ------
        GraderError, InstrumentError
            What a grader raised.
        """
        self._look_at(list(self._running))

    def _look_at(self, futures: "list[Future[CellOutcome]]") -> None:
        """Wait for these, and raise what one of them raised."""
        for future in futures:
            self._running.remove(future)
            try:
                future.result()
            except BrokenProcessPool:
                self._lost = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._workers.__exit__(kind, error, trace)
