"""Which walls this machine can give, as a record that is stamped on what was run behind them."""

from typing import Literal

from harness.records.base import Record

TierName = Literal["bubblewrap", "landlock", "seatbelt", "none"]


class Tier(Record):
    """One way to contain foreign code, as a real launch found it.

    available : a launch worked and every check inside it held
    details : versions that change what the tier can do; part of the stamp
    lacks : what this tier does not give, here; shown to the operator
    todo : what would make it available, or better; empty where nothing helps
    """

    name: TierName
    available: bool
    details: str
    lacks: tuple[str, ...] = ()
    todo: str = ""

    @property
    def stamp(self) -> str:
        """One line that names the walls, for score sheets and cache keys."""
        return f"{self.name} ({self.details})" if self.details else self.name
