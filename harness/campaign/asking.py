"""Ask the cells of one run: one after another, or as many at once as the signature says."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass

from harness.arnes import ArnesConfig
from harness.campaign.activity import CellActivity
from harness.clock import Clock
from harness.models.chat import ChatModel
from harness.records.response import Exchange
from harness.running.agent import AgentCell, run_agent
from harness.running.single import request_for, run_single
from harness.stages.agent_cells import replay, runner_for, setup_of, transcript_of
from harness.store import campaign as store
from harness.store.layout import CellFolder
from harness.suite.loader import Task


@dataclass(frozen=True)
class Asked:
    """A cell that was asked.

    exchange : its last one: what stopped the cell if it ended with the infrastructure
    seconds : from its first call to its evidence on disk
    """

    task: Task
    exchange: Exchange
    seconds: float


@dataclass(frozen=True)
class Asker:
    """Asks cells of one run of a player that is up. Evidence is on disk before anything follows.

    model : the name that the server knows the model by
    cell_of : task → its folder
    open_chat : opens a channel to the server; cells in parallel have one each
    tell : is told of every reply of an agent's cell
    doing : task → what is told of its cell while it is asked, in the thread that asks it
    """

    config: ArnesConfig
    run: int
    model: str
    cell_of: Callable[[Task], CellFolder]
    open_chat: Callable[[], ChatModel]
    clock: Clock
    tell: Callable[[str], None]
    doing: Callable[[Task], AbstractContextManager[CellActivity]]

    def ask(
        self, tasks: Sequence[Task], may_begin: Callable[[Task], bool]
    ) -> Generator[Asked, None, None]:
        """Yield cells as they come to their end. Closed early, it ends what is in flight.

        Parameters
        ----------
        may_begin : is asked before each cell; after its first no, none begins
        """
        at_once = min(self.config.parallel_cells, len(tasks))
        return (
            self._in_threads(tasks, may_begin, at_once)
            if at_once > 1
            else self._in_turn(tasks, may_begin)
        )

    def _in_turn(
        self, tasks: Sequence[Task], may_begin: Callable[[Task], bool]
    ) -> Generator[Asked, None, None]:
        """Ask in this thread, so that Ctrl-C falls into the call itself."""
        chat = self.open_chat()
        try:
            for task in tasks:
                if not may_begin(task):
                    return
                yield self._asked(chat, task)
        finally:
            chat.close()

    def _in_threads(
        self, tasks: Sequence[Task], may_begin: Callable[[Task], bool], at_once: int
    ) -> Generator[Asked, None, None]:
        """Ask several at once, in the order of the tasks; a server that batches has them all."""
        waiting = deque(tasks)
        free = [self.open_chat() for _ in range(at_once)]
        running: dict[Future[Asked], ChatModel] = {}
        threads = ThreadPoolExecutor(at_once)
        try:
            while True:
                while waiting and free:
                    if not may_begin(waiting[0]):
                        waiting.clear()
                        break
                    chat = free.pop()
                    running[threads.submit(self._asked, chat, waiting.popleft())] = chat
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    asked = future.result()
                    free.append(running.pop(future))
                    yield asked
        finally:
            for chat in running.values():
                chat.cut()
            threads.shutdown()
            for chat in (*free, *running.values()):
                chat.close()

    def _asked(self, chat: ChatModel, task: Task) -> Asked:
        began = self.clock.monotonic()
        cell = self.cell_of(task)
        with self.doing(task) as doing:
            if task.is_agent:
                exchange = self._play(chat, cell, task, doing)
            else:
                request = request_for(task, self.config, run=self.run, model=self.model)
                exchange = run_single(chat, request)
                store.write_exchange(cell, exchange)
                doing.exchange(exchange)
        return Asked(task, exchange, self.clock.monotonic() - began)

    def _play(self, chat: ChatModel, cell: CellFolder, task: Task, doing: CellActivity) -> Exchange:
        """Play an agent's cell to its end, from where an earlier pass stopped."""
        with runner_for(task, self.config, store.read_test_runs(cell)) as runner:
            setup = setup_of(task, self.config, self.run, runner)
            played = replay(setup, store.exchanges(cell), self.model)

            def keep(exchange: Exchange) -> None:
                store.write_exchange(cell, exchange)
                store.write_test_runs(cell, runner.remembered if runner else {})
                doing.exchange(exchange)
                doing.fired(_fired(played))
                self.tell(f"{task.id}: reply {len(cell.raws())} is here")

            run_agent(chat, played, keep)
            doing.fired(_fired(played))
            store.write_test_runs(cell, runner.remembered if runner else {})
        if played.ended is not None:
            store.write_transcript(cell, transcript_of(played))
        return store.exchanges(cell)[-1]


def _fired(played: AgentCell) -> int:
    """Return how many faults of its schedule a cell has met in the replies that were read."""
    return sum(turn.step.fault is not None for turn in played.turns)
