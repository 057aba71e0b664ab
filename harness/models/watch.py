"""Watch one attempt at a call: when bytes and tokens came, and how long more to wait.

The look at the stream is only for the clock. Nothing here decides what a reply says; that is
read later, from the bytes that were kept.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.arnes import Transport
from harness.records.response import InfrastructureCause, Timings

Limit = Literal["first_token", "silence", "call", "ended"]


@dataclass(frozen=True)
class Fault:
    """Why a line gave nothing more.

    cause : "time" is the limit of the whole call while tokens flowed; "ended" is a stream that
        said it was done and was not closed
    """

    cause: InfrastructureCause | Literal["time", "ended"]
    text: str


# The first character of a delta that is not empty. Inside a JSON string the quotes of such a
# text are escaped, so the words of a reply never look like this.
_TOKEN = re.compile(
    rb'"(?:content|reasoning_content|reasoning|thinking|text|arguments)"\s*:\s*"[^"]'
)
_DONE = re.compile(rb"[\r\n]data:[ ]?\[DONE\]")
_TAIL_BYTES = 64  # longer than the longest match that can be cut by a chunk's end
DONE_GRACE_S = 1.0  # what is still to come behind [DONE] is the end of the body, no token


class Watch:
    """One attempt.

    Tokens, not bytes, are waited for: comment lines and role chunks keep a line open but are
    no progress. Until the first token the first-byte limit holds, because a server may open its
    stream before it has read a long prompt; from then on the idle limit. A body that is no
    event stream shows no tokens; there, every byte that is not white space is progress.

    Parameters
    ----------
    call_timeout_s : limit of the whole attempt
    now : the clock's monotonic seconds
    """

    def __init__(
        self, transport: Transport, call_timeout_s: float, now: Callable[[], float]
    ) -> None:
        self._transport = transport
        self._call_timeout_s = call_timeout_s
        self._now = now
        self._sent_at = now()
        self._sent = False
        self._first_byte: float | None = None
        self._first_token: float | None = None
        self._last_token: float | None = None
        self._progress: float | None = None
        self._done_at: float | None = None
        self._is_stream: bool | None = None
        self._tail = b"\n"  # the body's first line is a line, too

    @property
    def answered(self) -> bool:
        """True once a single byte came back, headers included."""
        return self._first_byte is not None

    @property
    def tokens_flowed(self) -> bool:
        """True once a delta that is not empty came."""
        return self._first_token is not None

    def sent(self) -> None:
        """Note that the request goes out; connecting is behind us. Only the first call counts."""
        if not self._sent:
            self._sent = True
            self._sent_at = self._now()

    def received(self) -> None:
        """Note that bytes came over the wire."""
        if self._first_byte is None:
            self._first_byte = self._now()

    def saw(self, chunk: bytes) -> None:
        """Look at the next bytes of the body."""
        now = self._now()
        if self._is_stream is None:
            start = chunk.lstrip()[:1]
            if not start:
                return
            self._is_stream = start not in b"{["
        if not self._is_stream:
            if not chunk.isspace():
                self._progress = now
            return
        window = self._tail + chunk
        end = 0
        for match in _TOKEN.finditer(window):
            end = match.end()
        if end:
            self._first_token = now if self._first_token is None else self._first_token
            self._last_token = self._progress = now
        if self._done_at is None and _DONE.search(window):
            self._done_at = now
        self._tail = window[max(end, len(window) - _TAIL_BYTES) :]

    def nearest(self) -> tuple[float, Limit]:
        """Return the seconds until the nearest limit (negative when it passed), and its name."""
        now = self._now()
        call = self._sent_at + self._call_timeout_s - now
        if self._done_at is not None:
            return self._done_at + DONE_GRACE_S - now, "ended"
        if self._progress is not None:
            silence = self._progress + self._transport.idle_timeout_s - now
            return (silence, "silence") if silence < call else (call, "call")
        first = self._sent_at + self._transport.first_byte_timeout_s - now
        return (first, "first_token") if first < call else (call, "call")

    def fault(self) -> Fault:
        """Return what it means that the nearest limit has passed."""
        _, limit = self.nearest()
        if limit == "ended":
            return Fault("ended", "the stream said that it was done and was not closed")
        if limit == "silence":
            idle_s = self._transport.idle_timeout_s
            return Fault("stall", f"nothing more came for {idle_s:g} s after the last token")
        if limit == "call" and self.tokens_flowed:
            return Fault("time", f"cut after {self._call_timeout_s:g} s while tokens flowed")
        limit_s = min(self._transport.first_byte_timeout_s, self._call_timeout_s)
        came = "no token, though the server answered," if self.answered else "no byte"
        return Fault("no_first_byte", f"{came} within {limit_s:g} s")

    def timings(self) -> Timings:
        """Return what was noted, in seconds since the request was sent."""
        return Timings(
            first_byte_s=self._since(self._first_byte),
            first_token_s=self._since(self._first_token),
            last_token_s=self._since(self._last_token),
            total_s=max(0.0, self._now() - self._sent_at),
        )

    def _since(self, moment: float | None) -> float | None:
        return None if moment is None else max(0.0, moment - self._sent_at)
