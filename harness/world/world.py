"""The world of one cell: its parts, and the one way in which a call goes through it.

Effect, honest answer, price, fault, journal, and then what the world does by itself: that is seen
by the next call at the earliest.
"""

from collections.abc import Sequence

from harness.errors import InstrumentError, Problem
from harness.protocol.calls import Call
from harness.records.tools import FINISH
from harness.records.world import Fault, FaultFate, Step, WorldEvent, WorldState
from harness.world.faults import FaultInjector, Seen, Shown
from harness.world.files import Files
from harness.world.ledger import Ledger
from harness.world.pages import Pages
from harness.world.scene import Case, Scene
from harness.world.suites import Report, Runner
from harness.world.tables import Tables, changed_tables
from harness.world.tools import TOOLS, Answer, is_read_only


class World:
    """What the tools of a cell act on. Everything in it is simulated but `run_tests`.

    A trigger may use `files`, `tables`, `suites`, `note`, `happened`, `calls` and `journal`.

    Parameters
    ----------
    scene : what it begins with
    schedule : the faults of the run
    runner : runs the tests of the scene's suites; None where it has none
    """

    def __init__(
        self, scene: Scene, schedule: Sequence[Fault] = (), runner: Runner | None = None
    ) -> None:
        if scene.suites and runner is None:
            raise InstrumentError(
                "a world with tests has nothing that runs them",
                [Problem("run_tests", "no runner", "open a SuiteRunner behind a sandbox")],
            )
        self.scene = scene
        self.files = Files(scene.files)
        self.tables = Tables(scene.tables)
        self.pages = Pages(scene.pages)
        self.suites = dict(scene.suites)
        self.calls = 0
        self.journal: list[Step] = []
        self.events: list[WorldEvent] = []
        self._ledger = Ledger(scene.tariff)
        self._faults = FaultInjector(schedule, scene)
        self._runner = runner

    @property
    def spent(self) -> int | None:
        """The sum of the prices so far; None in a world without prices."""
        return self._ledger.spent

    @property
    def fates(self) -> tuple[FaultFate, ...]:
        """What became of each fault of the schedule."""
        return self._faults.fates

    def state(self) -> WorldState:
        """Return files and tables as they are now."""
        return WorldState(files=self.files.snapshot(), tables=self.tables.dump())

    def note(self, name: str, detail: str = "") -> None:
        """Record that something happened by itself after the present call."""
        self.events.append(WorldEvent(call=self.calls, name=name, detail=detail))

    def happened(self, name: str) -> bool:
        """Say whether something of that name was noted."""
        return any(event.name == name for event in self.events)

    def is_read_only(self, path: str) -> bool:
        """Say whether a path can neither be written nor deleted."""
        return is_read_only(path, self.scene.read_only)

    def test(self, cases: tuple[Case, ...]) -> Report:
        """Run tests on the files as they are."""
        if self._runner is None or not cases:
            return Report(())
        return self._runner.run(self.files.snapshot(), cases)

    def execute(self, call: Call, turn: int) -> Step:
        """Run a call, journal it, and let happen what it sets off.

        Parameters
        ----------
        call : of a tool that the task offers, with arguments that were found valid
        turn : number of the reply that holds it
        """
        self.calls += 1
        files, tables = self.files.snapshot(), self.tables.dump()
        answer, price, shown = self._answered(call, turn)
        now = self.files.snapshot()
        step = Step(
            turn=turn,
            kind="call",
            call=self.calls,
            tool=call.tool,
            args=call.arguments,
            target=answer.target,
            ok=shown.ok,
            shown=shown.text,
            honest=None if shown.fault is None else answer.text,
            fault=shown.fault,
            made=tuple(path for path in now if path not in files),
            changed=tuple(path for path in now if path in files and now[path] != files[path]),
            deleted=tuple(path for path in files if path not in now),
            changed_tables=changed_tables(tables, self.tables.dump()),
            price=price,
            flags=call.flags,
            ignored=len(call.ignored),
            green=answer.green,
        )
        self.journal.append(step)
        if call.tool != FINISH:  # nothing would see it
            for trigger in self.scene.triggers:
                trigger(self, step, tables)
        return step

    def _answered(self, call: Call, turn: int) -> tuple[Answer, int | None, Shown]:
        """Apply a call; return the honest answer, its price, and what is shown."""
        refusal = self._ledger.refusal(call.tool)
        if refusal:  # nothing was run that a fault could meet
            price = self._ledger.charge(call.tool, ok=False, characters=0, rows=0)
            return Answer(ok=False, text=refusal), price, Shown(ok=False, text=refusal)
        tool = TOOLS[call.tool]
        answer = tool.run(self, call.arguments)
        price = self._ledger.charge(
            call.tool, ok=answer.ok, characters=len(answer.text), rows=answer.rows
        )
        seen = Seen(
            call=self.calls,
            turn=turn,
            tool=call.tool,
            target=answer.target,
            ok=answer.ok,
            text=answer.text,
            observes=tool.observes,
            query=answer.query,
            report=answer.report,
        )
        return answer, price, self._faults.intercept(seen)
