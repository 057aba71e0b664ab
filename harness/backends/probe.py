"""Small questions to a server beside its chat route, and whether JSON came back."""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from harness.clock import Clock, SystemClock
from harness.errors import EndpointError, Problem
from harness.records.base import Json

CONNECT_LIMIT_S = 10.0
ANSWER_LIMIT_S = 60.0  # a server that computes answers its other routes late
LARGEST_BYTES = 64 * 2**20  # a list of models, a template, a page: far below it
API_ENDING = "/v1"


@dataclass(frozen=True)
class Answer:
    """What a route answered.

    status : None when nobody answered at all; then `error` says why
    value : the JSON object or list of the body; None when it is no JSON of that kind
    """

    status: int | None
    value: Json = None
    text: str = ""
    error: str = ""

    @property
    def fields(self) -> dict[str, Json]:
        """The object of a 200 answer; empty for anything else, an error object included."""
        if self.status == 200 and isinstance(self.value, dict) and "error" not in self.value:
            return self.value
        return {}


class Probe:
    """Asks one server. Loopback never goes through a proxy, whatever the environment says.

    Parameters
    ----------
    base_url : where the API begins, as an `Endpoint` has it
    api_key : sent with every question
    answer_limit_s : how long an answer may take to come, to its last byte
    clock : by which that is measured; the machine's own, where none is given

    Raises
    ------
    EndpointError
        If the proxy that the environment names for this host is of no usable kind.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        answer_limit_s: float = ANSWER_LIMIT_S,
        clock: Clock | None = None,
    ) -> None:
        self._limit_s, self._clock = answer_limit_s, clock or SystemClock()
        self.base_url = base_url.rstrip("/")
        self.root_url = self.base_url.removesuffix(API_ENDING)
        try:
            parts = urlsplit(base_url)
            self._client = httpx.Client(
                verify=parts.scheme == "https",  # reading the certificates takes 30 ms of CPU
                trust_env=not is_loopback(parts.hostname or ""),
                timeout=httpx.Timeout(answer_limit_s, connect=CONNECT_LIMIT_S),
                headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            )
        except (ImportError, ValueError) as error:  # a proxy of a kind that httpx cannot use
            raise EndpointError(
                "the server's address cannot be used",
                [Problem(base_url, str(error), "name an http proxy, or add the host to no_proxy")],
                "Nothing was sent.",
            ) from error

    def get(self, path: str) -> Answer:
        """GET a route below the server's root, such as `/props`."""
        return self._ask("GET", self.root_url + path)

    def get_api(self, path: str) -> Answer:
        """GET a route below the API, such as `/models`."""
        return self._ask("GET", self.base_url + path)

    def post(self, path: str, body: Mapping[str, Json]) -> Answer:
        """POST to a route below the server's root, such as `/tokenize`."""
        return self._ask("POST", self.root_url + path, body)

    def delete(self, path: str, body: Mapping[str, Json]) -> Answer:
        """DELETE at a route below the server's root; Ollama names the model in a body."""
        return self._ask("DELETE", self.root_url + path, body)

    def post_api(self, path: str, body: Mapping[str, Json]) -> Answer:
        """POST to a route below the API."""
        return self._ask("POST", self.base_url + path, body)

    def _ask(self, method: str, url: str, body: Mapping[str, Json] | None = None) -> Answer:
        try:
            with self._client.stream(method, url, json=body) as response:
                data, problem = self._taken_in(response)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            return Answer(None, error=str(error) or type(error).__name__)
        if problem:
            return Answer(None, error=problem)
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):  # brackets nested a thousand deep are no answer
            value = None
        text = data.decode(response.encoding or "utf-8", errors="replace")
        return Answer(response.status_code, value, text)

    def _taken_in(self, response: httpx.Response) -> tuple[bytes, str]:
        """Return the body, and why it was not taken in to its end.

        httpx limits each read alone: a stream of events, where a list was asked for, has no end.
        """
        until = self._clock.monotonic() + self._limit_s
        data = bytearray()
        for chunk in response.iter_bytes():
            data += chunk
            if len(data) > LARGEST_BYTES:
                return b"", f"its answer has more than {LARGEST_BYTES} bytes"
            if self._clock.monotonic() > until:
                return b"", f"its answer did not end within {self._limit_s:g} s"
        return bytes(data), ""

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def problem_with_url(url: str) -> str:
    """Return why a base URL cannot be asked, or an empty text."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # read for its check
    except ValueError as error:
        return f"{url!r}: {error}"
    if "@" in parts.netloc:
        return "a name or a key stands before the host; it would be written into every record"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return f"{url!r}: no http:// or https:// with a host"
    if parts.query or parts.fragment:
        return f"{url!r}: a query or a fragment, which a path cannot follow"
    misspelt = _misspelt(url, parts.hostname)
    return f"{url!r}: {misspelt}" if misspelt else ""


def _misspelt(url: str, host: str) -> str:
    """Return why a URL cannot be put on the wire, or an empty text."""
    if not (url.isascii() and url.isprintable()) or " " in url:
        return "a character that a URL cannot hold"
    try:
        host.encode("idna")  # as the look-up of a name does, and it raises there
    except UnicodeError:
        return "a part of the host's name is empty or too long"
    return ""


def api_urls(url: str) -> tuple[str, ...]:
    """Return where the API may begin, for an address with or without `/v1`; likeliest first."""
    url = url.rstrip("/")
    return (url,) if url.endswith(API_ENDING) else (url + API_ENDING, url)


def model_names(listing: Answer) -> tuple[str, ...] | None:
    """Return the ids of a `/models` answer; None if it is no list of models."""
    found = entries(listing)
    return None if found is None else tuple(str(entry["id"]) for entry in found)


def entries(listing: Answer) -> list[dict[str, Json]] | None:
    """Return the entries of a list of models; None if the answer is none."""
    data = listing.fields.get("data")
    if not isinstance(data, list):
        return None
    return [entry for entry in data if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
