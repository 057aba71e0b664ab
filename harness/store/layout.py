"""Every file and folder name of a campaign, once.

```
campaigns/<date>_<name>/
  plan.toml            the plan as a person wrote it
  CAMPAIGN.json        the frozen plan, the forms, the signature
  VALIDATION.json      the golden/defective/exploit table from before the first call
  journal.jsonl        append-only events
  metrics.csv          samples of the machine, one every five seconds
  FINAL.json           written by finalize only
  hatched.toml         what is shown under a named doubt; only where a person wrote it
  server_logs/         what the servers printed
  <model>/run_N/
    RUN_INFO.json
    CALIFICACION.json  summary of the run's cells
    <task>/raw/0001.json       request and response verbatim, write-once
    <task>/transcript.jsonl    an agent cell's turns and its end; only where it ended
    <task>/test_runs.json      what its `run_tests` gave, so that a replay need not run it again
    <task>/parsed/reply.json   rebuilt by reparse; parsed/files/ holds the deliverable
    <task>/observations.json   what was observed when the deliverable was run; only where it was
    <task>/CALIFICACION.json   rows, points, reasons, repairs, stamps
    <task>/CALIFICACION.first.json  the sheet before the first rescoring that moved a row
```
"""

from dataclasses import dataclass
from pathlib import Path

FINAL = "FINAL.json"
SOURCES = "SOURCES.json"  # beside a FINAL.json that was made from several campaigns
RUN_INFO = "RUN_INFO.json"
SCORE_SHEET = "CALIFICACION.json"
FIRST_SHEET = "CALIFICACION.first.json"
CAMPAIGNS = "campaigns"
METRICS = "metrics.csv"


@dataclass(frozen=True)
class CellFolder:
    """The folder of one cell."""

    path: Path

    @property
    def sheet(self) -> Path:
        """The score sheet."""
        return self.path / SCORE_SHEET

    @property
    def first_sheet(self) -> Path:
        """The score sheet as it stood before any row moved; only where one did."""
        return self.path / FIRST_SHEET

    @property
    def observations(self) -> Path:
        """What was observed when code was run, times included; outside every digest."""
        return self.path / "observations.json"

    @property
    def transcript(self) -> Path:
        """The turns of an agent cell that ended."""
        return self.path / "transcript.jsonl"

    @property
    def test_runs(self) -> Path:
        """What `run_tests` gave in an agent cell, by what was run."""
        return self.path / "test_runs.json"

    @property
    def parsed(self) -> Path:
        """The folder that reparse owns."""
        return self.path / "parsed"

    @property
    def parsed_reply(self) -> Path:
        """The parsed reply."""
        return self.parsed / "reply.json"

    @property
    def parsed_files(self) -> Path:
        """The deliverable's files."""
        return self.parsed / "files"

    def raw(self, number: int) -> Path:
        """The n-th exchange of the cell, from 1."""
        return self.path / "raw" / f"{number:04d}.json"

    def raws(self) -> list[Path]:
        """The exchanges that are on disk, in order."""
        return sorted((self.path / "raw").glob("[0-9][0-9][0-9][0-9].json"))


@dataclass(frozen=True)
class RunFolder:
    """The folder of one model's run."""

    path: Path

    @property
    def info(self) -> Path:
        """Who ran, where, under which signature."""
        return self.path / RUN_INFO

    @property
    def summary(self) -> Path:
        """The summary of the run's score sheets."""
        return self.path / SCORE_SHEET

    def cell(self, task: str) -> CellFolder:
        """The folder of a task's cell."""
        return CellFolder(self.path / task)


@dataclass(frozen=True)
class CampaignFolder:
    """The folder of a campaign."""

    path: Path

    @property
    def record(self) -> Path:
        """The frozen campaign."""
        return self.path / "CAMPAIGN.json"

    @property
    def plan(self) -> Path:
        """The plan as it was written."""
        return self.path / "plan.toml"

    @property
    def journal(self) -> Path:
        """The event log."""
        return self.path / "journal.jsonl"

    @property
    def metrics(self) -> Path:
        """The samples of the machine."""
        return self.path / METRICS

    @property
    def validation(self) -> Path:
        """The validation table."""
        return self.path / "VALIDATION.json"

    @property
    def final(self) -> Path:
        """The end result."""
        return self.path / FINAL

    @property
    def hatched(self) -> Path:
        """What is shown under a named doubt."""
        return self.path / "hatched.toml"

    @property
    def lock(self) -> Path:
        """The file that one orchestrator at a time holds a lock on."""
        return self.path / ".lock"

    @property
    def stop(self) -> Path:
        """The file that asks a running orchestrator to stop after the present cell."""
        return self.path / ".stop"

    def server_log(self, model: str) -> Path:
        """Where a started server writes."""
        return self.path / "server_logs" / f"{model}.log"

    def run(self, model: str, run: int) -> RunFolder:
        """The folder of a model's n-th run, from 1."""
        return RunFolder(self.path / model / f"run_{run}")
