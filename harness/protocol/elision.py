"""The conversation as it is sent, and how it is shortened before it outgrows the window.

The rule counts characters and knows no tokenizer, so that every model sees the same words. It
works on what was sent before, not on the whole history: what is shortened stays shortened, and
between two shortenings the messages only grow at their end, which a server's cache rewards.
"""

from dataclasses import dataclass, replace

from harness.arnes import Context
from harness.errors import Problem
from harness.protocol.calls import Call
from harness.protocol.writing import capped_reply, counter_line, left_out_line, result_text
from harness.records.response import Message

SHORT_CHARS = 160  # a message of this length is left as it is
FIRST_LINE_CHARS = 80
WHOLE_ROUNDS = 2  # the newest ones are never shortened, only dropped


@dataclass(frozen=True)
class Round:
    """A reply of the model as it is sent again, and the answer of the harness."""

    reply: str
    answer: str

    @property
    def chars(self) -> int:
        """Characters of both messages."""
        return len(self.reply) + len(self.answer)


@dataclass(frozen=True)
class Conversation:
    """What is sent with the next request.

    system, task : the two texts that every request begins with
    rounds : oldest first; after `left_out` others that are dropped
    """

    system: str
    task: str
    rounds: tuple[Round, ...] = ()
    left_out: int = 0

    @property
    def opening(self) -> str:
        """The task message, which says what was dropped behind it."""
        if not self.left_out:
            return self.task
        return f"{self.task}\n\n[replies 1 to {self.left_out} and their results are left out]"

    @property
    def chars(self) -> int:
        """Characters of all messages."""
        return len(self.system) + len(self.opening) + sum(r.chars for r in self.rounds)

    def messages(self, *, system_role: bool = True) -> tuple[Message, ...]:
        """Return the messages; after the first, user and assistant alternate.

        Parameters
        ----------
        system_role : False where the template refuses a system message; then the same words
            open the first user message
        """
        opening = self.opening if system_role else f"{self.system}\n\n{self.opening}"
        sent = [Message(role="system", content=self.system)] if system_role else []
        sent.append(Message(role="user", content=opening))
        for one in self.rounds:
            sent.append(Message(role="assistant", content=one.reply))
            sent.append(Message(role="user", content=one.answer))
        return tuple(sent)

    def after(self, kept: str, answer: str, context: Context) -> "Conversation":
        """Return the conversation with one more round, shortened where it has grown too long.

        Parameters
        ----------
        kept : what was read of the reply (`Call.kept`, `Malformed.kept`, `Idle.kept`)
        answer : the answer of the harness (`writing`)
        """
        added = Round(capped_reply(kept, context.resent_reply_cap_chars), answer)
        return shortened(replace(self, rounds=(*self.rounds, added)), context)


def longest_conversation(
    system: str, task: str, context: Context, *, replies: int, filler: str
) -> Conversation:
    """Return the longest thing that can be sent: full replies, full results, at every turn.

    Parameters
    ----------
    replies : how many the model has
    filler : text that the messages are filled with; digits cost the most tokens
    """
    longest = talk = Conversation(system, task)
    reply, result = (
        (filler * (cap // len(filler) + 1))[:cap]
        for cap in (context.resent_reply_cap_chars, context.result_cap_chars)
    )
    for number in range(1, replies + 1):
        counter = counter_line(number, replies, cost=99)
        call = Call("delete_file", ignored=("sql",) * 9)
        answer = result_text(
            call, "error", result, counter=counter, cap_chars=context.result_cap_chars
        )
        talk = talk.after(reply, answer, context)
        longest = max(longest, talk, key=lambda one: one.chars)
    return longest


def opening_problem(system: str, task: str, context: Context) -> Problem | None:
    """Return what is wrong with the two texts that open every request of a task, or None."""
    chars = len(system) + len(task)
    allowed = context.system_and_task_chars
    if chars <= allowed:
        return None
    what = f"system text ({len(system)}) and task text ({len(task)}) are {chars} characters"
    return Problem("prompt.md", f"{what}, {allowed} are allowed", "shorten the task text")


def shortened(conversation: Conversation, context: Context) -> Conversation:
    """Shorten a conversation that has passed the upper mark until it is below the lower one.

    First, from the oldest, a message becomes its first line and a note; the last two rounds
    stay whole. Then the oldest round is dropped, which the task message says. The last round
    is never touched: a model always sees the answer to its last call.
    """
    if conversation.chars <= context.elide_above_chars:
        return conversation
    messages = [text for one in conversation.rounds for text in (one.reply, one.answer)]
    excess = conversation.chars - context.elide_to_chars
    for place, text in enumerate(messages[: -2 * WHOLE_ROUNDS]):
        if excess > 0:
            messages[place] = _first_line(text)
            excess -= len(text) - len(messages[place])
    rounds = [Round(*pair) for pair in zip(messages[::2], messages[1::2], strict=True)]
    shorter = replace(conversation, rounds=tuple(rounds))
    while shorter.chars > context.elide_to_chars and len(shorter.rounds) > 1:
        shorter = replace(shorter, rounds=shorter.rounds[1:], left_out=shorter.left_out + 1)
    return shorter


def _first_line(text: str) -> str:
    """Return the first line of a long message and how much of it is missing."""
    if len(text) <= SHORT_CHARS:
        return text
    line = text.split("\n", 1)[0][:FIRST_LINE_CHARS]
    return f"{line}\n{left_out_line(len(text) - len(line))}"
