"""A `llama-server` of llama.cpp, whichever binary and flags the plan names."""

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

START_LIMIT_S = 900.0  # 40 GB from a slow disk
STOP_WAIT_S = 5.0
ARGUMENT_VARIABLES = ("LLAMA_", "AIP_")  # the second family moves port and health route
ENDPOINT = "the server gets a free port of this machine, and no key"
OWN_WINDOW = "each slot needs a window of its own: in a shared one requests push each other out"
TAKEN = {
    **dict.fromkeys(("-m", "--model", "-mu", "--model-url"), "write options.weights"),
    **dict.fromkeys(("-hf", "-hfr", "--hf-repo", "-hff", "--hf-file"), "write options.weights"),
    **dict.fromkeys(("-hft", "--hf-token"), "a key would stand in every record of the campaign"),
    **dict.fromkeys(("-a", "--alias"), "write served_name"),
    **dict.fromkeys(("-c", "--ctx-size"), "write context_tokens, the window of one request"),
    **dict.fromkeys(("-np", "--parallel"), "write options.slots"),
    **dict.fromkeys(("--host", "--port", "--api-key", "--api-key-file", "--api-prefix"), ENDPOINT),
    **dict.fromkeys(("--reuse-port", "--ssl-key-file", "--ssl-cert-file"), ENDPOINT),
    **dict.fromkeys(("-kvu", "--kv-unified", "--kv-unified-per-slot"), OWN_WINDOW),
    "--context-shift": "a full window has to be an error, not a prompt that lost its head",
    "--no-jinja": "without the model's own template every model would be asked in another way",
}


class LlamaServerOptions(Record):
    """What a plan may set.

    weights : the GGUF file; of a split one the first part
    binary : a path, or a name that the shell would find
    flags : further arguments, as `["--n-gpu-layers", "99"]`
    slots : how many requests it can take at once, each with the whole window of the plan
    sha256 : the digest that the weights must have
    start_limit_s : how long it may load
    """

    weights: str
    binary: str = "llama-server"
    flags: list[str] = Field(default_factory=list)
    slots: Annotated[int, Field(ge=1, le=64)] = 1
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    start_limit_s: Annotated[float, Field(gt=0)] = START_LIMIT_S


class LlamaServerBackend(OwnedServer):
    """One llama-server for one model.

    Requests carry `cache_prompt: false`, as for the embedded model: with a prompt cache a reply
    depends on what was asked before it. A plan's `extra_body` may say otherwise, and is stamped.
    """

    extra_body: dict[str, Json] = {"cache_prompt": False}  # noqa: RUF012 (never changed)

    def __init__(self, planned: PlannedModel, log: Path, clock: Clock) -> None:
        refuse_fields(planned, ("base_url", "api_key_env"), ENDPOINT)
        self._options = options_of(planned, LlamaServerOptions)
        problems = flag_problems(planned, self._options.flags, TAKEN)
        if problems:
            raise refused(planned, problems)
        self._weights = Path(self._options.weights).expanduser()
        self._digest: str | None = None
        self._binary: str | None = None
        self._memory = log.parent
        running = Program(log, clock, self._options.start_limit_s, STOP_WAIT_S)
        super().__init__(planned, running)

    def weights(self) -> tuple[Path, ...]:
        """Return the file, or the parts of a split one."""
        return tuple(files_of(self._weights))

    def missing(self) -> tuple[Problem, ...]:
        """Return the binary, and files of the weights, that are not there."""
        files = [
            Problem(str(file), "no such file", "correct options.weights")
            for file in self.weights()
            if not file.is_file()
        ]
        return (*files, *self._no_binary())

    def check(self) -> None:
        """Look for the binary, and read the weights."""
        self._binary = path_of(self._options.binary)
        refuse_start(self._planned, [self._problem_with_weights(), *self._no_binary()])

    def _no_binary(self) -> tuple[Problem, ...]:
        if path_of(self._options.binary) is not None:
            return ()
        todo = "install llama.cpp, or write the path in options.binary"
        return (Problem("binary", f"{self._options.binary!r} is not found", todo),)

    def command(self, port: int) -> list[str]:
        """Return the command: what the plan may not change, then its flags."""
        assert self._binary is not None  # it was checked
        options, window = self._options, self._planned.context_tokens
        command = [self._binary, "--model", str(self._weights), "--alias", self.alias]
        command += ["--host", HOST, "--port", str(port), "--parallel", str(options.slots)]
        if window is not None:
            command += ["--ctx-size", str(window * options.slots)]
        return [*command, "--jinja", "--no-context-shift", *options.flags]

    def environment(self) -> dict[str, str]:
        """Leave out the variables that llama.cpp reads arguments from: no plan tells of them."""
        return {k: v for k, v in os.environ.items() if not k.startswith(ARGUMENT_VARIABLES)}

    def completed(self, told: ServerInfo) -> ServerInfo:
        """Add the weights' digest and the flags of the plan."""
        flags: dict[str, Json] = {
            **told.flags,
            "flags": list(self._options.flags),
            "slots": self._options.slots,
            **self.extra_body,
        }
        return told.model_copy(update={"model_digest": self._digest, "flags": flags})

    def _problem_with_weights(self) -> Problem | None:
        """Read the weights' digest; return what is wrong with them."""
        try:
            self._digest = weights_digest(self._weights, self._memory)
        except OSError as error:
            where = str(error.filename or self._weights)
            return Problem(where, error.strerror or str(error), "correct options.weights")
        pinned = self._options.sha256
        if pinned is not None and pinned != self._digest:
            what = f"sha256 {self._digest[:16]}…, the plan pins {pinned[:16]}…"
            return Problem(str(self._weights), what, "these are other weights than the plan means")
        return None


def llama_server(planned: PlannedModel, log: Path, clock: Clock) -> LlamaServerBackend:
    """Return the backend of a planned model."""
    return LlamaServerBackend(planned, log, clock)
