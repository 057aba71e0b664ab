"""Step 2: `arnes.toml` (or a profile) as one frozen config.

Everything that can move a score without changing the model stands in that one file. A
setting that is not there does not exist; a misspelt one is refused with the nearest name.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from harness.errors import ConfigError, Problem, nearest
from harness.records.base import Record
from harness.records.handwritten import read_toml
from harness.records.tools import TOOL_NAMES

CONFIG_NAME = "arnes.toml"
CORE_PROFILE = "core"
PROFILE_FOLDER = Path("suite") / "profiles"

Positive = Annotated[int, Field(gt=0, strict=True)]
Seconds = Annotated[float, Field(gt=0, strict=True)]


class Sampling(Record):
    """How tokens are drawn; the same for every model. seed of a run = seed_base + run."""

    temperature: Annotated[float, Field(ge=0)]
    top_p: Annotated[float, Field(gt=0, le=1)]
    seed_base: Annotated[int, Field(strict=True)]


class Transport(Record):
    """Limits of one call, and what is repeated. Only transport faults ever are."""

    connect_timeout_s: Seconds
    first_byte_timeout_s: Seconds
    idle_timeout_s: Seconds
    loading_limit_s: Seconds
    retries: Annotated[int, Field(ge=0, strict=True)]
    retry_wait_s: Seconds


class Reasoning(Record):
    """One policy for every model: what is reasoning, and that it is never sent again."""

    tags: tuple[str, ...]
    resend: Literal[False]


class Context(Record):
    """When an agent's conversation is shortened, in characters (never in a model's tokens)."""

    elide_above_chars: Positive
    elide_to_chars: Positive
    result_cap_chars: Positive
    resent_reply_cap_chars: Positive
    system_and_task_chars: Positive

    @model_validator(mode="after")
    def _marks_in_order(self) -> "Context":
        if self.elide_to_chars >= self.elide_above_chars:
            raise ValueError(
                f"elide_to_chars {self.elide_to_chars} is not below elide_above_chars "
                f"{self.elide_above_chars}"
            )
        return self


class LoopGuards(Record):
    """Where a loop ends an agent's cell; 0 never does. How far loops went is always recorded.

    identical_calls : executed calls in a row with the same tool and arguments
    rewrites : times that one file is written
    malformed_in_a_row : malformed calls in a row
    """

    identical_calls: Annotated[int, Field(ge=0, strict=True)]
    rewrites: Annotated[int, Field(ge=0, strict=True)]
    malformed_in_a_row: Annotated[int, Field(ge=0, strict=True)]


class SandboxLimits(Record):
    """What a deliverable may use while it is graded."""

    wall_s: Seconds
    cpu_s: Seconds
    memory_mib: Positive
    processes: Positive
    file_mib: Positive
    scratch_mib: Positive
    output_kib: Positive


class Prompts(Record):
    """The system texts. Numbers in them are rendered from the parameters above."""

    single_system: str
    agent_system: str


class PlanDefaults(Record):
    """What a plan gets where it says nothing. Moves no score of a cell: not in the signature."""

    runs: Positive
    tasks: tuple[str, ...] = ()


class ArnesConfig(Record):
    """The harness config. `form` and `plan` are digested apart from the rest."""

    schema_version: Literal[1]
    arnes_version: Annotated[str, Field(min_length=1)]
    profile: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    form: str
    max_tokens: Positive
    max_tokens_of_task: dict[str, Positive] = Field(default_factory=dict)
    max_agent_turns: Positive
    max_idle_turns: Positive
    tool_protocol: Literal["text"]
    call_timeout_s: Seconds
    parallel_cells: Annotated[int, Field(ge=1, le=64, strict=True)]
    sampling: Sampling
    transport: Transport
    reasoning: Reasoning
    context: Context
    guards: LoopGuards
    sandbox: SandboxLimits
    prompts: Prompts
    tools: dict[str, str]
    plan: PlanDefaults

    @property
    def is_development(self) -> bool:
        """True for a version that is never locked, and whose results say so."""
        return self.arnes_version.endswith("-dev")

    def max_tokens_for(self, task_id: str) -> int:
        """Return the generation cap of one task, in tokens of the model's own tokenizer."""
        return min(self.max_tokens, self.max_tokens_of_task.get(task_id, self.max_tokens))

    def seed_for(self, run: int) -> int:
        """Return the sampling seed of a run."""
        return self.sampling.seed_base + run


def load_arnes(root: Path, profile: str | None = None) -> ArnesConfig:
    """Read `arnes.toml`, or the profile of that name.

    Parameters
    ----------
    root : the folder that holds `arnes.toml` and `suite/`
    profile : name of a file in `suite/profiles/` without its ending; None is `arnes.toml`

    Raises
    ------
    ConfigError
        With every problem at once: unknown keys (and the nearest right name), missing keys,
        values out of range.
    """
    path = root / CONFIG_NAME if profile is None else root / PROFILE_FOLDER / f"{profile}.toml"
    if not path.is_file():
        known = sorted(p.stem for p in (root / PROFILE_FOLDER).glob("*.toml"))
        raise ConfigError(
            f"no profile {profile!r}" if profile else f"no {CONFIG_NAME}",
            [Problem(str(path), "no such file", nearest(profile or CONFIG_NAME, known))],
        )
    config = read_toml(path, ArnesConfig, ConfigError)
    problems = _misnamed(config, profile or CORE_PROFILE)
    if problems:
        raise ConfigError(f"{len(problems)} problem(s) in {path}", problems, "Nothing was run.")
    return config


def _misnamed(config: ArnesConfig, profile: str) -> list[Problem]:
    """Return names inside the tables that stand for nothing."""
    problems = [
        Problem(f"tools.{name}", "no such tool", nearest(name, TOOL_NAMES))
        for name in config.tools
        if name not in TOOL_NAMES
    ]
    problems += [
        Problem(f"tools.{name}", "missing", "every tool has a description")
        for name in TOOL_NAMES
        if name not in config.tools
    ]
    problems += [
        Problem(
            f"max_tokens_of_task.{task}",
            f"{cap} is above max_tokens, {config.max_tokens}",
            "a task may lower the cap, never raise it",
        )
        for task, cap in config.max_tokens_of_task.items()
        if cap > config.max_tokens
    ]
    if config.profile != profile:
        what = f"{config.profile!r} in the file of the profile {profile!r}"
        problems.append(Problem("profile", what, f'profile = "{profile}"'))
    return problems
