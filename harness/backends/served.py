"""Is what is served still what was served? Two looks at one model, compared fact by fact."""

from collections.abc import Callable

from harness.backends.finding import Finding
from harness.backends.preflight import PreflightReport
from harness.errors import EndpointError
from harness.records.base import Json, Record, canonical_json
from harness.records.run import ServerInfo

# Flags that say what the model is and how it is sampled; others (as how often a request came)
# may change without changing a reply.
FLAGS = (
    "quantisation",
    "quantization",
    "quantization_level",
    "model_ftype",
    "model_file",
    "stop",
    "eos_token",
    "total_slots",
    "sampler_defaults",
)


class Change(Record):
    """A fact that was another one before."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.what}: {self.before} before, {self.after} now"


def changes(before: PreflightReport, after: PreflightReport) -> tuple[Change, ...]:
    """Return what differs between two looks, in the order of the facts.

    What only one of them was told is no change: some engines tell more once they have answered.
    """
    then, now = _facts(before), _facts(after)
    found = [
        Change(what=what, before=_shown(then[what]), after=_shown(now[what]))
        for what in then
        if then[what] is not None and now[what] is not None and then[what] != now[what]
    ]
    outcomes = {finding.name: finding for finding in after.findings}
    for finding in before.findings:
        other = outcomes.get(finding.name)
        if other is not None and other.ok is not finding.ok:
            found.append(Change(what=finding.name, before=_told(finding), after=_told(other)))
    return tuple(found)


def recheck(
    before: PreflightReport, again: Callable[[], PreflightReport]
) -> tuple[PreflightReport | None, tuple[Change, ...]]:
    """Look again after a run, and compare.

    Parameters
    ----------
    before : the look from before the run
    again : looks once more, as with `preflight(…, before=before)`

    Returns
    -------
    The second look, and what has changed. A model that cannot be measured any more is a change,
    and there is no second look then.
    """
    try:
        after = again()
    except EndpointError as error:
        said = "; ".join(f"{problem.where}: {problem.what}" for problem in error.problems)
        change = Change(what="preflight", before="passed", after=said or error.headline)
        return None, (change,)
    return after, changes(before, after)


def _facts(report: PreflightReport) -> dict[str, Json]:
    server: ServerInfo = report.server
    facts: dict[str, Json] = {
        "engine": server.engine,
        "build": server.build or None,
        "weights": server.model_digest,
        "window": server.window_tokens,
        "template": server.chat_template_digest,
        "system role": report.endpoint.system_role,
        "name": report.endpoint.model,
    }
    return facts | {f"flag {name}": server.flags.get(name) for name in FLAGS}


def _told(finding: Finding) -> str:
    word = {True: "well", False: "not well", None: "not told"}[finding.ok]
    return f"{word} ({finding.found})"


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else canonical_json(value).decode("utf-8")
