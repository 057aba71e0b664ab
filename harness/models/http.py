"""A model behind an OpenAI-compatible `POST {base_url}/chat/completions`."""

import math
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore

from harness.arnes import Transport
from harness.clock import Clock
from harness.errors import EndpointError, Problem
from harness.models.body import as_sent, body_of, refuse_fields
from harness.models.chat import CallCut
from harness.models.line import Line
from harness.models.outcome import Outcome, Received, judge
from harness.models.patience import Patience
from harness.models.secret import Secret
from harness.models.watch import Fault, Watch
from harness.records.response import Attempt, ChatRequest, Exchange, encode_body
from harness.records.run import Endpoint

LARGEST_BODY_BYTES = 64 * 2**20  # 24,576 tokens are some 8 MB of events; beyond it is no reply
PATH = "/chat/completions"
SHORTEST_CALL_S = 0.1  # a limit of zero would be none
LONGEST_SLEEP_S = 1.0  # after it, a wait sees that its call was cut
CUT = "the campaign's deadline came before the reply's end"
KEY_SEEN = "the server sent the API key back; it was removed"


class HttpChat:
    """A `ChatModel` over HTTP: one connection, kept alive, one call at a time.

    Whatever the server does, `complete` returns an `Exchange`. The limits of `transport` and
    `call_timeout_s` hold for each attempt from the moment it is sent; waits between attempts go
    through the clock. A reply that has not ended at the deadline is infrastructure, whatever was
    written of it by then. What is tried again is said in `Patience`, what counts as a reply in
    `judge`. Cells that run in parallel have an `HttpChat` each.

    Parameters
    ----------
    left_s : returns the seconds until the campaign's deadline; infinite without one

    Raises
    ------
    EndpointError
        If the endpoint cannot be addressed: its URL, its extra body fields, the key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        transport: Transport,
        call_timeout_s: float,
        clock: Clock,
        api_key: str | None = None,
        *,
        left_s: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._endpoint = endpoint
        self._transport = transport
        self._call_timeout_s = call_timeout_s
        self._clock = clock
        self._left_s = left_s
        self._secret = Secret(api_key)
        refuse_fields(endpoint.extra_body)
        url = endpoint.base_url.rstrip("/") + PATH
        self._headers = [*_headers_for(url), *self._secret.header()]
        self._line = Line(url, transport.connect_timeout_s)
        self._state = "idle"
        self._was_cut = threading.Event()

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
            self._go_on()
            got = self._attempt(body)
            self._go_on()
            outcome = judge(got, tools_offered=bool(request.tools), max_tokens=request.max_tokens)
            if outcome.ended != "reply" and self._left_s() <= 0:
                outcome = Outcome("infrastructure", "deadline", CUT)
            wait_s = patience.wait_s(outcome, got)
            if wait_s is None:
                return self._exchange(request, started_at, got, outcome, tuple(retried))
            retried.append(self._repeated(got, outcome))
            self._wait(wait_s)

    def _wait(self, seconds: float) -> None:
        """Let time pass before the next attempt."""
        while seconds > 0:
            self._clock.sleep(min(seconds, LONGEST_SLEEP_S))
            seconds -= LONGEST_SLEEP_S
            self._go_on()

    def _go_on(self) -> None:
        if self._was_cut.is_set():
            raise CallCut

    def _attempt(self, body: bytes) -> Received:
        """Send the body once and take in everything that comes back."""
        limit_s = min(self._call_timeout_s, max(self._left_s(), SHORTEST_CALL_S))
        watch = Watch(self._transport, limit_s, self._clock.monotonic)
        status, headers, fault = None, dict[str, str](), None
        chunks: list[bytes] = []
        try:
            response = self._line.open(self._headers, body, watch)
            try:
                status = response.status
                headers = {
                    name.decode("latin-1").lower(): value.decode("latin-1")
                    for name, value in response.headers
                }
                fault = _take_in(response, watch, chunks)
            finally:
                response.close()
        except (httpcore.LocalProtocolError, httpcore.PoolTimeout):
            raise  # a request that breaks HTTP, a response left open: faults of ours
        except (
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.ProxyError,
            httpcore.TimeoutException,
        ) as error:
            fault = _fault_of(error, watch, self._line)
        raw = b"".join(chunks)
        clean = self._secret.removed_from(raw)
        return Received(
            status=status,
            content_type=self._secret.removed_from_text(headers.get("content-type", "")),
            retry_after=headers.get("retry-after"),
            body=clean,
            key_removed=clean != raw,
            fault=fault,
            stale=_is_stale(fault, watch, self._line),
            timings=watch.timings(),
        )

    def _detail(self, got: Received, outcome: Outcome) -> str:
        detail = self._secret.removed_from_text(outcome.detail)
        if got.key_removed:
            return f"{detail}; {KEY_SEEN}" if detail else KEY_SEEN
        return detail

    def _repeated(self, got: Received, outcome: Outcome) -> Attempt:
        assert outcome.cause is not None  # only infrastructure is tried again
        return Attempt(
            cause=outcome.cause,
            detail=self._detail(got, outcome),
            status=got.status,
            elapsed_s=got.timings.total_s,
        )

    def _exchange(
        self,
        request: ChatRequest,
        started_at: str,
        got: Received,
        outcome: Outcome,
        retried: tuple[Attempt, ...],
    ) -> Exchange:
        body, encoding = encode_body(got.body)
        return Exchange(
            request=request,
            started_at=started_at,
            ended=outcome.ended,
            cause=outcome.cause,
            detail=self._detail(got, outcome),
            status=got.status,
            content_type=got.content_type,
            body=body,
            body_encoding=encoding,
            timings=got.timings,
            retried=retried,
        )

    def cut(self) -> None:
        """End the call in flight, from another thread; what came of it is dropped."""
        self._was_cut.set()
        self._line.cut()

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


def _headers_for(url: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of every call to a URL; refuse one that cannot be called."""
    problem = _problem_with(url)
    if problem:
        todo = "give http(s)://host:port/v1; a key goes into the variable that api_key_env names"
        raise EndpointError(
            "the endpoint cannot be addressed",
            [Problem("base_url", problem, todo)],
            "Nothing was sent.",
        )
    return [
        (b"Host", urlsplit(url).netloc.encode("ascii")),
        (b"User-Agent", b"arnes"),
        (b"Content-Type", b"application/json"),
        (b"Accept", b"text/event-stream, application/json"),
        (b"Accept-Encoding", b"identity"),  # the bytes that are kept are the server's own
    ]


def _problem_with(url: str) -> str:
    """Return why a URL cannot be called, or an empty text."""
    shown = repr(url.removesuffix(PATH))
    try:
        parts = urlsplit(url)
        _ = parts.port  # read for its check
    except ValueError as error:
        return f"{shown}: {error}"
    if "@" in parts.netloc:
        return "a name or a key stands before the host; it would be written into every record"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return f"{shown}: no http:// or https:// with a host"
    if parts.query or parts.fragment:
        return f"{shown}: a query or a fragment, which a path cannot follow"
    misspelt = _misspelt(url, parts.hostname)
    return f"{shown}: {misspelt}" if misspelt else ""


def _misspelt(url: str, host: str) -> str:
    """Return why a URL cannot be put on the wire, or an empty text."""
    if not (url.isascii() and url.isprintable()) or " " in url:
        return "a character that a URL cannot hold"
    try:
        host.encode("idna")  # as the look-up of a name does, and it raises there
    except UnicodeError:
        return "a part of the host's name is empty or too long"
    return ""


def _take_in(response: httpcore.Response, watch: Watch, chunks: list[bytes]) -> Fault | None:
    """Collect the body until it ends; a fault if it grows beyond all bounds."""
    size = 0
    for chunk in response.iter_stream():
        watch.saw(chunk)
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_BODY_BYTES:
            return Fault("not_a_completion", f"more than {LARGEST_BODY_BYTES} bytes")
    return None


def _is_stale(fault: Fault | None, watch: Watch, line: Line) -> bool:
    """Tell whether a kept connection had been closed under us, so that nothing was lost."""
    lost = fault is not None and fault.cause == "connection_lost"
    return lost and not line.fresh and not watch.answered


def _fault_of(error: Exception, watch: Watch, line: Line) -> Fault:
    """Say which fault of the line an exception of httpcore is."""
    said = str(error) or type(error).__name__
    if isinstance(error, httpcore.ConnectError | httpcore.ConnectTimeout | httpcore.ProxyError):
        return Fault("connect", said)
    if isinstance(error, httpcore.TimeoutException):
        return watch.fault()
    if isinstance(error, httpcore.RemoteProtocolError) and not line.closed_by_server:
        return Fault("not_a_completion", f"no HTTP: {said}")
    return Fault("connection_lost", said)
