"""One measure, after the walls are up: read the job, run it, send observations.

From the first import of foreign code on, nothing in this process can be trusted; what it sends is
an observation of a hostile process, and is compared outside.
"""
# Pathlib would cost every start its import.
# ruff: noqa: PTH109

import contextlib
import importlib
import json
import os
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any

from harness.sandbox.inside import codec, owned
from harness.sandbox.inside.codec import Channel, RefusedError

FROM_OUTSIDE = 64 << 20  # frames from the trusted side; only a broken one would be longer
TEXT_CHARS = 300
Reply = dict[str, Any]


def run(channel: Channel, own_modules: frozenset[str]) -> None:
    """Read one job, run it, and send what was seen; returning ends the process.

    own_modules : top-level names that belong to the candidate, whatever was imported before
    """
    text = channel.receive()
    if text is None:
        return
    task = json.loads(text)
    work = kind_of_job(task["job"])
    forget_ours(own_modules)
    work(channel, task)


def kind_of_job(name: str) -> Callable[[Channel, dict[str, Any]], None]:
    """Return the function that does this kind of job."""
    if name == "tests":  # unittest is slow to import: only a sandbox that runs tests pays
        suite_run = importlib.import_module("harness.sandbox.inside.suite_run")
        run_tests: Callable[[Channel, dict[str, Any]], None] = suite_run.run
        return run_tests
    return {
        "call": call,
        "load": load,
        "session": session,
        "snippet": snippet,
        "command": command,
    }[name]


def forget_ours(own_modules: frozenset[str]) -> None:
    """Leave nothing of ours in the import system, and make room for the candidate's names."""
    for name in list(sys.modules):
        if name.split(".")[0] in own_modules | {"harness"} and name not in ("sys", "builtins"):
            del sys.modules[name]
    sys.meta_path[:] = [f for f in sys.meta_path if not hasattr(f, "arnes_code")]
    sys.path.insert(0, os.getcwd())
    sys.argv = [""]
    sys.orig_argv = []


def load(channel: Channel, task: dict[str, Any]) -> None:
    """Import one module of the candidate."""
    send(channel, task, seen(lambda: imported(task["module"])))


def call(channel: Channel, task: dict[str, Any]) -> None:
    """Call one function of the candidate once."""
    lists: dict[int, list[Any]] = {}

    def the_list(number: int) -> list[Any]:
        return lists.setdefault(number, owned.proxy(channel, number))

    arguments = codec.decode(task["args"], the_list)
    keywords = codec.decode(task["kwargs"], the_list)
    reply = seen(lambda: called(task["entry"], arguments, keywords))
    if task["echo"]:
        echo = seen(lambda: [arguments, keywords])
        reply["arguments"] = echo.get("value")
    send(channel, task, reply)


def session(channel: Channel, task: dict[str, Any]) -> None:
    """Call functions of one module, in one process, as long as the outside asks."""
    send(channel, task, seen(lambda: imported(task["module"])))
    while (text := channel.receive()) is not None:
        step = json.loads(text)
        arguments, keywords = codec.decode(step["args"]), codec.decode(step["kwargs"])
        send(channel, step, seen(partial(called, step["entry"], arguments, keywords)))


def imported(module: str) -> None:
    """Import a module of the candidate."""
    importlib.import_module(module)


def called(entry: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Call one function of the candidate."""
    return function(entry)(*arguments, **keywords)


def snippet(channel: Channel, task: dict[str, Any]) -> None:
    """Run a trusted text of ours over foreign data: ``main(payload)`` gives the value."""
    module = types.ModuleType("snippet")

    def work() -> Any:
        exec(compile(task["source"], "snippet", "exec"), module.__dict__)  # noqa: S102 (our text)
        return module.__dict__["main"](codec.decode(task["payload"]))

    send(channel, task, seen(work))


def command(channel: Channel, task: dict[str, Any]) -> None:
    """Become another program; only a failure to do so is reported here."""
    environment = {name: os.environ[name] for name in task["keep"] if name in os.environ}
    environment |= task["env"]
    program: list[str] = [part.replace("{python}", task["python"]) for part in task["argv"]]
    reply = seen(lambda: os.execve(program[0], program, environment))  # noqa: S606 (as asked)
    send(channel, task, reply)


def function(entry: str) -> Callable[..., Any]:
    """Return what ``module:name`` names."""
    module, _, name = entry.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    result: Callable[..., Any] = found
    return result


def seen(work: Callable[[], Any]) -> Reply:
    """Run foreign code and describe its outcome; whatever it raises stays here."""
    try:
        value = work()
    except RefusedError as error:
        return {"kind": "refused", "text": short(error)}
    except BaseException as error:  # noqa: BLE001 (SystemExit and the like are outcomes too)
        return described(error)
    try:
        return {"kind": "value", "value": codec.encode(value)}
    except RefusedError as error:
        return {"kind": "refused", "text": short(error)}
    except BaseException as error:  # noqa: BLE001 (memory may run out while encoding)
        return {"kind": "refused", "text": type(error).__name__}


def described(error: BaseException) -> Reply:
    """Return an exception's class, its builtin bases, and a short text."""
    classes = type(error).__mro__
    bases = [c.__name__ for c in classes if c.__module__ == "builtins" and c is not object]
    return {"kind": "exception", "error": class_name(error), "bases": bases, "text": short(error)}


def class_name(error: BaseException) -> str:
    """Return a class's name, with its module unless it is a builtin one."""
    kind = type(error)
    prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{prefix}{kind.__qualname__}"[:TEXT_CHARS]


def short(error: BaseException) -> str:
    """Return the beginning of an error's message; a message that cannot be made is empty."""
    with contextlib.suppress(BaseException):
        return str(error)[:TEXT_CHARS].encode("utf-8", "replace").decode("utf-8")
    return ""


def send(channel: Channel, task: dict[str, Any], reply: Reply) -> None:
    """Send one observation, bound to the nonce and index of what was asked."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    head = {"nonce": task["nonce"], "index": task["index"]}
    text = json.dumps(head | reply, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > codec.MAX_BYTES:
        refused = {"kind": "refused", "text": f"more than {codec.MAX_BYTES} bytes"}
        text = json.dumps(head | refused).encode("ascii")
    channel.send(text)
