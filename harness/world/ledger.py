"""What calls cost, by the instrument's own tariff. A call that answers with an error is free."""

from harness.world.scene import Price, Tariff

HARD_STOP = "the budget's hard stop is reached; only {} are run now"


class Ledger:
    """The sum of all prices so far; nobody tells it to the model."""

    def __init__(self, tariff: Tariff | None) -> None:
        self._tariff = tariff
        self._spent = 0

    @property
    def spent(self) -> int | None:
        """The sum; None in a world without prices."""
        return None if self._tariff is None else self._spent

    def refusal(self, tool: str) -> str:
        """Return why a call of this tool is not run any more, or nothing."""
        tariff = self._tariff
        if tariff is None or self._spent < tariff.hard_stop or tool in tariff.always:
            return ""
        return HARD_STOP.format(" and ".join(tariff.always))

    def charge(self, tool: str, *, ok: bool, characters: int, rows: int) -> int | None:
        """Return what a call costs, and add it.

        Parameters
        ----------
        characters, rows : of the tool's own answer, whatever the model was shown
        """
        if self._tariff is None:
            return None
        price = self._tariff.prices.get(tool)
        cost = _cost(price, characters, rows) if ok and price is not None else 0
        self._spent += cost
        return cost


def _cost(price: Price, characters: int, rows: int) -> int:
    size = characters if price.of == "characters" else rows
    started = -(-size // price.step) if price.step else 0
    return price.base + started
