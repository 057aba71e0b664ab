"""Only what a model says outside its reasoning, in its own turn, is visible."""

import random
import time

import pytest

from harness.parsing.channel import CHANNEL_LEAK, PAIRS, STOP_LEAK, TURN_TOKENS, read_channel

TAGS = ("think", "thinking", "thought", "reasoning", "reflection")
FINAL = "Final answer: 12"


def seen(content: str) -> str:
    return read_channel(content, "", TAGS).text.strip()


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title])
def test_reasoning_between_tags_is_taken_away(tag, spelling) -> None:
    """Every configured name is a tag, in any case."""
    name = spelling(tag)

    got = read_channel(f"<{name}>Final answer: 9</{name}>\n{FINAL}", "", TAGS)

    assert got.text.strip() == FINAL
    assert got.reasoning == "Final answer: 9"
    assert (got.unclosed, got.flags) == (False, ())


@pytest.mark.parametrize(
    "content",
    [
        f"<think>9</think>{FINAL}",
        f"<think>\n9\n</think>\n\n{FINAL}\n",
        f"<think></think>{FINAL}",
        f"<think>9</think><think>10</think>{FINAL}",
        f"<Think>9</THINK>{FINAL}",
        f'<thinking mode="deep">9</thinking>{FINAL}',
        f"< think >9</ think >{FINAL}",
        f"<seed:think>9</seed:think>{FINAL}",
        f"9</think>{FINAL}",
        f"9</think>10</think>{FINAL}",
        f"9 <|im_end|> is a token</think>{FINAL}",
        f"9 <|im_end|> and <|im_end|> are tokens</think>{FINAL}",
        f"<think>9 <|im_end|> is a token</think>{FINAL}",
        f"<think>9<think>10</think>11</think>{FINAL}",
        f"<think>a tag <think> is meant</think>{FINAL}",
        f"<think>9<reflection>10</reflection>11</think>{FINAL}",
        f"<think>9</thinking>{FINAL}",
        f"```\n<think>9</think>\n```\n{FINAL}",
    ],
)
def test_forms_of_reasoning(content: str) -> None:
    """Nested, repeated, template-opened, mismatched: what is left is what was said."""
    got = read_channel(content, "", TAGS)

    assert got.text.strip("`\n ") == FINAL
    assert not got.unclosed


@pytest.mark.parametrize(("opener", "closer"), PAIRS)
def test_literal_pairs_are_reasoning(opener: str, closer: str) -> None:
    """Marks that are no tags hide too, closed, unclosed, and opened by the template."""
    assert seen(f"{opener}9{closer}{FINAL}") == FINAL
    assert seen(f"9{closer}{FINAL}") == FINAL
    assert read_channel(f"{opener}{FINAL}", "", TAGS).unclosed


@pytest.mark.parametrize(
    "content",
    [
        "<think>long, Final answer: 9",
        "<think>",
        "<THINKING>\nFinal answer: 9\n",
        "<think>a</think><think>Final answer: 9",
        "<thinking>a <reflection>b</reflection> Final answer: 9",
        "```\n<think>\nFinal answer: 9\n```",
    ],
)
def test_reasoning_that_never_closes_hides_the_rest(content: str) -> None:
    """Nothing behind an unclosed tag is visible, in a fence too, and the fact is reported."""
    got = read_channel(content, "", TAGS)

    assert "9" not in got.text
    assert got.unclosed
    assert any("never closed" in step for step in got.steps)


def test_text_around_reasoning_is_joined_as_it_stands() -> None:
    """What was said before and behind a block of reasoning was said, with nothing between."""
    assert read_channel("P1.1 = <think>hm</think>64\n", "", TAGS).text == "P1.1 = 64\n"


def test_text_before_unclosed_reasoning_stays() -> None:
    """What was said before the reasoning began was said."""
    got = read_channel(f"{FINAL}\n<think>or is it 9", "", TAGS)

    assert (got.text.strip(), got.unclosed) == (FINAL, True)


@pytest.mark.parametrize(
    "content",
    [
        "a < b and c > d",
        "<thinker>x</thinker>",
        "the <b>thought</b> counts",
        "if x <think: pass",
        "<thought experiment>",
        "[reasoning](https://example.org)",
        "[Think] twice",
        "xs[1] < xs[2]",
        "<s>struck",
    ],
)
def test_what_only_looks_like_a_tag_stays(content: str) -> None:
    """Ordinary text with angle or square brackets is not touched."""
    assert read_channel(content, "", TAGS).text == content


def test_only_the_given_names_are_tags() -> None:
    """The policy is in the configuration: a name that is not there hides nothing."""
    content = "<think>9</think>"

    assert read_channel(content, "", ["reason"]).text == content
    assert read_channel(content, "", []).text == content


def test_the_servers_reasoning_is_kept_apart() -> None:
    """A reasoning field is never visible and stands before what was taken from the text."""
    got = read_channel("<think>second</think>said", "first", TAGS)

    assert (got.text, got.reasoning) == ("said", "first\nsecond")


CHANNELS = "<|channel|>analysis<|message|>9<|end|><|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "content",
    [
        f"{CHANNELS}{FINAL}",
        f"{CHANNELS}{FINAL}<|return|>",
        f"{CHANNELS}{FINAL}<|end|>",
        f"<|start|>assistant{CHANNELS}{FINAL}",
        f"9<|end|><|start|>assistant<|channel|>final<|message|>{FINAL}",
        f"<|channel|>analysis<|message|>9<|start|>assistant<|channel|>final<|message|>{FINAL}",
        f"<|channel|>analysis<|message|>9<|channel|>final<|message|>{FINAL}",
        f"<|channel|>final<|message|>9<|end|><|start|>assistant<|channel|>final<|message|>{FINAL}",
        f"<|channel|>commentary<|message|>9<|end|>{CHANNELS}{FINAL}",
        f"<|channel|>final <|constrain|>json<|message|>{FINAL}",
        f"<|channel|>Final<|message|>{FINAL}",
        f"<|channel|>analysis<|message|>a <think> tag, 9<|end|>{CHANNELS}{FINAL}",
        f"<think>9</think><|channel|>final<|message|>{FINAL}",
        f"<think>the <|channel|>final<|message|>9 form</think><|channel|>final<|message|>{FINAL}",
        f"{CHANNELS}<think>9</think>{FINAL}",
        f"analysis9, so we answer.assistantfinal{FINAL}",
        f"<|channel>thought\n9<channel|>{FINAL}",
    ],
)
def test_only_the_last_final_channel_is_visible(content: str) -> None:
    """Analysis, commentary and earlier finals are reasoning; the leak is flagged."""
    got = read_channel(content, "", TAGS)

    assert got.text.strip() == FINAL
    assert got.flags == (CHANNEL_LEAK,)
    assert not got.unclosed


@pytest.mark.parametrize(
    ("content", "unclosed"),
    [
        ("<|channel|>analysis<|message|>Final answer: 9", True),
        ("<|channel|>analysis<|message|>Final answer: 9<|end|>", False),
        ("<|channel|>analysis<|message|>Final answer: 9<|return|>", False),
        ("<|channel|>commentary to=functions.f<|message|>{}<|call|>", False),
        ("<|channel|>analysis", True),
        ("<|channel|>analysis<|message|>9<|end|><|channel|>analysis<|message|>10", True),
        ("<|channel|>analysis<|message|>9<|channel|>analysis<|message|>10<|end|>", False),
    ],
)
def test_without_a_final_channel_nothing_is_visible(content: str, unclosed: bool) -> None:
    """Analysis is no answer; it is unclosed when it was cut, not when it ended."""
    got = read_channel(content, "", TAGS)

    assert (got.text, got.unclosed, got.flags) == ("", unclosed, (CHANNEL_LEAK,))


def test_other_channels_are_kept_as_reasoning() -> None:
    """The reader finds the analysis beside the answer, and only the analysis."""
    assert read_channel(f"{CHANNELS}{FINAL}", "", TAGS).reasoning == "9"


def test_channels_end_with_the_turn() -> None:
    """A turn that a model goes on to invent, in channels too, is not its answer."""
    more = "<|start|>user<|message|>And 9?<|end|><|start|>assistant<|channel|>final<|message|>9"

    for end in ("<|return|>", "<|end|>"):
        got = read_channel(f"{CHANNELS}{FINAL}{end}{more}", "", TAGS)
        assert got.text.strip() == FINAL
        assert got.flags == (CHANNEL_LEAK, STOP_LEAK)


@pytest.mark.parametrize("token", TURN_TOKENS)
def test_the_text_ends_at_the_first_turn_token(token: str) -> None:
    """Whatever family a leaked token belongs to, what follows is another turn."""
    got = read_channel(f"{FINAL}{token}\nuser\nAnd 9?\nFinal answer: 9", "", TAGS)

    assert got.text == FINAL
    assert STOP_LEAK in got.flags


@pytest.mark.parametrize(
    "content",
    [
        f"{FINAL}<|im_end|>\n<|im_start|>user\nAnd 9?\nFinal answer: 9",
        f"{FINAL}<|im_end|>\n<|im_start|>assistant\n<think>hm</think>Final answer: 9",
        f"{FINAL}<|im_end|>\n<|im_start|>user\nAnd?<|im_end|>\n9</think>Final answer: 9",
        f"{FINAL}<|im_end|>\n<|im_start|>assistant\n9</think>Final answer: 9",
        f"{FINAL}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n9",
        f"{FINAL}</s>[INST] And 9? [/INST] 9",
        f"{FINAL}[INST] And 9? [/INST] 9",
        f"{FINAL}<|end|><|user|>9<|end|><|assistant|>9",
        f"{FINAL}<end_of_turn>\n<start_of_turn>user\n9",
        f"9</think>{FINAL}<|im_end|><|im_start|>user",
    ],
)
def test_invented_turns_are_not_read(content: str) -> None:
    """A reply is one turn: the answer before the leak stands."""
    assert seen(content) == FINAL


def test_a_new_turn_inside_reasoning_ends_the_reply() -> None:
    """Reasoning that runs into somebody's turn was never closed; no answer comes from there."""
    got = read_channel(
        "<think>hm<|im_end|>\n<|im_start|>user\n9?<|im_end|>\n</think>Final answer: 9", "", TAGS
    )

    assert (got.text, got.unclosed, got.flags) == ("", True, (STOP_LEAK,))


@pytest.mark.parametrize(
    "header",
    [
        "<|im_start|>assistant\n",
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        "<start_of_turn>model\n",
        "<|begin_of_text|><|start_header_id|>assistant<|end_header_id|>",
        "<|assistant|>",
        "<think>9</think><|im_start|>assistant\n",
    ],
)
def test_the_header_of_the_own_turn_hides_nothing(header: str) -> None:
    """A reply that opens with its own header has said nothing yet; the leak is flagged."""
    got = read_channel(header + FINAL, "", TAGS)

    assert got.text.strip() == FINAL
    assert got.flags == (STOP_LEAK,)


def test_a_reply_of_turn_tokens_is_empty() -> None:
    """Seven hundred tokens of leaked marks hold no answer."""
    assert seen("<end_of_turn>\n<start_of_turn>user\n" * 100 + FINAL) == ""


def test_removal_never_makes_a_mark() -> None:
    """Two pieces that a removed block held apart do not become a tag together."""
    got = read_channel("<thi<think>x</think>nk>9", "", TAGS)

    assert not got.unclosed
    assert "9" in got.text
    assert "<think>" not in got.text


def test_reading_the_visible_text_again_changes_nothing() -> None:
    """The visible text holds no mark of any kind, whatever it was made from."""
    draw = random.Random("channel")
    pieces = [*TURN_TOKENS, *(mark for pair in PAIRS for mark in pair), "<think>", "</think>",
              "<thi", "nk>", "</thi", "<|im_", "end|>", "assistant", "assistantfinal", "analysis",
              "<|channel|>final<|message|>", "<thought>", "</thought>", "x", " ", "\n", "user"]  # fmt: skip
    for _ in range(4000):
        content = "".join(draw.choices(pieces, k=draw.randrange(1, 12)))
        once = read_channel(content, "", TAGS)
        twice = read_channel(once.text, "", TAGS)
        assert (twice.text, twice.flags, twice.unclosed) == (once.text, (), False), content


@pytest.mark.parametrize(
    "content",
    [
        "<think>" * 40_000,
        "</think>" * 40_000,
        "<think>" + "<thought>" * 40_000 + "</thought>" * 40_000,
        "<|channel|>" * 30_000,
        "<|channel|>final<|message|>" * 20_000,
        "<|end|>" * 50_000,
        "<thi<think>x</think>nk>" * 20_000,
        "<" + " " * 300_000,
        "analysis" * 50_000,
    ],
)
def test_no_text_is_slow_to_read(content: str) -> None:
    """Hostile repetition costs time in proportion to its length.

    Measured at most 0.15 s of CPU; two seconds leave room for a busy machine.
    """
    started = time.process_time()

    read_channel(content, "", TAGS)

    assert time.process_time() - started < 2.0
