"""What a night will cost: tokens × measured speed, run by run, and what fits before the deadline.

It asks no server. The same guard decides here and in the night itself (`time_guard`), with what is
known beforehand; what the night measures is better, and replaces it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from harness.campaign.deadline import deadline_of
from harness.campaign.history import TOKENS_PER_TASK
from harness.campaign.plan import Resolved, missing_in, read_plan, resolve
from harness.campaign.schedule import order_of
from harness.campaign.time_guard import next_run_fits
from harness.errors import Problem, StoreError
from harness.records.campaign import PlannedModel
from harness.records.run import RunInfo
from harness.stages.instrument import find_root, load_instrument
from harness.store import campaign as store
from harness.store.layout import CAMPAIGNS

UNKNOWN_SPEED = "not known: it is measured at the first start"


@dataclass(frozen=True)
class ModelCost:
    """What a run of one model costs.

    tokens : in a run
    tokens_from : where that number comes from
    tokens_per_s : None where no earlier campaign measured it
    speed_from : where that number comes from
    """

    model: str
    tokens: int
    tokens_from: str
    tokens_per_s: float | None
    speed_from: str

    @property
    def run_s(self) -> float | None:
        """Seconds of a run; None where the speed is not known."""
        return self.tokens / self.tokens_per_s if self.tokens_per_s else None


@dataclass(frozen=True)
class RunCost:
    """One run of one model, in the order of the night.

    ends : about when, if all that fits before it is run; the earliest moment where `at_least`
    fits : None where that depends on a speed that is not known
    why : the arithmetic of the guard
    """

    model: str
    run: int
    ends: datetime | None
    at_least: bool
    fits: bool | None
    why: str


@dataclass(frozen=True)
class Cost:
    """What a plan costs if it begins now.

    missing : what `start` would refuse it for on this machine
    """

    begins: datetime
    deadline: datetime | None
    models: tuple[ModelCost, ...]
    runs: tuple[RunCost, ...]
    missing: tuple[Problem, ...] = ()


def cost_of_file(start: Path, plan_path: Path, now: datetime) -> tuple[Resolved, Cost]:
    """Read a plan, check all of it, and return it with what it will cost.

    Raises
    ------
    PlanError, ConfigError, SuiteError
        With every problem at once, as `start` would.
    """
    plan = read_plan(plan_path)
    instrument = load_instrument(find_root(start), plan.profile)
    resolved = resolve(plan, plan_path.read_bytes(), instrument, now=now)
    return resolved, cost_of(resolved, instrument.root, now)


def cost_of(resolved: Resolved, root: Path, now: datetime) -> Cost:
    """Return what a plan will cost.

    Parameters
    ----------
    root : the checkout; its `campaigns/` hold the speeds that were measured
    now : aware, in local time: when it would begin
    """
    plan = resolved.plan
    deadline = deadline_of(plan, now)
    measured = _runs_measured(root / CAMPAIGNS)
    costs = {m.id: _model_cost(m, resolved.usual_tokens, measured) for m in plan.models}
    took_s, unknown = 0.0, False
    seen: set[str] = set()
    runs = []
    for number in range(1, resolved.runs + 1):
        for model in order_of(plan.models, number, plan.order, plan.order_seed):
            run_s = costs[model.id].run_s
            left_s = None if deadline is None else (deadline - now).total_seconds() - took_s
            previous_s = run_s if model.id in seen else None
            fit = next_run_fits(left_s, previous_s=previous_s, estimate_s=run_s)
            unknown |= run_s is None
            fits = fit.fits if not (unknown and fit.fits and deadline) else None
            if fit.fits:
                took_s += run_s or 0.0
                seen.add(model.id)
            ends = now + timedelta(seconds=took_s) if fit.fits and run_s else None
            runs.append(RunCost(model.id, number, ends, unknown, fits, fit.why))
    return Cost(now, deadline, tuple(costs.values()), tuple(runs), missing_in(plan))


def _model_cost(model: PlannedModel, usual: int, measured: list[tuple[str, RunInfo]]) -> ModelCost:
    tokens, told = model.tokens_per_run, "the plan"
    if tokens is None:
        tokens, told = usual, f"{TOKENS_PER_TASK} a task or its cap, nothing being known"
    own = [
        (info.started_at, where, info.server.tokens_per_s)
        for where, info in measured
        if (info.model, info.backend) == (model.id, model.backend) and info.server.tokens_per_s
    ]
    if not own:
        return ModelCost(model.id, tokens, told, None, UNKNOWN_SPEED)
    _, where, speed = max(own)
    return ModelCost(model.id, tokens, told, speed, f"measured in {where}")


def _runs_measured(folder: Path) -> list[tuple[str, RunInfo]]:
    """Return every run of earlier campaigns with where it lies; what cannot be read is no run."""
    found = []
    for record in sorted(folder.glob("*/CAMPAIGN.json")):
        try:
            campaign = store.load(record.parent)
        except StoreError:
            continue
        for player, run in campaign.runs():
            try:
                info = store.read_run_info(campaign.folder.run(player, run))
            except StoreError:
                continue
            if info is not None and not info.control:
                found.append((f"{record.parent.name}, run {run}", info))
    return found
