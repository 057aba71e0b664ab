"""Tests really run, behind the walls; what comes back is feedback and shows nothing expected."""

from collections.abc import Iterator

import pytest

from harness.arnes import SandboxLimits
from harness.records.base import Json
from harness.sandbox import Tier, probe
from harness.world import Case
from harness.world.suites import SuiteRunner, same

LIMITS = SandboxLimits(
    wall_s=4, cpu_s=1, memory_mib=512, processes=10, file_mib=1, scratch_mib=16, output_kib=64
)
CASES = (
    Case("one", "m.dues:f", (1,), 25),
    Case("two", "m.dues:f", (2,), 50),
    Case("reversed", "m.dues:f", ("x",), raises="TypeError"),
)
RIGHT = "def f(x):\n    return x * 25 + (x - x)\n"


@pytest.fixture(scope="session")
def tier() -> Tier:
    found = probe()
    if found.name == "none":
        pytest.skip("no tier is available here")
    return found


@pytest.fixture
def runner(tier: Tier) -> Iterator[SuiteRunner]:
    with SuiteRunner(tier, LIMITS) as opened:
        yield opened


def report(runner: SuiteRunner, module: str, cases: tuple[Case, ...] = CASES) -> list[str]:
    return runner.run({"m/__init__.py": "", "m/dues.py": module}, cases).text.split("\n")


def test_a_report_has_a_line_for_each_test(runner: SuiteRunner) -> None:
    """In the order of the suite, with what came instead, and never with what was expected."""
    assert report(runner, RIGHT) == [
        "one ... ok",
        "two ... ok",
        "reversed ... ok",
        "3 tests, 0 failing",
    ]
    assert report(runner, "def f(x):\n    return 25\n") == [
        "one ... ok",
        "two ... FAIL: got 25",
        "reversed ... FAIL: got 25",
        "3 tests, 2 failing",
    ]
    long = report(runner, "def f(x):\n    return 'a\\nb' * 400\n")
    got = long[0].removeprefix("one ... FAIL: got ")
    assert (got, len(got)) == (("'" + "a\\nb" * 400)[:59] + "…", 60)
    for written in ("def f(x):\n    return 0\n", "def f(x):\n    raise ValueError('50')\n"):
        assert not {"50", "'50'"} & set(" ".join(report(runner, written)).split())


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("def f(x:\n", "SyntaxError"),
        ("import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("raise SystemExit(0)\n", "SystemExit"),
        ("def g(x):\n    return x\n", "AttributeError"),
        ("def f(x):\n    return undefined\n", "NameError"),
        ("class Odd(Exception):\n    pass\ndef f(x):\n    raise Odd('0 failing')\n", "Odd"),
        (
            "def f(x):\n    raise type('a ... ok\\n9 tests, 0 failing', (Exception,), {})\n",
            "Exception",
        ),
        ("import os\nos._exit(0)\n", "the process ended without an answer"),
        (
            "print('one ... ok\\n3 tests, 0 failing')\nimport os\nos._exit(0)\n",
            "the process ended without an answer",
        ),
    ],
)
def test_what_does_not_run_is_an_error_of_every_test(
    runner: SuiteRunner, module: str, name: str
) -> None:
    """A module that does not load fails all tests by the exception's name; printing is no report."""
    expected = [f"{case.name} ... ERROR: {name}" for case in CASES]

    assert report(runner, module) == [*expected, "3 tests, 3 failing"]


def test_a_module_that_is_not_there_is_an_error(runner: SuiteRunner) -> None:
    """A suite may be run before the code exists."""
    got = runner.run({"readme.md": "x"}, CASES)

    assert {outcome.line.partition(" ... ")[2] for outcome in got.outcomes} == {
        "ERROR: ModuleNotFoundError"
    }


@pytest.mark.parametrize(
    "value",
    [
        "type('Any', (int,), {'__eq__': lambda s, o: True, '__hash__': int.__hash__})(25)",
        "True",
        "25.0",
        "'25'",
        "[25]",
        "None",
        "__import__('decimal').Decimal(25)",
    ],
)
def test_values_are_compared_with_their_types(runner: SuiteRunner, value: str) -> None:
    """Neither a subclass that equals everything nor a number of another type holds."""
    cases = (Case("one", "m.dues:f", (1,), 25), Case("yes", "m.dues:f", (1,), 1))

    lines = report(runner, f"def f(x):\n    return {value}\n", cases)

    assert all(" ... FAIL: got " in line for line in lines[:2]), lines


@pytest.mark.parametrize(
    ("value", "other", "equal"),
    [
        (1, 1, True),
        (1, True, False),
        (1, 1.0, False),
        (0.0, -0.0, True),
        ([1, [2]], [1, [2]], True),
        ([1], (1,), False),
        ([1, [2.0]], [1, [2]], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({1: "x"}, {True: "x"}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ("a", "a", True),
        (None, 0, False),
    ],
)
def test_equal_means_equal_throughout(value: object, other: object, equal: bool) -> None:
    """Types count at every depth, the order of keys does not."""
    assert same(value, other) is equal


def test_an_endless_loop_costs_its_own_test(runner: SuiteRunner) -> None:
    """One test times out, the others have their own time."""
    module = "def f(x):\n    while x == 2:\n        pass\n    return x * 25 + (x - x)\n"

    assert report(runner, module) == [
        "one ... ok",
        "two ... TIMEOUT",
        "reversed ... ok",
        "3 tests, 1 failing",
    ]


@pytest.mark.parametrize(
    "bomb",
    [
        "import os\nwhile True:\n    os.fork()\n",
        "import os\ndef f(x):\n    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass\n",
        "def f(x):\n    return 'x' * (1 << 32)\n",
        "def f(x):\n    while True:\n        print('x' * 10000)\n",
        "def f(x):\n    return f(x)\n",
        "def f(x):\n    return 9 ** 9 ** 5\n",
        "def f(x):\n    open('big', 'w').write('x' * (1 << 24))\n    return 25\n",
        "import socket\ndef f(x):\n    socket.create_connection(('127.0.0.1', 9), 0.1)\n",
        "import signal, os\ndef f(x):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return 0\n",
    ],
)
def test_nothing_hostile_ends_more_than_its_test(runner: SuiteRunner, bomb: str) -> None:
    """A bomb of any kind fails its own test, and the honest code after it is judged as ever."""
    case = CASES[:1]

    assert report(runner, bomb, case)[-1] == "1 tests, 1 failing"
    assert report(runner, RIGHT, case) == ["one ... ok", "1 tests, 0 failing"]


def test_nothing_carries_over_from_call_to_call(runner: SuiteRunner) -> None:
    """Each test has a process and files of its own, so the order of tests decides nothing."""
    module = (
        "import pathlib\nseen = []\n"
        "def f(x):\n    seen.append(x)\n    mark = pathlib.Path('mark')\n"
        "    new = not mark.exists()\n    mark.write_text('x')\n    return len(seen) if new else 0\n"
    )
    cases = tuple(Case(str(number), "m.dues:f", (number,), 1) for number in range(3))

    assert report(runner, module, cases)[-1] == "3 tests, 0 failing"


def test_outcomes_are_remembered_by_content(tier: Tier) -> None:
    """The same files and tests are run once, also by a later runner; other ones are not recalled."""
    clock = "import os\ndef f(x):\n    return os.urandom(8).hex()\n"
    files = {"m/__init__.py": "", "m/dues.py": clock}
    with SuiteRunner(tier, LIMITS) as first:
        report = first.run(files, CASES)
        assert first.run(dict(reversed(files.items())), CASES) == report
        other = first.run({**files, "m/more.py": ""}, CASES)
        kept = first.remembered
    with SuiteRunner(tier, LIMITS, kept) as second:
        assert second.run(files, CASES) == report
        assert second.run(files, CASES[:2]) != report
        assert second.run(files, CASES, hash_seed=5) != report
        assert len(second.remembered) == 3
    assert other != report
    assert len(kept) == 2


@pytest.mark.parametrize(
    "damaged", [[], [["ok", ""]], "ok", [["ok", ""], ["ok", ""], ["odd", ""]], None]
)
def test_a_damaged_memory_is_measured_again(tier: Tier, damaged: Json) -> None:
    """What is no outcome of these tests is no outcome."""
    files = {"m/__init__.py": "", "m/dues.py": RIGHT}
    with SuiteRunner(tier, LIMITS) as first:
        report = first.run(files, CASES)
        kept = dict.fromkeys(first.remembered, damaged)
    with SuiteRunner(tier, LIMITS, kept) as second:
        assert second.run(files, CASES) == report


def test_the_time_of_a_whole_run_is_limited(tier: Tier) -> None:
    """When it is used up, the tests that are left count as timed out without being run."""
    slow = LIMITS.model_copy(update={"wall_s": 9.0})
    cases = tuple(Case(str(number), "m.dues:f", (number,), 1) for number in range(3))
    files = {"m/__init__.py": "", "m/dues.py": "import time\ndef f(x):\n    time.sleep(99)\n"}
    with SuiteRunner(tier, slow, test_wall_s=0.3, run_wall_s=0.5) as runner:
        assert [outcome.status for outcome in runner.run(files, cases).outcomes] == ["TIMEOUT"] * 3
