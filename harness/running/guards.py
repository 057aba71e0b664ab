"""How far a cell went in circles: always measured, and an end of the cell only if so set."""

from collections import Counter

from harness.arnes import LoopGuards
from harness.records.world import Guards, Step

WRITE = "write_file"


class LoopWatch:
    """Looks at the steps of one cell, in their order. `longest` holds the largest values."""

    def __init__(self, limits: LoopGuards) -> None:
        self._limits = limits
        self._last: tuple[str, dict[str, str]] | None = None
        self._identical = 0
        self._malformed = 0
        self._written: Counter[str] = Counter()
        self.longest = Guards()

    def see(self, step: Step) -> str:
        """Take in one step; return the name of the guard that ends the cell with it, or nothing."""
        self._malformed = self._malformed + 1 if step.kind == "malformed" else 0
        if step.kind == "call":
            this = (step.tool, step.args)
            self._identical = self._identical + 1 if this == self._last else 1
            self._last = this
            if step.tool == WRITE and step.target:
                self._written[step.target] += 1
        self.longest = Guards(
            identical_calls=max(self.longest.identical_calls, self._identical),
            rewrites=max(self._written.values(), default=0),
            malformed_in_a_row=max(self.longest.malformed_in_a_row, self._malformed),
        )
        for name, value in self.longest:
            limit = getattr(self._limits, name)
            if limit and value >= limit:
                return name
        return ""
