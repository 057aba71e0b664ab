"""A small question has an end, whatever is sent for an answer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from harness.backends import probe
from harness.backends.probe import Probe

LIMIT_S = 0.3
ENDS_S = 10.0  # so that a probe without a limit fails this test and does not hang it


class Dripping(BaseHTTPRequestHandler):
    """A stream of events, where a list of models was asked for."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        until = time.monotonic() + ENDS_S
        while time.monotonic() < until:
            try:
                self.wfile.write(b": ping\n")
            except OSError:
                return
            time.sleep(LIMIT_S / 10)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def dripping() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Dripping)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_answer_without_an_end_is_none() -> None:
    """Whatever listens at a usual port may send events for ever; nobody waits for ever."""
    with dripping() as url, Probe(url, answer_limit_s=LIMIT_S) as asking:
        answer = asking.get_api("/models")
    assert answer.status is None
    assert answer.error == "its answer did not end within 0.3 s"


def test_an_answer_without_a_measure_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would fill the memory that a model needs."""
    monkeypatch.setattr(probe, "LARGEST_BYTES", 10)
    with dripping() as url, Probe(url, answer_limit_s=ENDS_S) as asking:
        answer = asking.get_api("/models")
    assert answer.status is None
    assert answer.error == "its answer has more than 10 bytes"
