"""How long the rest takes, from what cells took so far.

A cell that is still to be asked takes what the same model took for the same task. Where that is
not known, what the task takes among all models, times how slow this model is against them; where
one of the two is not known, the other; else the mean of all cells.
"""

import statistics
from collections.abc import Mapping, Sequence

PlannedCell = tuple[str, int, str]
"""Player, run, task."""
Times = Mapping[tuple[str, str], Sequence[float]]
"""(player, task) → the seconds that each of its cells took."""


class Pace:
    """What is left, and what was measured. Not safe between threads by itself.

    pending : the cells that are still to be asked, those under way among them
    measured : what cells took before this pass
    at_once : how many cells are asked at the same time
    """

    def __init__(self, pending: Sequence[PlannedCell], measured: Times, at_once: int = 1) -> None:
        self._pending = dict.fromkeys(pending)
        self._took = {key: list(times) for key, times in measured.items()}
        self.at_once = at_once

    def ended(self, cell: PlannedCell, took_s: float | None) -> None:
        """Take a cell off the list; None where what it took says nothing of others.

        What was not on the list is not measured either: a control answers at once.
        """
        if cell not in self._pending:
            return
        del self._pending[cell]
        if took_s is not None:
            player, _, task = cell
            self._took.setdefault((player, task), []).append(took_s)

    def give_up(self, player: str, run: int | None) -> None:
        """Take the cells of a player's run off the list, or of all its runs where none is named."""
        for cell in [c for c in self._pending if c[0] == player and run in (None, c[1])]:
            del self._pending[cell]

    def left_s(self, gone_s: Mapping[PlannedCell, float]) -> float | None:
        """Return the seconds to the end; None before the first cell was measured.

        Parameters
        ----------
        gone_s : cell under way → how long it has been asked
        """
        means = {key: statistics.fmean(times) for key, times in self._took.items() if times}
        if not means:
            return None
        left = 0.0
        for cell in self._pending:
            player, _, task = cell
            left += max(0.0, _expected_s(means, player, task) - gone_s.get(cell, 0.0))
        return left / self.at_once


def _expected_s(means: Mapping[tuple[str, str], float], player: str, task: str) -> float:
    """Return what a cell is expected to take."""
    if (player, task) in means:
        return means[player, task]
    of_tasks: dict[str, list[float]] = {}
    for (_, name), mean in means.items():
        of_tasks.setdefault(name, []).append(mean)
    usual = {name: statistics.fmean(of) for name, of in of_tasks.items()}
    own = {name: mean for (who, name), mean in means.items() if who == player}
    if task in usual:
        against = sum(usual[name] for name in own)
        return usual[task] * (sum(own.values()) / against if against > 0 else 1.0)
    return statistics.fmean(own.values() if own else means.values())
