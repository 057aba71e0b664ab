"""What is really served, found out before any score: everything is looked at, then judged once.

A server that is up is not yet one that can be measured. Each check here stands for a fault
that was seen to pass unnoticed into results: a window split between slots, a template that
drops the question, stop tokens that end every reply, an error sent as an answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.arnes import Sampling
from harness.backends.finding import Finding
from harness.backends.interview import Ask, Heard, Interview
from harness.backends.needle import HeadRead, find_head
from harness.backends.probe import Probe
from harness.backends.template import prove
from harness.backends.window import Need, TaskFit, Windows
from harness.errors import EndpointError, Problem
from harness.records.base import Record
from harness.records.run import Endpoint, ServerInfo

__all__ = ["Need", "PreflightReport", "TaskFit", "preflight"]


class PreflightReport(Record):
    """An endpoint that can be measured, and what about it has to be stamped.

    endpoint : as it must be asked; `system_role` may have become False
    slow : it cannot write its longest reply within the limit of a call, and the plan allows it
    head : the long prompt whose head was read
    """

    endpoint: Endpoint
    server: ServerInfo
    findings: tuple[Finding, ...]
    fits: tuple[TaskFit, ...]
    slow: bool
    head: HeadRead | None = None

    @property
    def refused(self) -> dict[str, str]:
        """Task id → why it does not fit the window. The caller decides what that means."""
        return {fit.task: fit.why for fit in self.fits if fit.fits is False}


@dataclass
class _Examination:
    """One preflight while it goes on."""

    endpoint: Endpoint
    interview: Interview
    probe: Probe
    tell: Callable[[str], None]
    head: HeadRead | None
    findings: list[Finding] = field(default_factory=list)

    def say(self, what: str) -> None:
        """Tell whoever waits what is being done."""
        self.tell(f"preflight of {self.endpoint.model}: {what}")

    def talk(self, *, long_reply: bool) -> tuple[int, float | None]:
        """Ask the model; return the tokens of a short prompt and the speed of a long reply."""
        self.say("first reply")
        first, found = self.interview.first()
        self.findings += [*found, _identity(self.endpoint.model, first)]
        if first.problem:
            raise self.failure(())  # nothing else can be asked
        self.say("template and roles")
        proof = prove(self.probe, system=self.interview.system_role)
        if proof.system_role is False and self.interview.system_role:
            self.interview.system_role = False
            self.findings = [f for f in self.findings if f.name != "system role"]
        self.findings += [*proof.findings, self.interview.roles()]
        template_tokens = first.completion.prompt_tokens or 0
        if not long_reply:
            return template_tokens, None
        self.say("a reply of 200 words")
        long, finding = self.interview.long_reply()
        self.findings.append(finding)
        return template_tokens, None if long is None else long.tokens_per_s

    def fill_window(self, fits: tuple[TaskFit, ...], window: int | None) -> None:
        """Send a prompt as long as the longest that fits, and see whether its head is read."""
        lengths = [fit.likely_tokens for fit in fits if fit.fits is not False]
        if lengths:
            self.say("the head of a long prompt")
            found, self.head = find_head(self.interview, max(lengths), window, self.head)
            self.findings.append(found)

    def failure(self, fits: tuple[TaskFit, ...]) -> EndpointError:
        """Return the error with everything that stands in the way."""
        problems = [finding.problem for finding in self.findings if finding.ok is False]
        problems += [
            Problem(fit.task, fit.why, "a larger window, or a plan without this task")
            for fit in fits
            if fit.fits is False
        ]
        return EndpointError(
            f"{self.endpoint.model} at {self.endpoint.base_url} cannot be measured: "
            f"{len(problems)} problem(s)",
            problems,
            "Nothing was scored.",
        )


def preflight(
    endpoint: Endpoint,
    ask: Ask,
    describe: Callable[[], ServerInfo],
    needs: Mapping[str, Need],
    *,
    sampling: Sampling,
    call_timeout_s: float,
    allow_slow: bool = False,
    before: PreflightReport | None = None,
    api_key: str | None = None,
    progress: Callable[[str], None] = lambda _what: None,
) -> PreflightReport:
    """Find out whether an endpoint can be measured as it is.

    Parameters
    ----------
    endpoint : where the model answers
    ask : one request → one exchange; the channel's own retries and waiting for 503 included
    describe : the backend's `info`; called after a first reply, when servers know most
    needs : task id → what it sends and may get back
    sampling, call_timeout_s : as in the campaign's config
    allow_slow : of the plan: a model too slow for its caps is stamped instead of refused
    before : the look before a run, for the one after it (`served.recheck`): that leaves out the
        reply of 200 words, and with it stop tokens and speed, and what shows how long a prompt
        has to be
    api_key : for the small questions beside the chat route
    progress : told what is being done

    Returns
    -------
    PreflightReport
        Tasks that do not fit the window are named in `refused`, and are no error here.

    Raises
    ------
    EndpointError
        With every problem at once.
    """
    with Probe(endpoint.base_url, api_key) as probe:
        interview = Interview(endpoint.model, ask, sampling, endpoint.system_role)
        head = None if before is None else before.head
        examination = _Examination(endpoint, interview, probe, progress, head)
        template_tokens, tokens_per_s = examination.talk(long_reply=before is None)
        server = describe()
        examination.say("window")
        windows = Windows(probe, interview, server, template_tokens)
        examination.findings.append(windows.finding())
        fits = windows.fits(needs)
        examination.fill_window(fits, server.window_tokens)
    slow = False
    if before is None:
        longest = max((n.max_tokens for n in needs.values()), default=0)
        speed, slow = _speed(tokens_per_s, longest, call_timeout_s, allow_slow=allow_slow)
        examination.findings.append(speed)
    if any(finding.ok is False for finding in examination.findings):
        raise examination.failure(fits)
    return _report(examination, server, fits, tokens_per_s, slow=slow)


def _report(
    examination: _Examination,
    server: ServerInfo,
    fits: tuple[TaskFit, ...],
    tokens_per_s: float | None,
    *,
    slow: bool,
) -> PreflightReport:
    system_role = examination.interview.system_role
    open_ends = tuple(f"{f.name}: {f.found}" for f in examination.findings if f.ok is None)
    return PreflightReport(
        endpoint=examination.endpoint.model_copy(update={"system_role": system_role}),
        server=server.model_copy(
            update={
                "system_role": system_role,
                "tokens_per_s": None if tokens_per_s is None else round(tokens_per_s, 1),
                "notes": server.notes + open_ends,
            }
        ),
        findings=tuple(examination.findings),
        fits=fits,
        slow=slow,
        head=examination.head,
    )


def _identity(asked: str, heard: Heard) -> Finding:
    """Compare the model's name in a reply; routers legitimately answer with another one."""
    told = heard.completion.model
    if told == asked:
        return Finding(name="identity", ok=True, found=asked)
    if told is None:
        return Finding(name="identity", ok=None, found="the reply names no model")
    return Finding(
        name="identity",
        ok=None,
        found=f"asked {asked!r}, the reply names {told!r}",
        todo="make sure that this is the model you mean",
    )


def _speed(
    tokens_per_s: float | None, longest: int, limit_s: float, *, allow_slow: bool
) -> tuple[Finding, bool]:
    """Compare the speed with the longest reply; generation does not get faster with length."""
    if tokens_per_s is None:
        return Finding(name="speed", ok=None, found="not measured"), False
    found = f"{tokens_per_s:.1f} tokens/s"
    needed_s = longest / tokens_per_s
    if needed_s <= limit_s:
        return Finding(name="speed", ok=True, found=found), False
    found = f"{found}: {longest} tokens take {needed_s:.0f} s, a call has {limit_s:g} s"
    if allow_slow:
        return Finding(name="speed", ok=True, found=f"{found} (allow_slow)"), True
    todo = "a faster server or a smaller model; allow_slow = true in the plan cuts replies by time"
    return Finding(name="speed", ok=False, found=found, todo=todo), False
