"""LM Studio that already runs, with a model loaded: found, asked with its own API, left alone."""

import os
from collections.abc import Mapping
from pathlib import Path

from harness.backends.external import ExternalBackend
from harness.backends.probe import Probe, entries
from harness.clock import Clock
from harness.errors import EndpointError, Problem, nearest
from harness.records.base import Json
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint

DEFAULT_URL = "http://127.0.0.1:1234/v1"
LISTING = "/api/v0/models"


class LmStudioBackend(ExternalBackend):
    """As `external`, and the model must be loaded with the plan's window.

    LM Studio loads a model that is only downloaded when the first request names it, with a
    window of its own choice: that would look like a measurement.
    """

    def __init__(
        self, planned: PlannedModel, clock: Clock, environment: Mapping[str, str] = os.environ
    ) -> None:
        if planned.base_url is None:
            planned = planned.model_copy(update={"base_url": DEFAULT_URL})
        super().__init__(planned, clock, environment)

    def start(self) -> Endpoint:
        """Find the server, and check that it is LM Studio and what it has loaded."""
        endpoint = super().start()
        try:
            assert self._probe is not None  # start has opened it
            self._make_sure(self._probe, endpoint.model)
        except BaseException:
            self.stop()
            raise
        return endpoint

    def _make_sure(self, probe: Probe, model: str) -> None:
        listed = entries(probe.get(LISTING))
        if listed is None:
            todo = 'use LM Studio 0.3.6 or newer, or backend = "external"'
            raise self._refusal(f"{LISTING} has no list of models: this is no LM Studio", todo)
        names = [str(entry["id"]) for entry in listed]
        if model not in names:
            raise self._refusal(f"{model!r} is not in its own list", nearest(model, names))
        self._judge(next(entry for entry in listed if entry["id"] == model))

    def _judge(self, entry: dict[str, Json]) -> None:
        wanted = self._planned.context_tokens
        load = f"lms load {entry['id']} --context-length {wanted or 'N'}"
        if entry.get("state") != "loaded":
            raise self._refusal(f"{entry['id']!r} is {entry.get('state')!r}", f"run: {load}")
        window = entry.get("loaded_context_length")
        if wanted is not None and isinstance(window, int) and window < wanted:
            what = f"{wanted} tokens are planned, it is loaded with {window}"
            raise self._refusal(what, f"run: lms unload {entry['id']}, then: {load}")

    def _refusal(self, what: str, todo: str) -> EndpointError:
        return EndpointError(
            f"{self._planned.id} is not served as it is planned",
            [Problem(str(self._planned.base_url), what, todo)],
            "Nothing was run.",
        )


def lmstudio(planned: PlannedModel, _log: Path, clock: Clock) -> LmStudioBackend:
    """Return the backend of a planned model; it writes no log, the server has its own."""
    return LmStudioBackend(planned, clock)
