"""The owner of a list counts, whatever the far side does."""

import json
from collections.abc import Callable

import pytest
from sandbox.attacking import LIMITS

from harness.sandbox import Owned, Worker
from harness.sandbox.owner import NoQuestionError, OverBudgetError, Owner

N = 50
HONEST = """
import copy, bisect, json
from collections import Counter
def for_loop(xs):
    return sum(1 for v in xs)
def by_enumerate(xs):
    return sum(i for i, v in enumerate(xs))
def by_zip(xs):
    return sum(b - a for a, b in zip(xs, xs[1:]))
def by_sorted(xs):
    return sorted(xs, reverse=True)[0]
def by_counter(xs):
    return Counter(xs).most_common(1)[0][1]
def by_copy(xs):
    ys = xs.copy()
    return ys[0] + ys[-1] + len(ys)
def by_list(xs):
    ys = list(xs)
    ys.append(1)
    return len(ys)
def by_reversed(xs):
    return next(reversed(xs))
def by_index(xs):
    return xs.index(xs[3])
def by_in(xs):
    return 7 in xs
def by_count(xs):
    return xs.count(7)
def by_indices(xs):
    return sum(xs[i] for i in range(len(xs)))
def by_while(xs):
    i = total = 0
    while i < len(xs):
        total += xs[i]
        i += 1
    return total
def by_unpacking(xs):
    first, *rest = xs
    return first
def by_star(xs):
    return max(*xs)
def by_sum(xs):
    return sum(xs) + min(xs) + max(xs)
def by_concatenation(xs):
    return len(xs + [1]) + len([1] + xs)
def by_isinstance(xs):
    return isinstance(xs, list) and bool(xs) and len(xs)
def by_tuple(xs):
    return len(tuple(xs)) + len(set(xs))
def by_comparison(xs):
    return xs == list(range(50))
def by_extend(xs):
    ys = []
    ys.extend(xs)
    ys[:] = xs
    ys += xs
    return len(ys)
def by_bisect(xs):
    return bisect.bisect_left(xs, 49) >= 6
def by_deepcopy(xs):
    return len(copy.deepcopy(xs)) + len(copy.copy(xs))
def by_negative(xs):
    return xs[-1] + xs[-2]
def by_map(xs):
    return list(map(abs, xs))[-1] + len(list(filter(None, xs)))
def by_iterator(xs):
    walk = iter(xs)
    return next(walk) + next(walk)
def double_loop_on_a_copy(xs):
    ys = list(xs)
    return sum(ys[i] < ys[j] for i in range(len(ys)) for j in range(len(ys)))
"""
# name → (value on range(50), reads): an index counts 1, a slice its length, a pass n
HONEST_READS = {
    "for_loop": (50, N),
    "by_enumerate": (1225, N),
    "by_zip": (49, 2 * N - 1),
    "by_sorted": (49, N),
    "by_counter": (1, N),
    "by_copy": (99, N),
    "by_list": (51, N),
    "by_reversed": (49, N),
    "by_index": (3, N + 1),
    "by_in": (True, N),
    "by_count": (1, N),
    "by_indices": (1225, N),
    "by_while": (1225, N),
    "by_unpacking": (0, N),
    "by_star": (49, N),
    "by_sum": (1274, 3 * N),
    "by_concatenation": (102, 2 * N),
    "by_isinstance": (50, 0),
    "by_tuple": (100, 2 * N),
    "by_comparison": (True, N),
    "by_extend": (100, 3 * N),
    "by_deepcopy": (100, 2 * N),
    "by_negative": (97, 2),
    "by_map": (98, 2 * N),
    "by_iterator": (1, N),
    "double_loop_on_a_copy": (1225, N),
}
SLICES = [
    ("[:10**9]", N),
    ("[::-1]", N),
    ("[5:5]", 0),
    ("[-1:-4:-1]", 3),
    ("[2:40:7]", 6),
    ("[-10**18:]", N),
    ("[100:200]", 0),
]
HOSTILE = """
def clear_method(xs):
    type(xs).__getitem__ = list.__getitem__
    return sum(xs[i] for i in range(len(xs)))
def base_method(xs):
    return sum(list.__getitem__(xs, i) for i in range(50))
def base_iterator(xs):
    return list(list.__iter__(xs))
def base_length(xs):
    return list.__len__(xs)
def reset_counters(xs):
    for name in ("n", "count_", "accesses", "counts"):
        try:
            setattr(xs, name, 0)
        except AttributeError:
            pass
    total = sum(xs[i] for i in range(len(xs)))
    return total
def pop(xs):
    return xs.pop()
def assign(xs):
    xs[0] = 1
def sort(xs):
    xs.sort()
def quadratic(xs):
    return sum(xs[i] < xs[j] for i in range(len(xs)) for j in range(i))
def fake_questions(xs):
    for question in (b"0q", b"7i0", b"0i", b"0i99", b"0i-99", b"0s0,9", b"0s0,9,0", b"0s0,999,1", b"0*x"):
        try:
            xs._ask.__closure__[0].cell_contents.send(question)
        except Exception:
            pass
    return "asked"
"""
Call = Callable[[str, Owned], object]


@pytest.mark.parametrize("name", HONEST_READS)
def test_honest_code_is_served_and_charged(
    best_worker_of: Callable[..., Worker], name: str
) -> None:
    """What one may do with a list one may do here, and each pass counts its length."""
    value, reads = HONEST_READS[name]

    seen = best_worker_of({"honest.py": HONEST}).call(f"honest:{name}", [Owned(range(N), 4 * N)])

    assert (seen.described, seen.accesses) == (f"returned {value!r}", (reads,))


@pytest.mark.parametrize(("slice_", "reads"), SLICES)
def test_a_slice_is_charged_by_its_length(
    best_worker_of: Callable[..., Worker], slice_: str, reads: int
) -> None:
    """Not by what was asked for beyond the list's end."""
    functions = [f"def s{i}(xs):\n    return xs{text}\n" for i, (text, _) in enumerate(SLICES)]
    worker = best_worker_of({"slices.py": "".join(functions)})
    number = [text for text, _ in SLICES].index(slice_)
    expected = eval(f"list(range(N)){slice_}")  # our own texts, above

    seen = worker.call(f"slices:s{number}", [Owned(range(N), 4 * N)])

    assert (seen.value, seen.accesses) == (expected, (reads,))


def test_binary_search_counts_each_look(best_worker_of: Callable[..., Worker]) -> None:
    """C code that goes by index goes through the owner too: about log2(n) reads."""
    seen = best_worker_of({"honest.py": HONEST}).call("honest:by_bisect", [Owned(range(N), 4 * N)])

    assert seen.value is True
    assert 5 <= seen.accesses[0] <= 7


@pytest.mark.parametrize("name", ["clear_method", "base_method"])
def test_what_goes_around_the_methods_finds_nothing(
    best_worker_of: Callable[..., Worker], name: str
) -> None:
    """The storage of the near end is empty, and the next measure is not touched by a patch."""
    worker = best_worker_of({"hostile.py": HOSTILE})

    assert worker.call(f"hostile:{name}", [Owned(range(N), 4 * N)]).raised("IndexError")
    assert worker.call("hostile:base_iterator", [Owned(range(N), 4 * N)]).value == []
    assert worker.call("hostile:base_length", [Owned(range(N), 4 * N)]).value == 0
    honest = worker.call("hostile:reset_counters", [Owned(range(N), 4 * N)])
    assert (honest.value, honest.accesses) == (1225, (N,))


@pytest.mark.parametrize("name", ["pop", "assign", "sort"])
def test_the_list_cannot_be_changed(best_worker_of: Callable[..., Worker], name: str) -> None:
    """A change is refused by name, so that it is seen as what it is."""
    seen = best_worker_of({"hostile.py": HOSTILE}).call(f"hostile:{name}", [Owned(range(N), 4 * N)])

    assert seen.raised("TypeError")
    assert "must not be changed" in seen.text


def test_one_read_beyond_the_budget_ends_the_call(best_worker_of: Callable[..., Worker]) -> None:
    """The count stops at the budget plus one, and no value comes back."""
    seen = best_worker_of({"hostile.py": HOSTILE}).call(
        "hostile:quadratic", [Owned(range(N), 4 * N)]
    )

    assert (seen.outcome, seen.killed_by, seen.accesses) == ("died", "accesses", (4 * N + 1,))


def test_frames_that_ask_nothing_are_garbage(best_worker_of: Callable[..., Worker]) -> None:
    """They are counted as evidence, give no data, and change no count."""
    seen = best_worker_of({"hostile.py": HOSTILE}).call(
        "hostile:fake_questions", [Owned(range(N), 4 * N)]
    )

    assert (seen.value, seen.accesses, seen.evidence.garbage) == ("asked", (0,), 9)


def test_two_lists_are_counted_apart(best_worker_of: Callable[..., Worker]) -> None:
    """Each has its own budget."""
    source = "def f(xs, ys):\n    return sum(xs) + ys[0]\n"

    seen = best_worker_of({"two.py": source}).call("two:f", [Owned([1, 2], 9), Owned([5], 9)])

    assert (seen.value, seen.accesses) == (8, (2, 1))


def test_a_list_of_anything_is_served(best_worker_of: Callable[..., Worker]) -> None:
    """Items are values of the border like any other."""
    items = ["ñ", None, [1, [2]], True, -3, 1.5]
    source = "def f(xs):\n    return [xs[i] for i in range(len(xs))] + xs[1:3]\n"

    seen = best_worker_of({"any.py": source}).call("any:f", [Owned(items, 20)])

    assert (seen.value, seen.accesses) == ([*items, None, [1, [2]]], (8,))


def test_the_owner_itself_refuses_every_other_question() -> None:
    """The same rules without any process: indices, bounds, budget."""
    owner = Owner([Owned([10, 20, 30], budget=4)])

    assert json.loads(owner.answer(b"0n")) == 3
    assert json.loads(owner.answer(b"0i-1")) == 30
    assert json.loads(owner.answer(b"0s2,-1,-1")) == [30, 20, 10]
    assert owner.counts == [4]
    for frame in (b"", b"x", b"1n", b"0i3", b"0s0,4,1", b"0s0,3,0", b"0n1", b"0*1", b"0i1e3"):
        with pytest.raises(NoQuestionError):
            owner.answer(frame)
    with pytest.raises(OverBudgetError):
        owner.answer(b"0*")
    assert owner.counts == [7]


@pytest.mark.slow
def test_forty_thousand_reads_take_seconds_not_minutes(
    best_worker_of: Callable[..., Worker],
) -> None:
    """The scored size of the linear refactor: 20,000 elements, two reads each."""
    source = "def f(xs):\n    return sum(xs[i] <= xs[i + 1] for i in range(len(xs) - 1))\n"
    limits = LIMITS.model_copy(update={"wall_s": 60.0})

    seen = best_worker_of({"reads.py": source}).call(
        "reads:f", [Owned(range(20_000), 80_000)], limits=limits
    )

    assert (seen.value, seen.accesses) == (19_999, (39_998,))
