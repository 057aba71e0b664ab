"""Where a campaign stands, from its files alone: from another shell, and after a crash."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness.campaign.deadline import UNTIL
from harness.errors import StoreError
from harness.records.campaign import JournalEvent
from harness.records.sample import Sample
from harness.records.score import Unscored
from harness.store import campaign as store
from harness.store import journal, samples
from harness.store.campaign import Campaign
from harness.suite.loader import Suite

ENDS = frozenset({"campaign_finished", "campaign_stopped", "interrupted"})


@dataclass(frozen=True)
class RunStatus:
    """One model's run: cells that are done of all, and what else is known."""

    model: str
    run: int
    done: int
    cells: int
    note: str


@dataclass(frozen=True)
class Status:
    """A campaign at one moment.

    state : what is going on, in a few words
    doing : model, run and task of the cell that was asked last while it runs
    left_s : until its end, from the pace of this pass so far; None where no model was asked yet
    deadline : of the last pass; `resume --deadline` names another one than the start
    faults : cause → cells without a score so far
    set_aside : model → why, in the last pass
    left_out : task → why it is not asked although the plan wants it
    sample, sample_age_s : the last row of `metrics.csv`, and how old it is; its faults are those of
        exchanges, also where a later try of the same cell has a score
    """

    name: str
    state: str
    doing: str
    done: int
    cells: int
    left_s: float | None
    deadline: str | None
    runs: tuple[RunStatus, ...]
    faults: dict[str, int]
    set_aside: dict[str, str]
    left_out: dict[str, str]
    sample: Sample | None = None
    sample_age_s: float | None = None


def status_of(campaign: Campaign, suite: Suite, now: datetime) -> Status:
    """Return where a campaign stands.

    Parameters
    ----------
    now : aware; compared with the times in the journal
    """
    events = journal.read(campaign.folder.journal)
    held = store.is_held(campaign)
    sample = samples.last(campaign.folder.metrics)
    runs = tuple(_run(campaign, suite, *which, events) for which in campaign.runs())
    done, cells = sum(r.done for r in runs), sum(r.cells for r in runs)
    return Status(
        name=campaign.record.name,
        state=_state(events, held=held, left=cells - done),
        doing=_doing(events) if held else "",
        done=done,
        cells=cells,
        left_s=_left_s(events, runs, campaign.record.controls, now) if held else None,
        deadline=_deadline(events) or campaign.record.deadline,
        runs=runs,
        faults=_faults(campaign),
        set_aside={
            str(e.model): e.detail.splitlines()[0]
            for e in _last_pass(events)
            if e.event == "model_set_aside"
        },
        left_out=campaign.record.left_out,
        sample=sample,
        sample_age_s=None if sample is None else (now - sample.at) / timedelta(seconds=1),
    )


def _run(
    campaign: Campaign, suite: Suite, player: str, run: int, events: list[JournalEvent]
) -> RunStatus:
    tasks = [suite.task(task) for task in campaign.record.tasks]
    done = sum(
        store.is_done(campaign.cell(player, run, task.id), task.definition.mode) for task in tasks
    )
    own = [event for event in events if (event.model, event.run) == (player, run)]
    note = ""
    if own and own[-1].event in ("run_skipped", "model_set_aside"):
        note = f"{own[-1].event.replace('_', ' ')}: {own[-1].detail.splitlines()[0]}"
    return RunStatus(player, run, done, len(tasks), note)


def _state(events: list[JournalEvent], *, held: bool, left: int) -> str:
    if held:
        return "running"
    last = events[-1].event if events else ""
    if last == "campaign_finished":
        return "finished" if not left else "finished, with cells that have no reply"
    if last in ENDS:
        return last.replace("campaign_", "").replace("_", " ")
    return "not running: it ended without a word" if events else "not started"


def _doing(events: list[JournalEvent]) -> str:
    last = next((e for e in reversed(events) if e.model is not None), None)
    if last is None:
        return "starting"
    return f"{last.model} run {last.run}, after {last.event.replace('_', ' ')} {last.task or ''}"


def _left_s(
    events: list[JournalEvent],
    runs: tuple[RunStatus, ...],
    controls: tuple[str, ...],
    now: datetime,
) -> float | None:
    """Return the time to the end at the pace of this pass, from its start to now.

    Controls answer at once and play first: counted as cells, they would end a night in a minute.
    """
    own = _last_pass(events)
    finished = sum(e.event == "cell_finished" and e.model not in controls for e in own)
    if not finished:
        return None
    took_s = (now - datetime.fromisoformat(own[0].at)) / timedelta(seconds=1)
    left = sum(run.cells - run.done for run in runs if run.model not in controls)
    return took_s / finished * left if took_s > 0 else None  # a clock that was set back


def _last_pass(events: list[JournalEvent]) -> list[JournalEvent]:
    """Return the events since somebody last started or resumed the campaign."""
    starts = [
        n for n, e in enumerate(events) if e.event in ("campaign_started", "campaign_resumed")
    ]
    return events[starts[-1] :] if starts else events


def _deadline(events: list[JournalEvent]) -> str | None:
    """Return the deadline of the last pass, which need not be the one of the start."""
    begun = next(iter(_last_pass(events)), None)
    told = begun.detail if begun is not None else ""
    return told.removeprefix(UNTIL) if told.startswith(UNTIL) else None


def _faults(campaign: Campaign) -> dict[str, int]:
    found: Counter[str] = Counter()
    for cell in campaign.cells():
        try:
            outcome = store.read_outcome(campaign.cell(*cell))
        except StoreError:
            found["damaged"] += 1
            continue
        if isinstance(outcome, Unscored) and outcome.cause != "not_run":
            found[outcome.cause] += 1
    return dict(found)


def ask_to_stop(campaign: Campaign) -> bool:
    """Ask whoever runs a campaign to stop after the present cell; False if nobody does."""
    if not store.is_held(campaign):
        return False
    campaign.folder.stop.touch()
    return True
