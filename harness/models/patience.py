"""What is tried again, how often, and after how long."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from harness.arnes import Transport
from harness.clock import Clock
from harness.models.outcome import Outcome, Received

# Faults of the transport, in which nothing is the model's. Not among them: `no_first_byte` (the
# server is dead; a second wait of the same length only delays its restart), `cut_short` (the
# window is as small the next time) and everything that the server meant to say.
REPEATED = frozenset({"connect", "connection_lost", "stall", "server_error"})


class Patience:
    """The patience of one call.

    A fault in `REPEATED` is tried again `retries` times, `retry_wait_s` apart. Beside that
    count stand two cases: a reused connection that was closed before any byte came back is
    replaced once, at once; and 503 is waited for until `loading_limit_s` have passed since the
    first one, at the pace of the server's `Retry-After` but never faster than `retry_wait_s`.
    """

    def __init__(self, transport: Transport, clock: Clock) -> None:
        self._transport = transport
        self._clock = clock
        self._retries_left = transport.retries
        self._may_reconnect = True
        self._loading_since: float | None = None

    def wait_s(self, outcome: Outcome, got: Received) -> float | None:
        """Return how long to wait before the next attempt, or None if there is none."""
        if outcome.cause == "loading":
            return self._loading_wait_s(got.retry_after)
        if got.stale and self._may_reconnect:
            self._may_reconnect = False
            return 0.0
        if outcome.cause in REPEATED and self._retries_left > 0:
            self._retries_left -= 1
            return self._transport.retry_wait_s
        return None

    def _loading_wait_s(self, retry_after: str | None) -> float | None:
        now = self._clock.monotonic()
        if self._loading_since is None:
            self._loading_since = now
        left = self._loading_since + self._transport.loading_limit_s - now
        if left <= 0:
            return None
        asked = seconds_of(retry_after, self._clock.now())
        return min(max(asked, self._transport.retry_wait_s), left)


def seconds_of(retry_after: str | None, now: datetime) -> float:
    """Return the seconds that a `Retry-After` header asks for: a number or a date; else 0."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())
