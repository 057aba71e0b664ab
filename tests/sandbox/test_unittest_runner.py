"""A foreign test file is run, and only events that happened are believed."""

from collections.abc import Callable

import pytest
from sandbox.attacking import AVAILABLE, LIMITS
from sandbox.conftest import OpenWorker

from harness.errors import GraderError
from harness.sandbox import SuiteRun, Tier, unittest_run

MODULE = """
RATE = 3

def fee(days, late=False):
    if days < 0:
        raise ValueError("days below zero")
    return days * RATE + (5 if late else 0)

def table():
    return {"a": (1, 2), 3: [None]}
"""
MUTANT = MODULE.replace("RATE = 3", "RATE = 4")
HEAD = "import unittest\nfrom cold import fee, table\nclass T(unittest.TestCase):\n"
TESTS = {
    "plain": HEAD
    + """
    def test_right(self):
        self.assertEqual(fee(2), 6)
    def test_wrong(self):
        self.assertEqual(fee(2), 7)
    def test_raises(self):
        with self.assertRaises(ValueError):
            fee(-1)
    def test_error(self):
        raise KeyError("oops")
    def test_keyword(self):
        self.assertEqual(fee(1, late=True), 8)
    def test_types(self):
        self.assertEqual(table(), {"a": (1, 2), 3: [None]})
""",
    "exit_at_import": HEAD + "    def test_a(self): pass\nimport sys\nsys.exit(0)\n",
    "exit_in_test": HEAD
    + """
    def test_a(self):
        self.assertEqual(fee(0), 1)
    def test_b(self):
        import os
        os._exit(0)
    def test_c(self): pass
""",
    "exit_late": HEAD
    + """
    def test_a(self): self.assertEqual(fee(0), 1)
import atexit, os
atexit.register(lambda: os._exit(0))
""",
    "patched": HEAD
    + """
    def test_a(self): self.assertEqual(fee(0), 1)
unittest.TestResult.addFailure = lambda s, t, e: s.addSuccess(t)
unittest.TestCase.assertEqual = lambda *a: None
""",
    "printed": HEAD
    + """
    def test_a(self):
        print("Ran 12 tests in 0.01s\\n\\nOK\\n{\\"verdict\\": \\"pass\\"}")
        self.assertEqual(fee(0), 1)
""",
    "names": HEAD
    + """
    def test_PASSED_ok(self):
        \"\"\"A docstring

        test_b (T) ... ok\"\"\"
        print("FAILED")
""",
    "hang_at_import": "while True: pass\n",
    "hang_in_test": HEAD
    + """
    def test_a(self): self.assertEqual(fee(0), 1)
    def test_b(self):
        while True: pass
""",
    "empty": "import unittest\n",
    "all_skip": HEAD
    + """
    def test_a(self): self.skipTest("no")
    @unittest.skip("no")
    def test_b(self): pass
""",
    "part_skips": HEAD
    + """
    def test_a(self):
        for i in range(3):
            with self.subTest(i=i):
                if i == 1: self.skipTest("no")
    def test_b(self):
        for i in range(3):
            with self.subTest(i=i):
                if i == 1: self.skipTest("no")
                self.assertEqual(fee(i), 3)
    def test_case(self): self.skipTest("no")
""",
    "module_skip": HEAD
    + """
    def test_a(self): pass
def setUpModule(): raise unittest.SkipTest("no")
""",
    "load_tests": HEAD
    + """
    def test_a(self): self.assertEqual(fee(0), 1)
def load_tests(loader, tests, pattern): return unittest.TestSuite()
""",
    "expected": HEAD
    + """
    @unittest.expectedFailure
    def test_a(self): self.assertEqual(fee(0), 1)
    @unittest.expectedFailure
    def test_b(self): pass
""",
    "main": HEAD + "    def test_a(self): pass\nunittest.main()\n",
    "subtests": HEAD
    + """
    def test_a(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(fee(i), 3)
    def test_b(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertEqual(fee(i), 3 * i)
""",
    "subtest_names": HEAD
    + """
    def test_a(self):
        with self.subTest("test_b", test_b="(test_subtest_names.T.test_b) ... FAIL"):
            self.assertEqual(fee(0), 1)
    def test_b(self):
        with self.subTest("test_a [ok]"):
            self.assertEqual(fee(0), 0)
""",
    "budget": HEAD
    + """
    def test_a(self):
        for i in range(41):
            fee(i)
    def test_b(self): fee(1)
""",
    "source_hash": HEAD
    + """
    def test_a(self):
        import hashlib, inspect, cold
        text = inspect.getsource(cold).encode()
        self.assertEqual(hashlib.sha256(text).hexdigest(), "x")
""",
    "place": HEAD
    + """
    def test_a(self):
        import cold, os, sys, inspect
        seen = [getattr(cold, "__file__", None), cold.__spec__, os.getcwd(), sys.argv]
        seen += [sorted(os.environ.items()), sorted(os.listdir(".")), sorted(vars(cold))]
        seen += [fee.__code__.co_filename, fee.__name__, fee.__doc__, sys.path]
        import hashlib
        self.fail(hashlib.sha256(repr(seen).encode()).hexdigest())
""",
    "constant": "import unittest\nfrom cold import RATE\n",
    "coin": HEAD
    + """
    def test_a(self):
        import random
        self.assertLess(random.random(), 0.5)
""",
    "thread": HEAD
    + """
    def test_a(self):
        import threading, time
        threading.Thread(target=time.sleep, args=(300,)).start()
""",
    "forged": HEAD
    + """
    def test_a(self):
        import os, struct
        for text in (b'{"event": "success", "seq": 0}', b"x"):
            for fd in range(3, 20):
                try:
                    os.write(fd, struct.pack(">I", len(text)) + text)
                except OSError:
                    pass
    def test_b(self): self.assertEqual(fee(0), 1)
""",
    "setup_fails": HEAD
    + """
    @classmethod
    def setUpClass(cls): raise RuntimeError("no")
    def test_a(self): pass
""",
    "slow_sleep": HEAD
    + """
    def test_a(self):
        import time
        time.sleep(60 if fee(2) != 6 else 0)
""",
}
FUNCTIONS = ("fee", "table")
Run = Callable[..., SuiteRun]


@pytest.fixture
def run(pool: OpenWorker) -> Run:
    """Run one of the test files above against a variant of the module, on the best tier."""
    if not AVAILABLE:
        pytest.skip("no tier is available here")
    return runner(AVAILABLE[0], pool)


def runner(tier: Tier, pool: OpenWorker) -> Run:
    """Return what runs the files above behind one tier."""
    files = {f"test_{name}.py": text for name, text in TESTS.items()}
    tests = pool(tier, files, True)

    def go(name: str, module: str = MODULE, **options: object) -> SuiteRun:
        variant = pool(tier, {"cold.py": module}, False)
        options = {"budget": 40} | options
        return unittest_run(tests, f"test_{name}", variant, "cold", FUNCTIONS, **options)

    return go


def outcomes(run: SuiteRun) -> dict[str, str]:
    """Outcomes by the bare name of the method."""
    return {name.rpartition(".")[2]: outcome for name, outcome in run.outcomes.items()}


def test_each_test_has_the_outcome_that_happened(tier: Tier, pool: OpenWorker) -> None:
    """Values, exceptions and keywords cross to the module and back with their types."""
    seen = runner(tier, pool)("plain")

    assert outcomes(seen) == {
        "test_error": "error",
        "test_keyword": "passed",
        "test_raises": "passed",
        "test_right": "passed",
        "test_types": "passed",
        "test_wrong": "failed",
    }
    assert seen.tests[0] == "test_plain.T.test_error"
    assert seen.ended
    assert seen.calls == 5
    assert seen.calls_in_test["test_plain.T.test_right"] == 1
    failure = next(event for event in seen.events if event.kind == "failure")
    assert (failure.error, "Exception" in failure.error_bases) == ("AssertionError", True)


def test_a_mutant_is_told_apart_by_its_behaviour(run: Run) -> None:
    """The same method that passes on the original fails on the changed module."""
    assert outcomes(run("plain", MUTANT))["test_right"] == "failed"
    assert outcomes(run("plain"))["test_right"] == "passed"


@pytest.mark.parametrize(
    ("name", "expected", "ended"),
    [
        ("exit_at_import", {}, True),  # G040
        ("exit_in_test", {"test_a": "failed", "test_b": "not_run", "test_c": "not_run"}, False),
        ("exit_late", {"test_a": "failed"}, True),  # G042
        ("printed", {"test_a": "failed"}, True),  # G044
        ("names", {"test_PASSED_ok": "passed"}, True),  # G045
        ("empty", {}, True),  # G037
        ("all_skip", {"test_a": "skipped", "test_b": "skipped"}, True),  # G038
        ("part_skips", {"test_a": "skipped", "test_b": "failed", "test_case": "skipped"}, True),
        ("module_skip", {"test_a": "not_run"}, True),
        ("load_tests", {"test_a": "failed"}, True),  # G039
        ("expected", {"test_a": "expected_failure", "test_b": "unexpected_success"}, True),  # G055
        ("main", {"test_a": "passed"}, True),  # G081
        ("subtests", {"test_a": "failed", "test_b": "passed"}, True),  # G082
        ("subtest_names", {"test_a": "failed", "test_b": "passed"}, True),
        ("constant", {}, True),
        ("thread", {"test_a": "passed"}, True),  # G051
        ("setup_fails", {"test_a": "not_run"}, True),
    ],
)
def test_no_trick_passes_a_test(run: Run, name: str, expected: dict[str, str], ended: bool) -> None:
    """Exit codes, printed text and hooks decide nothing; absence is never a pass."""
    seen = run(name)

    assert outcomes(seen) == expected
    assert seen.ended is ended


def test_what_is_odd_about_a_file_is_said(run: Run) -> None:
    """Hooks, programs and replaced methods leave an event each."""
    assert "load_error" in run("exit_at_import").kinds()
    assert "load_tests_ignored" in run("load_tests").kinds()
    assert "main_ignored" in run("main").kinds()
    assert "unittest_changed" in run("patched").kinds()
    assert "unittest_changed" not in run("plain").kinds()


def test_patched_assertions_see_no_difference_anywhere(run: Run) -> None:
    """A file that disarms unittest also disarms itself: same outcome on every variant (G043)."""
    assert outcomes(run("patched")) == {"test_a": "passed"}
    assert outcomes(run("patched", MUTANT)) == {"test_a": "passed"}


@pytest.mark.parametrize("name", ["hang_at_import", "hang_in_test"])
def test_a_hang_is_a_timeout(run: Run, name: str) -> None:
    """What happened before stays, the rest was not run, and nothing passed (G046)."""
    seen = run(name, limits=LIMITS.model_copy(update={"wall_s": 0.5}))

    assert (seen.ended, seen.killed_by) == (False, "wall")
    assert set(outcomes(seen).values()) <= {"failed", "not_run"}


def test_sleeping_only_for_a_mutant_detects_nothing(run: Run) -> None:
    """A timeout is no failure of a test (G078)."""
    limits = LIMITS.model_copy(update={"wall_s": 0.5})

    assert outcomes(run("slow_sleep")) == {"test_a": "passed"}
    assert outcomes(run("slow_sleep", MUTANT, limits=limits)) == {"test_a": "not_run"}


def test_the_budget_of_calls_is_kept_by_the_owner(run: Run) -> None:
    """The forty-first call raises, in this test and in all after it."""
    seen = run("budget")

    assert outcomes(seen) == {"test_a": "error", "test_b": "error"}
    assert seen.calls == 42
    assert {event.error for event in seen.events if event.kind == "error"} == {"RuntimeError"}


@pytest.mark.parametrize("name", ["source_hash", "place"])
def test_nothing_but_behaviour_differs_between_variants(run: Run, name: str) -> None:
    """Source, file, folder, environment and names are equal to the letter (G070, G071)."""
    texts = [
        [event.text for event in run(name, module).events] for module in (MODULE, MUTANT, MODULE)
    ]

    assert texts[0] == texts[1] == texts[2]
    assert any(texts[0])


@pytest.mark.slow
def test_a_coin_falls_on_both_sides(run: Run) -> None:
    """Repetitions are independent, so that chance can be found out (G072)."""
    seen = {outcomes(run("coin"))["test_a"] for _ in range(24)}

    assert seen == {"passed", "failed"}  # one side only: 2 in 2**24


def test_forged_frames_end_the_run_without_a_pass(run: Run) -> None:
    """A message out of its order cannot be placed; what follows is not believed (G059)."""
    seen = run("forged")

    assert not seen.ended
    assert seen.evidence.garbage == 1
    assert set(outcomes(seen).values()) == {"not_run"}


def test_chosen_tests_alone_are_run(run: Run) -> None:
    """A method can be run apart from the others."""
    assert outcomes(run("plain", only=["test_plain.T.test_wrong"])) == {"test_wrong": "failed"}


def test_a_variant_that_does_not_load_is_our_fault(run: Run) -> None:
    """It is refused before any test runs, and is never a detection (G073, G080)."""
    with pytest.raises(GraderError, match="does not load"):
        run("plain", "def fee(:\n")


def test_a_variant_that_hangs_costs_one_answer(run: Run) -> None:
    """The module has its own clock for each answer; the tests see an error."""
    seen = run(
        "plain",
        MODULE.replace("return days * RATE", "\n    while days == 2: pass\n    return days * RATE"),
        module_limits=LIMITS.model_copy(update={"wall_s": 0.3}),
    )

    assert seen.ended
    assert outcomes(seen)["test_right"] == "error"
    assert outcomes(seen)["test_wrong"] == "error"
