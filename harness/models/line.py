"""One keep-alive connection to a server, with limits that are counted anew at every read.

This is httpcore, the layer that httpx stands on, and not httpx itself: httpx fixes the
read limit when a body begins, but ours changes with the first token and shrinks towards the
end of the call.
"""

import ipaddress
import socket
import urllib.request
from collections.abc import Iterable
from contextlib import suppress
from ssl import SSLContext
from urllib.parse import unquote, urlsplit

import httpcore

from harness.errors import EndpointError, Problem
from harness.models.watch import Watch

Headers = list[tuple[bytes, bytes]]


class Line:
    """The connection of one `HttpChat`; a call at a time.

    Attributes
    ----------
    fresh : whether this attempt had to connect; False on a reused connection
    closed_by_server : whether the other side ended the connection during this attempt
    """

    def __init__(self, url: str, connect_timeout_s: float) -> None:
        self._url = httpcore.URL(url)
        self._timeouts = {"connect": connect_timeout_s, "pool": connect_timeout_s}
        self._pool = _pool(url, _Backend(self))
        self.watch: Watch | None = None
        self.fresh = False
        self.closed_by_server = False
        self._stream: httpcore.NetworkStream | None = None
        self._is_cut = False

    def open(self, headers: Headers, body: bytes, watch: Watch) -> httpcore.Response:
        """Send a POST and return when the response's headers are here.

        Raises
        ------
        httpcore exceptions
            Of connecting, sending and reading; a limit that passed is a TimeoutException.
        """
        self.watch, self.fresh, self.closed_by_server = watch, False, False
        length = (b"Content-Length", b"%d" % len(body))
        request = httpcore.Request(
            "POST",
            self._url,
            headers=[*headers, length],
            content=body,
            extensions={"timeout": self._timeouts},
        )
        return self._pool.handle_request(request)

    def cut(self) -> None:
        """End what is read or written, from another thread; nothing is connected any more."""
        self._is_cut = True
        self._shut()

    def connected(self, stream: httpcore.NetworkStream) -> None:
        """Note a new connection; if the line was cut while it was made, it is ended at once."""
        self._stream = stream
        if self._is_cut:
            self._shut()

    def _shut(self) -> None:
        """Shut the socket, which wakes up who waits for it; to close it is its reader's affair."""
        stream = self._stream
        found = None if stream is None else stream.get_extra_info("socket")
        if isinstance(found, socket.socket):
            with suppress(OSError):  # it is gone already
                found.shutdown(socket.SHUT_RDWR)

    def drop(self) -> None:
        """Close the connection, so that the next call makes a new one."""
        self._pool.close()

    def time_left(self) -> float | None:
        """Return how long the next read or write may take."""
        return None if self.watch is None else self.watch.nearest()[0]


class _Backend(httpcore.NetworkBackend):
    """httpcore's own sockets, wrapped."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        self._line.fresh = True
        stream = self._sockets.connect_tcp(host, port, timeout, local_address, socket_options)
        self._line.connected(stream)
        return _Stream(stream, self._line)


class _Stream(httpcore.NetworkStream):
    """A connected socket whose limits are the watch's, whatever httpcore passes."""

    def __init__(self, stream: httpcore.NetworkStream, line: Line) -> None:
        self._stream = stream
        self._line = line

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - see class
        left = self._line.time_left()
        if left is not None and left <= 0:
            raise httpcore.ReadTimeout
        data = self._stream.read(max_bytes, left)
        watch = self._line.watch
        if not data:
            self._line.closed_by_server = True
        elif watch is not None:
            watch.received()
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - see class
        if self._line.watch is not None:
            self._line.watch.sent()
        left = self._line.time_left()
        if left is not None and left <= 0:
            raise httpcore.WriteTimeout
        self._stream.write(buffer, left)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._stream.start_tls(ssl_context, server_hostname, timeout)
        self._line.connected(stream)
        return _Stream(stream, self._line)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _pool(url: str, backend: httpcore.NetworkBackend) -> httpcore.ConnectionPool:
    """Return a pool of one connection; by a proxy only where one is set for that host."""
    proxy = _proxy_of(url)
    if proxy is None:
        return httpcore.ConnectionPool(max_connections=1, network_backend=backend)
    parts = urlsplit(proxy)
    bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    auth = None
    if parts.username is not None:
        auth = (unquote(parts.username), unquote(parts.password or ""))
    return httpcore.HTTPProxy(bare, proxy_auth=auth, max_connections=1, network_backend=backend)


def _proxy_of(url: str) -> str | None:
    """Return the proxy that the environment names for a URL. Loopback never goes to one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    known = urllib.request.getproxies()
    proxy = known.get(parts.scheme) or known.get("all")
    if not proxy:
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    scheme = urlsplit(proxy).scheme
    if scheme not in {"http", "https"}:
        raise EndpointError(
            f"{host} is reached through a proxy of a kind that is not supported",
            [
                Problem(
                    f"{parts.scheme}_proxy",
                    f"{scheme}:// proxy",
                    f"name an http proxy, or add {host} to no_proxy",
                )
            ],
            "Nothing was sent.",
        )
    return proxy
