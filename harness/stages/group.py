"""Several campaign folders as one result: hosts of a group that ran one instrument.

Nothing is averaged over folders. A model that several of them measured keeps an entry for each,
so that the machine shows as a factor; run numbers pair across folders, because they name the same
schedules and seeds.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, count
from pathlib import Path

from harness.arnes import ArnesConfig
from harness.errors import Problem, StoreError
from harness.records.base import digest
from harness.records.campaign import (
    CampaignRecord,
    ChangedRow,
    Final,
    FinalCell,
    PlannedModel,
    RunHost,
    Source,
)
from harness.records.sample import RunEnergy
from harness.records.score import CellKey, Stamps
from harness.stages.comparable import NOTHING, refuse_apart
from harness.stages.finalize import finalize
from harness.stages.hosts import differences
from harness.stages.progress import Progress, silent
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.result import ResultFolder, refuse_taken, write_result
from harness.suite.loader import Suite

LONGEST_NAME = 64  # as an id of a plan: the result is read as one


def finalize_group(
    campaigns: Sequence[Campaign],
    suite: Suite,
    config: ArnesConfig,
    now: Stamps,
    *,
    into: Path,
    progress: Progress = silent,
) -> tuple[ResultFolder, Final]:
    """Finalize every campaign, and write all of them as one result into a folder of its own.

    The order in which they are named does not matter.

    Raises
    ------
    NotComparableError
        If they were not made by one instrument; it names the parts.
    StoreError
        If a folder is named twice, or the result's folder holds something else.
    """
    ordered = sorted(campaigns, key=lambda c: (c.record.created_at, digest(c.record)))
    refuse_twice(ordered)
    refuse_apart([(str(c.folder.path), c.record) for c in ordered])
    refuse_taken(into)
    finals = [finalize(campaign, suite, config, now, progress) for campaign in ordered]
    sources = sources_of(ordered)
    final = merged(sources, finals, warnings=_between(sources, ordered))
    places = {s.name: c.folder.path for s, c in zip(sources, ordered, strict=True)}
    return write_result(into, final, places), final


def sources_of(campaigns: Sequence[Campaign]) -> tuple[Source, ...]:
    """Return the campaigns by the names they have in the result; both kinds of names are unique."""
    folders = [campaign.folder.path.resolve().name for campaign in campaigns]
    ids = [[m.id for m in campaign.record.plan.models] for campaign in campaigns]
    times = Counter(chain.from_iterable(ids))
    places, models = set(folders), set(times)
    return tuple(
        Source(
            name=_fresh(name, f".{folders[:k].count(name) + 1}", places)
            if folders.count(name) > 1
            else name,
            campaign=campaign.record,
            renamed={m: _fresh(m, f".at-{k + 1}", models) for m in own if times[m] > 1},
        )
        for k, (name, own, campaign) in enumerate(zip(folders, ids, campaigns, strict=True))
    )


def _fresh(name: str, end: str, taken: set[str]) -> str:
    """Return a name with an end that is not taken yet, and take it; a long one loses its last."""
    ends = chain([end], (f"{end}-{number}" for number in count(2)))
    found = next(made for e in ends if (made := name[: LONGEST_NAME - len(e)] + e) not in taken)
    taken.add(found)
    return found


def merged(sources: Sequence[Source], finals: Sequence[Final], *, warnings: list[str]) -> Final:
    """Return several end results as one."""
    both = list(zip(sources, finals, strict=True))
    first = finals[0]
    return Final(
        campaign=_record(sources),
        stamps=first.stamps,
        max_points=first.max_points,
        cells=tuple(_cell(s, cell) for s, final in both for cell in final.cells),
        problems=tuple(f"{s.name}: {line}" for s, final in both for line in final.problems),
        changed=tuple(_changed(s, row) for s, final in both for row in final.changed),
        warnings=(*warnings, *(f"{s.name}: {line}" for s, f in both for line in f.warnings)),
        files={f"{s.name}/{path}": found for s, f in both for path, found in f.files.items()},
        levels=first.levels,
        modes=first.modes,
        hosts=tuple(_host(s, host) for s, final in both for host in final.hosts),
        hatched={name: reason for final in finals for name, reason in final.hatched.items()},
        sources=tuple(sources),
        energy=tuple(_energy(s, of_run) for s, final in both for of_run in final.energy),
    )


def _record(sources: Sequence[Source]) -> CampaignRecord:
    """Return the campaign that all of them would have been."""
    first = sources[0].campaign
    models = tuple(_renamed(s, model) for s in sources for model in s.campaign.plan.models)
    return first.model_copy(
        update={
            "name": " + ".join(dict.fromkeys(s.campaign.name for s in sources)),
            "plan": first.plan.model_copy(update={"models": models}),
            "runs": max(s.campaign.runs for s in sources),
            "controls": tuple(dict.fromkeys(c for s in sources for c in s.campaign.controls)),
        }
    )


def _renamed(source: Source, model: PlannedModel) -> PlannedModel:
    return model.model_copy(update={"id": source.renamed.get(model.id, model.id)})


def _key(source: Source, key: CellKey) -> CellKey:
    return key.model_copy(update={"model": source.renamed.get(key.model, key.model)})


def _cell(source: Source, cell: FinalCell) -> FinalCell:
    outcome = cell.outcome.model_copy(update={"cell": _key(source, cell.outcome.cell)})
    return FinalCell(outcome=outcome, metrics=cell.metrics, source=source.name)


def _changed(source: Source, row: ChangedRow) -> ChangedRow:
    return row.model_copy(update={"cell": _key(source, row.cell)})


def _host(source: Source, host: RunHost) -> RunHost:
    name = source.renamed.get(host.model, host.model)
    return host.model_copy(update={"model": name, "source": source.name})


def _energy(source: Source, of_run: RunEnergy) -> RunEnergy:
    name = source.renamed.get(of_run.model, of_run.model)
    return of_run.model_copy(update={"model": name, "source": source.name})


def refuse_twice(campaigns: Sequence[Campaign]) -> None:
    """Refuse campaigns of which one is named twice, or is a copy of another.

    Raises
    ------
    StoreError
        With every one that is.
    """
    paths = [campaign.folder.path.resolve() for campaign in campaigns]
    records = [digest(campaign.record) for campaign in campaigns]
    twice = [
        Problem(str(path), "stands twice, or is a copy of another", "name each campaign once")
        for k, path in enumerate(paths)
        if path in paths[:k] or records[k] in records[:k]
    ]
    if twice:
        raise StoreError(f"{len(twice)} campaign(s) named twice", twice, NOTHING)


def _between(sources: Sequence[Source], campaigns: Sequence[Campaign]) -> list[str]:
    """Return in what the machine of each campaign differs from the first one's."""
    hosts = []
    for source, campaign in zip(sources, campaigns, strict=True):
        infos = (store.read_run_info(campaign.folder.run(*run)) for run in campaign.runs())
        info = next((info for info in infos if info is not None), None)
        if info is not None:
            hosts.append((source.name, info.host))
    return [
        f"{hosts[0][0]} / {name}: {line}"
        for name, host in hosts[1:]
        for line in differences(hosts[0][1], host)
    ]
