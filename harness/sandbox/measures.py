"""Ask one measure one thing, and turn what comes back into an observation.

The first frame that carries the nonce and index of the question is the answer. Everything else is
garbage: it is counted as evidence, and a flood of it ends the measure.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from harness.records.base import Json
from harness.sandbox.inside import codec
from harness.sandbox.measure import Ending, Measure
from harness.sandbox.observation import Evidence, KilledBy, Observation, OutcomeKind, Usage
from harness.sandbox.owner import NoQuestionError, OverBudgetError, Owned, Owner
from harness.sandbox.process import Sandbox, Terms

MOST_GARBAGE = 100
PRINTED_CHARS = 2000
TEXT_CHARS = 300
CAUSED_BY_TIME = ("wall", "cpu", "silence")
NONCE_BYTES = 16

Reply = Mapping[str, Any]


class Asker:
    """Reads a measure's frames until the answer to one question comes."""

    def __init__(self, measure: Measure, owner: Owner | None = None) -> None:
        self.measure = measure
        self.owner = owner
        self.garbage = 0

    def answer(self, nonce: str, index: int) -> Reply | None:
        """Return the answer; None when the measure ended without one."""
        while (frame := self.measure.receive()) is not None:
            if self.owner is not None and frame[:1].isdigit():
                self._serve(self.owner, frame)
                continue
            reply = read_reply(frame)
            if reply is not None and reply["nonce"] == nonce and reply["index"] == index:
                return reply
            self.discard()
        return None

    def discard(self) -> None:
        """Count one frame that was no answer; too many end the measure."""
        self.garbage += 1
        if self.garbage == MOST_GARBAGE:
            self.measure.watch.end("garbage")

    def _serve(self, owner: Owner, frame: bytes) -> None:
        try:
            self.measure.send(owner.answer(frame))
        except OverBudgetError:
            self.measure.watch.end("accesses")
        except NoQuestionError:
            self.discard()


def read_reply(frame: bytes) -> Reply | None:
    """Return a reply whose every field has its type; None for anything else."""
    try:
        reply = codec.read_json(frame)
    except codec.RefusedError:
        return None
    if not isinstance(reply, dict):
        return None
    texts = {"nonce": reply.get("nonce"), "error": reply.get("error", "")}
    texts |= {"text": reply.get("text", ""), "kind": reply.get("kind")}
    bases = reply.get("bases", [])
    sound = (
        all(isinstance(text, str) for text in texts.values())
        and type(reply.get("index")) is int
        and isinstance(bases, list)
        and all(isinstance(base, str) for base in bases)
        and reply["kind"] in ("value", "exception", "refused")
    )
    return reply if sound else None


def observe(
    sandbox: Sandbox, task: dict[str, Json], terms: Terms, owned: Sequence[Owned] = ()
) -> Observation:
    """Run one job in a fork of its own and return what was seen."""
    owner = Owner(owned)
    nonce = secrets.token_hex(NONCE_BYTES)
    measure = sandbox.begin(terms)
    asker = Asker(measure, owner)
    try:
        measure.send(json.dumps(task | {"nonce": nonce, "index": 0}).encode("ascii"))
        reply = asker.answer(nonce, 0)
    finally:
        ending = measure.finish()
    return observation(0, reply, ending, tuple(owner.counts), asker.garbage)


def observe_snippet(sandbox: Sandbox, source: str, payload: Any, terms: Terms) -> Observation:
    """Run a trusted text of ours inside: its ``main(payload)`` gives the value."""
    return observe(sandbox, snippet_task(source, payload), terms)


def snippet_task(source: str, payload: Any) -> dict[str, Json]:
    """Return the job that runs a trusted text over a payload."""
    return {"job": "snippet", "source": source, "payload": codec.encode(payload)}


def observation(
    index: int, reply: Reply | None, ending: Ending, accesses: tuple[int, ...], garbage: int
) -> Observation:
    """Put together what the measure said and how it ended."""
    killed_by: KilledBy = ending.killed_by
    if reply is not None and killed_by not in ("cpu", "accesses"):
        killed_by = ""  # the answer was there before we ended it
    told = spoken(index, reply) if reply is not None and not killed_by else None
    if told is None:
        silent: OutcomeKind = "timeout" if killed_by in CAUSED_BY_TIME else "died"
        told = Observation(index=index, outcome=silent, text=_died(ending) if not killed_by else "")
    return told.model_copy(
        update={
            "killed_by": killed_by,
            "accesses": accesses,
            "usage": usage(ending),
            "evidence": evidence(ending, garbage),
        }
    )


def spoken(index: int, reply: Reply) -> Observation:
    """Return the observation a reply holds; a value that is none is refused."""
    kind: OutcomeKind = reply["kind"]
    text = clean(reply.get("text", ""))
    if kind == "exception":
        return Observation(
            index=index,
            outcome="exception",
            error=clean(reply.get("error", "")),
            error_bases=tuple(clean(base) for base in reply.get("bases", [])),
            text=text,
            arguments=_encoded_or_none(reply.get("arguments")),
        )
    if kind == "value":
        try:
            codec.decode(reply.get("value"))
        except (codec.RefusedError, RecursionError) as error:
            return Observation(index=index, outcome="refused", text=str(error))
        return Observation(
            index=index,
            outcome="value",
            encoded=reply.get("value"),
            arguments=_encoded_or_none(reply.get("arguments")),
        )
    return Observation(index=index, outcome="refused", text=text)


def usage(ending: Ending) -> Usage:
    """Return what the measure used."""
    return Usage(
        wall_s=ending.wall_s,
        cpu_s=ending.cpu_s,
        peak_mib=ending.peak_mib,
        stray_processes=ending.stray_processes,
    )


def evidence(ending: Ending, garbage: int) -> Evidence:
    """Return what a person may read."""
    return Evidence(
        stdout=_shown(ending.stdout),
        stderr=_shown(ending.stderr),
        exit_status=ending.exit_status,
        garbage=garbage,
    )


def clean(text: str) -> str:
    """Return the beginning of a foreign text, as something that can be written down."""
    return text[:TEXT_CHARS].encode("utf-8", "replace").decode("utf-8")


def _encoded_or_none(data: Json) -> Json:
    try:
        codec.decode(data)
    except (codec.RefusedError, RecursionError):
        return None
    return data


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "replace")[:PRINTED_CHARS]


def _died(ending: Ending) -> str:
    if ending.exit_status is None:
        return "the sandbox was lost"
    return f"ended without an answer, exit status {ending.exit_status}"
