"""Does what will be sent, and the reply, fit into the window that one request really has?"""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from harness.backends.engines import VLLM
from harness.backends.finding import Finding
from harness.backends.interview import Interview
from harness.backends.probe import Probe
from harness.records.base import Record
from harness.records.run import ServerInfo

Positive = Annotated[int, Field(gt=0)]
SEAM = 0.02  # two halves have other tokens at the seam, and a second template's worth of them


class Need(Record):
    """What a task needs of the window.

    prompt_text : everything that is sent at its longest, system text included
    max_tokens : the cap of a reply
    """

    prompt_text: str
    max_tokens: Positive


class TaskFit(Record):
    """Whether a task fits.

    prompt_tokens : by a bound that is surely too high, by the server's tokenizer, or by the
        usage of a real request; None when it was refused before it was counted
    fits : None when the window is not known
    """

    task: str
    prompt_tokens: int | None
    counted_by: Literal["bound", "tokenizer", "request"]
    max_tokens: int
    fits: bool | None
    why: str = ""

    @property
    def likely_tokens(self) -> int:
        """The prompt's tokens, near enough to send another prompt of that length.

        The bound is about twice what tokenizers make of prose.
        """
        tokens = self.prompt_tokens or 0
        return tokens // 2 if self.counted_by == "bound" else tokens


def most_tokens(text: str) -> int:
    """Return more tokens than a usual tokenizer makes of prose, code, numbers and tables.

    Two letters are a token at most, and any other byte is one: digits, signs, the spaces
    between them and other scripts are where "four characters a token" goes wrong. Only random
    letters go above it, a token each; no task consists of them. What does not fit by this is
    counted.
    """
    letters = sum(1 for c in text if c.isascii() and c.isalpha())
    return math.ceil(letters / 2) + len(text.encode("utf-8")) - letters


class Windows:
    """Compares needs with a window.

    Parameters
    ----------
    probe, interview : the server, and the model behind it
    server : what is known about it
    template_tokens : what the template adds to a prompt at most
    """

    def __init__(
        self, probe: Probe, interview: Interview, server: ServerInfo, template_tokens: int
    ) -> None:
        self._probe = probe
        self._interview = interview
        self._server = server
        self._template_tokens = template_tokens

    def fits(self, needs: Mapping[str, Need]) -> tuple[TaskFit, ...]:
        """Judge every task; a prompt that obviously fits costs nothing.

        Where the window is not the server's own word, prompts are sent for real, the longest
        first, until one arrives whole: the shorter ones then do too.
        """
        judged = {task: self._fit(task, need) for task, need in needs.items()}
        if self._server.window_source != "server":
            for task in sorted(needs, key=lambda name: -len(needs[name].prompt_text)):
                if judged[task].fits is False:
                    continue
                cut, tokens = self._cut(needs[task].prompt_text)
                counted = {"prompt_tokens": tokens, "counted_by": "request"}
                if not cut:
                    judged[task] = judged[task].model_copy(update=counted)
                    break
                judged[task] = judged[task].model_copy(update={"fits": False, "why": cut})
        return tuple(judged.values())

    def finding(self) -> Finding:
        """Say what the window is, and whose word that is."""
        window, source = self._server.window_tokens, self._server.window_source
        if source == "server":
            return Finding(name="window", ok=True, found=f"{window} tokens a request")
        tried = "the longest prompt was tried, room for the reply is not shown"
        if source == "plan":
            return Finding(name="window", ok=None, found=f"{window} tokens by the plan; {tried}")
        todo = "write context_tokens in the plan"
        return Finding(name="window", ok=None, found=f"not told; {tried}", todo=todo)

    def _fit(self, task: str, need: Need) -> TaskFit:
        window = self._server.window_tokens
        bound = most_tokens(need.prompt_text) + self._template_tokens
        if window is None or bound + need.max_tokens <= window:
            return TaskFit(
                task=task,
                prompt_tokens=bound,
                counted_by="bound",
                max_tokens=need.max_tokens,
                fits=None if window is None else True,
                why="the window is not known" if window is None else "",
            )
        counted_by, tokens, refusal = self._count(need.prompt_text)
        fits = tokens is not None and tokens + need.max_tokens <= window
        why = ""
        if not fits:
            why = refusal or (
                f"{tokens} tokens of prompt and {need.max_tokens} of reply, "
                f"the window of one request is {window}"
            )
        return TaskFit(
            task=task,
            prompt_tokens=tokens,
            counted_by=counted_by,
            max_tokens=need.max_tokens,
            fits=fits,
            why=why,
        )

    def _count(self, text: str) -> tuple[Literal["tokenizer", "request"], int | None, str]:
        """Return how a prompt was counted, its tokens, and why there are none."""
        tokens = self._tokenized(text)
        if tokens is not None:
            return "tokenizer", tokens + self._template_tokens, ""
        return "request", *self._sent(text)

    def _tokenized(self, text: str) -> int | None:
        """Ask the server's tokenizer, where it has a route for it."""
        if self._server.engine == VLLM:
            asked = {"model": self._interview.model, "prompt": text}
            count = self._probe.post("/tokenize", asked).fields.get("count")
            return count if isinstance(count, int) else None
        tokens = self._probe.post("/tokenize", {"content": text}).fields.get("tokens")
        return len(tokens) if isinstance(tokens, list) else None

    def _sent(self, text: str) -> tuple[int | None, str]:
        """Send a prompt for one token of reply; return its tokens, and why there are none."""
        heard = self._interview.question(text, max_tokens=1)
        if heard.problem:
            return None, heard.problem
        tokens = heard.completion.prompt_tokens
        return tokens, "" if tokens is not None else "the server does not count it"

    def _cut(self, text: str) -> tuple[str, int | None]:
        """Return how a prompt was cut in silence, or an empty text; and its tokens.

        Its tokens are compared with those of its two halves: some servers drop the head of
        what does not fit and count the rest. The whole goes first, so that no prompt cache
        has seen any of it.
        """
        middle = len(text) // 2
        counts = []
        for part in (text, text[middle:], text[:middle]):
            tokens, refusal = self._sent(part or text)
            if tokens is None:
                return f"a prompt of {len(part)} characters was refused: {refusal}", None
            counts.append(tokens)
        whole, expected = counts[0], counts[1] + counts[2] - self._template_tokens
        if whole < (1 - SEAM) * expected:
            return f"a prompt of about {expected} tokens arrived as {whole}", whole
        return "", whole
