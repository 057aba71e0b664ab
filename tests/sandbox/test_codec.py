"""The border between the processes: exact builtin types, or nothing."""

import math
import socket
from collections import OrderedDict, namedtuple
from enum import IntEnum

import pytest

from harness.sandbox.inside import codec
from harness.sandbox.inside.codec import Channel, RefusedError

Point = namedtuple("Point", "x y")  # noqa: PYI024 (as foreign code may well do it)
Number = IntEnum("Number", "ONE TWO")


class AlwaysEqual(int):
    """An integer that equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


def crossed(value: object) -> object:
    """A value after the way through text."""
    return codec.decode(codec.read_json(codec.to_text(value)))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -7,
        2**200,
        1.5,
        -0.0,
        1e300,
        "",
        "ñ ≠ 漢 \n",
        [],
        [1, [2]],
        (),
        (1,),
        ([1], 2),
    ],
    ids=repr,
)
def test_a_value_comes_back_the_same(value: object) -> None:
    """Type and value survive, and a list and a tuple stay apart."""
    back = crossed(value)

    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_a_dict_keeps_its_keys_and_its_order() -> None:
    """Keys need not be text, and 1, 1.0 and True as written keep their type."""
    value = {"b": 1, 2: "x", (1, 2): None, None: {"t": [3]}, "t": {"o": 1}}

    assert crossed(value) == value
    assert [type(key) for key in crossed(value)] == [type(key) for key in value]


@pytest.mark.parametrize(
    "value",
    [
        AlwaysEqual(3),
        Point(1, 2),
        OrderedDict(a=1),
        Number.ONE,
        {1, 2},
        b"x",
        1j,
        object(),
        len,
        math.nan,
        math.inf,
        "\ud800",
        1 << 20_000,
        [[AlwaysEqual(1)]],
        {i * (2**61 - 1): 0 for i in range(codec.MAX_PAIRS + 1)},
        {AlwaysEqual(1): 1},
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_else_is_refused(value: object) -> None:
    """A subclass may answer comparisons as it likes, so none crosses."""
    with pytest.raises(RefusedError):
        codec.to_text(value)


def test_cycles_depth_and_size_are_refused() -> None:
    """What has no end, or too much of it, has no text."""
    cycle: list[object] = []
    cycle.append(cycle)
    deep: list[object] = []
    for _ in range(codec.MAX_DEPTH + 1):
        deep = [deep]
    for value in (cycle, deep, "x" * (codec.MAX_BYTES + 1), [0] * (codec.MAX_ITEMS + 1)):
        with pytest.raises(RefusedError):
            codec.to_text(value)


@pytest.mark.parametrize(
    "text",
    [
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b'{"t": 1}',
        b'{"d": [[1]]}',
        b'{"d": [[[1], 2]]}',
        b'{"x": 1}',
        b'{"o": 0}',
        b'{"t": [], "d": []}',
        b"{}",
        b"not json",
        b"\xff",
        b'"\\ud800"',
        b"[" * 100_000,
        b"9" * 5000,
    ],
    ids=lambda text: text[:20].decode("latin-1"),
)
def test_text_of_a_foreign_process_is_read_with_care(text: bytes) -> None:
    """Whatever is sent, the reader gives a value of builtin types or refuses; it never fails."""
    with pytest.raises(RefusedError):
        codec.decode(codec.read_json(text))


def test_the_channel_gives_whole_frames_or_ends() -> None:
    """Frames may come in pieces; one longer than the limit, or half a one, ends the channel."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = Channel(ours, limit=100)
        theirs.sendall(b"\0\0\0\x02ab\0\0")
        assert channel.receive() == b"ab"
        theirs.sendall(b"\0\x03xyz\0\0\0\x65")
        assert channel.receive() == b"xyz"
        assert channel.receive() is None
        theirs.close()
        assert channel.receive() is None
