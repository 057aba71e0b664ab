"""End results made from arrays of points, for tests and measurements of what comes after them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.records.base import digest
from harness.records.campaign import (
    EMPTY_CONTROL,
    GOLDEN_CONTROL,
    CampaignPlan,
    CampaignRecord,
    CellMetrics,
    Final,
    FinalCell,
    PlannedModel,
)
from harness.records.score import (
    CellKey,
    Repair,
    RowScore,
    ScoreSheet,
    Stamps,
    Unscored,
    points_of,
    total_of,
)
from harness.stages.evidence import evidence_of
from harness.store import campaign as store

PARTS = {
    name: digest(name)
    for name in (
        "config", "tasks", "prompts", "tools", "protocol", "loop", "faults", "worlds", "materials",
        "form", "parsing", "hygiene", "graders", "rows", "cases", "sandbox", "candidate_python",
    )
}  # fmt: skip

Share = float | None
Rows = tuple[RowScore, ...]
Shares = Mapping[str, Sequence[Sequence[Share]]]
"""Model → tasks → runs: the share of the task's points, None where a cell has no score."""


def stamps(**changed: str) -> Stamps:
    """Stamps of one instrument, with the digests of some parts changed."""
    parts = {**PARTS, **changed}
    return Stamps(
        arnes_version="3.0.0-dev",
        profile="core",
        signature=digest(parts),
        run_side=digest(sorted(parts)),
        score_side=digest(sorted(parts.items())),
        parts=parts,
    )


def final_of(
    shares: Shares,
    max_points: Mapping[str, float],
    *,
    rows: int = 2,
    as_is: Mapping[tuple[str, str, int], float] | None = None,
    evidence: Mapping[tuple[str, str, int], str] | None = None,
    under: Stamps | None = None,
    simulated: bool = False,
    controls: bool = False,
) -> Final:
    """Return an end result with these shares; every task has so many rows of equal points.

    as_is : (model, task, run) → share before a repair, for cells where something was repaired
    evidence : (model, task, run) → digest of the reply, where it is not one of its own
    """
    made = under or stamps()
    runs = max((len(of) for tasks in shares.values() for of in tasks), default=1)
    played: dict[str, list[list[Share]]] = {}
    if controls:
        golden, empty = ([[share] * runs for _ in max_points] for share in (1.0, 0.0))
        played = {GOLDEN_CONTROL: golden, EMPTY_CONTROL: empty}
    cells = []
    for model, tasks in {**shares, **played}.items():
        for task, of in zip(max_points, tasks, strict=True):
            for run, share in enumerate(of, start=1):
                key = CellKey(model=model, run=run, task=task, form_id="open")
                before = (as_is or {}).get((model, task, run))
                both = tuple(_rows(s, max_points[task], rows) for s in (share, before))
                reply = (evidence or {}).get((model, task, run))
                cells.append(_cell(key, both, reply, made))
    return Final(
        campaign=_record(shares, tuple(max_points), runs, tuple(played), made, simulated=simulated),
        stamps=made,
        max_points=dict(max_points),
        cells=tuple(cells),
        changed=(),
        files={},
    )


def _record(
    models: Iterable[str],
    tasks: tuple[str, ...],
    runs: int,
    controls: tuple[str, ...],
    made: Stamps,
    *,
    simulated: bool,
) -> CampaignRecord:
    plan = CampaignPlan(
        name="made",
        simulated=simulated,
        models=tuple(PlannedModel(id=model, backend="external") for model in models),
    )
    return CampaignRecord(
        name="made",
        created_at="2026-01-01T00:00:00+00:00",
        plan=plan,
        runs=runs,
        tasks=tasks,
        subset=False,
        controls=controls,
        form="open",
        forms=dict.fromkeys(tasks, "open"),
        open_form=True,
        stamps=made,
    )


def _cell(key: CellKey, rows: tuple[Rows, ...], evidence: str | None, made: Stamps) -> FinalCell:
    """Return a cell; rows are those of the repaired copy and, where they differ, those before."""
    repaired, before = rows
    if not repaired:
        outcome = Unscored(cell=key, cause="not_run", stamps=made)
        return FinalCell(outcome=outcome, metrics=CellMetrics())
    sheet = ScoreSheet(
        cell=key,
        points=total_of(repaired),
        max_points=round(sum(row.max_points for row in repaired), 6),
        points_as_is=total_of(before or repaired),
        rows=repaired,
        rows_as_is=before or None,
        repairs=(Repair(file="a.py", kind="add_stdlib_import", detail="json"),) if before else (),
        evidence=evidence or digest([key.model, key.task, key.run]),
        stamps=made,
    )
    return FinalCell(outcome=sheet, metrics=CellMetrics(completion_tokens=100, generation_s=2.0))


def _rows(share: Share, max_points: float, rows: int) -> Rows:
    if share is None:
        return ()
    each = max_points / rows
    return tuple(
        RowScore(
            id=f"row_{k + 1}", points=points_of(each, share), max_points=each, fraction=share,
            reason="made",
        )
        for k in range(rows)
    )  # fmt: skip


def written(folder: Path, final: Final) -> Path:
    """Lay an end result down as a finalized campaign, and return its folder."""
    campaign = store.create(folder, final.campaign, b"")
    store.write_final(campaign, final.model_copy(update={"files": evidence_of(campaign)}))
    return folder
