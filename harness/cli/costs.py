"""What a night will cost, on a terminal and as JSON."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.cli.terminal import print_table, say

if TYPE_CHECKING:
    from datetime import datetime

    from harness.campaign.cost import Cost, RunCost
    from harness.campaign.plan import Resolved


def show_cost(resolved: "Resolved", cost: "Cost") -> None:
    """Print one line for each run in the order of the night, and where the numbers come from."""
    from rich.table import Table

    plan = resolved.plan
    say(
        f"{plan.name}: {len(plan.models)} model(s) × {resolved.runs} run(s) ×"
        f" {len(resolved.tasks)} task(s), if it begins now"
    )
    say(f"Deadline: {_moment(cost.deadline)}" if cost.deadline else "There is no deadline.")
    models = {model.model: model for model in cost.models}
    table = Table()
    table.add_column("Run", justify="right")
    table.add_column("Model")
    for heading in ("Tokens", "Tokens/s", "Hours", "Ends about", "Fits"):
        table.add_column(heading, justify="right")
    for run in cost.runs:
        model = models[run.model]
        table.add_row(
            str(run.run),
            run.model,
            f"{model.tokens}",
            f"{model.tokens_per_s:.1f}" if model.tokens_per_s else "?",
            f"{model.run_s / 3600:.2f}" if model.run_s else "?",
            _end(run),
            _fits(run, cost),
        )
    print_table(table)
    for model in cost.models:
        say(f"{model.model}: tokens per run: {model.tokens_from}; speed: {model.speed_from}")
    for run in cost.runs:
        if run.fits is False:
            say(f"does not fit: {run.model} run {run.run}: {run.why}")
    for task, why in resolved.left_out.items():
        say(f"left out: {task}: {why}")
    for problem in cost.missing:
        say(f"warning: start would refuse it: {problem}")


def cost_json(cost: "Cost") -> dict[str, object]:
    """Return a cost as JSON values."""
    return {
        "begins": cost.begins.isoformat(timespec="seconds"),
        "deadline": cost.deadline.isoformat(timespec="seconds") if cost.deadline else None,
        "models": [{**asdict(model), "run_s": model.run_s} for model in cost.models],
        "runs": [
            {**asdict(run), "ends": run.ends.isoformat(timespec="seconds") if run.ends else None}
            for run in cost.runs
        ],
        "missing": [asdict(problem) for problem in cost.missing],
    }


def _end(run: "RunCost") -> str:
    if run.ends is None:
        return "–" if run.fits is False else "?"
    return f"after {_moment(run.ends)}" if run.at_least else _moment(run.ends)


def _fits(run: "RunCost", cost: "Cost") -> str:
    if cost.deadline is None:
        return "–"
    return "?" if run.fits is None else "yes" if run.fits else "no"


def _moment(moment: "datetime") -> str:
    return f"{moment.astimezone():%a %H:%M}"
