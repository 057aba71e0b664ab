"""Campaigns that lie on the disk as if they had been run: replies are written, not sent."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.records.campaign import CampaignPlan, CampaignRecord, PlannedModel
from harness.records.response import Exchange, Timings
from harness.records.run import Endpoint, HostInfo, RunInfo, ServerInfo
from harness.running.single import request_for
from harness.stages.instrument import Instrument
from harness.store import campaign as store
from harness.store.campaign import Campaign


def host(name: str) -> HostInfo:
    """A machine, told apart from others by its name and processor."""
    return HostInfo(
        python="3.11", implementation="CPython", platform="Linux", machine="x86_64",
        hostname_digest=name * 8, cpu=f"processor {name}", cores=2, memory_bytes=1, packages={},
        code_revision=None, code_dirty=None,
    )  # fmt: skip


def write_campaign(
    core: Instrument,
    place: Path,
    replies: Mapping[str, Mapping[str, Sequence[str | None]]],
    *,
    on: HostInfo | None = None,
    created_at: str = "2026-01-01T00:00:00+00:00",
) -> Campaign:
    """Write a campaign of single tasks: model → task → reply of each run, None for no reply."""
    tasks = tuple(next(iter(replies.values())))
    runs = max(len(of) for of_model in replies.values() for of in of_model.values())
    record = CampaignRecord(
        name="written",
        created_at=created_at,
        plan=CampaignPlan(
            name="written", models=tuple(PlannedModel(id=m, backend="external") for m in replies)
        ),
        runs=runs,
        tasks=tasks,
        subset=True,
        controls=(),
        form="open",
        forms={task: core.suite.forms[task] for task in tasks},
        open_form=True,
        stamps=core.stamps,
    )
    campaign = store.create(place, record, b"")
    for model, of_model in replies.items():
        for run in range(1, runs + 1):
            info = _info(core, model, run, tasks, on or host("here"))
            store.write_run_info(campaign.folder.run(model, run), info)
            for task, of in of_model.items():
                text = of[run - 1]
                if text is not None:
                    exchange = exchange_of(core, task, run, model, text)
                    store.write_exchange(campaign.cell(model, run, task), exchange)
    return campaign


def exchange_of(core: Instrument, task: str, run: int, model: str, text: str) -> Exchange:
    """Return the exchange in which a server sent this reply."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return Exchange(
        request=request_for(core.suite.task(task), core.config, run=run, model=model),
        started_at="2026-01-01T00:00:00+00:00",
        ended="reply",
        status=200,
        content_type="application/json",
        body=json.dumps({"object": "chat.completion", "model": model, "choices": [choice]}),
        timings=Timings(first_token_s=0.5, last_token_s=1.0, total_s=1.0),
    )


def _info(core: Instrument, model: str, run: int, tasks: Sequence[str], on: HostInfo) -> RunInfo:
    return RunInfo(
        model=model, run=run, backend="external",
        endpoint=Endpoint(base_url="http://127.0.0.1:1/v1", model=model),
        server=ServerInfo(engine="test", build="7"), tasks=tuple(tasks), seed=1000 + run,
        stamps=core.stamps, host=on, started_at="2026-01-01T00:00:00+00:00", status="finished",
    )  # fmt: skip
