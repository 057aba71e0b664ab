"""The HTTP side of a scripted server: which reply is due, and how it is put on the wire."""

import json
import socketserver
import threading
from collections import Counter, deque
from http.server import BaseHTTPRequestHandler

from harness.clock import Clock
from harness.models.rendering import JSON_TYPE, Rendered, error_object, render, text_of
from harness.models.script import Behaviour, Script, SeenRequest, model_and_prompt, prompt_key
from harness.records.base import Json

SCRIPT_PAGE = "/script"
REQUESTS_PAGE = "/requests"
PING = b": ping\n\n"
BACKLOG = 128
LOADING = Behaviour(status=503, error="Loading model")


class Playbook:
    """A script and how far it has been played; shared by the connections of one server."""

    def __init__(self, script: Script, clock: Clock) -> None:
        self._script = script
        self._clock = clock
        self._born = clock.monotonic()
        self._lock = threading.Lock()
        self._played: Counter[tuple[str, str]] = Counter()
        self._seen: deque[SeenRequest] = deque(maxlen=script.requests_kept)
        self._running = 0
        self._connections = 0

    def connected(self) -> int:
        """Count a connection and return its number."""
        with self._lock:
            self._connections += 1
            return self._connections

    def arrived(self, path: str, headers: dict[str, str], body: Json, connection: int) -> Behaviour:
        """Note a completion request and return the behaviour that is due."""
        with self._lock:
            self._running += 1
            self._seen.append(
                SeenRequest(
                    path=path,
                    headers=headers,
                    body=body,
                    connection=connection,
                    at_once=self._running,
                )
            )
            return self._due(body)

    def answered(self) -> None:
        """Note that a completion has been played to its end."""
        with self._lock:
            self._running -= 1

    def page(self, path: str) -> tuple[int, Json]:
        """Return status and JSON of a GET path."""
        script = self._script
        if path in script.pages:
            return 200, script.pages[path]
        if path == "/health":
            if self._loading(0):
                return 503, error_object("Loading model", 503)
            return 200, {"status": "ok"}
        if path == "/v1/models":
            names = sorted(key for key in script.by_model if "\n" not in key)
            listed: list[Json] = [{"id": name, "object": "model"} for name in names]
            return 200, {"object": "list", "data": listed}
        if path == REQUESTS_PAGE:
            with self._lock:
                return 200, [seen.model_dump(mode="json") for seen in self._seen]
        return 404, error_object(f"no page {path}", 404)

    def _loading(self, at_least_s: float) -> bool:
        age = self._clock.monotonic() - self._born
        return age < max(self._script.loading_s, at_least_s)

    def _due(self, body: Json) -> Behaviour:
        model, opening, prompt, replies = _asked(body)
        script = self._script
        if turns := script.by_opening.get(prompt_key(opening)):
            return turns[min(replies, len(turns) - 1)]
        for table, key, plays in (
            ("model", both := model_and_prompt(model, prompt), script.by_model.get(both)),
            ("model", model, script.by_model.get(model)),
            ("prompt", only := prompt_key(prompt), script.by_prompt.get(only)),
            ("default", "", script.default),
        ):
            if plays:
                behaviour = plays[min(self._played[table, key], len(plays) - 1)]
                if self._loading(behaviour.loading_s):
                    return LOADING.model_copy(update={"retry_after": behaviour.retry_after})
                self._played[table, key] += 1
                return behaviour
        return Behaviour(status=404, error=f"nothing is written for model {model!r}")


def _asked(body: Json) -> tuple[str, str, str, int]:
    """Return model name, first and last user message, and how many replies lie between them."""
    if not isinstance(body, dict):
        return "", "", "", 0
    messages = body.get("messages")
    found = [m for m in (messages if isinstance(messages, list) else ()) if isinstance(m, dict)]
    users = [text_of(message) for message in found if message.get("role") == "user"]
    first, last = (users[0], users[-1]) if users else ("", "")
    replies = sum(message.get("role") == "assistant" for message in found)
    return str(body.get("model", "")), first, last, replies


class PlayServer(socketserver.ThreadingTCPServer):
    """Loopback only, any free port. A thread per connection: this is a process of its own."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = BACKLOG

    def __init__(self, script: Script, clock: Clock) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.clock = clock
        self.playbook = Playbook(script, clock)

    @property
    def port(self) -> int:
        """The port it listens on."""
        port: int = self.server_address[1]
        return port

    def play(self, script: Script) -> None:
        """Go over to another script, from its beginning."""
        self.playbook = Playbook(script, self.clock)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # a reply without waits leaves in one packet
    server: PlayServer

    def setup(self) -> None:
        super().setup()
        self._number = self.server.playbook.connected()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's own name
        """Say nothing: nobody reads it."""

    def do_GET(self) -> None:
        """Answer a page."""
        status, value = self.server.playbook.page(self.path)
        body = json.dumps(value, ensure_ascii=False).encode("utf-8")
        self._head(status, JSON_TYPE, len(body))
        self._write(body)

    def do_POST(self) -> None:
        """Play a completion."""
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == SCRIPT_PAGE:
            self.server.play(Script.model_validate_json(data))
            self._head(204, JSON_TYPE, 0)
            self._write(b"")
            return
        if not self.path.endswith("/chat/completions"):
            self._play(Behaviour(status=404, error=f"no page {self.path}"), None)
            return
        try:
            body = json.loads(data)
        except ValueError:
            self._play(Behaviour(status=400, error="the request is no JSON"), None)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        playbook = self.server.playbook
        behaviour = playbook.arrived(self.path, headers, body, self._number)
        try:
            self._play(behaviour, body)
        except OSError:
            self.close_connection = True  # whoever asked is gone
        finally:
            playbook.answered()

    def _play(self, behaviour: Behaviour, request: Json) -> None:
        if behaviour.close_before_reply:
            self.close_connection = True
            return
        reply = render(behaviour, request)
        if not reply.streamed:  # a plain body has no place for comment lines
            behaviour = behaviour.model_copy(update={"ping_every_s": None})
        ping_s = behaviour.ping_every_s
        at_once = behaviour.headers_at_once or ping_s is not None
        if not at_once:
            self._wait(behaviour.first_byte_delay_s)
        length = None if reply.streamed else sum(map(len, reply.pieces))
        self._head(reply.status, reply.content_type, length, behaviour.retry_after)
        if at_once:
            self.wfile.flush()
            self._wait(behaviour.first_byte_delay_s, ping_s)
        self._pieces(behaviour, reply)
        self._end(behaviour, reply)

    def _pieces(self, behaviour: Behaviour, reply: Rendered) -> None:
        pieces = reply.pieces
        for cut in (behaviour.stall_after_chunks, behaviour.close_after_chunks):
            if cut is not None:
                pieces = pieces[: reply.lead + cut]
        if not behaviour.chunk_delay_s:
            pieces = (b"".join(pieces),)
        for number, piece in enumerate(pieces):
            if number:
                self._wait(behaviour.chunk_delay_s, behaviour.ping_every_s)
            self._write(piece, chunked=reply.streamed)

    def _end(self, behaviour: Behaviour, reply: Rendered) -> None:
        if behaviour.stall_after_chunks is not None or behaviour.hold_after_done:
            self._hold(behaviour.ping_every_s)
        elif behaviour.close_after_chunks is None and reply.streamed:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
        if behaviour.close_after_chunks is not None or behaviour.close_after_reply:
            self.close_connection = True

    def _head(
        self, status: int, content_type: str, length: int | None, retry_after: str | None = None
    ) -> None:
        reason = self.responses.get(status, ("Status", ""))[0]
        framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        lines = [f"HTTP/1.1 {status} {reason}", f"Content-Type: {content_type}", framing]
        if retry_after is not None:
            lines.append(f"Retry-After: {retry_after}")
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def _write(self, data: bytes, *, chunked: bool = False) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data) if chunked else data)
        self.wfile.flush()

    def _wait(self, seconds: float, ping_s: float | None = None) -> None:
        """Let time pass, with comment lines in between where the behaviour wants them."""
        left = seconds
        while ping_s is not None and left > ping_s:
            self.server.clock.sleep(ping_s)
            self._write(PING, chunked=True)
            left -= ping_s
        if left > 0:
            self.server.clock.sleep(left)

    def _hold(self, ping_s: float | None) -> None:
        """Send nothing but comment lines until the other side goes."""
        self.close_connection = True
        self.connection.settimeout(ping_s)
        while True:
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                self._write(PING, chunked=True)
