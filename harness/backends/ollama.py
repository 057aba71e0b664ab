"""Ollama: load a model with the window that was planned, and see it gone at the end."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.backends import ollama_api as api
from harness.backends.base import Backend
from harness.backends.engines import describe
from harness.backends.options import options_of, refuse_fields, refused
from harness.backends.probe import API_ENDING, Probe, problem_with_url
from harness.backends.program import COMPLETION_LIMIT_S, Program
from harness.backends.ready import HOST, free_port, path_of, problem_with_completion
from harness.clock import Clock
from harness.errors import EndpointError, Problem, nearest
from harness.records.base import Record
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo

START_LIMIT_S = 60.0  # the server itself; loading weights comes later
STOP_WAIT_S = 15.0  # it ends the processes that run models first
GONE_LIMIT_S = 60.0
GONE_POLL_S = 0.25
ANSWER_LIMIT_S = 10.0
OLD = "use a newer Ollama, whose API makes a model `from` another one"
NO_BINARY = "install Ollama, write options.binary, or name a running one: base_url"
# One model, one request at a time, kept until we say so.
SETTINGS = {
    "OLLAMA_MAX_LOADED_MODELS": "1",
    "OLLAMA_NUM_PARALLEL": "1",
    "OLLAMA_KEEP_ALIVE": "-1",
}


class OllamaOptions(Record):
    """What a plan may set.

    binary : of the server that we start; with a `base_url` a running one is asked instead
    start_limit_s : how long the server may take to come up
    """

    binary: str = "ollama"
    start_limit_s: Annotated[float, Field(gt=0)] = START_LIMIT_S


class OllamaBackend(Backend):
    """One model of an Ollama that we start, or of one that runs already and is left running.

    Both get a model of our own beside the planned one, with the same weights and the planned
    window (see `ollama_api.copy_with_window`); it is unloaded and deleted at the end.

    Parameters
    ----------
    planned : the plan's entry; `served_name` is the model's name and tag
    log : file for what a server of ours says
    clock : waits are taken from it
    """

    def __init__(self, planned: PlannedModel, log: Path, clock: Clock) -> None:
        refuse_fields(planned, ("api_key_env",), "Ollama on this machine asks for no key")
        self._options = options_of(planned, OllamaOptions)
        self._base, self._window = _checked(planned)
        self._planned = planned
        self._clock = clock
        self._program = Program(log, clock, self._options.start_limit_s, STOP_WAIT_S, health="/")
        self._probe: Probe | None = None
        self._beside: tuple[str, ...] = ()
        self._made = False

    @property
    def model(self) -> str:
        """The name of our own copy."""
        return f"arnes-{self._planned.id.lower()}:ctx{self._window}"

    def start(self) -> Endpoint:
        """Reach or start the server, load the model with its window, and ask for one token."""
        self.stop()
        try:
            self._probe = self._reach()
            self._make_copy(self._probe)
            self._load(self._probe)
        except BaseException:
            self.stop()
            raise
        return Endpoint(
            base_url=self._probe.base_url, model=self.model, extra_body=self._planned.extra_body
        )

    def info(self) -> ServerInfo:
        """Return what the server tells of the copy, and of the model it was made from."""
        if self._probe is None:
            raise EndpointError(f"{self._planned.id} was not started")
        told = describe(self._probe, self.model, self._window)
        notes = told.notes
        if self._beside:
            notes += (f"other models are loaded: {', '.join(self._beside)}",)
        flags = {**told.flags, "model": self._base, "num_ctx": self._window}
        return told.model_copy(update={"flags": flags, "notes": notes})

    def alive(self) -> bool:
        """True while the server answers."""
        if self._planned.base_url is None:
            return self._program.alive()
        if self._probe is None:
            return False
        with Probe(self._probe.base_url, answer_limit_s=ANSWER_LIMIT_S) as probe:
            return probe.get("/").status == 200

    def stop(self) -> None:
        """Unload our model, wait until it is gone, delete the copy, end a server of ours.

        Raises
        ------
        EndpointError
            If a server that is not ours keeps the model: the next one would share the memory.
        """
        probe, self._probe = self._probe, None
        kept = False
        if probe is not None:
            with probe:
                kept = self._made and not self._unloaded(probe)
                if self._made:
                    probe.delete("/api/delete", {"model": self.model})
        self._made = False
        self._program.stop()
        if kept and self._planned.base_url is not None:
            what = f"{self.model} is still loaded {GONE_LIMIT_S:g} s after keep_alive 0"
            raise EndpointError(
                "Ollama does not let go of a model",
                [Problem(self._planned.base_url, what, f"run: ollama stop {self.model}")],
                "Nothing else should be measured on this machine before it is gone.",
            )

    def missing(self) -> tuple[Problem, ...]:
        """Return the binary of a server of ours, if it is not there."""
        if self._planned.base_url is not None or path_of(self._options.binary) is not None:
            return ()
        return (Problem("binary", f"{self._options.binary!r} is not found", NO_BINARY),)

    def _reach(self) -> Probe:
        """Return a probe of the running server, or of one that is started for this."""
        url = self._planned.base_url
        if url is not None:
            root = url.rstrip("/").removesuffix(API_ENDING)
            return Probe(root + API_ENDING, answer_limit_s=COMPLETION_LIMIT_S)
        binary, port = path_of(self._options.binary), free_port()
        if binary is None:
            raise self._refusal(f"{self._options.binary!r} is not found", NO_BINARY)
        settings = {**SETTINGS, "OLLAMA_HOST": f"{HOST}:{port}"}
        return self._program.launch(port, [binary, "serve"], {**os.environ, **settings})

    def _make_copy(self, probe: Probe) -> None:
        """Make the model with the planned window from the one that the plan names."""
        there = api.names(probe)
        if there is None:
            raise self._refusal("this is no Ollama: it has no list of models", "correct base_url")
        if api.tagged(self._base) not in there:
            near = nearest(self._base, there)
            raise self._refusal(
                f"no model {self._base!r}; {near}", f"run: ollama pull {self._base}"
            )
        self._beside = tuple(n for n in api.loaded(probe) or () if n != self.model)
        self._made = True  # as soon as it is asked for, so that half of one is taken away too
        problem = api.copy_with_window(probe, self._base, self.model, self._window)
        if problem:
            raise self._refusal(f"no copy with num_ctx {self._window}: {problem}", OLD)

    def _load(self, probe: Probe) -> None:
        """Load the copy, ask it for a token, and see which window it has after that."""
        problem = api.load(probe, self.model) or problem_with_completion(probe, self.model)
        if problem:
            raise self._refusal(f"{self._base} cannot be loaded: {problem}", "read Ollama's log")
        window = api.window_of(probe, self.model)
        if window not in {self._window, None}:
            what = f"num_ctx {self._window} was asked for, {window} is loaded"
            raise self._refusal(what, "plan a window that the model and the card have")

    def _unloaded(self, probe: Probe) -> bool:
        """Tell our copy to go, and wait for it; a server that is gone holds nothing."""
        api.unload(probe, self.model)
        deadline = self._clock.monotonic() + GONE_LIMIT_S
        while self.model in (api.loaded(probe) or ()):
            if self._clock.monotonic() >= deadline:
                return False
            self._clock.sleep(GONE_POLL_S)
        return True

    def _refusal(self, what: str, todo: str) -> EndpointError:
        return EndpointError(
            f"{self._planned.id} cannot be served as it is planned",
            [Problem(self._planned.base_url or "ollama serve", what, todo)],
            "Nothing was run.",
        )


def _checked(planned: PlannedModel) -> tuple[str, int]:
    """Return the model's name and the window; both have to be in the plan, and an address sound."""
    where, problems = f"models.{planned.id}", []
    if planned.served_name is None:
        problems.append(Problem(f"{where}.served_name", "missing", 'as in "qwen3:8b"'))
    if planned.context_tokens is None:
        what = "missing: Ollama would choose a window by the card's memory"
        problems.append(Problem(f"{where}.context_tokens", what, "as in 32768"))
    problem = problem_with_url(planned.base_url) if planned.base_url else ""
    if problem:
        todo = 'name the running server, such as "http://127.0.0.1:11434"'
        problems.append(Problem(f"{where}.base_url", problem, todo))
    if problems or planned.served_name is None or planned.context_tokens is None:
        raise refused(planned, problems)
    return planned.served_name, planned.context_tokens


def ollama(planned: PlannedModel, log: Path, clock: Clock) -> OllamaBackend:
    """Return the backend of a planned model."""
    return OllamaBackend(planned, log, clock)
