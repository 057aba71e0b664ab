"""How long a run of each model took: what the journals of a result's campaigns say."""

import statistics
from pathlib import Path

from harness.records.campaign import Final
from harness.store import campaign as store
from harness.store import journal
from harness.store.campaign import Campaign
from harness.store.result import source_paths


def speeds_of(folder: Path, final: Final) -> dict[str, float]:
    """Return model → mean seconds of a run, for a campaign's folder or that of several."""
    sources = source_paths(folder)
    if not sources:
        return seconds_per_run(store.load(folder))
    renamed = {source.name: source.renamed for source in final.sources}
    return {
        renamed.get(name, {}).get(model, model): seconds
        for name, of in sources.items()
        for model, seconds in seconds_per_run(store.load(of)).items()
    }


def seconds_per_run(campaign: Campaign) -> dict[str, float]:
    """Return model → mean seconds of a run: bringing it up, and every cell's last asking.

    Only runs whose every cell was asked count; controls do not.
    """
    up: dict[tuple[str, int], float] = {}
    cells: dict[tuple[str, int], dict[str, float]] = {}
    for event in journal.read(campaign.folder.journal):
        if event.model is None or event.run is None or event.seconds is None:
            continue
        key = (event.model, event.run)
        if event.event == "model_up":
            up[key] = event.seconds
        elif event.event == "cell_finished" and event.task is not None:
            cells.setdefault(key, {})[event.task] = event.seconds
    found: dict[str, list[float]] = {}
    for (model, run), of in cells.items():
        if set(of) >= set(campaign.record.tasks) and model not in campaign.record.controls:
            found.setdefault(model, []).append(up.get((model, run), 0.0) + sum(of.values()))
    return {model: statistics.fmean(times) for model, times in sorted(found.items())}
