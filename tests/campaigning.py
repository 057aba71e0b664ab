"""Small campaigns over scripted servers, for the tests of the pipeline."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forking import commands

from harness.arnes import load_arnes
from harness.campaign.players import ModelPlayer
from harness.clock import SystemClock
from harness.models.script import Behaviour, Script, prompt_key
from harness.records.campaign import PlannedModel
from harness.running.single import cap_of
from harness.stages.instrument import Instrument, load_instrument
from harness.stages.validate import sets_of
from harness.suite.loader import Task

ROOT = Path(__file__).resolve().parent.parent
HELD_S = 3600.0  # a call that is held so long is in flight until its process ends
LIMIT_S = 300.0  # of a wait for what takes seconds on a machine that does nothing else
LONG_REPLY = " ".join(f"word{n}" for n in range(260))  # what preflight asks for: 200 words

# A shell starts what it puts into the background deaf to Ctrl-C.
HEARS_CTRL_C = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, "-m", "harness", *sys.argv[1:]])
"""


def instrument(profile: str | None = None) -> Instrument:
    """The instrument of this checkout."""
    return load_instrument(ROOT, profile)


def model_player(
    instrument: Instrument, place: Path, planned: PlannedModel, **changes: Any
) -> ModelPlayer:
    """A model's player outside a campaign; its server's log lies in the place.

    changes : other fields than these
    """
    usual: dict[str, Any] = {
        "suite": instrument.suite,
        "config": instrument.config,
        "clock": SystemClock(),
        "api_key": None,
        "allow_slow": True,
        "log": place / "m.log",
        "tell": lambda _what: None,
    }
    return ModelPlayer(planned=planned, **(usual | changes))


def checkout_in(place: Path, *changes: tuple[str, str]) -> Path:
    """Make a checkout of the suite, whose version is one in development, and return its folder.

    changes : texts of `arnes.toml`, with what takes their place; a locked version would refuse it
    """
    shutil.copytree(ROOT / "suite", place / "suite", ignore=shutil.ignore_patterns("private"))
    text = (ROOT / "arnes.toml").read_text(encoding="utf-8")
    version = load_arnes(ROOT).arnes_version
    for before, after in ((f'"{version}"', f'"{version}-dev"'), *changes):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    (place / "arnes.toml").write_text(text, encoding="utf-8")
    return place


def defective_text(task: Task, name: str) -> str:
    """The reply of a defective of a task's open form."""
    return next(d.reply.text for d in sets_of(task).defective if d.name == name)


def golden_text(task: Task) -> str:
    """The first golden of a task's open form."""
    return sets_of(task).golden[0].reply.text


@dataclass
class ScriptedModel:
    """A model that sends written replies, and whatever else a test wants of its server.

    replies : task id → reply text
    behaviour : settings of every task reply (delays, faults)
    """

    name: str
    replies: dict[str, str]
    behaviour: dict[str, object] = field(default_factory=dict)

    def script(self, instrument: Instrument) -> Script:
        """Return the script of the server that serves this model alone."""
        by_prompt = {}
        for task_id, text in self.replies.items():
            task = instrument.suite.task(task_id)
            key = prompt_key(task.prompt(cap_of(task, instrument.config)))
            by_prompt[key] = (Behaviour.model_validate({"content": text, **self.behaviour}),)
        usual = (Behaviour(content=LONG_REPLY, model=self.name),)
        return Script(by_model={}, by_prompt=by_prompt, default=usual)


def plan_text(
    models: dict[str, str],
    *,
    tasks: list[str],
    runs: int = 2,
    more: str = "",
    controls: bool = True,
) -> str:
    """A plan over external servers: model id → base URL."""
    head = (
        f'schema_version = 1\nname = "small"\nruns = {runs}\ntasks = {tasks}\n'
        f"controls = {str(controls).lower()}\nallow_slow = true\n{more}\n"
    )
    return head + "".join(
        f'[[models]]\nid = "{name}"\nbackend = "external"\nbase_url = "{url}"\n'
        f'served_name = "{name}"\ncontext_tokens = 65536\n\n'
        for name, url in models.items()
    )


def wait_until(condition: Callable[[], bool], running: subprocess.Popen[str] | None = None) -> None:
    """Wait for a condition; a process that has ended before it is there is an error."""
    until = time.monotonic() + LIMIT_S
    while not condition():
        assert running is None or running.poll() is None, f"ended with {running.returncode}"
        assert time.monotonic() < until, f"not within {LIMIT_S:g} s"
        time.sleep(0.02)


@contextmanager
def begun(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Begin a command that is to be ended before its end; it hears Ctrl-C, wherever it is begun."""
    with subprocess.Popen(
        [sys.executable, "-c", HEARS_CTRL_C, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def arnes(
    *arguments: str, cwd: Path = ROOT, limit_s: float = 600, fresh: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a person does, in a process of its own.

    fresh : in a new interpreter; else in a fork of one that has imported the harness already
    """
    surroundings = {**os.environ, **environment}
    if fresh or "PYTHONHASHSEED" in environment:
        return subprocess.run(
            [sys.executable, "-m", "harness", *arguments],
            cwd=cwd,
            env=surroundings,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
    return commands().run(arguments, cwd, surroundings, limit_s)
