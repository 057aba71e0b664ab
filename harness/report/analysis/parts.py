"""What an analysis holds: frozen values only, made by `analyse` from a `Final` alone.

Whatever could not be computed is None, and `LevelAnalysis.absent` says under the name of the
field why: one sentence that is printed in its place. No field ever holds a NaN. Points are points,
shares are shares of a maximum, models are named by their id.
"""

from dataclasses import dataclass

from harness.report.analysis.cells import Cell, Control, Ending, HostFacts
from harness.report.analysis.pairing import Pairing, PairRow, PairTable
from harness.report.analysis.tasks import NoiseFacts, RowFacts, TaskFacts
from harness.report.analysis.variance import Variance
from harness.stats.beyond import BeyondTasks
from harness.stats.hygiene import Counterfactual, SigmaTest
from harness.stats.interval import Interval
from harness.stats.noise import Spread
from harness.stats.ranks import RankSet
from harness.stats.split_date import SplitVerdict
from harness.stats.tasks import RunCovariance

__all__ = [
    "Analysis",
    "Cell",
    "Claims",
    "Control",
    "Cut",
    "Ending",
    "Hatched",
    "HostFacts",
    "Hygiene",
    "HygieneModel",
    "LedgerLine",
    "LevelAnalysis",
    "NoiseFacts",
    "PairRow",
    "PairTable",
    "Pairing",
    "RowFacts",
    "Standing",
    "TaskFacts",
    "Variance",
]


@dataclass(frozen=True)
class Standing:
    """One model's line of a level.

    place : from 1, by falling mean (adjusted for runs it lacks); None where the level orders
        nothing, or this model has no complete run. It is the line of the table, never a claim:
        `ranks` is
    mean : points, over complete runs; None when no run is complete
    shrunk, raw : the default interval (shrunken variance), and the t interval of its own
        deviation; both about further schedules of this suite
    spread : sigma with its own interval; None when no run is complete
    sigma_text : what is printed for sigma: `1.23 [0.7–3.5]`, or why there is none
    sigma_sentence : what the number of runs deserves
    shrunk_sd : the deviation behind `shrunk`, to be printed where none was observed
    ranks : rank set, jointly with all others; None where nothing is ordered
    tier : from 1, by cuts; letters : compact letters; both None or empty where nothing is ordered
    fragile : True where the rank set would be wider without fragile pairs
    rank_chances : chance of place 1, 2, … when means are drawn again: a picture, not a test
    beyond : the total as a claim about further tasks of this kind, task-cluster interval
    totals : run → points; a run with a missing cell has no total, and is not here
    totals_as_is : the same without any repair
    copied_runs : pairs of runs that hold the same transcripts; sigma is then refused
    repairs, truncated, unscored : number of repairs, of scored cells cut by the generation cap, of
        cells without a score
    planned : cells that were planned for this model
    hatched : why this line is drawn hatched, one sentence each; empty when it is not
    tokens : completion tokens of all its cells; None where no server counted
    seconds_per_run : generation time of a run, mean over complete runs; None where not measured
    """

    model: str
    place: int | None
    mean: float | None
    shrunk: Interval | None
    raw: Interval | None
    spread: Spread | None
    sigma_text: str
    sigma_sentence: str
    shrunk_sd: float | None
    ranks: RankSet | None
    tier: int | None
    letters: str
    fragile: bool
    rank_chances: tuple[float, ...]
    beyond: BeyondTasks | None
    totals: dict[int, float]
    totals_as_is: dict[int, float]
    copied_runs: tuple[tuple[int, int], ...]
    repairs: int
    truncated: int
    unscored: int
    planned: int
    hatched: tuple[str, ...]
    tokens: int | None
    seconds_per_run: float | None


@dataclass(frozen=True)
class LedgerLine:
    """How much repair moved one row of one model, summed over its complete runs."""

    model: str
    task: str
    row: str
    delta: float


@dataclass(frozen=True)
class HygieneModel:
    """One model's runs as they came and as repaired; see `stats.hygiene.Counterfactual`.

    as_is_ranks, repaired_ranks : rank sets under both scorings; None where nothing is ordered
    moved : True when its rank set or place depends on repair
    """

    model: str
    found: Counterfactual
    as_is_ranks: RankSet | None
    repaired_ranks: RankSet | None
    as_is_place: int | None
    repaired_place: int | None
    moved: bool


@dataclass(frozen=True)
class Hygiene:
    """What forgiveness changed. The headline is the repaired scoring.

    ledger : rows that moved; `delta` adds up to the change of the totals (it is asserted)
    kinds : kind of repair → how often, in all scored cells
    sigma_test : does repair change the run-to-run deviation; it says when it refuses
    """

    models: tuple[HygieneModel, ...]
    ledger: tuple[LedgerLine, ...]
    kinds: dict[str, int]
    touched_runs: int
    sigma_test: SigmaTest | None


@dataclass(frozen=True)
class Hatched:
    """A task, or one row of it, whose points are shown but are under a named doubt.

    row : None when the whole task is meant
    """

    task: str
    row: str | None
    reason: str


@dataclass(frozen=True)
class Claims:
    """Two plain sentences a reader may quote."""

    may: str
    may_not: str


@dataclass(frozen=True)
class Cut:
    """One run of one model that the deadline left without a total.

    cells : cells without a score for it
    why : the arithmetic by which it was not begun, or what ended it
    half : half-width of the interval of the model's mean over further runs, as it is
    half_whole : about what it would be with every planned run at the same noise; both None where
        there is no interval
    """

    model: str
    run: int
    cells: int
    why: str
    half: float | None
    half_whole: float | None


@dataclass(frozen=True)
class LevelAnalysis:
    """One level. Levels never share a sum, a scale or an axis, and only A orders.

    complete : True when every task of the level was asked (a declared subset is not)
    runs : planned runs
    standings : by place where there is an order, else by id
    absent : what is None → why, a sentence. Fields by their name (`pairs` and all that orders as
        `ranking`), and inside them `bands`, `beyond`, `hygiene_ranks`, `sigma_test`
    cells : every planned cell of every model, controls not among them
    cuts : runs without a total because of the deadline
    """

    level: str
    complete: bool
    ranked: bool
    tasks: tuple[TaskFacts, ...]
    max_points: float
    runs: int
    standings: tuple[Standing, ...]
    tiers: tuple[tuple[str, ...], ...]
    pairs: PairTable | None
    pairing: Pairing | None
    variance: Variance | None
    run_covariance: RunCovariance | None
    noise: NoiseFacts | None
    rows: tuple[RowFacts, ...]
    hygiene: Hygiene | None
    cells: tuple[Cell, ...]
    endings: tuple[Ending, ...]
    cuts: tuple[Cut, ...]
    absent: dict[str, str]
    claims: Claims

    def standing(self, model: str) -> Standing:
        """Return the line of a model; KeyError when it has none."""
        for standing in self.standings:
            if standing.model == model:
                return standing
        raise KeyError(model)


@dataclass(frozen=True)
class Analysis:
    """Everything a report says about a finalized campaign.

    simulated : True when the replies were written, not generated: every page says so
    development : True when the instrument's version was never locked
    levels : in the order A, B, C, M; only those that were asked
    controls : the two control players, cell by cell they must land where they must
    hatched : tasks and rows under a named doubt
    hosts : which machine each run was made on, a recorded factor
    split : what may be said of each model's level C; empty where it was not asked
    """

    name: str
    simulated: bool
    development: bool
    confidence: float
    levels: tuple[LevelAnalysis, ...]
    controls: tuple[Control, ...]
    hatched: tuple[Hatched, ...]
    hosts: tuple[HostFacts, ...]
    split: tuple[SplitVerdict, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    def level(self, name: str) -> LevelAnalysis | None:
        """Return the section of a level, None when it was not asked."""
        return next((section for section in self.levels if section.level == name), None)
