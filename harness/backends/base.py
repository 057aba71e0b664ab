"""What the rest of the harness knows of a backend: bring a server up, and take it down again."""

from pathlib import Path
from types import TracebackType
from typing import Protocol

from harness.errors import Problem
from harness.records.run import Endpoint, ServerInfo


class Backend(Protocol):
    """One served model, from start to stop.

    Used as a context manager, so that a server is gone on every way out, Ctrl-C included:
    ``with backend as endpoint: …``. A start that fails leaves nothing running.
    """

    def start(self) -> Endpoint:
        """Bring the server up, wait until it really answers, and return its address.

        Raises
        ------
        EndpointError
            If it cannot be brought up, or what answers is not what was started.
        """
        ...

    def info(self) -> ServerInfo:
        """Return what is known about the server now; an engine may tell more once it has answered.

        Raises
        ------
        EndpointError
            If it was not started.
        """
        ...

    def weights(self) -> tuple[Path, ...]:
        """Return the files that a start reads; none where only the engine knows them."""
        return ()

    def missing(self) -> tuple[Problem, ...]:
        """Return what a start needs and this machine does not have; a look at names alone."""
        return ()

    def alive(self) -> bool:
        """True while the server can be asked."""
        ...

    def stop(self) -> None:
        """End what was started, with all its processes, and wait until it is gone.

        Harmless when nothing was started, and when it is called again. A server that somebody
        else started goes on running.
        """
        ...

    def __enter__(self) -> Endpoint:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def tail_of(log: Path, lines: int = 10) -> str:
    """Return the last lines of a server's log, for an error message.

    Some programs name the wrong argument first, and explain it in half a dozen lines after that.
    """
    if not log.is_file():
        return "(no log)"
    text = log.read_text(encoding="utf-8", errors="replace").strip()
    return "\n".join(text.splitlines()[-lines:]) or "(the log is empty)"
