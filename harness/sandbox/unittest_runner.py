"""Run a foreign test file against a module that is somewhere else.

The tests' process T holds a stub. Its calls come here, are counted here, and go on to the
module's own process M. Identifiers come from the loader and outcomes from events, each sent as it
happened and numbered; nothing that is printed, returned or left behind is asked.
"""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Literal, get_args

from harness.arnes import SandboxLimits
from harness.errors import GraderError
from harness.records.base import Json, Record
from harness.sandbox.inside import codec
from harness.sandbox.measure import Ending, Measure
from harness.sandbox.measures import Asker, clean, evidence, observation, spoken, usage
from harness.sandbox.observation import Evidence, KilledBy, Observation, Usage
from harness.sandbox.process import Terms
from harness.sandbox.worker import Worker, call_message

EventKind = Literal[
    "found",  # the loader's identifiers
    "start",
    "stop",
    "success",
    "failure",
    "error",
    "subtest_failed",
    "skip",
    "expected_failure",
    "unexpected_success",
    "load_error",  # the file did not load; no test was found
    "load_tests_ignored",
    "main_ignored",
    "unittest_changed",  # loading the file replaced something of unittest's own
    "end",
]
MethodOutcome = Literal[
    "passed", "failed", "error", "skipped", "expected_failure", "unexpected_success", "not_run"
]
# What one event says about its test; the worst stands when a test has several.
MEANING: dict[str, MethodOutcome] = {
    "success": "passed",
    "expected_failure": "expected_failure",
    "skip": "skipped",
    "unexpected_success": "unexpected_success",
    "subtest_failed": "failed",
    "failure": "failed",
    "error": "error",
}
SEVERITY: tuple[MethodOutcome, ...] = (
    *("not_run", "passed", "expected_failure", "skipped", "unexpected_success", "failed", "error"),
)
BUDGET_ERROR = "RuntimeError"
MOST_EVENTS = 10_000
NONCE_BYTES = 16


class SuiteEvent(Record):
    """One thing that happened in T.

    error, error_bases, text : of the exception, for failures and errors
    tests : for "found", every identifier
    """

    seq: int
    kind: EventKind
    test: str = ""
    error: str = ""
    error_bases: tuple[str, ...] = ()
    text: str = ""
    tests: tuple[str, ...] = ()


class SuiteRun(Record):
    """One run of one test file against one module.

    ended : the end record came; without it nothing passed
    calls : calls of the module, those refused after the budget included
    calls_in_test : test identifier → calls made while it ran
    """

    tests: tuple[str, ...]
    events: tuple[SuiteEvent, ...]
    ended: bool
    calls: int
    calls_in_test: dict[str, int]
    killed_by: KilledBy = ""
    usage: Usage | None = None
    evidence: Evidence = Evidence()

    @property
    def outcomes(self) -> dict[str, MethodOutcome]:
        """Test identifier → outcome, for every identifier of the loader.

        Without the end record a success proves nothing: what was not seen to fail was not run.
        """
        worst: dict[str, MethodOutcome] = dict.fromkeys(self.tests, "not_run")
        for event in self.events:
            meaning = MEANING.get(event.kind)
            if meaning is None or event.test not in worst:
                continue
            if SEVERITY.index(meaning) > SEVERITY.index(worst[event.test]):
                worst[event.test] = meaning
        if not self.ended:
            kept = ("failed", "error")
            worst = {test: o if o in kept else "not_run" for test, o in worst.items()}
        return worst

    def kinds(self) -> frozenset[EventKind]:
        """Every kind of event that was seen."""
        return frozenset(event.kind for event in self.events)


class Session:
    """A module in a process of its own, asked many times. Use `open_session`."""

    def __init__(self, worker: Worker, module: str, limits: SandboxLimits) -> None:
        self._limits = limits
        self._module = module
        self._nonce = secrets.token_hex(NONCE_BYTES)
        self._index = 0
        self._ending: Ending | None = None
        # The whole session has no clock of its own: each answer is due within wall_s.
        forever = limits.model_copy(update={"wall_s": 3600 * 24.0})
        self._measure: Measure = worker.sandbox().begin(Terms(forever))
        self._asker = Asker(self._measure)
        self.loaded = self._ask({"job": "session", "module": module})

    def call(self, function: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Observation:
        """Call one function of the module, within the wall time of one answer."""
        return self._ask(call_message(f"{self._module}:{function}", args, kwargs))

    def close(self) -> None:
        """End the module's process."""
        self._end()

    def _ask(self, message: dict[str, Json]) -> Observation:
        self._index += 1
        if self._ending is not None:
            return Observation(index=self._index, outcome="not_run", text="the module is gone")
        bound = {"nonce": self._nonce, "index": self._index}
        self._measure.watch.expect(self._limits.wall_s)
        self._measure.send(json.dumps(message | bound).encode("ascii"))
        reply = self._asker.answer(self._nonce, self._index)
        self._measure.watch.expect(None)
        if reply is None:
            return observation(self._index, None, self._end(), (), self._asker.garbage)
        return spoken(self._index, reply)

    def _end(self) -> Ending:
        if self._ending is None:
            self._ending = self._measure.finish()
        return self._ending


@contextmanager
def open_session(
    worker: Worker, module: str, *, limits: SandboxLimits | None = None
) -> Iterator[Session]:
    """Load a module in one fork and keep it for many calls.

    limits : instead of the candidate's; wall_s is the time for one answer
    """
    session = Session(worker, module, limits or worker.candidate.limits)
    try:
        yield session
    finally:
        session.close()


def unittest_run(
    tests: Worker,
    test_module: str,
    variant: Worker,
    module: str,
    functions: Iterable[str],
    *,
    budget: int,
    limits: SandboxLimits | None = None,
    module_limits: SandboxLimits | None = None,
    only: Sequence[str] | None = None,
    source: str | None = None,
    known: dict[str, Observation] | None = None,
) -> SuiteRun:
    """Run every test of a file once, in a fresh fork, against one variant of the module.

    Parameters
    ----------
    tests : worker that holds the test file, opened with ``for_tests=True``
    variant : worker that holds the module; another sandbox than `tests`
    module, functions : name under which the tests import it, and what the stub offers
    budget : calls that are answered; later ones raise RuntimeError in the tests
    limits, module_limits : of the whole run of T, and of M with wall_s for one answer
    only : identifiers to run; None runs all
    source : name of the module in M, where several variants share one sandbox; else `module`
    known : answers of earlier runs, of a variant whose functions always give the same; it is
        filled, and M is only started for what is not in it

    Raises
    ------
    GraderError
        If the variant does not load: then no test is to blame.
    """
    name = source or module
    with ExitStack() as stack:

        def start() -> Session:
            session = stack.enter_context(open_session(variant, name, limits=module_limits))
            if session.loaded.outcome != "value":
                raise GraderError(f"the module {name} does not load: {session.loaded.described}")
            return session

        owner = _ModuleOwner(start, budget, known)
        return _Conversation(tests, owner, limits).run(test_module, module, functions, only)


class _ModuleOwner:
    """Answers calls of the stub within a budget. The module starts now, unless answers are kept."""

    def __init__(
        self, start: Callable[[], Session], budget: int, known: dict[str, Observation] | None
    ) -> None:
        self._start = start
        self._session = start() if known is None else None
        self._budget = budget
        self._known = known
        self.calls = 0

    def answer(self, function: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Json]:
        """Return what the stub gives back or raises."""
        self.calls += 1
        if self.calls > self._budget:
            text = f"more than {self._budget} calls of the module"
            return {"kind": "exception", "error": BUDGET_ERROR, "text": text}
        seen = self._seen(function, args, kwargs)
        if seen.outcome == "value":
            return {"kind": "value", "value": seen.encoded}
        if seen.outcome == "exception":
            return {"kind": "exception", "error": seen.error, "text": seen.text}
        return {"kind": "exception", "error": "RuntimeError", "text": f"the module {seen.outcome}"}

    def _seen(self, function: str, args: list[Any], kwargs: dict[str, Any]) -> Observation:
        """Ask the module; a value or an exception is kept, where answers are."""
        key = json.dumps([function, codec.encode(args), codec.encode(kwargs)])
        if self._known is not None and key in self._known:
            return self._known[key]
        self._session = self._session or self._start()
        seen = self._session.call(function, args, kwargs)
        if self._known is not None and seen.outcome in ("value", "exception"):
            self._known[key] = seen
        return seen


class _Conversation:
    """One run of T, frame by frame."""

    def __init__(self, tests: Worker, owner: _ModuleOwner, limits: SandboxLimits | None) -> None:
        self._owner = owner
        self._nonce = secrets.token_hex(NONCE_BYTES)
        self._measure = tests.sandbox().begin(tests.terms(limits))
        self._events: list[SuiteEvent] = []
        self._functions: frozenset[str] = frozenset()
        self._current = ""
        self._in_test: dict[str, int] = {}
        self._garbage = 0
        self._next = 0

    def run(
        self, test_module: str, module: str, functions: Iterable[str], only: Sequence[str] | None
    ) -> SuiteRun:
        """Start the run, follow its events, and put together what was seen."""
        self._functions = frozenset(functions)
        task = {
            "job": "tests",
            "module": test_module,
            "stubs": {module: sorted(self._functions)},
            "only": None if only is None else list(only),
            "nonce": self._nonce,
        }
        try:
            self._measure.send(json.dumps(task).encode("ascii"))
            while not self._ended() and (frame := self._measure.receive()) is not None:
                if not self._take(frame):
                    self._garbage += 1
                    break  # the numbering is broken: nothing after it can be placed
                if len(self._events) > MOST_EVENTS:
                    self._measure.watch.end("garbage")
        finally:
            ending = self._measure.finish()
        return SuiteRun(
            tests=self._found(),
            events=tuple(self._events),
            ended=self._ended(),
            calls=self._owner.calls,
            calls_in_test=self._in_test,
            killed_by="" if self._ended() and ending.killed_by != "cpu" else ending.killed_by,
            usage=usage(ending),
            evidence=evidence(ending, self._garbage),
        )

    def _ended(self) -> bool:
        return bool(self._events) and self._events[-1].kind == "end"

    def _take(self, frame: bytes) -> bool:
        """Place one frame; False when it is not the next one of this run."""
        message = self._read(frame)
        if message is None:
            return False
        self._next += 1
        if message.get("event") == "call":
            return self._forward(message)
        event = _event(message)
        if event is None or (event.kind == "found" and self._found()):
            return False
        if event.kind in ("start", "stop"):
            self._current = event.test if event.kind == "start" else ""
        self._events.append(event)
        return True

    def _read(self, frame: bytes) -> dict[str, Any] | None:
        """Return the next message of this run; None for anything else."""
        try:
            message = codec.read_json(frame)
        except codec.RefusedError:
            return None
        if not isinstance(message, dict) or message.get("nonce") != self._nonce:
            return None
        return message if message.get("seq") == self._next else None

    def _found(self) -> tuple[str, ...]:
        return next((event.tests for event in self._events if event.kind == "found"), ())

    def _forward(self, message: dict[str, Any]) -> bool:
        try:
            args, kwargs = (codec.decode(message.get(key)) for key in ("args", "kwargs"))
        except codec.RefusedError:
            return False
        function = message.get("function")
        if function not in self._functions or type(args) is not list or type(kwargs) is not dict:
            return False
        if not all(type(name) is str for name in kwargs):
            return False
        self._in_test[self._current] = self._in_test.get(self._current, 0) + 1
        answer = self._owner.answer(function, args, kwargs)
        self._measure.send(json.dumps(answer).encode("ascii"))
        return True


def _event(message: dict[str, Any]) -> SuiteEvent | None:
    """Return a foreign message as an event; None when it is not one."""
    kind = message.get("event")
    texts = [message.get(key, "") for key in ("test", "error", "text")]
    names = [message.get("bases", []), message.get("tests", [])]
    if kind not in get_args(EventKind) or not all(isinstance(text, str) for text in texts):
        return None
    if not all(isinstance(n, list) and all(isinstance(x, str) for x in n) for n in names):
        return None
    test, error, text = (clean(text) for text in texts)
    bases, tests = (tuple(clean(x) for x in n) for n in names)
    return SuiteEvent(
        seq=message["seq"],
        kind=kind,
        test=test,
        error=error,
        error_bases=bases,
        text=text,
        tests=tests,
    )
