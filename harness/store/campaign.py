"""Read and write the records of one campaign."""

import contextlib
import fcntl
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from harness.errors import Problem, StoreError
from harness.records.base import Json, Record, canonical_json, readable_json
from harness.records.campaign import CampaignRecord, Final, HatchedParts, JournalEvent
from harness.records.handwritten import read_toml
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange
from harness.records.run import RunInfo
from harness.records.score import CellOutcome, ScoreSheet, Unscored
from harness.records.summary import RunSummary
from harness.store import files, journal
from harness.store.layout import CampaignFolder, CellFolder, RunFolder
from harness.suite.definition import Mode

AnyRecord = TypeVar("AnyRecord", bound=Record)
_OUTCOME: TypeAdapter[ScoreSheet | Unscored] = TypeAdapter(CellOutcome)


@dataclass(frozen=True)
class Campaign:
    """A campaign folder with its frozen record."""

    folder: CampaignFolder
    record: CampaignRecord

    @property
    def players(self) -> tuple[str, ...]:
        """Models of the plan, then controls (which play first)."""
        return (*(model.id for model in self.record.plan.models), *self.record.controls)

    @property
    def size(self) -> int:
        """How many cells are planned."""
        return self.record.runs * len(self.players) * len(self.record.tasks)

    def runs(self) -> Iterator[tuple[str, int]]:
        """Every planned run, in playing order: (player, run)."""
        for run in range(1, self.record.runs + 1):
            for player in self.players:
                yield player, run

    def cells(self) -> Iterator[tuple[str, int, str]]:
        """Every planned cell, run-major: (player, run, task)."""
        for player, run in self.runs():
            for task in self.record.tasks:
                yield player, run, task

    def cell(self, player: str, run: int, task: str) -> CellFolder:
        """The folder of a cell."""
        return self.folder.run(player, run).cell(task)

    def skipped(self, player: str, run: int) -> str:
        """Why a run was not started before the deadline; empty if it was, or has yet to be."""
        why = ""
        for event in journal.read(self.folder.journal):
            if (event.model, event.run) == (player, run):
                why = event.detail if event.event == "run_skipped" else ""
        return why

    def log(self, event: JournalEvent) -> None:
        """Append to the journal."""
        journal.append(self.folder.journal, event)


def create(path: Path, record: CampaignRecord, plan_text: bytes) -> Campaign:
    """Make a campaign folder.

    Raises
    ------
    StoreError, OSError
        If it cannot be made at this place (`refuse_place`).
    """
    refuse_place(path, plan_text)
    folder = CampaignFolder(path)
    files.write_whole(folder.plan, plan_text)
    files.write_once(folder.record, readable_json(record))  # last: with it, it is a campaign
    return Campaign(folder, record)


def refuse_place(path: Path, plan_text: bytes) -> None:
    """Refuse a place where no campaign can be made; nothing is left there.

    Raises
    ------
    StoreError
        If there is a campaign at this place already, or around it, or anything else in it.
    OSError
        If the system does not let us write there.
    """
    folder = CampaignFolder(path)
    if folder.record.exists():
        raise StoreError(
            "there is a campaign in this folder already",
            [
                Problem(
                    str(path),
                    "holds a CAMPAIGN.json",
                    f"go on with it: arnes campaign resume {path}, or choose another name",
                )
            ],
            "Nothing was run, nothing was changed.",
        )
    if path.exists() and (not path.is_dir() or _holds_more(folder, plan_text)):
        raise StoreError(
            "a campaign needs a folder of its own",
            [Problem(str(path), "is there, and is not empty", "name a new folder")],
            "Nothing was run, nothing was changed.",
        )
    for parent in path.resolve().parents:
        if CampaignFolder(parent).record.is_file():
            what = f"lies inside the campaign {parent}"
            raise StoreError(
                "a campaign needs a folder of its own",
                [Problem(str(path), what, "name a folder outside it")],
                "Nothing was run, nothing was changed.",
            )
    files.try_to_write(path)


def _holds_more(folder: CampaignFolder, plan_text: bytes) -> bool:
    """True when a folder holds more than a start that was killed in here can have left."""
    found = [p for p in folder.path.iterdir() if not p.name.startswith(files.TEMPORARY)]
    return bool(found) and not (found == [folder.plan] and folder.plan.read_bytes() == plan_text)


def load(path: Path) -> Campaign:
    """Open a campaign folder.

    Raises
    ------
    StoreError
        If it is none.
    """
    folder = CampaignFolder(path)
    if not folder.record.is_file():
        raise StoreError(
            "this is no campaign folder",
            [Problem(str(path), "holds no CAMPAIGN.json", "name a folder under campaigns/")],
        )
    return Campaign(folder, _read(folder.record, CampaignRecord))


@contextlib.contextmanager
def exclusive(campaign: Campaign) -> Iterator[None]:
    """Hold the campaign: a second orchestrator is refused. A crash leaves no lock behind.

    Raises
    ------
    StoreError
        If another process holds it.
    """
    with campaign.folder.lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(
                "this campaign is being run",
                [
                    Problem(
                        str(campaign.folder.path),
                        "another process holds it",
                        "wait for it, or end it; nothing of it is lost",
                    )
                ],
            ) from error
        yield


def is_held(campaign: Campaign) -> bool:
    """Say whether another process runs this campaign now."""
    if not campaign.folder.lock.is_file():
        return False
    with campaign.folder.lock.open("r") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def remove_leftovers(campaign: Campaign) -> None:
    """Remove the temp files of a process that was killed while it wrote."""
    files.remove_leftovers(campaign.folder.path)


def write_exchange(cell: CellFolder, exchange: Exchange) -> None:
    """Write the next exchange of a cell: evidence, durable before anything follows."""
    files.write_once(cell.raw(len(cell.raws()) + 1), canonical_json(exchange) + b"\n")


def last_exchange(cell: CellFolder) -> Exchange | None:
    """Return the last exchange, which of a single cell is the one that counts; None without."""
    raws = cell.raws()
    return _read(raws[-1], Exchange) if raws else None


def exchanges(cell: CellFolder) -> tuple[Exchange, ...]:
    """Return every exchange of a cell, in order; those without a reply too."""
    return tuple(_read(path, Exchange) for path in cell.raws())


def is_done(cell: CellFolder, mode: Mode) -> bool:
    """True when the cell can be scored: a single one has a reply, an agent's came to its end."""
    if mode == "agent":
        return cell.transcript.is_file()
    exchange = last_exchange(cell)
    return exchange is not None and exchange.ended != "infrastructure"


def write_transcript(cell: CellFolder, turns: bytes) -> None:
    """Write the transcript of an agent cell that ended; it is evidence of its replies."""
    files.write_once(cell.transcript, turns)


def read_transcript(cell: CellFolder) -> bytes | None:
    """Return the transcript as it was written; None for a cell that did not end."""
    return cell.transcript.read_bytes() if cell.transcript.is_file() else None


def read_test_runs(cell: CellFolder) -> dict[str, Json]:
    """Return what `run_tests` gave before; empty if it never ran."""
    return _read_object(cell.test_runs)


def write_test_runs(cell: CellFolder, found: Mapping[str, Json]) -> None:
    """Replace what `run_tests` gave; no file where it never ran.

    Durable: a cell that goes on must not have other outcomes than those that its model was shown.
    """
    if found:
        data = canonical_json(dict(found)) + b"\n"
        files.write_whole(cell.test_runs, data, durable=True)


def write_parsed(cell: CellFolder, parsed: ParsedReply) -> None:
    """Replace what parsing made, whole."""
    found = {f"files/{name}": text.encode("utf-8") for name, text in parsed.files.items()}
    files.replace_folder(cell.parsed, {"reply.json": readable_json(parsed), **found})


def read_parsed(cell: CellFolder) -> ParsedReply | None:
    """Return the parsed reply, if the cell was parsed."""
    return _read(cell.parsed_reply, ParsedReply) if cell.parsed_reply.is_file() else None


def read_observations(cell: CellFolder) -> dict[str, Json]:
    """Return what was observed when the deliverable was run before; empty if it never was."""
    return _read_object(cell.observations)


def write_observations(cell: CellFolder, observations: Mapping[str, Json]) -> None:
    """Replace what was observed; no file where nothing was run."""
    if observations:
        files.write_whole(cell.observations, canonical_json(dict(observations)) + b"\n")
    else:
        cell.observations.unlink(missing_ok=True)


def write_outcome(cell: CellFolder, outcome: ScoreSheet | Unscored) -> None:
    """Replace a cell's score sheet."""
    files.write_whole(cell.sheet, readable_json(outcome))


def write_first_outcome(cell: CellFolder, outcome: ScoreSheet | Unscored) -> None:
    """Keep the score sheet that a rescoring is about to move rows of; the first one stays."""
    if not cell.first_sheet.exists():
        files.write_once(cell.first_sheet, readable_json(outcome))


def read_first_outcome(cell: CellFolder) -> ScoreSheet | Unscored | None:
    """Return the score sheet from before any row moved; None where none ever did."""
    return _read_outcome(cell.first_sheet)


def read_outcome(cell: CellFolder) -> ScoreSheet | Unscored | None:
    """Return a cell's score sheet, if it has one."""
    return _read_outcome(cell.sheet)


def write_summary(run: RunFolder, summary: RunSummary) -> None:
    """Replace the summary of a run."""
    files.write_whole(run.summary, readable_json(summary))


def write_run_info(run: RunFolder, info: RunInfo) -> None:
    """Replace a run's info."""
    files.write_whole(run.info, readable_json(info), durable=True)


def read_run_info(run: RunFolder) -> RunInfo | None:
    """Return a run's info, if the run was begun."""
    return _read(run.info, RunInfo) if run.info.is_file() else None


def read_hatched(campaign: Campaign) -> dict[str, str]:
    """Return task, or task.row → why it is shown under doubt; empty where nobody wrote it."""
    path = campaign.folder.hatched
    return read_toml(path, HatchedParts, StoreError).hatched if path.is_file() else {}


def write_final(campaign: Campaign, final: Final) -> None:
    """Replace the end result."""
    files.write_whole(campaign.folder.final, readable_json(final), durable=True)


def read_final(path: Path) -> Final:
    """Return the end result of a campaign folder.

    Raises
    ------
    StoreError
        If the campaign is not finalized.
    """
    folder = CampaignFolder(path)
    if not folder.final.is_file():
        load(path)
        raise StoreError(
            "this campaign is not finalized",
            [Problem(str(path), "holds no FINAL.json", f"arnes finalize {path}")],
        )
    return _read(folder.final, Final)


def _read_outcome(path: Path) -> ScoreSheet | Unscored | None:
    if not path.is_file():
        return None
    try:
        return _OUTCOME.validate_json(path.read_bytes())
    except ValueError as error:
        raise _damaged(path, error) from error


def _read_object(path: Path) -> dict[str, Json]:
    if not path.is_file():
        return {}
    try:
        found: dict[str, Json] = json.loads(path.read_bytes())
    except ValueError as error:
        raise _damaged(path, error) from error
    return found


def _read(path: Path, model: type[AnyRecord]) -> AnyRecord:
    try:
        return model.model_validate_json(path.read_bytes())
    except ValueError as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> StoreError:
    return StoreError(
        "a record cannot be read",
        [Problem(str(path), str(error), "restore the file; evidence is never edited")],
    )
