"""Calls of foreign functions: every outcome is told apart, and nothing crosses between two calls."""

import math
import threading
from collections.abc import Callable

import psutil
import pytest
from pydantic import ValidationError
from sandbox.attacking import BEST_FIRST, LIMITS

from harness.arnes import SandboxLimits
from harness.errors import GraderError
from harness.sandbox import (
    Candidate,
    Tier,
    Worker,
    execution_key,
    open_worker,
    python_stamp,
    worker_digest,
)

Workers = Callable[..., Worker]
SOURCE = """
import os
import sys
import time

state = []
here = __file__

def same(x):
    return x

def add(a, b=0, *, c=0):
    return a + b + c

def remember(x):
    state.append(x)
    return list(state)

def fail(text):
    raise ValueError(text)

class Oops(KeyError):
    pass

def fail_own():
    raise Oops("x")

class Rude(Exception):
    def __str__(self):
        raise RuntimeError

def fail_rude():
    raise Rude

def leave(code):
    sys.exit(code)

def recurse():
    sys.setrecursionlimit(10**9)
    return recurse()

def grow():
    return len([0] * 10**10)

def loop():
    while True:
        pass

def sleep():
    time.sleep(60)

class E(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__

def always_equal():
    return E(3)

def not_a_number():
    return float("nan")

def long():
    return "x" * (2 << 20)

def change(xs):
    xs.reverse()
    return len(xs)

def patched_clock():
    time.time = time.process_time = time.monotonic = lambda: 0
    total = 0
    for i in range(3_000_000):
        total += i
    return total

def where():
    return [os.getcwd(), here, dict(os.environ), sys.argv, sys.path[0], os.listdir(".")]

def overwrite():
    changed = 0
    seen = 0
    for start in ("/", *sys.path):
        for folder, _, names in os.walk(start):
            for name in names:
                if name.endswith(".py"):
                    seen += 1
                    try:
                        with open(os.path.join(folder, name), "a") as file:
                            file.write("\\nraise SystemExit(0)\\n")
                        changed += 1
                    except OSError:
                        pass
    return [changed, seen > 100]

memo = {}
def by_identity(xs):
    if id(xs) not in memo:
        memo[id(xs)] = sum(xs)
    return memo[id(xs)]

def ours():
    return sorted(name for name in sys.modules if name.startswith("harness"))

def importers():
    return [type(finder).__name__ for finder in sys.meta_path if not isinstance(finder, type)]

def seed():
    return [hash("arnes"), os.environ.get("PYTHONHASHSEED")]

def chance():
    import random
    return random.random()

def prints():
    print("to be seen by a person")
    print("that too", file=sys.stderr)
    return None

def start():
    import subprocess
    subprocess.Popen(["sleep", "600"])
"""
FILES = {"m.py": SOURCE, "pack/__init__.py": "", "pack/inner.py": "def f():\n    return 'inner'\n"}


@pytest.fixture(params=BEST_FIRST, ids=lambda tier: tier.name)
def tier(request: pytest.FixtureRequest) -> Tier:
    """The best tier; the others among the slow tests."""
    return request.param


@pytest.fixture
def worker(worker_of: Workers) -> Worker:
    return worker_of(FILES)


def test_a_value_comes_back(worker: Worker) -> None:
    """Arguments go in by position and name; packages are found."""
    assert worker.call("m:add", [1, 2], {"c": 3}).value == 6
    assert worker.call("pack.inner:f").value == "inner"


def test_no_state_is_left_for_the_next_call(worker: Worker) -> None:
    """Module state and memos by identity begin anew in every measure (G063)."""
    assert [worker.call("m:remember", [i]).value for i in (1, 2)] == [[1], [2]]
    assert [worker.call("m:by_identity", [[n]]).value for n in (1, 2, 3)] == [1, 2, 3]


def test_an_exception_is_told_by_its_class(worker: Worker) -> None:
    """A builtin class has its bare name, another its module's, and the builtin bases beside it."""
    seen = worker.call("m:fail", ["too low"])
    assert (seen.outcome, seen.error, seen.text) == ("exception", "ValueError", "too low")
    own = worker.call("m:fail_own")
    assert (own.error, own.raised("KeyError"), own.raised("ValueError")) == ("m.Oops", True, False)
    assert worker.call("m:fail_rude").text == ""


def test_leaving_is_an_exception_like_another(worker: Worker) -> None:
    """SystemExit inside a graded function ends the call and nothing else (G053)."""
    seen = worker.call("m:leave", [0])

    assert (seen.outcome, seen.error) == ("exception", "SystemExit")


def test_a_bomb_ends_and_the_next_call_is_fresh(worker: Worker) -> None:
    """Memory and recursion end at their limits (G050)."""
    assert worker.call("m:grow").raised("MemoryError")
    bomb = worker.call("m:recurse", limits=LIMITS.model_copy(update={"memory_mib": 64}))
    assert bomb.outcome in ("exception", "died")
    assert worker.call("m:add", [1]).value == 1


@pytest.mark.parametrize(
    ("name", "change", "killed_by"),
    [
        ("loop", {"wall_s": 0.3}, "wall"),
        ("sleep", {"wall_s": 0.3}, "wall"),
        ("loop", {"cpu_s": 0.3, "wall_s": 300}, "cpu"),
    ],
)
def test_a_limit_of_time_is_a_timeout(
    worker: Worker, name: str, change: dict[str, float], killed_by: str
) -> None:
    """Wall and CPU are two clocks, both outside."""
    seen = worker.call(f"m:{name}", limits=LIMITS.model_copy(update=change))

    assert (seen.outcome, seen.killed_by) == ("timeout", killed_by)
    with pytest.raises(ValueError, match="gave no value"):
        _ = seen.value


@pytest.mark.parametrize("name", ["always_equal", "not_a_number", "long"])
def test_a_value_that_is_none_is_refused(worker: Worker, name: str) -> None:
    """An int subclass that equals all (G056), NaN, and more than a megabyte."""
    assert worker.call(f"m:{name}").outcome == "refused"


def test_arguments_can_be_looked_at_afterwards(worker: Worker) -> None:
    """A function that changes its argument is seen to do so."""
    seen = worker.call("m:change", [[1, 2, 3]], echo_arguments=True)

    assert seen.value == 3
    assert seen.arguments == [[[3, 2, 1]], {"d": []}]


def test_cpu_is_measured_where_nobody_can_patch_it(worker: Worker) -> None:
    """Clocks replaced inside change no measurement (G060)."""
    idle = worker.call("m:add", [1]).usage
    busy = worker.call("m:patched_clock").usage

    assert idle is not None
    assert busy is not None
    assert busy.cpu_s > idle.cpu_s + 0.03  # three million additions; any machine needs more


def test_there_is_nothing_to_read(worker: Worker) -> None:
    """Environment, arguments and folder are the same for all and tell nothing (G061, G071)."""
    first, second = (worker.call("m:where").value for _ in range(2))

    assert first == second
    folder, file, variables, arguments, path, names = first
    assert file == f"{folder}/m.py"
    assert path == folder
    assert arguments == [""]
    assert names == ["m.py", "pack"] or sorted(names) == ["m.py", "pack"]
    assert set(variables) <= {
        *("HOME", "LANG", "LC_CTYPE", "LD_LIBRARY_PATH", "OPENBLAS_NUM_THREADS", "PATH", "PWD"),
        *("PYTHONHASHSEED", "PYTHONIOENCODING", "TMPDIR", "TZ"),
    }


def test_files_are_new_in_every_measure(worker: Worker) -> None:
    """Whoever overwrites all he can reach, reaches his own copies alone (G062)."""
    assert worker.call("m:overwrite").value == [3, True]
    assert worker.call("m:add", [2]).value == 2


def test_the_hash_seed_is_the_callers(tier: Tier) -> None:
    """Order of sets is reproducible, and recorded where the seed comes from."""
    seen = []
    for seed in (1, 1, 2):
        candidate = Candidate(files=FILES, hash_seed=seed, limits=LIMITS)
        with open_worker(candidate, tier) as worker:
            seen.append(worker.call("m:seed").value)

    assert seen[0] == seen[1] != seen[2]
    assert [text for _, text in seen] == ["1", "1", "2"]


def test_chance_is_not_frozen_by_the_fork(worker: Worker) -> None:
    """Forks of one process draw differently: a coin must look like one (G072)."""
    assert len({worker.call("m:chance").value for _ in range(4)}) == 4


def test_our_own_modules_are_not_importable_inside(worker: Worker) -> None:
    """The import system knows nothing of what runs the call."""
    assert worker.call("m:ours").value == []
    assert worker.call("m:importers").value == []


def test_what_is_printed_is_evidence(worker: Worker) -> None:
    """It is kept for a person and does not count as a value (G044)."""
    seen = worker.call("m:prints")

    assert seen.value is None
    assert seen.evidence.stdout == "to be seen by a person\n"
    assert seen.evidence.stderr == "that too\n"


def test_a_call_that_starts_a_program_fails(worker: Worker) -> None:
    """Nothing is left that somebody would have to wait for (G048)."""
    assert worker.call("m:start").raised("OSError")


def test_a_name_of_the_candidate_goes_before_ours(worker_of: Workers) -> None:
    """An asked file may be called like a module that the worker itself has imported."""
    worker = worker_of({"json.py": "def f():\n    return 'theirs'\n", "codec.py": "x = 1\n"})

    assert worker.call("json:f").value == "theirs"
    assert worker.load("codec").outcome == "value"


def test_start_files_beside_the_deliverable_do_not_run(worker_of: Workers) -> None:
    """sitecustomize and usercustomize are files like others (G052)."""
    mark = "import builtins\nbuiltins.marked = True\n"
    source = "import builtins\ndef f():\n    return hasattr(builtins, 'marked')\n"
    worker = worker_of({"m.py": source, "sitecustomize.py": mark, "usercustomize.py": mark})

    assert worker.call("m:f").value is False


@pytest.mark.parametrize(
    ("source", "outcome", "what"),
    [
        ("def f(:\n", "exception", "SyntaxError"),
        ("import nothing_of_this_name\n", "exception", "ModuleNotFoundError"),
        ("import sys\nsys.exit(0)\n", "exception", "SystemExit"),
        ("import os\nos._exit(0)\n", "died", ""),
        ("import atexit, os\natexit.register(lambda: os._exit(0))\n", "value", ""),
    ],
)
def test_loading_has_the_same_outcomes(
    worker_of: Workers, source: str, outcome: str, what: str
) -> None:
    """A module that ends its process while it loads has not loaded (G040)."""
    seen = worker_of({"m.py": source}).load("m")

    assert (seen.outcome, seen.error) == (outcome, what)


def test_equal_length_variants_are_both_run(tier: Tier) -> None:
    """No bytecode of one variant is taken for another's (G075)."""
    seen = []
    for constant in (100, 200, 300):
        files = {"m.py": f"def f():\n    return {constant}\n"}
        with open_worker(Candidate(files=files, hash_seed=0, limits=LIMITS), tier) as worker:
            seen.append(worker.call("m:f").value)

    assert seen == [100, 200, 300]


def zygote_of(worker: Worker) -> psutil.Process:
    """The process of a sandbox that forks the measures: below bubblewrap's two, or the first."""
    process = psutil.Process(worker.sandbox().pid)
    while process.name() == "bwrap":
        process = process.children()[0]
    return process


@pytest.mark.slow
def test_a_lost_sandbox_is_replaced(tier: Tier) -> None:
    """A sandbox that was ended from outside costs no candidate a call."""
    with open_worker(Candidate(files=FILES, hash_seed=0, limits=LIMITS), tier) as worker:
        assert worker.call("m:add", [1]).value == 1
        worker.sandbox().destroy()
        assert worker.call("m:add", [2]).value == 2
        zygote_of(worker).kill()
        assert worker.call("m:add", [3]).value == 3


@pytest.mark.slow
def test_a_sandbox_that_does_not_answer_is_given_up(tier: Tier) -> None:
    """Whoever waits for a word from inside does not wait for ever."""
    limits = LIMITS.model_copy(update={"wall_s": 1.0})
    with open_worker(Candidate(files=FILES, hash_seed=0, limits=LIMITS), tier) as worker:
        zygote = zygote_of(worker)
        stop = threading.Timer(0.3, zygote.suspend)
        stop.start()
        seen = worker.call("m:sleep", limits=limits)
        stop.join()

        assert (seen.outcome, seen.killed_by) == ("timeout", "wall")
        assert worker.call("m:add", [2]).value == 2
        assert not psutil.pid_exists(zygote.pid) or zygote.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize(
    "path", ["../a.py", "/a.py", "a//b.py", "./a.py", "a/../b.py", "a\0.py", ""]
)
def test_a_path_that_leads_out_is_no_candidates(path: str) -> None:
    """The parser lets none through; here it could not be written either."""
    with pytest.raises(ValidationError):
        Candidate(files={path: ""}, hash_seed=0, limits=LIMITS)


def test_a_text_that_no_file_can_hold_does_not_load(worker_of: Workers) -> None:
    """Half a surrogate pair is the model's mistake, not ours."""
    seen = worker_of({"m.py": "x = '\ud800'\n"}).load("m")

    assert (seen.outcome, seen.error) == ("exception", "SyntaxError")


def test_arguments_of_ours_that_cannot_be_sent_are_our_fault(worker: Worker) -> None:
    """No model pays for them."""
    for args in ([math.nan], [object()], [{1, 2}]):
        with pytest.raises(GraderError):
            worker.call("m:add", args)
    with pytest.raises(GraderError, match="module:function"):
        worker.call("m.add")


def test_keys_of_a_cache_change_with_what_they_stand_for() -> None:
    """Files, seed and limits are in the candidate's digest; code and interpreter have their own."""
    one = Candidate(files=FILES, hash_seed=1, limits=LIMITS)
    others = [
        one.model_copy(update={"files": {"m.py": ""}}),
        one.model_copy(update={"hash_seed": 2}),
        one.model_copy(update={"limits": LIMITS.model_copy(update={"wall_s": 1.0})}),
    ]

    tier = Tier(name="landlock", available=True, details="Landlock 7")
    keys = {
        execution_key(one, t, asked)
        for t in (tier, tier.model_copy(update={"details": ""}))
        for asked in (1, 2)
    }
    assert len(keys) == 4
    assert one.digest == Candidate(files=dict(FILES), hash_seed=1, limits=LIMITS).digest
    assert len({one.digest, *(other.digest for other in others)}) == 4
    assert len(worker_digest()) == 64
    assert python_stamp().startswith("cpython 3.")


def test_an_observation_can_be_kept_and_read_back(worker: Worker) -> None:
    """The record is JSON, and the value comes out of it with its types."""
    seen = worker.call("m:same", [[(1, 2), {"k": 1.5}]])
    again = type(seen).model_validate_json(seen.model_dump_json())

    assert again == seen
    assert again.value == [(1, 2), {"k": 1.5}]


def test_limits_of_the_config_fit(worker: Worker) -> None:
    """The limits of `arnes.toml` are what a call takes."""
    limits = SandboxLimits(
        wall_s=20,
        cpu_s=20,
        memory_mib=512,
        processes=40,
        file_mib=16,
        scratch_mib=64,
        output_kib=1024,
    )

    assert worker.call("m:add", [1], limits=limits).value == 1
