"""From the bytes of a reply to its deliverable, its marks, and why less than all was found."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playing import TAGS, exchange_of

from harness.parsing import PARSER_VERSION
from harness.parsing.reply import parse_reply
from harness.records.base import canonical_json
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange, encode_body
from harness.suite.forms import Reply

ROOT = Path(__file__).parents[2]
KEYS = ("P1.1", "CASE 07")
F = "```"
CHANNELS = (
    "<|channel|>analysis<|message|>P1.1 = 9<|end|><|start|>assistant<|channel|>final<|message|>"
)
FILE = f"### FILE: a.py\n{F}\nx = 1\n{F}\n"


def parse(
    exchange: Exchange, keys: tuple[str, ...] = KEYS, files: tuple[str, ...] = ()
) -> ParsedReply:
    return parse_reply(exchange, keys=keys, files=files, tags=TAGS)


def said(text: str, finish: str = "stop", reasoning: str = "") -> ParsedReply:
    return parse(exchange_of(Reply(text, finish, reasoning)))


def delivered(text: str, finish: str = "stop") -> ParsedReply:
    return parse(exchange_of(Reply(text, finish)), (), ("a.py",))


def with_body(body: bytes, **changes: object) -> Exchange:
    text, encoding = encode_body(body)
    update = {"body": text, "body_encoding": encoding, **changes}
    return exchange_of(Reply("")).model_copy(update=update)


def completion(content: str | None, finish: str | None = "stop", tokens: int | None = 10) -> bytes:
    body: dict[str, object] = {
        "choices": [{"index": 0, "message": {"content": content}, "finish_reason": finish}]
    }
    if tokens is not None:
        body["usage"] = {"prompt_tokens": 5, "completion_tokens": tokens}
    return json.dumps(body).encode()


def stream(*deltas: dict[str, object], end: bytes = b"data: [DONE]\n\n") -> bytes:
    chunks = ({"choices": [{"index": 0, "delta": delta}]} for delta in deltas)
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + end


def test_everything_of_a_reply_is_in_its_record() -> None:
    """Text, reasoning, answers, counts and version come together."""
    got = said("<think>hm</think>P1.1 = 64\nP8.8 = 1\n", reasoning="first")

    assert got == ParsedReply(
        parser_version=PARSER_VERSION,
        text="P1.1 = 64\nP8.8 = 1\n",
        reasoning="first\nhm",
        answers={"P1.1": "64"},
        finish_reason="stop",
        prompt_tokens=10,
        completion_tokens=10,
        unknown_answers=1,
        steps=got.steps,
    )
    assert len(got.steps) == 2


def test_files_are_in_the_record() -> None:
    """A task of files gets its files, and no answers."""
    got = delivered(FILE)

    assert (got.files, got.answers, got.cause, got.flags) == ({"a.py": "x = 1\n"}, {}, None, ())


def test_flags_are_sorted_and_unique() -> None:
    """Marks of every room come out in one order, each once."""
    text = "P1.1 = 1\nP1.1 = 2<|im_end|>more"
    body = json.loads(completion(text))
    body["choices"][0]["message"]["tool_calls"] = [{"index": 0}, {"index": 1}]

    got = parse(with_body(json.dumps(body).encode()))

    assert got.flags == ("native-tools", "stop-leak", "two-finals")
    assert got.answers == {"P1.1": "2"}


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("<think>P1.1 = 9</think>P1.1 = 12", "12"),
        ("<Thinking>P1.1 = 9</Thinking>\nP1.1 = 12", "12"),
        ("P1.1 = 9</think>P1.1 = 12", "12"),
        (
            CHANNELS + "P1.1 = 12",
            "12",
        ),
        ("P1.1 = 12<|im_end|>\n<|im_start|>user\nP1.1 = 9", "12"),
        ("P1.1 = 12\r\n\r\n", "12"),
        ("| P1.1 | 9 |\n| P1.1 | 12 |\n", "12"),
        ("<think>P1.1 = 12</think>I am done.", None),
        ("<think>P1.1 = 12", None),
    ],
)
def test_answers_come_from_what_is_visible(content: str, value: str | None) -> None:
    """The last line outside reasoning, in the reply's own turn, is the answer."""
    assert said(content).answers.get("P1.1") == value


def test_the_reasoning_field_is_never_read() -> None:
    """An answer that stands only in the server's reasoning field was not given."""
    got = said("", reasoning="P1.1 = 12")

    assert (got.answers, got.cause) == ({}, "empty")


@pytest.mark.parametrize(
    ("content", "finish", "cause"),
    [
        ("P1.1 = 1", "stop", None),
        ("P1.1 = 1", "length", "truncated"),
        ("P1.1 = 1", "max_tokens", "truncated"),
        ("P1.1 = 1", "model_length", "truncated"),
        ("P1.1 = 1", "LENGTH", "truncated"),
        ("P1.1 = 1", "CONTENT_FILTER", "refused"),
        ("P1.1 = 1\n<think>or", "stop", "truncated"),
        ("<think>P1.1 = 1", "stop", "truncated"),
        ("<think>P1.1 = 1", "length", "truncated"),
        ("", "length", "truncated"),
        ("<|channel|>analysis<|message|>P1.1 = 1", "stop", "truncated"),
        ("", "stop", "empty"),
        (" \n\t", "stop", "empty"),
        ("<think>only this</think>", "stop", "empty"),
        ("<|im_end|>\nP1.1 = 1", "stop", "empty"),
        ("<|channel|>analysis<|message|>P1.1 = 1<|end|>", "stop", "empty"),
        ("P1.1 = 1", "content_filter", "refused"),
        ("", "content_filter", "refused"),
        ("I cannot help with that.", "stop", "refused"),
        ("I can't help with that.", "stop", "refused"),
        ("I’m sorry, but I can’t assist with this request.", "stop", "refused"),
        ("**Sorry, I am not able to do this.**", "stop", "refused"),
        ("<think>P1.1?</think>\nI'm unable to comply.", "stop", "refused"),
        ("I cannot help with that.\nP1.1 = 1", "stop", None),
        ("I cannot see a shortcut. " + "So I count. " * 40, "stop", "no_deliverable"),
        ("I cannot ".ljust(399, "x") + ".", "stop", "refused"),
        ("I cannot ".ljust(400, "x") + ".", "stop", "no_deliverable"),
        ("The answer is 64.", "stop", "no_deliverable"),
        ("icicles", "stop", "no_deliverable"),
        ("P9.9 = 1", "stop", "no_deliverable"),
        ('All checks passed. {"points": 18}', "stop", "no_deliverable"),
    ],
)
def test_causes(content: str, finish: str, cause: str | None) -> None:
    """Why a reply holds less than was asked: budget first, then refusal, then nothing found."""
    assert said(content, finish).cause == cause


@pytest.mark.parametrize("tokens", [24576, 24577])
def test_a_stop_at_the_cap_is_truncated(tokens: int) -> None:
    """A server that calls the cap a stop is not believed; the count of tokens is."""
    for content in ("P1.1 = 1", "", None):
        assert parse(with_body(completion(content, "stop", tokens))).cause == "truncated"
    assert parse(with_body(completion("P1.1 = 1", "stop", 24575))).cause is None


def test_a_truncated_reply_keeps_what_was_written() -> None:
    """Lines and files before the cut count; the cause stands beside them."""
    got = said("P1.1 = 1\nCASE 07 = 5\nCASE 0", "length")
    file = delivered(FILE.removesuffix(f"{F}\n"), "length")

    assert (got.answers, got.cause) == ({"P1.1": "1", "CASE 07": "5"}, "truncated")
    assert (file.files, file.cause, file.flags) == ({"a.py": "x = 1\n"}, "truncated", ("unclosed",))


def test_a_reply_cut_by_time_keeps_what_was_written() -> None:
    """The whole-call limit is the model's budget: what came before it is parsed."""
    whole = stream({"content": "P1.1 = 1\n"}, {"content": "CASE 07 = 5"})
    for body in (whole.removesuffix(b"data: [DONE]\n\n"), whole[:-20], whole[:90]):
        got = parse(with_body(body, ended="time", content_type="text/event-stream"))
        assert (got.answers["P1.1"], got.cause, got.flags) == ("1", "time", ())
    assert parse(with_body(b'data: {"choi', ended="time")).cause == "time"


def test_a_stream_without_an_end_is_flagged() -> None:
    """A reply of which no end was seen says so."""
    assert parse(with_body(stream({"content": "P1.1 = 1"}, end=b""))).flags == ("incomplete",)
    assert parse(with_body(stream({"content": "P1.1 = 1"}))).flags == ()


def test_text_without_the_asked_files_is_no_deliverable() -> None:
    """Prose, other files and hostile paths deliver nothing; a refusal is called one."""
    other = FILE.replace("a.py", "conftest.py")
    hostile = FILE.replace("a.py", "../a.py")

    assert [delivered(text).cause for text in ("Done.", other, hostile, "I cannot do this.")] == [
        "no_deliverable", "no_deliverable", "no_deliverable", "refused",
    ]  # fmt: skip
    assert delivered(other).flags == ("extra-files",)
    assert delivered(hostile).flags == ("path",)


def test_files_come_from_what_is_visible() -> None:
    """A draft in the reasoning is no file, and a leaked turn behind a file takes nothing away."""
    draft = FILE.replace("x = 1", "x = 0")

    assert delivered(f"<think>{draft}</think>").files == {}
    got = delivered(f"<think>{draft}</think>{FILE}<|im_end|>\n{draft}")
    assert (got.files, got.flags) == ({"a.py": "x = 1\n"}, ("stop-leak",))


def test_where_nothing_is_asked_nothing_is_lacking() -> None:
    """A text for a question without keys or files is complete."""
    assert parse(exchange_of(Reply("hello")), (), ()).cause is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "P1.1 = 1"}}',
        b'data: {"error": {"message": "P1.1 = 1"}}\n\n',
        stream({"content": "P1.1 = 1"}, end=b'data: {"error": {"message": "out of memory"}}\n\n'),
        b"P1.1 = 1",
        b"",
    ],
)
def test_an_error_is_never_parsed_as_an_answer(body: bytes) -> None:
    """Whoever asks to parse an error as a reply made a mistake, and is told so."""
    with pytest.raises(ValueError, match="no reply to parse"):
        parse(with_body(body))


def test_an_error_in_a_cut_stream_is_no_answer_either() -> None:
    """The whole-call limit does not turn an error into a reply."""
    with pytest.raises(ValueError, match="error_as_answer"):
        parse(with_body(b'data: {"error": "P1.1 = 1"}\n\n', ended="time"))


def test_infrastructure_has_no_reply() -> None:
    """A failure of the infrastructure has no deliverable: parsing it is a mistake of the caller."""
    exchange = with_body(completion("P1.1 = 1"), ended="infrastructure", cause="connect")

    with pytest.raises(ValueError, match="infrastructure"):
        parse(exchange)


def test_bytes_that_are_no_text_are_kept_and_parsed() -> None:
    """A body that is not UTF-8 is stored in base64 and parsed from its own bytes."""
    body = completion("P1.1 = 1 X").replace(b"X", b"\xff")
    exchange = with_body(body)

    assert exchange.body_encoding == "base64"
    assert parse(exchange).answers == {"P1.1": "1 \N{REPLACEMENT CHARACTER}"}


def test_any_reply_makes_a_record_that_can_be_stored() -> None:
    """Lonely halves of characters, control signs and huge values have a canonical JSON form."""
    for content in (
        '"\\ud83d P1.1 = \\udc00"',
        '"\\u0000\\u001b"',
        '"P1.1 = ' + "9" * 100_000 + '"',
    ):
        body = b'{"choices":[{"message":{"content":' + content.encode() + b"}}]}"
        got = parse(with_body(body))
        assert ParsedReply.model_validate_json(canonical_json(got)) == got


def test_parsing_again_gives_the_same_bytes() -> None:
    """A reparse of the same exchange is identical, and a reparse of the visible text adds nothing."""
    draw = random.Random("reply")
    pieces = ["P1.1 = 1\n", "CASE 07: 2", "<think>", "</think>", FILE, f"{F}\n", "<|im_end|>", "\n", "x",
              "<|channel|>final<|message|>", "**", "| P1.1 | 3 |\n", "### FILE: ../x\n"]  # fmt: skip
    for _ in range(500):
        text = "".join(draw.choices(pieces, k=draw.randrange(10)))
        exchange = exchange_of(Reply(text))
        first = parse(exchange, KEYS, ("a.py",))
        assert canonical_json(first) == canonical_json(parse(exchange, KEYS, ("a.py",)))
        again = parse(exchange_of(Reply(first.text)), KEYS, ("a.py",))
        assert (again.text, again.answers, again.files) == (first.text, first.answers, first.files)


ODD = "P1.1 = ≠ ñ 漢\nCASE 07 = −5\n### FILE: a.py\n```\ns = 'ñ'\n```\n"
CHILD = """
import sys
sys.path.insert(0, "tests")
from playing import TAGS, exchange_of
from harness.parsing.reply import parse_reply
from harness.records.base import canonical_json
from harness.suite.forms import Reply
reply = Reply(bytes.fromhex(sys.argv[1]).decode("utf-8"))
parsed = parse_reply(exchange_of(reply), keys=("P1.1", "CASE 07"), files=("a.py",), tags=TAGS)
sys.stdout.buffer.write(canonical_json(parsed))
"""


def test_the_locale_and_the_hash_seed_do_not_matter() -> None:
    """A machine without UTF-8 in its locale parses to the same bytes."""
    here = canonical_json(parse(exchange_of(Reply(ODD)), KEYS, ("a.py",)))
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONHASHSEED": "2"}

    child = subprocess.run(
        [sys.executable, "-c", CHILD, ODD.encode().hex()],
        cwd=ROOT, env=environment, capture_output=True, check=True, timeout=60,
    )  # fmt: skip

    assert child.stdout == here
    assert json.loads(here)["answers"] == {"P1.1": "≠ ñ 漢", "CASE 07": "−5"}


def test_a_small_cell_is_cheap() -> None:
    """Rescoring a campaign parses thousands of cells.

    Measured 0.3 ms of CPU for this one; 1.5 ms is the budget of a small cell for everything.
    """
    keys = tuple(f"row_{row}.{level}" for row in range(9) for level in range(3))
    lines = "".join(f"{key} = {number}\n" for number, key in enumerate(keys))
    exchange = exchange_of(Reply("<think>" + "words: 5\n" * 200 + "</think>\n" + lines))
    parse(exchange, keys)
    started = time.process_time()

    for _ in range(100):
        parse(exchange, keys)

    assert (time.process_time() - started) / 100 < 0.0015
