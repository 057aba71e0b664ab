"""Start a campaign or go on with one: plan and instrument in, a summary out."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from harness.backends import make_backend
from harness.backends.hardware import host_info
from harness.backends.readings import Meter
from harness.campaign.activity import Activity
from harness.campaign.controls import CONTROLS
from harness.campaign.deadline import Countdown, deadline_of, until_text
from harness.campaign.display import Display, display
from harness.campaign.history import cell_times, rest_of
from harness.campaign.orchestrator import Orchestrator
from harness.campaign.plan import Resolved, missing_in, read_plan, resolve
from harness.campaign.players import ControlPlayer, ModelPlayer, Player, Served
from harness.campaign.sampler import Sampler
from harness.campaign.tally import Tally
from harness.clock import Clock, SystemClock
from harness.errors import (
    FormError,
    InstrumentError,
    NotComparableError,
    PlanError,
    Problem,
    StoreError,
)
from harness.models.chat import ChatModel
from harness.models.http import HttpChat
from harness.records.base import readable_json
from harness.records.campaign import CampaignPlan, CampaignRecord, JournalEvent, PlannedModel
from harness.records.run import HostInfo
from harness.records.validation import Validation
from harness.signature import NO_SUCH_PART, changed_parts
from harness.stages.hosts import differences
from harness.stages.instrument import Instrument, find_root, load_instrument
from harness.stages.private_form import identity_problems
from harness.stages.progress import Progress, silent
from harness.stages.validation_cache import validated
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.files import write_whole
from harness.store.layout import CAMPAIGNS
from harness.suite.forms import OPEN

PassEvent = Literal[
    "campaign_started", "campaign_resumed", "campaign_finished", "campaign_stopped", "interrupted"
]


@dataclass(frozen=True)
class Summary:
    """What a pass over a campaign came to.

    total : planned cells
    stopped : somebody asked for a stop after the present cell
    left_out : task → why it is not asked although the plan wants it
    """

    tally: Tally
    total: int
    stopped: bool = False
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """True when every cell has a reply."""
        return self.tally.done == self.total

    def as_json(self) -> dict[str, object]:
        """The summary as JSON values."""
        return {
            "cells": self.total,
            "done": self.tally.done,
            "finished_before": self.tally.finished_before,
            "asked": self.tally.asked,
            "unscored": self.tally.unscored,
            "set_aside": self.tally.set_aside,
            "skipped": self.tally.skipped,
            "stopped": self.stopped,
            "left_out": self.left_out,
        }

    def text(self) -> str:
        """The summary for a person."""
        lines = [f"{self.tally.done} of {self.total} cells have a reply."]
        if self.tally.finished_before:
            lines.append(
                f"{self.tally.finished_before} were finished before and were not asked again."
            )
        if self.stopped:
            lines.append("It was asked to stop before its end.")
        lines += [f"{n} unscored: {cause}" for cause, n in sorted(self.tally.unscored.items())]
        for model, why in sorted(self.tally.set_aside.items()):
            said = [line.strip() for line in why.splitlines() if line.strip()]
            lines.append(f"set aside: {model}: {'; '.join(said[:2])}")  # what, and the first cause
        lines += [f"skipped: {run}: {why}" for run, why in self.tally.skipped.items()]
        lines += [f"left out: {task}: {why}" for task, why in self.left_out.items()]
        return "\n".join(lines)


def prepare(
    start: Path, plan_path: Path, folder: Path | None, progress: Progress = silent
) -> tuple[Campaign, Instrument]:
    """Read a plan, validate the instrument, and make the campaign folder.

    Raises
    ------
    PlanError, ConfigError, SuiteError, EndpointError
        Before anything is written.
    InstrumentError
        If validation does not hold: then nothing is run at all.
    """
    plan = read_plan(plan_path)
    instrument = load_instrument(find_root(start), plan.profile)
    resolved = resolve(plan, plan_path.read_bytes(), instrument)
    clock = SystemClock()
    _refuse_missing(plan)
    for planned in plan.models:
        if planned.backend == "external":  # a dead address is found before a folder is made
            with make_backend(planned, Path(os.devnull), clock):
                pass
    campaign = create(resolved, instrument, clock, folder, progress)
    return campaign, instrument


def _refuse_missing(plan: CampaignPlan) -> None:
    """Refuse a plan that names programs or weights that are not there: nobody reads it at night."""
    problems = missing_in(plan)
    if problems:
        headline = f"{len(problems)} problem(s) in the plan {plan.name!r}"
        raise PlanError(headline, problems, "Nothing was run.")


def create(
    resolved: Resolved,
    instrument: Instrument,
    clock: Clock,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Campaign:
    """Validate, and make a campaign folder for a resolved plan."""
    problems = identity_problems(instrument.suite)
    if problems:
        raise FormError("this form is not the one that its id names", problems, "Nothing was run.")
    now = clock.now()
    deadline = deadline_of(resolved.plan, now.astimezone())
    path = folder or instrument.root / CAMPAIGNS / f"{now:%Y-%m-%d}_{resolved.plan.name}"
    store.refuse_place(path, resolved.text)  # validation takes minutes
    validation = _holds(instrument, resolved.tasks, clock, progress)
    record = CampaignRecord(
        name=resolved.plan.name,
        created_at=now.isoformat(timespec="seconds"),
        plan=resolved.plan,
        runs=resolved.runs,
        tasks=resolved.tasks,
        subset=resolved.subset,
        left_out=resolved.left_out,
        controls=CONTROLS if resolved.plan.controls else (),
        form=instrument.config.form,
        forms={task: instrument.suite.forms[task] for task in resolved.tasks},
        open_form=instrument.config.form == OPEN,
        deadline=None
        if deadline is None
        else deadline.astimezone(UTC).isoformat(timespec="seconds"),
        stamps=instrument.stamps,
    )
    campaign = store.create(path, record, resolved.text)
    write_whole(campaign.folder.validation, readable_json(validation))
    return campaign


def reopen(start: Path, folder: Path, progress: Progress = silent) -> tuple[Campaign, Instrument]:
    """Open a campaign to go on with it.

    Raises
    ------
    NotComparableError
        If a run-side part of the signature changed since it began; it names the part and the
        cells that would be lost. A score-side change is no obstacle: finalize rescores.
    InstrumentError
        If the present instrument does not hold.
    """
    campaign = store.load(folder)
    instrument = load_instrument(find_root(start), campaign.record.stamps.profile)
    parts = changed_parts(campaign.record.stamps.parts, instrument.stamps.parts, "run")
    if parts:
        done = sum(
            store.is_done(campaign.cell(*cell), instrument.suite.task(cell[2]).definition.mode)
            for cell in campaign.cells()
        )
        raise NotComparableError(
            f"{len(parts)} run-side part(s) changed since this campaign began",
            [
                Problem(
                    f"signature part {part!r}",
                    f"was {campaign.record.stamps.parts.get(part, NO_SUCH_PART)[:12]}, "
                    f"is {instrument.stamps.parts[part][:12]}",
                    f"take the change back, or start anew and lose {done} finished cell(s)",
                )
                for part in parts
            ],
            "Nothing was run, nothing was changed.",
        )
    validation = _holds(instrument, campaign.record.tasks, SystemClock(), progress)
    if not campaign.folder.validation.is_file():  # whoever began was killed before he wrote it
        write_whole(campaign.folder.validation, readable_json(validation))
    return campaign, instrument


def _holds(
    instrument: Instrument, tasks: tuple[str, ...], clock: Clock, progress: Progress
) -> Validation:
    """Return the validation of the tasks that are asked; nothing is measured unless it holds."""
    suite = instrument.suite.only(tasks)
    validation = validated(suite, instrument.config, instrument.signature, clock, progress)
    if not validation.holds:
        raise InstrumentError(
            "the instrument does not hold, so it measures nothing",
            [Problem("", problem) for problem in validation.problems],
            "Nothing was run. See: arnes validate",
        )
    return validation


def run_campaign(
    campaign: Campaign,
    instrument: Instrument,
    *,
    live: bool,
    environment: Mapping[str, str] | None = None,
    deadline: datetime | None = None,
) -> Summary:
    """Ask every cell that has no reply yet. One orchestrator at a time.

    Parameters
    ----------
    deadline : another one than the campaign began with
    """
    environment = os.environ if environment is None else environment
    clock, until = SystemClock(), deadline or _deadline(campaign)
    activity = Activity(clock, at_once=instrument.config.parallel_cells)
    metrics, meter = campaign.folder.metrics, Meter(clock)
    with store.exclusive(campaign), display(activity, until, clock, live=live) as shown:
        try:
            # Before anything else: whoever finds it held from here on asks this pass to stop.
            campaign.folder.stop.unlink(missing_ok=True)
            activity.plan(rest_of(campaign, instrument.suite), cell_times(campaign))
            with Sampler(metrics, activity, clock, meter, tell=shown.note):
                return _pass_over(
                    campaign, instrument, shown, environment, until, activity=activity
                )
        except OSError as error:
            raise _refused_by_the_system(campaign, error) from error


def _pass_over(
    campaign: Campaign,
    instrument: Instrument,
    shown: Display,
    environment: Mapping[str, str],
    deadline: datetime | None,
    *,
    activity: Activity,
) -> Summary:
    """Run what is left of a campaign that is held, and write down how it began and ended."""
    clock = SystemClock()
    left_s = Countdown(deadline, clock).left_s
    host = host_info(instrument.root)
    begun = campaign.folder.journal.is_file()
    if begun:
        _warn_of_another_host(campaign, host, shown)
    event: PassEvent = "campaign_resumed" if begun else "campaign_started"
    _log(campaign, clock, event, until_text(deadline))
    orchestrator = Orchestrator(
        campaign=campaign,
        instrument=instrument,
        players=_players(
            campaign, instrument, clock, shown, environment=environment, left_s=left_s
        ),
        open_chat=_channel(instrument, clock, left_s),
        host=host,
        clock=clock,
        display=shown,
        activity=activity,
        left_s=left_s,
    )
    try:
        tally = orchestrator.run()
    except KeyboardInterrupt:
        _log(campaign, clock, "interrupted")
        shown.note(f"Go on with: arnes campaign resume {campaign.folder.path}")
        raise
    stopped = orchestrator.stopped
    _log(campaign, clock, "campaign_stopped" if stopped else "campaign_finished")
    campaign.folder.stop.unlink(missing_ok=True)
    return Summary(tally, campaign.size, stopped, campaign.record.left_out)


def _log(campaign: Campaign, clock: Clock, event: PassEvent, detail: str = "") -> None:
    at = clock.now().isoformat(timespec="seconds")
    campaign.log(JournalEvent(at=at, event=event, detail=detail))


def _refused_by_the_system(campaign: Campaign, error: OSError) -> StoreError:
    """Return what a full disk, or a folder that became read-only, is told as."""
    path = campaign.folder.path
    where, todo = str(error.filename or path), f"then: arnes campaign resume {path}"
    return StoreError(
        "the system refused what the campaign needs",
        [Problem(where, error.strerror or str(error), f"make room, or put it right; {todo}")],
        "Every finished cell is on disk; a call that was not kept is asked again.",
    )


def _warn_of_another_host(campaign: Campaign, host: HostInfo, shown: Display) -> None:
    """Say in what this machine differs from the one that the first run was made on."""
    for player in campaign.players:
        info = store.read_run_info(campaign.folder.run(player, 1))
        if info is not None:
            for line in differences(info.host, host):
                shown.note(f"warning: not as when this campaign began: {line}")
            return


def _players(
    campaign: Campaign,
    instrument: Instrument,
    clock: Clock,
    shown: Display,
    *,
    environment: Mapping[str, str],
    left_s: Callable[[], float],
) -> tuple[Player, ...]:
    suite = instrument.suite.only(campaign.record.tasks)
    models: list[Player] = [
        ModelPlayer(
            planned=planned,
            suite=suite,
            config=instrument.config,
            clock=clock,
            api_key=_key(planned, environment),
            allow_slow=campaign.record.plan.allow_slow,
            log=campaign.folder.server_log(planned.id),
            tell=shown.phase,
            left_s=left_s,
        )
        for planned in campaign.record.plan.models
    ]
    controls: list[Player] = [
        ControlPlayer(control, suite, instrument.config) for control in campaign.record.controls
    ]
    return (*controls, *models)


def _deadline(campaign: Campaign) -> datetime | None:
    """Return the moment that the campaign was started with."""
    told = campaign.record.deadline
    return None if told is None else datetime.fromisoformat(told)


def _channel(
    instrument: Instrument, clock: Clock, left_s: Callable[[], float]
) -> Callable[[Served], ChatModel]:
    config = instrument.config

    def open_chat(served: Served) -> ChatModel:
        limit, key = config.call_timeout_s, served.api_key
        return HttpChat(served.endpoint, config.transport, limit, clock, key, left_s=left_s)

    return open_chat


def _key(planned: PlannedModel, environment: Mapping[str, str]) -> str | None:
    return environment.get(planned.api_key_env) if planned.api_key_env else None
