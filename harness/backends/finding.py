"""One thing that was looked at: what was found, whether it is well, what to do about it."""

from harness.errors import Problem
from harness.records.base import Record


class Finding(Record):
    """The outcome of one check, of a machine or of a server.

    ok : None where it cannot be told, or where nothing needs to be done
    """

    name: str
    ok: bool | None
    found: str
    todo: str = ""

    @property
    def problem(self) -> Problem:
        """The finding as a problem of an error."""
        return Problem(self.name, self.found, self.todo)
