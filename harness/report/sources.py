"""`EVIDENCE.json`: for every number that a report shows, the files it was made from."""

from pathlib import PurePosixPath

from harness.records.base import Record, digest, readable_json
from harness.records.campaign import Final
from harness.report.analysis import Analysis, LevelAnalysis
from harness.report.analysis.cells import Cell
from harness.report.view import Entry

DECIMALS = 6  # of a value that is written down; a machine's last digits are not evidence
CAMPAIGN = "CAMPAIGN.json"
HOW_TO_READ = (
    "A number was made from every file whose path is one of its `from`, or lies under one of them; "
    "`files` has the sha256 of each as it was at finalize. The numbers of a report stand in it "
    "with their id in the attribute data-e."
)


class Number(Record):
    """One number of the report. A value of None is a number that there is not: a dash."""

    value: float | None
    made_from: tuple[str, ...]


class Evidence(Record):
    """The whole file."""

    schema_version: int = 1
    campaign: str
    simulated: bool
    arnes_version: str
    signature: str
    run_side: str
    score_side: str
    final_sha256: str
    how_to_read: str = HOW_TO_READ
    numbers: dict[str, Number]
    files: dict[str, str]


class Sources:
    """Collects numbers while the report is made: what is not collected cannot be shown."""

    def __init__(self, final: Final, analysis: Analysis) -> None:
        self._final = final
        self._analysis = analysis
        self._numbers: dict[str, Number] = {}

    def number(self, name: str, value: float | None, text: str, *made_from: str) -> Entry:
        """Return an entry for a number, and remember what it was made from.

        Parameters
        ----------
        name : unique in the report, such as `A.ranking.qwen.mean`
        value : the number itself, None where there is none
        text : as it is printed
        made_from : paths in the campaign, of files or of folders
        """
        shown = None if value is None else round(value, DECIMALS)
        found = Number(value=shown, made_from=tuple(sorted(set(made_from) or {CAMPAIGN})))
        known = self._numbers.setdefault(name, found)
        assert known == found, f"{name} stands for two numbers"
        return Entry(text=text, sort=shown, evidence=name)

    def evidence(self) -> Evidence:
        """Return what was collected."""
        stamps = self._final.stamps
        return Evidence(
            campaign=self._final.campaign.name,
            simulated=self._analysis.simulated,
            arnes_version=stamps.arnes_version,
            signature=stamps.signature,
            run_side=stamps.run_side,
            score_side=stamps.score_side,
            final_sha256=digest(readable_json(self._final)),
            numbers=self._numbers,
            files=self._final.files,
        )


def of_cell(cell: Cell) -> str:
    """Return the folder of a cell's evidence."""
    return PurePosixPath(cell.sheet).parent.as_posix()


def of_model(level: LevelAnalysis, *models: str) -> list[str]:
    """Return the folders of the runs of these models; of all of them when none is named."""
    return sorted(
        {
            PurePosixPath(cell.sheet).parent.parent.as_posix()
            for cell in level.cells
            if not models or cell.model in models
        }
    )


def of_task(level: LevelAnalysis, task: str, model: str | None = None) -> list[str]:
    """Return the folders of a task's cells, of one model or of all."""
    return sorted(
        of_cell(cell) for cell in level.cells if cell.task == task and model in (None, cell.model)
    )
