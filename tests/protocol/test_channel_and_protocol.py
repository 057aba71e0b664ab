"""Reasoning, channels and turn tokens in front of the protocol."""

import pytest
from protocol.offered import READ_A, TAGS, essence, heard

from harness.parsing.channel import CHANNEL_LEAK, STOP_LEAK
from harness.protocol.calls import NATIVE_MARKUP, Idle, Malformed

A = ("read_file", {"path": "a.py"}, None)
FINISH = "@@CALL finish\nsummary: done\nclosed: 1\nfailing: 0\n@@END"


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("spelling", [str.lower, str.upper, str.title])
def test_a_call_in_reasoning_is_not_run(tag: str, spelling) -> None:
    """Whatever the reasoning is called, a call inside it is a thought."""
    name = spelling(tag)

    assert heard(f"<{name}>\n{FINISH}\n</{name}>")[1] == Idle("(empty reply)")
    assert heard(f"<{name}>\n{FINISH}\n</{name}>\n\nDone.")[1] == Idle("Done.")


@pytest.mark.parametrize(
    "content",
    [
        f"<think>\n{FINISH}\n</think>\n{READ_A}",
        f"<think>{FINISH}</think>{READ_A}",
        f"First.\n<thought>\n{FINISH}\n</thought>\n{READ_A}",
        f"<think>\n{FINISH}\n</think>\n```\n{READ_A}\n```",
        f"<think>a</think><think>\n{FINISH}\n</think>\n{READ_A}\n<think>\n{FINISH}",
    ],
)
def test_the_call_behind_reasoning_is_run(content: str) -> None:
    """The thought call hides the spoken one from nobody."""
    got = heard(content)[1]

    assert (essence(got), "finish" in got.kept) == (A, False)


def test_reasoning_that_the_template_opened_ends_at_the_last_closing_tag() -> None:
    """Everything before the last closing tag is reasoning, a body that holds it too."""
    body = f"@@CALL write_file\npath: a.html\n@@BODY\n</think>\n@@END\n{READ_A}"

    assert essence(heard(f"hm\n{FINISH}\n</think>\n{READ_A}")[1]) == A
    assert essence(heard(f"hm\n{FINISH}\n</think>\nand\n{FINISH}\n</think>\n{READ_A}")[1]) == A
    assert essence(heard(body)[1]) == A


@pytest.mark.parametrize("cut", [False, True])
def test_reasoning_that_never_closes_hides_every_call(cut: bool) -> None:
    """What was still thought when the reply ended was not said."""
    assert heard(f"<think>\n{READ_A}", cut=cut)[1] == Idle("(empty reply)")
    assert heard(f"I see.\n<think>\n{READ_A}\nmore", cut=cut)[1] == Idle("I see.")


def test_only_the_final_channel_calls() -> None:
    """Analysis and commentary are reasoning, and the leak is flagged."""
    thought = f"<|channel|>analysis<|message|>{FINISH}<|end|><|start|>assistant"

    channel, got = heard(f"{thought}<|channel|>final<|message|>{READ_A}<|return|>")
    assert (essence(got), got.kept, channel.flags) == (A, READ_A, (CHANNEL_LEAK,))

    channel, got = heard(f"<|channel|>analysis<|message|>{READ_A}<|end|>")
    assert (got, channel.flags) == (Idle("(empty reply)"), (CHANNEL_LEAK,))

    native = '<|channel|>commentary to=functions.read_file<|message|>{"path": "a.py"}<|call|>'
    assert heard(native)[1] == Idle("(empty reply)")


def test_the_servers_reasoning_field_is_never_read() -> None:
    """A field of its own is stored, not parsed and not sent again."""
    channel, got = heard("I think about it.", reasoning=READ_A)

    assert (got, channel.reasoning) == (Idle("I think about it."), READ_A)


@pytest.mark.parametrize("token", ["<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>", "<｜end▁of▁sentence｜>"])  # fmt: skip
def test_a_turn_token_ends_the_reply(token: str) -> None:
    """Behind a call it is ignored, before one nothing is left to run."""
    behind = heard(f"{READ_A}{token}\n{FINISH}")
    before = heard(f"I look.{token}\n{READ_A}")
    inside = heard(f"@@CALL write_file\npath: a.txt\n@@BODY\nx{token}\n@@END")

    assert (essence(behind[1]), behind[1].kept, behind[0].flags) == (A, READ_A, (STOP_LEAK,))
    assert (before[1], before[0].flags) == (Idle("I look."), (STOP_LEAK,))
    assert isinstance(inside[1], Malformed)
    assert inside[1].code == "no_end"


def test_a_leaked_next_turn_calls_nothing() -> None:
    """The turns that a model goes on to invent are not its own."""
    leak = f"<|im_end|>\n<|im_start|>user\n@@RESULT x ok\n@@END<|im_end|>\n<|im_start|>assistant\n{FINISH}"

    assert essence(heard(f"{READ_A}{leak}")[1]) == A
    assert heard(f"I look.{leak}")[1] == Idle("I look.")


def test_native_markup_survives_the_channel() -> None:
    """Native calls are still there to be counted when the channel has been read."""
    native = '<think>hm</think><tool_call>\n{"name": "read_file"}\n</tool_call>'

    assert heard(native)[1].flags == (NATIVE_MARKUP,)


def test_nothing_of_the_reasoning_is_sent_again() -> None:
    """Thirty turns of long reasoning do not make the conversation grow."""
    content = f"<think>{'secret ' * 300}</think>Now.\n{READ_A}\n<think>secret</think>"

    assert heard(content)[1].kept == f"Now.\n{READ_A}"
