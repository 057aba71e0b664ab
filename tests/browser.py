"""A headless Chromium for tests, driven over WebDriver's own protocol with the HTTP client we have.

Debian's packages `chromium` and `chromium-driver` are all it needs; where they are not installed,
tests that need a browser are skipped, and CI installs them.
"""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

START_S = 20.0
CALL_S = 60.0
HERE = shutil.which("chromedriver") is not None and shutil.which("chromium") is not None


@dataclass
class Browser:
    """One session."""

    client: httpx.Client
    session: str

    def call(self, path: str, **body: object) -> object:
        """Send a command of the protocol and return its value."""
        answer = self.client.post(f"/session/{self.session}/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    def open(self, page: Path) -> None:
        """Open a file."""
        self.call("url", url=page.as_uri())

    def run(self, script: str, *arguments: object) -> object:
        """Run a script's body in the page and return what it returns."""
        return self.call("execute/sync", script=script, args=list(arguments))

    def devtools(self, command: str, **parameters: object) -> object:
        """Send a command of Chromium's own protocol: media, sizes, printing."""
        return self.call("goog/cdp/execute", cmd=command, params=parameters)

    def log(self, kind: str) -> list[dict[str, object]]:
        """Return what was logged since the last time: `browser` or `performance`."""
        found = self.call("se/log", type=kind)
        assert isinstance(found, list)
        return found


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A browser with a profile folder of its own; gone at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    driver = subprocess.Popen(
        ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    options = {
        "args": ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"],
        "binary": shutil.which("chromium"),
    }
    wanted = {
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
    }
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=CALL_S) as client:
            _await(client)
            answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}})
            assert answer.status_code == 200, answer.text
            browser = Browser(client, answer.json()["value"]["sessionId"])
            try:
                yield browser
            finally:
                client.delete(f"/session/{browser.session}")
    finally:
        driver.terminate()
        driver.wait()


def _await(client: httpx.Client) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            client.get("/status")
        except httpx.TransportError:
            assert time.monotonic() < until, "chromedriver does not answer"
            time.sleep(0.05)
        else:
            return
