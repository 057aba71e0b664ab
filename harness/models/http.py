"""A model behind an OpenAI-compatible `POST {base_url}/chat/completions`."""  # noqa: A005 - the room's name; nothing here is imported by a bare `http`

from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore

from harness import __version__
from harness.arnes import Transport
from harness.clock import Clock
from harness.errors import EndpointError, Problem
from harness.models.body import as_sent, body_of, refuse_own_fields
from harness.models.line import Line
from harness.models.outcome import Fault, Outcome, Received, judge
from harness.models.patience import Patience
from harness.models.secret import Secret
from harness.models.watch import Watch
from harness.records.response import Attempt, ChatRequest, Exchange, encode_body
from harness.records.run import Endpoint

LARGEST_BODY_BYTES = 64 * 2**20  # 24,576 tokens are some 8 MB of events; beyond it is no reply
PATH = "/chat/completions"
KEY_SEEN = "the server sent the API key back; it was removed"


class HttpChat:
    """A `ChatModel` over HTTP: one connection, kept alive, one call at a time.

    Whatever the server does, `complete` returns an `Exchange`. The limits of `transport` and
    `call_timeout_s` hold for each attempt from the moment it is sent; waits between attempts go
    through the clock. What is tried again is said in `Patience`, what counts as a reply in
    `judge`. Cells that run in parallel have an `HttpChat` each.

    Raises
    ------
    EndpointError
        If the endpoint cannot be addressed: its URL, its extra body fields, the key.

    Examples
    --------
    >>> with HttpChat(endpoint, arnes.transport, 1800, SystemClock(), None) as chat:  # doctest: +SKIP
    ...     exchange = chat.complete(request)
    """

    def __init__(
        self,
        endpoint: Endpoint,
        transport: Transport,
        call_timeout_s: float,
        clock: Clock,
        api_key: str | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._transport = transport
        self._call_timeout_s = call_timeout_s
        self._clock = clock
        self._secret = Secret(api_key)
        refuse_own_fields(endpoint.extra_body)
        url = endpoint.base_url.rstrip("/") + PATH
        self._headers = [*_headers(url), *self._secret.header()]
        self._line = Line(url, transport.connect_timeout_s)
        self._state = "idle"

    def complete(self, request: ChatRequest) -> Exchange:
        """Send one request, as often as the policy says, and return what became of it."""
        if self._state != "idle":
            raise RuntimeError(f"this HttpChat is {self._state}; it makes one call at a time")
        self._state = "busy"
        try:
            return self._complete(as_sent(request, self._endpoint))
        finally:
            self._state = "idle"

    def _complete(self, request: ChatRequest) -> Exchange:
        started_at = self._clock.now().isoformat()
        body = body_of(request)
        patience = Patience(self._transport, self._clock)
        retried: list[Attempt] = []
        while True:
            got = self._attempt(body)
            outcome = judge(got, tools_offered=bool(request.tools))
            wait_s = patience.wait_s(outcome, got)
            if wait_s is None:
                return self._exchange(request, started_at, got, outcome, tuple(retried))
            retried.append(self._attempt_record(got, outcome))
            if wait_s:
                self._clock.sleep(wait_s)

    def _attempt(self, body: bytes) -> Received:
        """Send the body once and take in everything that comes back."""
        watch = Watch(self._transport, self._call_timeout_s, self._clock.monotonic)
        status, headers, fault = None, dict[bytes, bytes](), None
        chunks: list[bytes] = []
        try:
            response = self._line.open(self._headers, body, watch)
            try:
                status = response.status
                headers = {name.lower(): value for name, value in response.headers}
                fault = _take_in(response, watch, chunks)
            finally:
                response.close()
        except httpcore.LocalProtocolError:
            raise  # a request that breaks HTTP is a fault of ours
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.ProxyError,
            httpcore.TimeoutException,
        ) as error:
            fault = _fault(error, watch, self._line, len(chunks))
        return Received(
            status=status,
            content_type=headers.get(b"content-type", b"").decode("latin-1"),
            retry_after=headers.get(b"retry-after", b"").decode("latin-1"),
            body=b"".join(chunks),
            fault=fault,
            tokens_flowed=watch.tokens_flowed,
            stale=fault is not None and not self._line.fresh and not watch.answered,
            timings=watch.timings(),
        )

    def close(self) -> None:
        """Close the connection."""
        self._line.drop()
        self._state = "closed"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
