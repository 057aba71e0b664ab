"""What parsing made of a cell's replies: the deliverable, and how it was found.

Parsing is a pure function of the stored exchanges and of what the task asks for, so this record
can be rebuilt at any time. It is replaced whole, never edited.
"""

from pydantic import Field

from harness.records.base import Record
from harness.records.score import ModelCause
from harness.records.world import AgentRecord


class ParsedReply(Record):
    """The deliverable of a cell, and the steps that led to it.

    text : the visible reply (reasoning, channel markup and leaked turns removed)
    reasoning : what was taken away as reasoning, for the reader; never graded
    answers : asked key → the value as the model wrote it, last line wins
    files : asked path → content; only asked paths are ever here
    flags : integrity marks such as `two-finals`, `stop-leak`; they never change points
    cause : why less than everything was found, or None
    unknown_answers : answer lines for keys that nobody asked
    steps : one plain sentence per step that changed something, for `arnes explain`
    cell : journal and worlds of an agent cell, whose `text` and `reasoning` are empty and whose
        `files` are the asked ones among the world's files at its end
    """

    schema_version: int = 1
    parser_version: str
    text: str
    reasoning: str = ""
    answers: dict[str, str] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    flags: tuple[str, ...] = ()
    cause: ModelCause | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    unknown_answers: int = 0
    steps: tuple[str, ...] = ()
    cell: AgentRecord | None = None
