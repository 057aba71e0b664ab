"""Time, injected. The only module that imports `time`.

A campaign takes a `Clock`, so that a test replays a night in a second and no result
depends on when it was made except where a time is what is recorded.
"""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the harness asks of time."""

    def now(self) -> datetime:
        """Wall time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, never going back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """Wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds of the machine's monotonic clock."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block this thread."""
        time.sleep(seconds)


class FakeClock:
    """A clock that only moves when somebody sleeps. Shipped, so that tests patch nothing."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """Start plus what was slept."""
        return datetime.fromtimestamp(self._start.timestamp() + self._elapsed, tz=UTC)

    def monotonic(self) -> float:
        """Seconds slept so far."""
        return self._elapsed

    def sleep(self, seconds: float) -> None:
        """Move time on."""
        self._elapsed += seconds
