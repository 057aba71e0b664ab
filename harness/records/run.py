"""Who ran what, where: endpoints, servers, and `RUN_INFO.json`."""

from typing import Annotated, Literal

from pydantic import Field

from harness.records.base import Json, Record
from harness.records.score import Stamps


class Endpoint(Record):
    """A served model as requests reach it. The key itself is in no record: only its variable.

    system_role : False when the template refuses a system message; then the same words open
        the first user message (stamped, the same for every task of this model).
    """

    base_url: str
    model: str
    api_key_env: str | None = None
    extra_body: dict[str, Json] = Field(default_factory=dict)
    system_role: bool = True


class ServerInfo(Record):
    """What preflight found out about the server, before any score."""

    engine: str
    build: str = ""
    model_digest: str | None = None
    window_tokens: int | None = None
    window_source: Literal["server", "plan", "unknown"] = "unknown"
    chat_template_digest: str | None = None
    system_role: bool = True
    tokens_per_s: float | None = None
    flags: dict[str, Json] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class HostInfo(Record):
    """The machine and the code, compared with a warning, never part of a signature."""

    python: str
    implementation: str
    platform: str
    machine: str
    hostname_digest: str
    cpu: str
    cores: int
    memory_bytes: int
    packages: dict[str, str]
    code_revision: str | None
    code_dirty: bool | None


class Session(Record):
    """An earlier pass over a run, which a later one went on with.

    changed : in what the server was another one at its end; empty if it was not
    """

    started_at: str
    server: ServerInfo
    host: HostInfo
    changed: str = ""


class RunInfo(Record):
    """`RUN_INFO.json`: one model, one run.

    earlier : the passes before the last one, oldest first; server and host are of the last one
    """

    schema_version: Literal[1] = 1
    model: str
    run: Annotated[int, Field(ge=1)]
    backend: str
    endpoint: Endpoint
    server: ServerInfo
    allow_slow: bool = False
    control: bool = False
    tasks: tuple[str, ...]
    seed: int
    stamps: Stamps
    host: HostInfo
    started_at: str
    earlier: tuple[Session, ...] = ()
    finished_at: str | None = None
    status: Literal["started", "finished", "changed", "set_aside"]
    detail: str = ""

    @property
    def passes(self) -> tuple[Session, ...]:
        """Every pass over the run so far, oldest first, this one included."""
        last = Session(
            started_at=self.started_at,
            server=self.server,
            host=self.host,
            changed=self.detail if self.status == "changed" else "",
        )
        return (*self.earlier, last)
