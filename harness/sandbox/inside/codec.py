"""Values as JSON, of exact builtin types only, and frames on a stream. Used on both sides.

None, bool, int, float, str and list stand for themselves, a tuple is ``{"t": [...]}``, a dict
``{"d": [[key, value], ...]}``, and ``{"o": n}`` is the n-th list whose owner is the far side. What
is not exactly one of these types has no text, so nothing can come back that acts.
"""

import json
import math
import socket
import struct
from collections.abc import Callable
from typing import Any

MAX_BYTES = 1 << 20
MAX_ITEMS = 400_000
MAX_PAIRS = 10_000  # keys may be made to collide: their number bounds what that can cost the reader
MAX_DEPTH = 100
MAX_INT_BITS = 10_000
SCALARS = frozenset({type(None), bool, int, float, str})
ARMED = b"armed"  # the first frame of every measure, sent when its walls are up
LENGTH = struct.Struct(">I")


class RefusedError(ValueError):
    """A value has no text, or a text no value."""


def encode(value: Any) -> Any:
    """Return a value as what `json` can write.

    Raises
    ------
    RefusedError
        For subclasses and other types, NaN and infinities, cycles and deep nesting, huge
        integers, more than `MAX_ITEMS` items or `MAX_PAIRS` pairs of a dict.
    """
    return _encode(value, 0, [0])


def to_text(value: Any) -> bytes:
    """Return a value's JSON text.

    Raises
    ------
    RefusedError
        As `encode`, and above `MAX_BYTES`.
    """
    text = json.dumps(encode(value), allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > MAX_BYTES:
        raise RefusedError(f"more than {MAX_BYTES} bytes")
    return text


def decode(data: Any, owned: Callable[[int], Any] | None = None) -> Any:
    """Return the value of an encoded one, made of exact builtin types.

    Raises
    ------
    RefusedError
        If it is not what `encode` gives; the far side may be anything.
    """
    return _decode(data, owned, 0)


def read_json(text: bytes) -> Any:
    """Read JSON text that a foreign process may have written.

    Raises
    ------
    RefusedError
        For what is no JSON, NaN and infinities, and nesting too deep to read.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"not readable as JSON: {type(error).__name__}") from error


def _refuse_constant(name: str) -> Any:
    raise RefusedError(f"{name} has no JSON form")


def _encode(value: Any, depth: int, count: list[int]) -> Any:
    count[0] += 1
    if count[0] > MAX_ITEMS:
        raise RefusedError(f"more than {MAX_ITEMS} items")
    if depth > MAX_DEPTH:
        raise RefusedError(f"nested deeper than {MAX_DEPTH}, or a cycle")
    kind = type(value)
    if kind in SCALARS:
        return _scalar(value)
    if kind is list:
        return [_encode(item, depth + 1, count) for item in value]
    if kind is tuple:
        return {"t": [_encode(item, depth + 1, count) for item in value]}
    if kind is dict:
        pairs = value.items()
        if len(pairs) > MAX_PAIRS:
            raise RefusedError(f"more than {MAX_PAIRS} pairs")
        return {
            "d": [[_encode(k, depth + 1, count), _encode(v, depth + 1, count)] for k, v in pairs]
        }
    raise RefusedError(f"a value of type {kind.__module__}.{kind.__qualname__}"[:200])


def _decode(data: Any, owned: Callable[[int], Any] | None, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise RefusedError(f"nested deeper than {MAX_DEPTH}")
    if type(data) in SCALARS:
        return _scalar(data)
    if type(data) is list:
        return [_decode(item, owned, depth + 1) for item in data]
    if type(data) is dict and len(data) == 1:
        return _tagged(*next(iter(data.items())), owned, depth)
    raise RefusedError("not an encoded value")


def _tagged(tag: Any, content: Any, owned: Callable[[int], Any] | None, depth: int) -> Any:
    if tag == "t" and type(content) is list:
        return tuple(_decode(item, owned, depth + 1) for item in content)
    if tag == "d" and type(content) is list:
        return _pairs(content, owned, depth)
    if tag == "o" and type(content) is int and owned is not None:
        return owned(content)
    raise RefusedError("not an encoded value")


def _scalar(value: Any) -> Any:
    """Return a value of one of the `SCALARS` if it has a text that is read back the same."""
    if type(value) is int and value.bit_length() > MAX_INT_BITS:
        raise RefusedError(f"an integer of more than {MAX_INT_BITS} bits")
    if type(value) is float and not math.isfinite(value):
        raise RefusedError(f"{value} has no JSON form")
    if type(value) is str:
        _check_text(value)
    return value


def _pairs(content: list[Any], owned: Callable[[int], Any] | None, depth: int) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    if len(content) > MAX_PAIRS:
        raise RefusedError(f"more than {MAX_PAIRS} pairs")
    for pair in content:
        if type(pair) is not list or len(pair) != 2:
            raise RefusedError("not a key and a value")
        key, value = (_decode(part, owned, depth + 1) for part in pair)
        try:
            result[key] = value
        except TypeError as error:
            raise RefusedError("a key that cannot be one") from error
    return result


def _check_text(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RefusedError("text with half a surrogate pair") from error


class Channel:
    """Frames on a stream socket: four bytes of length, then that many bytes.

    Parameters
    ----------
    sock : one end of a stream socket pair
    limit : a longer frame from the other side ends the channel
    """

    def __init__(self, sock: socket.socket, limit: int) -> None:
        self.sock = sock
        self._limit = limit
        self._buffer = bytearray()

    def send(self, payload: bytes) -> None:
        """Write one frame; OSError when nobody reads any more."""
        self.sock.sendall(LENGTH.pack(len(payload)) + payload)

    def receive(self) -> bytes | None:
        """Return the next frame; None when the other side is gone or wrote no frame."""
        buffer = self._buffer
        try:
            while len(buffer) < 4:
                chunk = self.sock.recv(65536)
                if not chunk:
                    return None
                buffer += chunk
            length = LENGTH.unpack_from(buffer)[0]
            if length > self._limit:
                return None
            while len(buffer) < 4 + length:
                chunk = self.sock.recv(1 << 18)
                if not chunk:
                    return None
                buffer += chunk
        except OSError:
            return None
        payload = bytes(buffer[4 : 4 + length])
        del buffer[: 4 + length]
        return payload
