"""Is the head of a long prompt still there when the model reads it? It is asked for a word in it.

A server can have a smaller window than it tells, drop the head of what does not fit, and answer
the rest with status 200. The counts of tokens show that where they are honest. Where they are
not, the model shows it: what a cut leaves is read, what it takes away is not. A model that is
weak at length does the opposite, it reads the head of a text better than its middle.
"""

from typing import NamedTuple

from harness.backends.finding import Finding
from harness.backends.interview import Heard, Interview

NAME = "head of a long prompt"
# In no dictionary, and nothing like each other: none can be guessed, or taken from another try.
WORDS = ("quorvith", "bremsolt", "zankifer")
LINE = "Remember this word: {}."
FILLER = "The boats lay in the bay and nobody on the pier said a thing about the weather. "
QUESTION = "One line above tells you to remember a word. Which word? Answer with that word only."
REPLY_TOKENS = 128  # a model that thinks before it answers mentions the word by then
SHORT = (1, 1, 9)  # sentences; the last two show how many tokens one of them is
SEAM = 0.02
# A prompt of half the length was read from its head: a cut that leaves less than this is excluded.
MIDDLE = 0.6
TODO = "look at the window the server really has, and switch off what shortens prompts"


class HeadRead(NamedTuple):
    """A long prompt whose head was read: how many sentences it had, and tokens by the server."""

    sentences: int
    tokens: int


def find_head(
    interview: Interview, tokens: int, window: int | None, before: HeadRead | None = None
) -> tuple[Finding, HeadRead | None]:
    """Look for a word at the head of a prompt of at least so many tokens.

    Parameters
    ----------
    interview : the model
    tokens : of the longest prompt that will be sent
    window : of one request; the prompt stays below it
    before : what was read in an earlier look: if the same prompt has the same count and its head
        is read again, nothing else is asked

    Returns
    -------
    The finding, and the prompt that was read. `ok` is None where it is the model that cannot be
    relied on: it does not always find the word in a prompt of three lines either.
    """
    if before is not None:
        heard = _ask(interview, WORDS[0], 0, before.sentences, 0)
        if _names(heard, WORDS[0]) and _tokens(heard) == before.tokens:
            return _read(before), before
    counts = []
    for repetition, (word, sentences) in enumerate(zip(WORDS, SHORT, strict=True)):
        heard = _ask(interview, word, 0, sentences, repetition)
        if not _names(heard, word):
            why = heard.problem or "the model does not always name it in a few lines either"
            return Finding(name=NAME, ok=None, found=f"not provable: {why}"), None
        counts.append(_tokens(heard))
    sentence = (counts[2] - counts[1]) / (SHORT[2] - SHORT[1])
    if sentence <= 0:
        why = f"the server counts {counts[1]} and {counts[2]} tokens of a short and a longer prompt"
        return Finding(name=NAME, ok=None, found=f"not provable: {why}"), None
    frame = counts[1] - SHORT[1] * sentence
    most = tokens if window is None else min(tokens, window - REPLY_TOKENS)
    return _long(interview, max(int((most - frame) / sentence), SHORT[2]), frame, sentence)


def _long(
    interview: Interview, sentences: int, frame: float, sentence: float
) -> tuple[Finding, HeadRead | None]:
    """Look for the word at the head of so many sentences; where it is not read, find out why.

    frame, sentence : how many tokens the rest of a prompt is, and each sentence
    """
    expected = round(frame + sentences * sentence)
    arrived = 0
    for repetition, word in enumerate(WORDS):
        heard = _ask(interview, word, 0, sentences, repetition)
        arrived = _tokens(heard)
        if heard.problem:
            found = f"a prompt of {expected} tokens: {heard.problem}"
            return Finding(name=NAME, ok=False, found=found, todo=TODO), None
        if arrived < (1 - SEAM) * expected:
            found = f"a prompt of about {expected} tokens arrived as {arrived}"
            return Finding(name=NAME, ok=False, found=found, todo=TODO), None
        if _names(heard, word):
            read = HeadRead(sentences, arrived)
            return _read(read), read
    found = f"not read at {arrived} tokens in {len(WORDS)} tries"
    if _reads_half(interview, sentences) and _reads_middle(interview, sentences):
        found = f"{found}; the head of half as many is read, and the middle of all of them"
        return Finding(name=NAME, ok=False, found=found, todo=TODO), None
    weak = f"{found}; nor is more of it: the model may be weak"
    return Finding(name=NAME, ok=None, found=weak), None


def _read(read: HeadRead) -> Finding:
    return Finding(name=NAME, ok=True, found=f"read at {read.tokens} tokens")


def _reads_half(interview: Interview, sentences: int) -> bool:
    return _names(_ask(interview, WORDS[0], 0, sentences // 2, 0), WORDS[0])


def _reads_middle(interview: Interview, sentences: int) -> bool:
    before = round(sentences * MIDDLE)
    return _names(_ask(interview, WORDS[1], before, sentences - before, 0), WORDS[1])


def _ask(interview: Interview, word: str, before: int, after: int, repetition: int) -> Heard:
    """Ask for the word of a line that stands between so many sentences."""
    text = f"{FILLER * before}\n\n{LINE.format(word)}\n\n{FILLER * after}\n\n{QUESTION}"
    return interview.question(text.strip(), max_tokens=REPLY_TOKENS, repetition=repetition)


def _names(heard: Heard, word: str) -> bool:
    """Tell whether a reply, or the reasoning before it, has the word."""
    said = f"{heard.completion.reasoning} {heard.completion.content}".lower()
    return not heard.problem and word in said


def _tokens(heard: Heard) -> int:
    return heard.completion.prompt_tokens or 0
