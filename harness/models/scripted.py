"""A model that plays written replies: a real loopback server in a process of its own.

It is the only double of a model that the house has. Goldens, control players, tests and
benchmarks go through it, so whatever they exercise is the channel that a measured model uses.

    python -m harness.models.scripted SCRIPT.json

prints its port and serves 127.0.0.1 until its standard input ends. Whoever started it holds
the other end of that pipe: when they die, however they die, the server goes with them.
"""

import http.client
import os
import select
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pydantic import TypeAdapter

from harness.clock import SystemClock
from harness.errors import InstrumentError, Problem
from harness.models.player import REQUESTS_PAGE, SCRIPT_PAGE, PlayServer
from harness.models.script import (
    Behaviour,
    NativeCall,
    Script,
    SeenRequest,
    model_and_prompt,
    prompt_key,
)

__all__ = [
    "Behaviour",
    "NativeCall",
    "Script",
    "ScriptedServer",
    "SeenRequest",
    "model_and_prompt",
    "prompt_key",
]

START_LIMIT_S = 30.0  # an import on a busy machine; it takes a third of a second
STOP_LIMIT_S = 5.0
PAGE_LIMIT_S = 10.0
PARENT_CHECK_S = 1.0
STDERR_SHOWN = 2000
_SEEN = TypeAdapter(tuple[SeenRequest, ...])


class ScriptedServer:
    """Start a scripted server, and stop it.

    Examples
    --------
    >>> script = Script(default=(Behaviour(content="It is 12."),))
    >>> with ScriptedServer(script) as server:
    ...     server.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, script: Script) -> None:
        self._script = script
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        """Where the API begins, as an `Endpoint` has it."""
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """Where the server's own pages begin (`/health`, `/props`)."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self._running.pid

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the scripted server was not started")
        return self._process

    def start(self) -> Self:
        """Start the process and wait until it listens.

        Raises
        ------
        InstrumentError
            If it does not come up; with what it wrote.
        """
        if self._process is not None:
            raise RuntimeError("the scripted server was started before")
        with tempfile.TemporaryDirectory(prefix="arnes-scripted-") as folder:
            path = Path(folder) / "script.json"
            path.write_text(self._script.model_dump_json(), encoding="utf-8")
            errors = (Path(folder) / "stderr.txt").open("w+b")
            with errors:
                self._process = _spawn(path, errors)
                try:
                    # Once the port is here the script has been read, and the folder can go.
                    self._port = self._port_line(errors)
                except BaseException:  # Ctrl-C included: no context has been entered yet
                    self.stop()
                    raise
        return self

    def _port_line(self, errors: IO[bytes]) -> int:
        output = self._running.stdout
        assert output is not None
        ready, _, _ = select.select([output], [], [], START_LIMIT_S)
        line = output.readline() if ready else b""
        if line.strip().isdigit():
            return int(line)
        self._running.terminate()
        errors.seek(0)
        written = errors.read().decode("utf-8", errors="replace")[-STDERR_SHOWN:]
        raise InstrumentError(
            "the scripted server did not start",
            [Problem("harness.models.scripted", written.strip() or "it wrote nothing")],
        )

    def stop(self) -> None:
        """Stop the process and wait until it is gone. A second call does nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def play(self, script: Script) -> None:
        """Go over to another script, as if the server had just been started with it."""
        self._call("POST", SCRIPT_PAGE, script.model_dump_json().encode("utf-8"))

    def requests(self) -> tuple[SeenRequest, ...]:
        """Return the last completion requests that the server got, oldest first."""
        return _SEEN.validate_json(self._call("GET", REQUESTS_PAGE))

    def _call(self, method: str, page: str, body: bytes | None = None) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PAGE_LIMIT_S)
        try:
            connection.request(method, page, body)
            return connection.getresponse().read()
        finally:
            connection.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _spawn(script: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the server where `harness` can be imported, whatever the working directory is."""
    return subprocess.Popen(
        [sys.executable, "-m", "harness.models.scripted", str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=Path(__file__).resolve().parents[2],
        start_new_session=True,  # Ctrl-C is for whoever started it, who then stops it
    )


def main(arguments: list[str]) -> int:
    """Serve a script until standard input ends; exit status 2 if it cannot be read."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m harness.models.scripted SCRIPT.json\n")
        return 2
    try:
        script = Script.model_validate_json(Path(arguments[0]).read_bytes())
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"{arguments[0]}: {problem}\n")
        return 2
    parent = os.getppid()
    with PlayServer(script, SystemClock()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        _wait_for_the_end(parent)
        server.shutdown()
    return 0


def _wait_for_the_end(parent: int) -> None:
    """Return when standard input ends, or when another process has become the parent.

    The second covers a forked sibling that holds the pipe open after the parent is gone.
    """
    pipe = sys.stdin.fileno()
    while os.getppid() == parent:
        ready, _, _ = select.select([pipe], [], [], PARENT_CHECK_S)
        if ready and not os.read(pipe, 4096):
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
