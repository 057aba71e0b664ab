"""How long runs took so far, and how long a first run may take."""

from collections.abc import Iterable

from harness.arnes import ArnesConfig
from harness.campaign.pace import PlannedCell
from harness.running.single import cap_of
from harness.store import campaign as store
from harness.store import journal
from harness.store.campaign import Campaign
from harness.suite.loader import Suite, Task

# Assumed, nothing measured: what a reasoning model may write for a task of level A in one run. It
# decides only whether a first run fits, and gives way to the plan's word and to the first run.
TOKENS_PER_TASK = 14_000
CELLS = " cells"
WHOLE = ("reply", "time")  # how the last exchange of a cell that is no fault ends


def cells_text(count: int) -> str:
    """Return how many cells a pass over a run asked, for the journal."""
    return f"{count}{CELLS}"


def previous_run_s(campaign: Campaign, model: str, cells: int) -> float | None:
    """Return what so many cells take in seconds, by a model's last run; None before any.

    A run that was finished in a second pass says how long its rest took, and what that rest was:
    its cells are scaled, the time until its server was up is not.
    """
    found, up_s = None, 0.0
    for event in journal.read(campaign.folder.journal):
        if event.model != model or event.seconds is None:
            continue
        if event.event == "model_up":
            up_s = event.seconds
        elif event.event == "run_finished":
            asked = event.detail.removesuffix(CELLS) or len(campaign.record.tasks)
            up_s = min(up_s, event.seconds)
            found = up_s + (event.seconds - up_s) * cells / int(asked)
    return found


def rest_of(campaign: Campaign, suite: Suite) -> tuple[PlannedCell, ...]:
    """Return the models' cells that have no reply yet; controls are left out."""
    modes = {task: suite.task(task).definition.mode for task in campaign.record.tasks}
    return tuple(
        (player, run, task)
        for player, run, task in campaign.cells()
        if player not in campaign.record.controls
        and not store.is_done(campaign.cell(player, run, task), modes[task])
    )


def cell_times(campaign: Campaign) -> dict[tuple[str, str], list[float]]:
    """Return (model, task) → what its cells took so far, in seconds; controls are left out.

    A cell that the infrastructure ended says nothing about how long others take.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for event in journal.read(campaign.folder.journal):
        if event.event != "cell_finished" or event.detail not in WHOLE:
            continue
        if event.model in campaign.record.controls or event.seconds is None:
            continue
        found.setdefault((str(event.model), str(event.task)), []).append(event.seconds)
    return found


def usual_tokens(tasks: Iterable[Task], config: ArnesConfig) -> int:
    """Return what a model may write in a run over these tasks, as long as nothing is known of it.

    A cell cannot take more than its cap, times its replies if it is an agent's.
    """
    replies = {True: config.max_agent_turns, False: 1}
    return sum(min(TOKENS_PER_TASK, cap_of(t, config) * replies[t.is_agent]) for t in tasks)


def estimated_run_s(campaign: Campaign, model: str, usual: int) -> float | None:
    """Return a conservative estimate of a first run, in seconds; None where no speed is known.

    The speed is the model's own if any of its runs was begun, else the slowest that was measured
    in this campaign.

    Parameters
    ----------
    usual : tokens of a run for which the plan names none
    """
    speeds: dict[str, float] = {}
    for player, run in campaign.runs():
        info = store.read_run_info(campaign.folder.run(player, run))
        if info is not None and not info.control and info.server.tokens_per_s:
            speeds[player] = info.server.tokens_per_s
    speed = speeds.get(model, min(speeds.values(), default=None))
    if speed is None:
        return None
    planned = {m.id: m.tokens_per_run for m in campaign.record.plan.models}.get(model)
    return (planned or usual) / speed
