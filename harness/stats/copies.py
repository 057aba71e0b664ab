"""Runs that are copies: a deterministic server gives one run several times, not several runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from harness.stats.intake import Array, read, refuse


@dataclass(frozen=True)
class Copies:
    """Which runs of one model hold the same transcripts.

    pairs : positions (i, j), i < j, of runs whose every compared cell is the same
    shares : (i, j, share of compared cells that are the same) for every pair with one to compare
    """

    runs: int
    pairs: tuple[tuple[int, int], ...]
    shares: tuple[tuple[int, int, float], ...]

    @property
    def sigma_refused(self) -> bool:
        """True when any two runs are copies."""
        return bool(self.pairs)

    @property
    def repeated(self) -> tuple[int, ...]:
        """Positions of runs that only repeat an earlier one."""
        return tuple(sorted({later for _, later in self.pairs}))

    def distinct(self, totals: ArrayLike) -> Array:
        """Return the totals with NaN where a run only repeats an earlier one.

        Every function here that allows a missing run then counts what was really observed.
        """
        values = read(totals, "totals", ndim=1).copy()
        if values.size != self.runs:
            raise refuse(
                "totals of other runs", "totals", f"{values.size}, not {self.runs}", "same runs"
            )
        values[list(self.repeated)] = np.nan
        return values


def find_copies(
    transcripts: Sequence[Sequence[str | None]], *, scheduled: Sequence[bool] | None = None
) -> Copies:
    """Compare the transcripts of one model's runs, cell by cell.

    Parameters
    ----------
    transcripts : n_runs sequences of n_cells digests
        None where a cell is missing.
    scheduled : n_cells booleans, optional
        True for cells whose world differs between runs. A server that ignores the seed still
        differs there, so these cells are compared only when there are no others.

    Examples
    --------
    >>> copies = find_copies([["a", "x"], ["a", "y"], ["b", "x"]], scheduled=[False, True])
    >>> copies.pairs, copies.sigma_refused
    (((0, 1),), True)
    """
    cells = len(transcripts[0]) if transcripts else 0
    if not cells or any(len(run) != cells for run in transcripts):
        raise refuse(
            "transcripts cannot be compared",
            "transcripts",
            f"cells per run: {[len(run) for run in transcripts]}",
            "the same cells in every run, None where one is missing",
        )
    free = [c for c in range(cells) if scheduled is None or not scheduled[c]] or list(range(cells))
    shares = []
    for i, j in combinations(range(len(transcripts)), 2):
        both = [(transcripts[i][c], transcripts[j][c]) for c in free]
        same = [a == b for a, b in both if a is not None and b is not None]
        if same:
            shares.append((i, j, sum(same) / len(same)))
    return Copies(
        runs=len(transcripts),
        pairs=tuple((i, j) for i, j, share in shares if share == 1.0),
        shares=tuple(shares),
    )
