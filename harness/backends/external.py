"""A server that already runs: any OpenAI-compatible base URL. It is asked, and never stopped."""

import os
from collections.abc import Mapping
from pathlib import Path

from harness.backends.base import Backend
from harness.backends.engines import describe
from harness.backends.options import options_of, refused
from harness.backends.probe import Answer, Probe, api_urls, model_names, problem_with_url
from harness.clock import Clock
from harness.errors import EndpointError, Problem, nearest
from harness.records.base import Record
from harness.records.campaign import PlannedModel
from harness.records.run import Endpoint, ServerInfo

LOADING_LIMIT_S = 900.0
LOADING_POLL_S = 2.0
NAMES_SHOWN = 20


class ExternalOptions(Record):
    """There is none: how such a server runs is decided by whoever started it."""


class ExternalBackend(Backend):
    """Find out whether and under which name a model is served at an address.

    Parameters
    ----------
    planned : the plan's entry; `base_url` with or without `/v1`
    clock : a server that is still loading is waited for
    environment : where the API key is looked up
    """

    def __init__(
        self, planned: PlannedModel, clock: Clock, environment: Mapping[str, str] = os.environ
    ) -> None:
        options_of(planned, ExternalOptions)
        url = planned.base_url or ""
        problem = problem_with_url(url) if url else "missing"
        if problem:
            todo = 'name the running server, such as "http://127.0.0.1:8080/v1"'
            raise refused(planned, [Problem(f"models.{planned.id}.base_url", problem, todo)])
        self._planned = planned
        self._url = url
        self._clock = clock
        self._environment = environment
        self._probe: Probe | None = None
        self._model = ""

    def start(self) -> Endpoint:
        """Check that the server answers, and which of its models is meant."""
        self.stop()
        try:
            self._probe, listing = self._reach()
            self._model = self._served_name(listing)
        except BaseException:
            self.stop()
            raise
        return Endpoint(
            base_url=self._probe.base_url,
            model=self._model,
            api_key_env=self._planned.api_key_env,
            extra_body=self._planned.extra_body,
        )

    def info(self) -> ServerInfo:
        """Return what the server tells now: some know their window only once a model is loaded."""
        if self._probe is None:
            raise EndpointError(f"{self._planned.id} was not started")
        return describe(self._probe, self._model, self._planned.context_tokens)

    def alive(self) -> bool:
        """True while the server answers, or says that it is loading.

        A 502 is a proxy's word for a server that is gone.
        """
        status = None if self._probe is None else self._probe.get_api("/models").status
        return status is not None and (status < 500 or status == 503)

    def stop(self) -> None:
        """Close our connections. The server goes on: it is not ours."""
        if self._probe is not None:
            self._probe.close()
            self._probe = None

    def _reach(self) -> tuple[Probe, Answer]:
        """Return a probe at the API's root, and its list of models."""
        key = self._key()
        answers = []
        for url in api_urls(self._url):
            probe = Probe(url, key)
            answer = self._listing(probe)
            if model_names(answer) is not None:
                return probe, answer
            probe.close()
            answers.append(answer)
            if answer.status in {None, 401, 403, 503}:
                break  # the other address would be answered in the same way
        raise self._failure(*what_is_wrong(answers))

    def _listing(self, probe: Probe) -> Answer:
        """Ask for the list of models; wait while the server says that it is loading."""
        deadline = self._clock.monotonic() + LOADING_LIMIT_S
        answer = probe.get_api("/models")
        while answer.status == 503 and self._clock.monotonic() < deadline:
            self._clock.sleep(LOADING_POLL_S)
            answer = probe.get_api("/models")
        return answer

    def _served_name(self, listing: Answer) -> str:
        names = model_names(listing) or ()
        wanted = self._planned.served_name
        where = f"models.{self._planned.id}.served_name"
        if wanted is not None:
            return wanted if wanted in names or not names else self._unlisted(wanted, names)
        if len(names) == 1:
            return names[0]
        if not names:
            raise self._failure("the server lists no model", f"load one, or write {where}")
        shown = ", ".join(names[:NAMES_SHOWN])
        more = f", and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        raise self._failure(f"the server lists {len(names)} models: {shown}{more}", f"name {where}")

    def _unlisted(self, wanted: str, names: tuple[str, ...]) -> str:
        """Refuse a name that is not listed: many servers answer to any name with what they have."""
        if f"{wanted}:latest" in names:  # Ollama's tag, which may be left out
            return wanted
        raise self._failure(
            f"the server lists no model {wanted!r}",
            nearest(wanted, names[:NAMES_SHOWN]),
        )

    def _key(self) -> str | None:
        name = self._planned.api_key_env
        if name is None:
            return None
        key = self._environment.get(name)
        if not key:
            raise self._failure(f"the variable {name} is not set", f"export {name}=…")
        return key

    def _failure(self, what: str, todo: str) -> EndpointError:
        return EndpointError(
            f"{self._planned.id} cannot be reached as it is planned",
            [Problem(self._url, what, todo)],
            "Nothing was run.",
        )


def external(planned: PlannedModel, _log: Path, clock: Clock) -> ExternalBackend:
    """Return the backend of a planned model; it writes no log, the server has its own."""
    return ExternalBackend(planned, clock)


def what_is_wrong(answers: list[Answer]) -> tuple[str, str]:
    """Say what stands in the way, from what was answered at each address that was tried."""
    statuses = [answer.status for answer in answers]
    if all(status is None for status in statuses):
        return f"nothing answers: {answers[0].error}", "start the server, or correct base_url"
    if any(status in {401, 403} for status in statuses):
        return "the server refuses the key", "write api_key_env in the plan, or correct the key"
    if 503 in statuses:
        return f"still loading after {LOADING_LIMIT_S:g} s", "look at the server's log"
    shown = " and ".join(str(status) for status in statuses if status is not None)
    return (
        f"/models answers {shown} and no list of models",
        "correct base_url: it ends where /chat/completions begins",
    )
