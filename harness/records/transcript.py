"""The transcript of an agent cell: one line per reply, for people and for comparison.

It is rebuilt from the stored exchanges at any time and must then be the same to the byte; a
transcript that comes out otherwise is reported, never overwritten.
"""

from typing import Literal

from harness.records.base import Record
from harness.records.world import Step


class Turn(Record):
    """One reply, what came of it, and what the harness answered.

    sent_chars : length of the conversation that the reply answers
    left_out : earlier replies that were no part of it any more
    cut : what ended the reply before its own end: the generation cap, or the whole-call limit
    reasoning_chars : length of the reasoning, which is never sent again
    reply : the part of the visible reply that is sent again
    answer : what the harness answered
    """

    number: int
    sent_chars: int
    left_out: int = 0
    cut: Literal["", "tokens", "time"] = ""
    reasoning_chars: int = 0
    reply: str
    step: Step
    answer: str
