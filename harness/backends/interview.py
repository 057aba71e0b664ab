"""Questions of preflight to the model itself, through the same channel as every task."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.arnes import Sampling
from harness.backends.finding import Finding
from harness.parsing.wire import Completion, decode
from harness.records.response import ChatRequest, Exchange, Message

Ask = Callable[[ChatRequest], Exchange]

FEW_TOKENS = 16
LONG_WORDS = 200
LONG_TOKENS = 400  # 200 words are some 270 tokens of English prose
LONG_TRIES = 3

SYSTEM_TEXT = "You answer briefly and in English."
SHORT_QUESTION = "Name a colour of the sea."
STORY = (
    "Write a story of at least 400 words about a lighthouse keeper and a ship that lost its way. "
    "Tell what the weather was like, who came to help, what went wrong, and how it ended. "
    "Do not stop before the story has reached its end."
)


@dataclass(frozen=True)
class Heard:
    """What became of one question."""

    exchange: Exchange
    completion: Completion

    @property
    def problem(self) -> str:
        """Why this is no reply, or an empty text."""
        exchange, error = self.exchange, self.completion.error
        if exchange.cause == "error_as_answer":
            return f"an error with status {exchange.status}: {exchange.detail}"
        if exchange.ended != "reply":
            return f"{exchange.cause or 'cut by the limit of a call'}: {exchange.detail}"
        return error or ""

    @property
    def words(self) -> int:
        """Words that were written, reasoning included."""
        return len(f"{self.completion.reasoning} {self.completion.content}".split())

    @property
    def tokens_per_s(self) -> float | None:
        """Speed over the whole call: a proxy that holds chunks back cannot embellish it."""
        tokens, seconds = self.completion.completion_tokens, self.exchange.timings.total_s
        return tokens / seconds if tokens and seconds > 0 else None


@dataclass
class Interview:
    """One model, asked with the campaign's sampling.

    system_role : becomes False when the template turns out to refuse a system message
    """

    model: str
    ask: Ask
    sampling: Sampling
    system_role: bool = True

    def question(
        self, *texts: str, max_tokens: int, system: bool = False, repetition: int = 0
    ) -> Heard:
        """Send a conversation: user and assistant in turn, beginning and ending with the user."""
        messages = [
            Message(role="assistant" if place % 2 else "user", content=text)
            for place, text in enumerate(texts)
        ]
        if system:
            messages.insert(0, Message(role="system", content=SYSTEM_TEXT))
        request = ChatRequest(
            model=self.model,
            messages=tuple(messages),
            max_tokens=max_tokens,
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            seed=self.sampling.seed_base + repetition,
        )
        exchange = self.ask(request)
        return Heard(exchange, decode(exchange.body_bytes, exchange.content_type))

    def first(self) -> tuple[Heard, list[Finding]]:
        """Ask something short with a system message, and without one if that is refused."""
        heard = self.question(SHORT_QUESTION, max_tokens=FEW_TOKENS, system=True)
        if heard.problem and heard.exchange.cause in {"bad_request", "server_error"}:
            second = self.question(
                f"{SYSTEM_TEXT}\n\n{SHORT_QUESTION}", max_tokens=FEW_TOKENS, system=False
            )
            if not second.problem:
                self.system_role = False
                return second, [*_reply(second), without_system_role(heard.problem)]
        found = _reply(heard)
        if not heard.problem:
            found.append(Finding(name="system role", ok=True, found="a system message is taken"))
        return heard, found

    def roles(self) -> Finding:
        """Hold a conversation of user, assistant, user: every agent task is one."""
        heard = self.question(
            SHORT_QUESTION,
            "Blue.",
            "Name another one.",
            max_tokens=FEW_TOKENS,
            system=self.system_role,
        )
        if heard.problem:
            return Finding(
                name="roles",
                ok=False,
                found=f"user, assistant, user is refused: {heard.problem}",
                todo="give the server the model's own chat template",
            )
        return Finding(name="roles", ok=True, found="user, assistant, user is taken")

    def long_reply(self) -> tuple[Heard | None, Finding]:
        """Ask for a long text, and again with other seeds while the replies are short.

        Wrong stop tokens end every reply after a few words with the reason "stop", which
        looks like a laconic model; a cap of the server's own ends it with "length".
        """
        tries: list[str] = []
        heard: Heard | None = None
        for repetition in range(LONG_TRIES):
            heard = self.question(STORY, max_tokens=LONG_TOKENS, repetition=repetition)
            reply = heard.completion
            said = f"{heard.words} words, {reply.completion_tokens} tokens, {reply.finish_reason}"
            tries.append(said)
            if heard.exchange.cause == "cut_short":
                todo = f"the server cuts replies below the {LONG_TOKENS} tokens asked for"
                return heard, _long(False, said, f"{todo}: lift its own limit")
            if heard.problem:
                return None, _long(False, heard.problem, "read the server's log")
            if heard.words >= LONG_WORDS or reply.finish_reason == "length":
                return heard, _long(True, said, "")
        found = f"no reply reached {LONG_WORDS} words: {'; '.join(tries)}"
        return heard, _long(False, found, "correct the server's stop tokens and template")


def without_system_role(why: str) -> Finding:
    """Return the finding that a model takes no system message: allowed, and stamped."""
    return Finding(
        name="system role",
        ok=True,
        found=f"refused; the same words will open the first user message ({why})",
    )


def _reply(heard: Heard) -> list[Finding]:
    """Judge the first reply: is it one, and does it carry the server's counts?"""
    if heard.problem:
        return [
            Finding(name="first reply", ok=False, found=heard.problem, todo="read the server's log")
        ]
    reply = heard.completion
    counted = reply.prompt_tokens is not None and reply.completion_tokens is not None
    usage = Finding(
        name="usage",
        ok=counted,
        found=f"prompt {reply.prompt_tokens}, completion {reply.completion_tokens}",
        todo="" if counted else "use a server that sends `usage`, also at the end of a stream",
    )
    return [Finding(name="first reply", ok=True, found=f"{heard.words} words"), usage]


def _long(ok: bool, found: str, todo: str) -> Finding:
    return Finding(name="long reply", ok=ok, found=found, todo=todo)
