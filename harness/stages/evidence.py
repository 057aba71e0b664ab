"""Which files a result was made from, and whether they are still what they were."""

from pathlib import Path

from harness.errors import Problem, StoreError
from harness.records.base import digest
from harness.records.campaign import Final
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.result import source_paths


def evidence_of(campaign: Campaign) -> dict[str, str]:
    """Return the digest of every file a result is made from, by its path in the campaign.

    What is made again from these files is not among them, nor is what was observed when code was
    run: it holds times.
    """
    root: Path = campaign.folder.path
    paths = [campaign.folder.record, campaign.folder.hatched]
    for player, run in campaign.runs():
        folder = campaign.folder.run(player, run)
        paths.append(folder.info)
        for task in campaign.record.tasks:
            cell = folder.cell(task)
            paths += [*cell.raws(), cell.transcript, cell.first_sheet]
    return {
        path.relative_to(root).as_posix(): digest(path.read_bytes())
        for path in paths
        if path.is_file()
    }


def refuse_stale(campaign: Campaign, final: Final) -> None:
    """Hold that an end result was made from what the campaign holds now.

    Raises
    ------
    StoreError
        With every file that is new, gone or another one since finalize.
    """
    _refuse(final, evidence_of(campaign), f"arnes finalize {campaign.folder.path}")


def refuse_stale_in(folder: Path, final: Final) -> None:
    """Hold the same for the result of a folder: a campaign's own, or one of several campaigns.

    Raises
    ------
    StoreError
        Also if a campaign of the result is not where it was.
    """
    sources = source_paths(folder)
    if not sources:
        refuse_stale(store.load(folder), final)
        return
    now = {
        f"{name}/{path}": found
        for name, of in sources.items()
        for path, found in evidence_of(store.load(of)).items()
    }
    again = " ".join(["arnes finalize", *map(str, sources.values()), "--into", str(folder)])
    _refuse(final, now, again)


def _refuse(final: Final, now: dict[str, str], again: str) -> None:
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
