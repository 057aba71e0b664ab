"""How a stage says how far it is. Every stage takes one; none of them prints."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""(what is being done, steps done, steps in all)"""


def silent(_what: str, _done: int, _total: int) -> None:
    """Report nothing."""
