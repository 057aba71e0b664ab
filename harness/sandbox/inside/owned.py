"""The near end of a list that is held and counted outside.

The class is a `list` so that honest code may ask for one, and its own storage is empty: what goes
around the methods below finds nothing. A read is one message; a slice and a pass over the list are
one message each, charged outside by their length.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, SupportsIndex

from harness.sandbox.inside import codec
from harness.sandbox.inside.codec import Channel

CHANGES = (
    *("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend"),
    *("insert", "pop", "remove", "reverse", "sort"),
)


class OwnedList(list[Any]):  # noqa: PLW1641 (a list has no hash either)
    """A list whose items are elsewhere. It cannot be changed."""

    __slots__ = ("_ask", "_size")

    def __init__(self, ask: Callable[[bytes], Any], size: int) -> None:
        super().__init__()
        self._ask = ask
        self._size = size

    def _all(self) -> list[Any]:
        items: list[Any] = self._ask(b"*")
        return items

    def __len__(self) -> int:
        return self._size

    def __bool__(self) -> bool:
        return self._size > 0

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._size)
            return self._ask(b"s%d,%d,%d" % (start, stop, step))
        place = operator.index(index)
        if not -self._size <= place < self._size:
            raise IndexError("list index out of range")
        return self._ask(b"i%d" % place)

    def __iter__(self) -> Iterator[Any]:
        items: list[Any] = self._all()
        return iter(items)

    def __reversed__(self) -> Iterator[Any]:
        items: list[Any] = self._all()
        return iter(items[::-1])

    def __contains__(self, item: object) -> bool:
        return item in self._all()

    def copy(self) -> list[Any]:
        """Return a plain list: one pass."""
        return self._all()

    def __copy__(self) -> list[Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return self._all()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return (list, (self._all(),))

    def count(self, value: Any) -> int:
        """Count a value: one pass."""
        return self._all().count(value)

    def index(self, value: Any, *bounds: Any) -> int:
        """Find a value: one pass."""
        return self._all().index(value, *bounds)

    def __add__(self, other: Any) -> list[Any]:
        joined: list[Any] = self._all() + _plain(other)
        return joined

    def __radd__(self, other: Any) -> list[Any]:
        return list(other) + self._all()

    def __mul__(self, times: SupportsIndex) -> list[Any]:
        return self._all() * times

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return bool(self._all() == _plain(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return bool(self._all() < _plain(other))

    def __le__(self, other: Any) -> bool:
        return bool(self._all() <= _plain(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self._all() > _plain(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self._all() >= _plain(other))

    def __repr__(self) -> str:
        return repr(self._all())


def _plain(other: Any) -> Any:
    return list(other) if isinstance(other, OwnedList) else other


def _refuse(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"{name}: the argument must not be changed")

    return refuse


for _name in CHANGES:
    setattr(OwnedList, _name, _refuse(_name))


def proxy(channel: Channel, number: int) -> list[Any]:
    """Return the near end of the list of that number, asking its owner for the length."""
    prefix = b"%d" % number

    def ask(question: bytes) -> Any:
        channel.send(prefix + question)
        answer = channel.receive()
        if answer is None:
            raise EOFError("the owner of the list is gone")
        if question[:1] == b"i" and answer[:1] not in b'[{"':
            return codec.read_json(answer)  # one number: the way of most reads
        return codec.decode(codec.read_json(answer))

    return OwnedList(ask, int(ask(b"n")))
