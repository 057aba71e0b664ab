"""What of a reply is visible: reasoning, channel markup and leaked turns are taken away.

One policy for every model, whatever its server did with the same marks before:

- Reasoning stands between tags of the configured names, in any case, or between one of the
  literal pairs below.
- A closing tag without an opening one was opened by the template: everything up to the last
  such tag is reasoning. An opening tag that is never closed hides everything behind it.
- A tag is a tag wherever it stands, inside a code fence or a quotation too. Nothing that is
  asked here needs one, and a rule that looked at fences would show reasoning that holds one.
- In channel markup only the last final part is visible; without one, nothing is.
- The text ends at the first turn token. Inside reasoning a turn token is a mention, unless it
  opens somebody's turn by name. The header of the assistant's own turn is dropped where
  nothing visible stands before it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

CHANNEL_LEAK = "channel-leak"
STOP_LEAK = "stop-leak"

PAIRS = (  # reasoning marks that are no tags of a name
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>", "<channel|>"),
)
TURN_TOKENS = (
    *("<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|endoftext|>", "<|endofprompt|>"),
    *("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|EOT|>"),
    *("<|start_header_id|>", "<|end_header_id|>", "<|header_start|>", "<|header_end|>"),
    *("<|start|>", "<|end|>", "<|return|>", "<|call|>", "<|channel|>", "<|message|>"),
    *("<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|endofturn|>"),
    *("<start_of_turn>", "<end_of_turn>", "<|turn>", "<turn|>", "<bos>", "<eos>", "</s>"),
    *("<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<end_of_utterance>"),
    *("<|start_of_role|>", "<|end_of_role|>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"),
    *("<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>", "<|end_of_turn|>"),
    *("<|end_of_message|>", "<|end_of_sentence|>", "<|eos|>", "<seed:eos>", "<eoa>", "<eoh>"),
    *("[|user|]", "[|assistant|]", "[|system|]", "[|endofturn|]"),
    *(
        "<\uff5cbegin\u2581of\u2581sentence\uff5c>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
        "<\uff5cUser\uff5c>",
        "<\uff5cAssistant\uff5c>",
    ),
)
FIRST_SIGN = re.compile(r"[<\[◁]")
HEADER = r"(?:<\|im_start\|>|<start_of_turn>|<\|start_header_id\|>|<\|turn>|<\|start_of_role\|>)\s*"
HEADER_END = r"(?:<\|end_header_id\|>|<\|end_of_role\|>)?"
OWN_TURN = (
    rf"(?:<bos>|<\|begin_of_text\|>)|{HEADER}(?:assistant|model)\b{HEADER_END}"
    r"|<\|assistant\|>|<\uff5cAssistant\uff5c>"
)
OTHER_TURN = (
    rf"{HEADER}(?:user|human|system|developer|tool)\b|<\|(?:im_)?user\|>|<\uff5cUser\uff5c>"
)
CHANNEL = (
    r"(?:<\|end\|>\s*)?(?:<\|start\|>\s*assistant\s*)?"
    r"<\|channel\|>([^<\n]{0,60})(?:<\|constrain\|>[^<\n]{0,60})?(?:<\|message\|>|\Z)"
)
CHANNEL_PART = re.compile(CHANNEL + r"(.*?)(<\|end\|>|(?=<\|start\|>|<\|channel\|>)|\Z)", re.DOTALL)
CHANNELS_OVER = re.compile(r"<\|return\|>|<\|call\|>|<\|start\|>(?!\s*assistant)")
BARE_FINAL = re.compile(r"\A\s*(?:analysis|commentary).*assistantfinal", re.DOTALL)


@dataclass(frozen=True)
class Channel:
    """The visible text of a reply, and what was taken away.

    text : what counts
    reasoning : the server's reasoning field and the reasoning that stood in the text
    flags : `channel-leak`, `stop-leak`
    unclosed : reasoning began and never ended
    steps : one sentence per step that changed something
    """

    text: str
    reasoning: str
    flags: tuple[str, ...] = ()
    unclosed: bool = False
    steps: tuple[str, ...] = ()


def read_channel(content: str, reasoning: str, tags: Sequence[str]) -> Channel:
    """Separate what is visible from everything else.

    Reading the visible text again changes nothing.

    Parameters
    ----------
    content : the text of the message
    reasoning : the text of the server's own reasoning field, never read for anything
    tags : names of reasoning tags, such as `think`
    """
    marks = _marks(tuple(tags))
    scan = _Scan(marks)
    scan.read(content)
    text = "".join(scan.visible)
    if len(scan.visible) > 1 and next(_found(marks, text), None):
        text = "\n".join(scan.visible)  # what was never one mark must not become one
    if scan.pieces:
        scan.steps.append(f"Took away {scan.pieces} piece(s) of reasoning.")
    bare = BARE_FINAL.match(text)
    if bare:  # the same channels from a server that left their tokens out
        scan.hidden.append(bare.group())
        scan.note(CHANNEL_LEAK, "Kept what follows the last channel name, whose tokens are gone.")
        text = text[bare.end() :]
    return Channel(
        text=text,
        reasoning="\n".join(part for part in (reasoning, *scan.hidden) if part.strip()),
        flags=tuple(sorted(scan.flags)),
        unclosed=scan.unclosed,
        steps=tuple(scan.steps),
    )


@dataclass
class _Scan:
    """One pass over a text, mark by mark."""

    marks: re.Pattern[str]
    visible: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)
    unclosed: bool = False
    inside: str = ""
    nested: Counter[str] = field(default_factory=Counter)
    pieces: int = 0

    def note(self, flag: str, step: str) -> None:
        """Keep a flag and a sentence."""
        self.flags.add(flag)
        self.steps.append(step)

    def read(self, text: str) -> None:
        """Sort a text into what is visible and what is not."""
        found = list(_found(self.marks, text))
        self.inside = _opened_by_template(found)
        self.pieces += bool(self.inside)
        place = 0
        for mark in found:
            kind = mark.lastgroup
            if self.inside and kind in {"own", "turn", "channel"}:
                continue  # a mention
            self._keep(text[place : mark.start()])
            place = mark.end()
            if kind == "open":
                self._open(mark)
            elif kind == "close":
                self._close(mark)
            elif kind == "channel":
                self._channels(text[mark.start() :])
                return
            elif kind == "own" and not any(part.strip() for part in self.visible):
                self.note(STOP_LEAK, f"Dropped the header of its own turn, {mark.group()!r}.")
            else:
                self.note(STOP_LEAK, f"Cut the reply at the turn token {mark.group()!r}.")
                self._end()
                return
        self._keep(text[place:])
        self._end()

    def _keep(self, piece: str) -> None:
        if piece:
            (self.hidden if self.inside else self.visible).append(piece)

    def _end(self) -> None:
        if self.inside:
            self.unclosed = True
            self.steps.append(f"Hid everything behind {self.inside!r}, which is never closed.")

    def _open(self, mark: re.Match[str]) -> None:
        name = _name(mark)
        if not self.inside:
            self.inside = name
            self.pieces += 1
            if name == "<|channel>":
                self.flags.add(CHANNEL_LEAK)
        elif name != self.inside:
            self.nested[name] += 1

    def _close(self, mark: re.Match[str]) -> None:
        name = _name(mark)
        if name != self.inside and self.nested[name]:
            self.nested[name] -= 1
            return
        if not self.inside:
            self.pieces += 1
            self._hide_visible()
        self.inside = ""
        self.nested.clear()

    def _hide_visible(self) -> None:
        self.hidden += self.visible
        self.visible.clear()

    def _channels(self, text: str) -> None:
        """Keep the last final part of channel markup."""
        self._hide_visible()
        over = CHANNELS_OVER.search(text)
        if over and text[over.end() :].strip():
            self.note(STOP_LEAK, f"Cut the reply at the turn token {over.group()!r}.")
        parts = list(CHANNEL_PART.finditer(text[: over.start()] if over else text))
        finals = [part for part in parts if part[1].strip().lower().startswith("final")]
        self.hidden += [part[2] for part in parts if part not in finals[-1:]]
        self.note(CHANNEL_LEAK, f"Kept the last final one of {len(parts)} channel parts.")
        if finals:
            self.read(finals[-1][2])  # holds no channel mark: its part ends before the next
        else:
            self.unclosed = not over and not parts[-1][3]


def _found(marks: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield every mark of a text; looking at the signs that begin one is ten times as fast."""
    place = 0
    while sign := FIRST_SIGN.search(text, place):
        mark = marks.match(text, sign.start())
        place = mark.end() if mark else sign.end()
        if mark:
            yield mark


def _opened_by_template(found: Sequence[re.Match[str]]) -> str:
    """Return the name of the reasoning that a text starts inside of, or nothing."""
    for number, mark in enumerate(found):
        if mark.lastgroup == "close":
            return _name(mark)
        if mark.lastgroup in {"open", "other", "channel"} or (mark.lastgroup == "own" and number):
            return ""
    return ""


def _name(mark: re.Match[str]) -> str:
    """Return the name of a reasoning mark, the same for its two ends."""
    tag = mark["opening"] or mark["closing"]
    return tag.lower() if tag else OPENER_OF[mark.group()]


OPENER_OF = {**{opener: opener for opener, _ in PAIRS}, **{closer: o for o, closer in PAIRS}}


@lru_cache(maxsize=64)
def _marks(tags: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of every mark, each in the group of its kind."""
    names = "|".join(re.escape(tag) for tag in tags) or r"(?!)"
    tag = rf"[ \t]*(?:[a-z]+:)?(?P<{{}}>{names})"
    attributes = r"(?:[ \t]+[\w:-]+[ \t]*=[^<>\n]*)?[ \t]*>"
    openers = "|".join(re.escape(opener) for opener, _ in PAIRS)
    closers = "|".join(re.escape(closer) for _, closer in PAIRS)
    turns = "|".join(re.escape(token) for token in TURN_TOKENS)
    return re.compile(
        rf"(?P<open>(?i:<{tag.format('opening')}{attributes})|{openers})"
        rf"|(?P<close>(?i:<[ \t]*/{tag.format('closing')}[ \t]*>)|{closers})"
        rf"|(?P<channel>{CHANNEL})|(?P<own>{OWN_TURN})|(?P<other>{OTHER_TURN})|(?P<turn>{turns})"
    )
