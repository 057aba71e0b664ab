"""vLLM from its command line: `vllm serve MODEL`."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import Field

from harness.backends.flags import flag_problems
from harness.backends.options import options_of, refuse_fields, refuse_start, refused
from harness.backends.owned import OwnedServer
from harness.backends.program import Program
from harness.backends.ready import HOST, path_of
from harness.backends.weights import files_of, weights_digest
from harness.clock import Clock
from harness.errors import Problem
from harness.records.base import Json, Record
from harness.records.campaign import PlannedModel
from harness.records.run import ServerInfo

PATH_BEGINS = ("/", "~", ".")  # as no name on the hub does
START_LIMIT_S = 1800.0  # weights are loaded, kernels compiled and graphs captured
STOP_WAIT_S = 30.0  # its engine is a process of its own that is taken down in order
ENDPOINT = "the server gets a free port of this machine, and no key"
SAMPLING = "sampling is the same for every model; a model's own defaults are switched off"
TAKEN = {
    **dict.fromkeys(("--model", "--model-tag"), "write options.model"),
    **dict.fromkeys(("--host", "--port", "--uds", "--api-key", "--root-path"), ENDPOINT),
    **dict.fromkeys(("--ssl-keyfile", "--ssl-certfile"), ENDPOINT),
    "--hf-token": "a key would stand in every record of the campaign; export HF_TOKEN",
    "--served-model-name": "write served_name",
    "--max-model-len": "write context_tokens",
    "--revision": "write options.revision",
    **dict.fromkeys(("--generation-config", "--override-generation-config"), SAMPLING),
    "--enable-prefix-caching": "a reply would depend on what was asked before it",
    "--config": "write every argument in options.flags, so that the plan tells of it",
}
# Nothing of a measurement leaves the machine, and no plan tells of a key in a variable.
ADDED = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
LEFT_OUT = ("VLLM_API_KEY", "VLLM_PORT", "VLLM_HOST_IP")


class VllmOptions(Record):
    """What a plan may set.

    model : a folder with the weights, or a name on the Hugging Face hub; what begins with `/`, `~`
        or `.` is a path
    revision : commit of a hub name; without one the hub may serve other weights next week
    binary : a path, or a name that the shell would find
    flags : further arguments, as `["--gpu-memory-utilization", "0.85"]`
    sha256 : the digest that a folder must have
    start_limit_s : how long it may load
    """

    model: str
    revision: str | None = None
    binary: str = "vllm"
    flags: list[str] = Field(default_factory=list)
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    start_limit_s: Annotated[float, Field(gt=0)] = START_LIMIT_S


class VllmBackend(OwnedServer):
    """One `vllm serve` for one model."""

    def __init__(self, planned: PlannedModel, log: Path, clock: Clock) -> None:
        refuse_fields(planned, ("base_url", "api_key_env"), ENDPOINT)
        self._options = options_of(planned, VllmOptions)
        problems = flag_problems(planned, self._options.flags, TAKEN)
        if problems:
            raise refused(planned, problems)
        self._folder = Path(self._options.model).expanduser()
        self._digest: str | None = None
        self._binary: str | None = None
        self._memory = log.parent
        running = Program(log, clock, self._options.start_limit_s, STOP_WAIT_S)
        super().__init__(planned, running)

    def weights(self) -> tuple[Path, ...]:
        """Return the files of a folder; of a hub name vLLM alone knows where they lie."""
        return tuple(files_of(self._folder)) if self._folder.is_dir() else ()

    def missing(self) -> tuple[Problem, ...]:
        """Return the weights and the binary that are not there; vLLM alone knows a hub's."""
        model, problems = self._options.model, []
        if model.startswith(PATH_BEGINS) and not self._folder.exists():
            todo = "correct options.model; a name on the hub begins with a letter or a digit"
            problems.append(Problem(str(self._folder), "no such file or folder", todo))
        if path_of(self._options.binary) is None:
            todo = "install vLLM, or write the path in options.binary"
            problems.append(Problem("binary", f"{self._options.binary!r} is not found", todo))
        return tuple(problems)

    def check(self) -> None:
        """Look for what is missing, and read the weights of a folder."""
        self._binary = path_of(self._options.binary)
        refuse_start(self._planned, [self._problem_with_weights(), *self.missing()])

    def command(self, port: int) -> list[str]:
        """Return the command: what the plan may not change, then its flags."""
        assert self._binary is not None  # it was checked
        options, window = self._options, self._planned.context_tokens
        model = str(self._folder) if self._folder.is_dir() else options.model
        command = [self._binary, "serve", model, "--served-model-name", self.alias]
        command += ["--host", HOST, "--port", str(port), "--generation-config", "vllm"]
        command.append("--no-enable-prefix-caching")
        if window is not None:
            command += ["--max-model-len", str(window)]
        if options.revision is not None:
            command += ["--revision", options.revision]
        return [*command, *options.flags]

    def environment(self) -> dict[str, str]:
        """Switch its reports of usage off, and leave out what would move its endpoint."""
        return {**{k: v for k, v in os.environ.items() if k not in LEFT_OUT}, **ADDED}

    def completed(self, told: ServerInfo) -> ServerInfo:
        """Add the weights' digest, or why there is none, and the flags of the plan."""
        options = self._options
        flags: dict[str, Json] = {
            **told.flags,
            "flags": list(options.flags),
            "generation_config": "vllm",
            "prefix_caching": False,
            "model": self._folder.name if self._digest else options.model,
            "revision": options.revision,
        }
        notes = told.notes
        if self._digest is None and options.revision is None:
            notes += ("weights: a hub name without a revision; nothing says which they were",)
        return told.model_copy(
            update={
                "model_digest": self._digest or self._commit(),
                "flags": {key: value for key, value in flags.items() if value is not None},
                "notes": notes,
            }
        )

    def _commit(self) -> str | None:
        """Return which commit of the hub is served; None where the plan leaves it open."""
        revision = self._options.revision
        return None if revision is None else f"{self._options.model}@{revision}"

    def _problem_with_weights(self) -> Problem | None:
        """Read the digest of a folder; return what is wrong with it."""
        pinned = self._options.sha256
        if not self._folder.is_dir():
            if pinned is None:
                return None
            what = f"sha256 is pinned, and {self._options.model!r} is no folder"
            return Problem("model", what, "write the folder, or options.revision of the hub name")
        try:
            self._digest = weights_digest(self._folder, self._memory)
        except OSError as error:
            where = str(error.filename or self._folder)
            return Problem(where, error.strerror or str(error), "correct options.model")
        if pinned is not None and pinned != self._digest:
            what = f"digest {self._digest[:16]}…, the plan pins {pinned[:16]}…"
            return Problem(str(self._folder), what, "these are other weights than the plan means")
        return None


def vllm(planned: PlannedModel, log: Path, clock: Clock) -> VllmBackend:
    """Return the backend of a planned model."""
    return VllmBackend(planned, log, clock)
