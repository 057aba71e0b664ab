"""A scripted server and the channel to it, as the tests of this room use them."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.arnes import Transport
from harness.models.http import HttpChat
from harness.models.scripted import ScriptedServer
from harness.parsing.wire import Completion, decode
from harness.records.base import Json
from harness.records.response import ChatRequest, Exchange, Message

MODEL = "played"
Play = Callable[..., "Played"]  # the fixture `play`


def transport(**changes: float) -> Transport:
    """Limits that no test reaches by being slow; a test tightens the one it is about."""
    calm: dict[str, float] = {
        "connect_timeout_s": 10,
        "first_byte_timeout_s": 20,
        "idle_timeout_s": 20,
        "loading_limit_s": 20,
        "retries": 2,
        "retry_wait_s": 0.01,
    }
    return Transport.model_validate(calm | changes)


def request(text: str = "Say it.", **changes: object) -> ChatRequest:
    """A request of one user message."""
    fields = {
        "model": MODEL,
        "messages": (Message(role="user", content=text),),
        "max_tokens": 100,
        "temperature": 0.6,
        "top_p": 0.95,
        "seed": 1001,
    }
    return ChatRequest.model_validate(fields | changes)


def completion(exchange: Exchange) -> Completion:
    """Read an exchange's body as later stages do."""
    return decode(exchange.body_bytes, exchange.content_type)


@dataclass(frozen=True)
class Played:
    """A server that plays behaviours, and the channel to it."""

    server: ScriptedServer
    chat: HttpChat

    def ask(self, text: str = "Say it.", **changes: object) -> Exchange:
        """Send one request."""
        return self.chat.complete(request(text, **changes))

    def bodies(self) -> list[dict[str, Json]]:
        """Return the JSON bodies that the server got."""
        return [seen.body for seen in self.server.requests() if isinstance(seen.body, dict)]


@contextmanager
def saying(data: bytes) -> Iterator[str]:
    """A service that takes one request and says these bytes, whatever was asked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        thread.join(10)
