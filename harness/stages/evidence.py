"""Which files a result was made from, and whether they are still what they were."""

from pathlib import Path

from harness.errors import Problem, StoreError
from harness.records.base import digest
from harness.records.campaign import Final
from harness.store.campaign import Campaign


def evidence_of(campaign: Campaign) -> dict[str, str]:
    """Return the digest of every file a result is made from, by its path in the campaign."""
    root: Path = campaign.folder.path
    paths = [campaign.folder.record]
    for player, run in campaign.runs():
        folder = campaign.folder.run(player, run)
        paths += [folder.info] if folder.info.is_file() else []
        for task in campaign.record.tasks:
            paths += folder.cell(task).raws()
    return {path.relative_to(root).as_posix(): digest(path.read_bytes()) for path in paths}


def refuse_stale(campaign: Campaign, final: Final) -> None:
    """Hold that an end result was made from what the campaign holds now.

    Raises
    ------
    StoreError
        With every file that is new, gone or another one since finalize.
    """
    now = evidence_of(campaign)
    again = f"arnes finalize {campaign.folder.path}"
    problems = [
        Problem(path, _what(final.files.get(path), now.get(path)), again)
        for path in sorted({*final.files, *now})
        if final.files.get(path) != now.get(path)
    ]
    if problems:
        raise StoreError(
            "FINAL.json is older than the campaign: finalize again", problems, "No report was made."
        )


def _what(before: str | None, now: str | None) -> str:
    if before is None:
        return "came after finalize"
    return "is gone" if now is None else "is not what it was at finalize"
