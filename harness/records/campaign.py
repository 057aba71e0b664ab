"""The plan of a campaign, its frozen form, its journal, and its end."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, model_validator

from harness.records.base import Json, Record
from harness.records.sample import RunEnergy
from harness.records.score import CellKey, CellOutcome, Stamps

GOLDEN_CONTROL = "control-golden"
EMPTY_CONTROL = "control-empty"
RESERVED = frozenset(
    {
        "campaign.json",
        "final.json",
        "hatched.toml",
        "journal.jsonl",
        "metrics.csv",
        "plan.toml",
        "server_logs",
        "validation.json",
    }
)


def _no_reserved_name(model_id: str) -> str:
    if model_id.lower() in RESERVED:
        raise ValueError("is the name of a file of every campaign; choose another id")
    return model_id


ModelId = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
    AfterValidator(_no_reserved_name),
]


class PlannedModel(Record):
    """One model of a plan.

    id : the name in folders and tables (letters, digits, `.`, `_`, `-`)
    backend : which file of `harness/backends/` brings it up
    base_url, served_name : for a server that runs already
    context_tokens : the window per request, where the server does not tell it
    api_key_env : name of the environment variable that holds the key; a key itself is refused
    extra_body : body fields for this model (thinking switches, reasoning effort), stamped
    tokens_per_run : about how many it writes in a run; decides whether its first run fits
    """

    id: ModelId
    backend: str
    base_url: str | None = None
    served_name: str | None = None
    context_tokens: Annotated[StrictInt, Field(gt=0)] | None = None
    api_key_env: str | None = None
    extra_body: dict[str, Json] = Field(default_factory=dict)
    tokens_per_run: Annotated[StrictInt, Field(gt=0)] | None = None
    options: dict[str, Json] = Field(default_factory=dict)


class CampaignPlan(Record):
    """`plan.toml`, written by a person. A number in quotes is a text, and is refused.

    deadline : a time of day, or a date and time, by which all must be over
    hours : from the start, instead of a deadline
    order : of the models within a run (`campaign/schedule.py`); order_seed draws a random one
    simulated : True when the models are scripts that send written replies: every page says so
    """

    schema_version: Literal[1] = 1
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")]
    profile: str | None = None
    runs: Annotated[StrictInt, Field(ge=1)] | None = None
    tasks: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    controls: StrictBool = True
    allow_slow: StrictBool = False
    deadline: str | None = None
    hours: Annotated[StrictFloat, Field(gt=0)] | None = None
    order: Literal["fixed", "balanced", "random"] = "fixed"
    order_seed: StrictInt = 0
    simulated: StrictBool = False
    models: Annotated[tuple[PlannedModel, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_end(self) -> "CampaignPlan":
        if self.deadline is not None and self.hours is not None:
            raise ValueError("deadline and hours both say when it ends; keep one of them")
        return self


class CampaignRecord(Record):
    """`CAMPAIGN.json`: the plan as it was frozen, and the instrument it was frozen for.

    subset : True when the plan leaves out tasks of level A; then there is no total of level A,
        and nothing here compares with a campaign over other tasks.
    left_out : task → why it is not asked although the plan wants it
    deadline : the moment that the plan named, in UTC; None without one
    form : `open`, or the id of a private form; forms holds the form id of every task asked
    """

    schema_version: Literal[1] = 1
    name: str
    created_at: str
    plan: CampaignPlan
    runs: int
    tasks: tuple[str, ...]
    subset: bool
    left_out: dict[str, str] = Field(default_factory=dict)
    controls: tuple[str, ...]
    form: str
    forms: dict[str, str]
    open_form: bool
    deadline: str | None = None
    stamps: Stamps

    @property
    def simulated(self) -> bool:
        """True when replies were written, not generated: nothing here is about a model."""
        return self.plan.simulated


class JournalEvent(Record):
    """One line of `journal.jsonl`."""

    at: str
    event: Literal[
        "campaign_started",
        "campaign_resumed",
        "campaign_finished",
        "campaign_stopped",
        "model_up",
        "model_set_aside",
        "model_changed",
        "server_restarted",
        "gpu_checked",
        "run_started",
        "run_finished",
        "run_skipped",
        "cell_finished",
        "interrupted",
    ]
    model: str | None = None
    run: int | None = None
    task: str | None = None
    seconds: float | None = None
    detail: str = ""


class ChangedRow(Record):
    """A row whose points differ from those that its reply was given first.

    before, after : None where the cell had or has no score
    parts : score-side parts of the signature that differ between the two
    """

    cell: CellKey
    row: str
    before: float | None
    after: float | None
    parts: tuple[str, ...]


class CellMetrics(Record):
    """What a cell cost and how it ended; beside the points, outside every digest of scores.

    calls : exchanges that were kept; None in a result from before this field
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    generation_s: float | None = None
    calls: int | None = None
    retries: int = 0
    finish_reason: str | None = None


class FinalCell(Record):
    """One cell of `FINAL.json`: its outcome and what it cost.

    source : the campaign folder's name in a result of several; empty in a result of one
    """

    outcome: CellOutcome
    metrics: CellMetrics
    source: str = ""


class RunHost(Record):
    """Where a run was made: a factor beside the scores.

    host : digest of the machine's name, shortened
    machine : what is known of it: processor, cores, platform
    engine : the server's engine and build
    """

    model: str
    run: int
    source: str = ""
    host: str
    machine: str
    engine: str


class Source(Record):
    """One campaign folder of a result that was made from several.

    name : its folder's name, the first part of every path in `Final.files`
    renamed : id in this campaign → id in the result, for models that several campaigns measured
    """

    name: str
    campaign: CampaignRecord
    renamed: dict[str, str] = Field(default_factory=dict)


class HatchedParts(Record):
    """`hatched.toml`: what is shown under a named doubt. It changes no point.

    hatched : task, or task.row → why
    """

    hatched: dict[str, Annotated[str, Field(min_length=1)]]


class Final(Record):
    """`FINAL.json`: every cell, rescored with the present harness. Written by finalize only.

    max_points : task → its maximum, whether or not any cell of it has a score
    problems : why the result does not hold, as when a control did not land where it must
    files : path in the campaign → digest of the evidence the result was made from
    levels : task → its level; a result from before this field has one level per task id's letter
    modes : task → `single` or `agent`
    hosts : where each run was made
    hatched : task, or task.row → why its points are shown under doubt
    sources : the campaigns of a result that was made from several; empty for one
    energy : what runs took, where power was sampled
    """

    schema_version: Literal[1] = 1
    campaign: CampaignRecord
    stamps: Stamps
    max_points: dict[str, float]
    cells: tuple[FinalCell, ...]
    problems: tuple[str, ...] = ()
    changed: tuple[ChangedRow, ...]
    warnings: tuple[str, ...] = ()
    files: dict[str, str]
    levels: dict[str, str] = Field(default_factory=dict)
    modes: dict[str, str] = Field(default_factory=dict)
    hosts: tuple[RunHost, ...] = ()
    hatched: dict[str, str] = Field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    energy: tuple[RunEnergy, ...] = ()

    def level_of(self, task: str) -> str:
        """Return the level of a task."""
        return self.levels.get(task, task[:1])
