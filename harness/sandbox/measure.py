"""One fork of a sandbox, from its start to its end."""

import socket
from dataclasses import dataclass
from typing import Protocol

from harness.arnes import SandboxLimits
from harness.records.base import Json
from harness.sandbox.inside.codec import Channel
from harness.sandbox.observation import KilledBy
from harness.sandbox.watch import Watch

END_S = 10.0
FROM_INSIDE = (1 << 20) + 65536  # a value may have 1 MiB; the frame around it a little more


class Home(Protocol):
    """What a measure needs of its sandbox."""

    broken: bool

    def tell(self, message: dict[str, Json]) -> None:
        """Send the zygote one message."""
        ...

    def report(self, key: str, number: int, limit_s: float) -> dict[str, Json] | None:
        """Wait for the zygote's message of that key and measure."""
        ...

    def destroy(self) -> None:
        """End everything at once."""
        ...


@dataclass(frozen=True)
class Ending:
    """How a measure ended, as the trusted processes saw it."""

    killed_by: KilledBy
    exit_status: int | None
    wall_s: float
    cpu_s: float
    peak_mib: float
    stray_processes: int
    stdout: bytes
    stderr: bytes


class Measure:
    """One fork, from its start to its end. The channel is its only way to say anything."""

    def __init__(
        self,
        sandbox: Home,
        number: int,
        sock: socket.socket,
        watch: Watch,
        limits: SandboxLimits,
    ) -> None:
        self.channel = Channel(sock, FROM_INSIDE)
        self.watch = watch
        self._sandbox = sandbox
        self._number = number
        self._limits = limits
        watch.start()

    def send(self, payload: bytes) -> bool:
        """Give the measure one frame; False when it is gone."""
        try:
            self.channel.send(payload)
        except OSError:
            return False
        return True

    def receive(self) -> bytes | None:
        """Return the measure's next frame; None when it is gone, or was ended by the watch."""
        frame = self.channel.receive()
        self.watch.heard()
        return frame

    def finish(self, *, wait: bool = False) -> Ending:
        """End the measure and everything it started, and say how it ended.

        wait : let it end by itself, under its limits
        """
        if not wait:
            self._sandbox.tell({"kill": self._number})
        patience = END_S + (self._limits.wall_s if wait else 0)
        message = self._sandbox.report("ended", self._number, patience)
        wall_s = self.watch.wall_s
        if message is None:
            self._sandbox.destroy()
        output, errors = self.watch.finish()
        self.channel.sock.close()
        if message is None:
            return Ending(self.watch.cause, None, wall_s, 0.0, 0.0, 0, output, errors)
        if not message["clean"]:
            self._sandbox.broken = True  # its folder could not be emptied: never used again
        return Ending(
            killed_by=self._cause(message),
            exit_status=_integer(message["status"]),
            wall_s=wall_s,
            cpu_s=_number(message["cpu_s"]),
            peak_mib=_number(message["peak_kib"]) / 1024,
            stray_processes=_integer(message["stray"]),
            stdout=output,
            stderr=errors,
        )

    def _cause(self, message: dict[str, Json]) -> KilledBy:
        if message["cause"] == "disk":
            return "disk"
        if not self.watch.cause and _number(message["cpu_s"]) > self._limits.cpu_s:
            return "cpu"
        return self.watch.cause


def _integer(value: Json) -> int:
    assert isinstance(value, int)
    return value


def _number(value: Json) -> float:
    assert isinstance(value, int | float)
    return float(value)
