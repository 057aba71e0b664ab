"""Does the chat template pass on what is said? Proved where the server shows the filled template.

A template can lose the user's text and still be answered with status 200. Asking the model to
repeat something proves nothing: a small one fails with a sound template, and a large one
guesses.
"""

from dataclasses import dataclass

from harness.backends.finding import Finding
from harness.backends.interview import without_system_role
from harness.backends.probe import Answer, Probe
from harness.records.base import Json

# Words that stand in no template and that no tokenizer can have as a piece.
SYSTEM_MARK = "qzvexil-system-7731"
MARKS = {
    "user": "brondwick-user-2208",
    "assistant": "plimforth-assistant-9914",
    "last user": "ostravane-user-5567",
}
NOT_CHECKABLE = Finding(
    name="template",
    ok=None,
    found="not checkable here: the server does not show the filled template",
)


@dataclass(frozen=True)
class Proof:
    """What the template does.

    system_role : False when it refuses or drops a system message; None when that is not shown
    """

    system_role: bool | None
    findings: tuple[Finding, ...]


def prove(probe: Probe, *, system: bool) -> Proof:
    """Fill the server's template with marks, and look for them.

    Parameters
    ----------
    probe : the server
    system : whether a system message is to be sent at all
    """
    answer = _filled(probe, system=system)
    text = answer.fields.get("prompt")
    if system and not isinstance(text, str) and _refused(answer):
        bare = prove(probe, system=False)
        if bare.findings != (NOT_CHECKABLE,):
            why = f"the template answers {answer.status}"
            return Proof(False, (*bare.findings, without_system_role(why)))
    if not isinstance(text, str):
        return Proof(None, (NOT_CHECKABLE,))
    lost = [role for role, mark in MARKS.items() if mark not in text]
    finding = Finding(name="template", ok=True, found="holds every message that was sent")
    if lost:
        finding = Finding(
            name="template",
            ok=False,
            found=f"it loses the text of: {', '.join(lost)}",
            todo="give the server the model's own chat template (the whole text, not a name)",
        )
    if system and SYSTEM_MARK not in text:
        return Proof(False, (finding, without_system_role("the template drops it")))
    return Proof(system or None, (finding,))


def _filled(probe: Probe, *, system: bool) -> Answer:
    messages: list[Json] = [
        {"role": role.split()[-1], "content": f"Take {mark} down."} for role, mark in MARKS.items()
    ]
    if system:
        messages.insert(0, {"role": "system", "content": f"The code is {SYSTEM_MARK}."})
    return probe.post("/apply-template", {"messages": messages})


def _refused(answer: Answer) -> bool:
    """Tell a template that raised from a route that does not exist."""
    return answer.status is not None and answer.status >= 400 and answer.status not in {404, 405}
