"""Run a foreign test file with unittest and send each event as it happens.

The tested module is a stub: its functions send their arguments out and give back what comes, so
no source, path or name of a variant is in this process. Identifiers come from the loader. The
result object lives among foreign code, so nothing is concluded here.
"""
# The names of a result's methods are unittest's.
# ruff: noqa: N802

import builtins
import contextlib
import importlib
import json
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from harness.sandbox.inside import codec, job
from harness.sandbox.inside.codec import Channel

Send = Callable[..., None]


class Stream:
    """Numbered events and calls on the channel, each with the nonce of this run."""

    def __init__(self, channel: Channel, nonce: str) -> None:
        self._channel = channel
        self._nonce = nonce
        self._number = 0

    def event(self, kind: str, **fields: Any) -> None:
        """Send one event."""
        head = {"nonce": self._nonce, "seq": self._number, "event": kind}
        self._number += 1
        self._channel.send(json.dumps(head | fields).encode("ascii"))

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Let the owner of the module call one of its functions."""
        payload = {"args": codec.encode(list(args)), "kwargs": codec.encode(kwargs)}
        self.event("call", function=name, **payload)
        answer = self._channel.receive()
        if answer is None:
            raise EOFError("the module is gone")
        reply = json.loads(answer)
        if reply["kind"] == "value":
            return codec.decode(reply["value"])
        raise raised(reply["error"], reply["text"])


def raised(name: str, text: str) -> BaseException:
    """Return an exception of that class name: the builtin one, or a new one of the same name."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        with contextlib.suppress(TypeError):  # some, such as UnicodeDecodeError, want more
            return kind(text)
    made: type[Exception] = type(name.rpartition(".")[2], (Exception,), {})
    return made(text)


class StreamResult(unittest.TestResult):
    """A result that keeps nothing and sends everything.

    Everything it needs is in its own methods: a patched base class changes nothing here.
    """

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream

    def startTest(self, test: unittest.TestCase) -> None:
        """Send it."""
        self.stream.event("start", test=test.id())

    def stopTest(self, test: unittest.TestCase) -> None:
        """Send it."""
        self.stream.event("stop", test=test.id())

    def addSuccess(self, test: unittest.TestCase) -> None:
        """Send it."""
        self.stream.event("success", test=test.id())

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        """Send it with the exception."""
        self._raised("failure", test, err[1])

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        """Send it with the exception."""
        self._raised("error", test, err[1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """Send it with the reason; a part that is skipped counts for its method."""
        part = unittest.case._SubTest  # type: ignore[attr-defined] # noqa: SLF001 (not public)
        if isinstance(test, part):
            test = test.test_case
        self.stream.event("skip", test=test.id(), text=str(reason)[: job.TEXT_CHARS])

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:  # noqa: ARG002
        """Send it: what was expected does not matter."""
        self.stream.event("expected_failure", test=test.id())

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        """Send it."""
        self.stream.event("unexpected_success", test=test.id())

    def addSubTest(
        self,
        test: unittest.TestCase,
        subtest: unittest.TestCase,  # noqa: ARG002 (the method counts, not its parts)
        err: Any,
    ) -> None:
        """Send a failing part, under the identifier of its method."""
        if err is not None:
            self._raised("subtest_failed", test, err[1])

    def _raised(self, event: str, test: unittest.TestCase, error: BaseException) -> None:
        names = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        self.stream.event(
            event, test=test.id(), error=job.class_name(error), bases=names, text=job.short(error)
        )


def run(channel: Channel, task: dict[str, Any]) -> None:
    """Load the file, send the identifiers, run them, send the end record."""
    stream = Stream(channel, task["nonce"])
    for module, names in task["stubs"].items():
        sys.modules[module] = stub(module, names, stream)
    before = machinery()
    try:
        with no_program(stream):
            module = importlib.import_module(task["module"])
    except BaseException as error:  # noqa: BLE001 (a file may raise anything while it loads)
        stream.event("load_error", error=job.class_name(error), text=job.short(error))
        stream.event("end")
        return
    if hasattr(module, "load_tests"):
        stream.event("load_tests_ignored")
    if machinery() != before:
        stream.event("unittest_changed")
    found = suites(module, task["only"])
    stream.event("found", tests=[test.id() for tests in found for test in tests])
    result = StreamResult(stream)
    unittest.TestSuite([unittest.TestSuite(tests) for tests in found]).run(result)
    stream.event("end")


def machinery() -> list[dict[str, Any]]:
    """Return the methods of unittest's own classes, to see whether a file replaced any."""
    kinds = (unittest.TestCase, unittest.TestResult, unittest.TestSuite, unittest.TestLoader)
    return [dict(vars(kind)) for kind in kinds]


def stub(name: str, functions: list[str], stream: Stream) -> types.ModuleType:
    """Return a module of functions that are called elsewhere."""
    module = types.ModuleType(name)
    for function in functions:
        setattr(module, function, forwarder(function, stream))
    return module


def forwarder(name: str, stream: Stream) -> Callable[..., Any]:
    """Return one function that is called elsewhere."""

    def forward(*args: Any, **kwargs: Any) -> Any:
        return stream.call(name, args, kwargs)

    forward.__name__ = forward.__qualname__ = name
    return forward


def suites(module: types.ModuleType, only: list[str] | None) -> list[list[unittest.TestCase]]:
    """Return the tests of every test class of a module, by the loader; hooks are not asked."""
    loader = unittest.TestLoader()
    found: list[list[unittest.TestCase]] = []
    for name in dir(module):
        kind = getattr(module, name)
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase) and not is_own(kind):
            tests = [kind(method) for method in loader.getTestCaseNames(kind)]
            found.append([test for test in tests if only is None or test.id() in only])
    return found


def is_own(kind: type) -> bool:
    """Say whether a class is unittest's own; naming them would import asyncio in every run."""
    return str(kind.__module__).split(".")[0] == unittest.__name__


@contextlib.contextmanager
def no_program(stream: Stream) -> Iterator[None]:
    """Make an unguarded ``unittest.main()`` harmless while the file loads, and say it was there."""

    def main(*_: Any, **__: Any) -> None:
        stream.event("main_ignored")

    before = unittest.main
    unittest.main = main  # type: ignore[assignment]
    try:
        yield
    finally:
        unittest.main = before
