"""The kill matrix: a detection is behaviour, seen every time; luck, waiting and cheating are none."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.arnes import load_arnes
from harness.errors import GraderError
from harness.grading import Bench, Matrix, Subject, kill_matrix, method_rules
from harness.grading.mutation import CONFIRMATIONS, ORIGINALS, MethodRules, check_variants
from harness.sandbox import probe

LIMITS = load_arnes(Path(__file__).resolve().parents[2]).sandbox
ORIGINAL = "def double(x):\n    return x * 2\n"
# The two texts have the same length: stale bytecode would run one for the other.
MUTANTS = {
    "three": "def double(x):\n    return x * 3\n",
    "four": "def double(x):\n    return x * 4\n",
}
EQUAL = {f"comment_{n}": f"{ORIGINAL}# {n}\n" for n in range(6)}
NO_RULES = MethodRules(compiles=True)  # so that the runs alone decide
HEAD = "import unittest\nfrom doubling import double\n"
RIGHT = "class T(unittest.TestCase):\n    def test_right(self):\n        self.assertEqual(double(1), 2)\n"
BOTH = {"three", "four"}


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench(probe(), LIMITS, 1) as bench:
        yield bench


@pytest.fixture(scope="module")
def reader() -> Iterator[Bench]:
    """A bench for reading alone: nothing foreign is run on it."""
    with Bench(probe(), LIMITS, 1) as bench:
        yield bench


def subject(**changes: object) -> Subject:
    parts = {
        "module": "doubling",
        "functions": ("double",),
        "original": ORIGINAL,
        "mutants": MUTANTS,
        "equal": EQUAL,
        "probes": [("double", (1,))],
        "budget": 40,
        "seconds": 3.0,
    }
    return Subject(**(parts | changes))


def matrix(
    bench: Bench, text: str, rules: MethodRules = NO_RULES, of: Subject | None = None
) -> Matrix:
    seat = bench.seat({"test_doubling.py": text})
    return kill_matrix(bench, seat, "test_doubling", of or subject(), rules)


def short(names: Mapping[str, object]) -> set[str]:
    return {name.rpartition(".")[2] for name in names}


def suite(*methods: str, before: str = "", after: str = "") -> str:
    body = "".join(f"    {line}\n" for method in methods for line in method.split("\n"))
    return f"{HEAD}{before}\n\nclass T(unittest.TestCase):\n{body}\n{after}\n"


# ---------------------------------------------------------------- what counts


def test_each_mutant_is_found_by_the_method_that_sees_it(bench: Bench) -> None:
    """Two mutants of one length are both run, and each is credited to its own method."""
    found = matrix(
        bench,
        suite(
            "def test_three(self): self.assertNotEqual(double(1), 3)",
            "def test_four(self): self.assertNotEqual(double(1), 4)",
        ),
    )

    assert {m: short(dict.fromkeys(tests)) for m, tests in found.kills.items()} == {
        "three": {"test_three"},
        "four": {"test_four"},
    }
    assert found.excluded == {}


def test_a_wrong_value_costs_its_own_method_and_no_mutant(bench: Bench) -> None:
    """Five right tests and a wrong one: one is excluded, and every mutant is still found."""
    right = [f"def test_{n}(self): self.assertEqual(double({n}), {2 * n})" for n in range(1, 6)]
    found = matrix(bench, suite(*right, "def test_wrong(self): self.assertEqual(double(1), 3)"))

    assert short(found.excluded) == {"test_wrong"}
    assert "2 != 3" in next(iter(found.excluded.values()))
    assert len(found.valid) == 5
    assert set(found.kills) == BOTH


def test_every_planned_run_is_made(bench: Bench) -> None:
    """Planned are one to name the tests, the correct modules, the mutants, and five plus five."""
    matrix(bench, HEAD + RIGHT)

    runs = [seen for seen in bench.remembered.values() if "calls_in_test" in seen]
    confirmed = CONFIRMATIONS * (1 + len(MUTANTS))
    assert len(runs) == 1 + ORIGINALS + len(EQUAL) + len(MUTANTS) + confirmed
    assert all(run["ended"] for run in runs)


def test_scoring_again_runs_nothing(bench: Bench) -> None:
    """From its observations alone the same matrix comes out; nothing is started."""
    first = matrix(bench, HEAD + RIGHT)
    with Bench(probe(), LIMITS, 1, bench.remembered) as again:
        assert matrix(again, HEAD + RIGHT) == first
        assert again._workers == {}


def test_a_variant_is_asked_for_an_answer_once(bench: Bench) -> None:
    """What it gave is kept, so that another run with the same calls does not start it."""
    seat, known = bench.seat({"test_doubling.py": HEAD + RIGHT}), {}
    for number, source in enumerate((ORIGINAL, "it does not even load")):
        run = seat.test(
            "test_doubling",
            bench.seat({"doubling.py": source}),
            "doubling",
            ("double",),
            budget=40,
            known=known,
            repeat=number,
        )
        assert set(run.outcomes.values()) == {"passed"}
        assert run.calls == 1

    assert [seen.value for seen in known.values()] == [2]


# ---------------------------------------------------------------- variants that are none


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mutants": {"broken": "def double(x:\n"}}, "does not load: SyntaxError"),
        ({"mutants": {"broken": "import nowhere\n"}}, "does not load: ModuleNotFoundError"),
        ({"mutants": {"same": ORIGINAL}}, "has the text of the original"),
        ({"mutants": {"like": "def double(x):\n    return x + x\n"}}, "none of 1 probes"),
        ({"equal": EQUAL | {"other": MUTANTS["three"]}}, "('double', (1,)): 3, not 2"),
        ({"equal": EQUAL | {"broken": "1 / 0\n"}}, "does not load: ZeroDivisionError"),
        ({"equal": {"one": ORIGINAL + "#\n"}}, "1 equal copies, 6 needed"),
        ({"mutants": {"far": ORIGINAL + "    # x > 9\n"}}, "none of 1 probes"),
        (
            {"mutants": {"past": "def double(x):\n    return x * 2 + (x > 9)\n"}},
            "none of 1 probes",
        ),
        ({"mutants": {"bool": "def double(x):\n    return x * 2.0\n"}}, None),
    ],
)
def test_a_variant_that_is_not_what_it_is_called_is_refused(
    reader: Bench, changes: dict[str, object], said: str | None
) -> None:
    """No form is graded with a mutant that does not load or show, or with an unequal copy."""
    if said is None:
        check_variants(reader, subject(**changes))  # another type is another behaviour
        return
    with pytest.raises(GraderError, match="not what they are called") as raised:
        check_variants(reader, subject(**changes))
    assert [said in str(problem) for problem in raised.value.problems] == [True]


def test_a_bench_on_which_nothing_runs_is_no_zero(bench: Bench) -> None:
    """If even a test of ours does not pass, the grader is broken; no model pays for it."""
    broken = subject(probes=[("missing", ()), ("double", (1,))])

    with pytest.raises(GraderError, match="not even one of ours"):
        matrix(bench, HEAD, of=broken)


def test_a_module_of_ours_that_never_answers_is_our_fault() -> None:
    """A helper of the grader that sleeps past its limit breaks the grader; it is no zero."""
    short = LIMITS.model_copy(update={"wall_s": 1.0})
    hanging = subject(original=f"import time\ntime.sleep(60)\n{ORIGINAL}")

    with Bench(probe(), short, 1) as bench, pytest.raises(GraderError, match="could not be run"):
        check_variants(bench, hanging)


# ---------------------------------------------------------------- no detection


CHANGED = "if double(1) != 2:\n            "
NEVER_METHODS = (
    "def test_skip_on_correct(self):\n        if double(1) == 2: self.skipTest('no')\n        self.fail()",
    f"def test_skip_on_change(self):\n        {CHANGED}self.skipTest('changed')",
    f"def test_system_exit(self):\n        {CHANGED}raise SystemExit(1)",
    f"def test_own_error(self):\n        {CHANGED}raise RuntimeError('x')",
    f"def test_memory(self):\n        {CHANGED}a = [0] * 10**10",
    "@unittest.skip('no')\ndef test_skip(self): self.assertEqual(double(1), 2)",
    "@unittest.expectedFailure\ndef test_wrong(self): self.assertEqual(double(1), 3)",
    "@unittest.expectedFailure\ndef test_right(self): self.assertEqual(double(1), 2)",
    "def test_coin(self):\n        import os\n        self.assertLess(os.urandom(1)[0], 128)",
    "def test_rare_coin(self):\n        import os\n        self.assertGreater(os.urandom(1)[0], 76)",
    "def test_source(self):\n        import inspect\n        inspect.getsource(double)",
    (
        "def test_PASSED_ok(self):\n        '''FAILED\n        x ... ok'''\n"
        "        print('FAILED\\nRan 12 tests in 0.01s\\n\\nOK\\n{}')"
    ),
)
# Name → text, and how many of its methods are valid.
NEVER_FILES: dict[str, tuple[str, int]] = {
    "no_tests": (HEAD, 0),
    "module_skips": (HEAD + "def setUpModule(): raise unittest.SkipTest('no')\n" + RIGHT, 0),
    "exit_at_import": (HEAD + "import sys\nsys.exit(0)\n" + RIGHT, 0),
    "os_exit_at_import": (HEAD + "import os\nos._exit(0)\n" + RIGHT, 0),
    "exit_on_change_at_import": (f"{HEAD}import os\nif double(1) != 2: os._exit(1)\n{RIGHT}", 1),
    "exit_on_change": (
        suite(f"def test_a(self):\n        {CHANGED}__import__('os')._exit(1)"),
        1,
    ),
    "budget_on_change": (suite("def test_a(self):\n        while double(1) != 2: pass"), 1),
    "flood": (
        suite(f"def test_a(self):\n        {CHANGED}print('x' * 3_000_000)\n            double(2)"),
        1,
    ),
    "forty_one": (
        suite("def test_a(self):\n        for _ in range(41): self.assertEqual(double(1), 2)"),
        0,
    ),
}


def test_methods_that_detect_nothing_find_nothing(bench: Bench) -> None:
    """Skips, exits, errors of their own, expected failures, luck and prints are no detection."""
    found = matrix(bench, suite(*NEVER_METHODS))

    assert len(found.found) == len(NEVER_METHODS)
    assert found.kills == {}
    valid = {"test_skip_on_change", "test_system_exit", "test_own_error", "test_memory"}
    assert short(dict.fromkeys(found.valid)) - {"test_coin", "test_rare_coin"} == {
        *valid,
        "test_PASSED_ok",
    }


@pytest.mark.parametrize("name", NEVER_FILES)
def test_files_that_detect_nothing_find_nothing(bench: Bench, name: str) -> None:
    """Files without tests, that end their process, or that spend what they may use find nothing."""
    text, valid = NEVER_FILES[name]
    found = matrix(bench, text)

    assert found.kills == {}
    assert len(found.valid) == valid


@pytest.mark.slow
def test_waiting_for_ever_is_no_detection(bench: Bench) -> None:
    """A test that hangs on a mutant alone is valid and has found nothing."""
    found = matrix(
        bench,
        suite(f"def test_a(self):\n        {CHANGED}\n            while True: pass"),
        of=subject(mutants={"three": MUTANTS["three"]}),
    )

    assert found.kills == {}
    assert len(found.valid) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("passing", "valid"),
    [("time.sleep(0.4)", 1), ("while time.process_time() < 0.4: pass", 0)],
)
def test_seconds_are_the_processors(bench: Bench, passing: str, valid: int) -> None:
    """A process that others hold up is no slower a suite; one that computes for too long is."""
    one = {"three": MUTANTS["three"]}
    found = matrix(
        bench,
        f"import time\n{suite('def test_a(self): self.assertEqual(double(1), 2)')}{passing}\n",
        of=subject(mutants=one, seconds=0.2),
    )

    assert len(found.valid) == valid
    assert set(found.kills) == set(one if valid else ())


@pytest.mark.slow
def test_a_loop_while_the_file_loads_ends_and_scores_nothing(bench: Bench) -> None:
    """Its limit ends it; no test is known, and the file is to blame."""
    found = matrix(bench, f"{HEAD}while True: pass\n{RIGHT}")

    assert found == Matrix(note=found.note)
    assert "ended the process while it loaded" in found.note


# ---------------------------------------------------------------- detections nonetheless


STILL: dict[str, str] = {
    "load_tests": f"{HEAD}{RIGHT}\ndef load_tests(l, t, p): return unittest.TestSuite()\n",
    "unguarded_main": f"{HEAD}{RIGHT}\nunittest.main()\n",
    "exit_at_end": f"{HEAD}import atexit, os\natexit.register(lambda: os._exit(0))\n{RIGHT}",
    "patched_result": f"{HEAD}unittest.TestResult.addFailure = "
    f"lambda s, t, e: s.addSuccess(t)\n{RIGHT}",
    "thread": f"{HEAD}import threading, time\n{RIGHT}\n"
    "threading.Thread(target=time.sleep, args=(300,)).start()\n",
    "inherited": f"{HEAD}{RIGHT}\nclass U(T):\n    pass\n",
}


@pytest.mark.parametrize("name", STILL)
def test_what_is_harmless_costs_no_detection(bench: Bench, name: str) -> None:
    """Hooks, patches, exits at the end and odd styles take nothing from an honest test."""
    found = matrix(bench, STILL[name])

    assert found.excluded == {}
    assert set(found.kills) == BOTH


def test_an_exit_in_a_test_keeps_what_was_seen_before(bench: Bench) -> None:
    """A failure before the process ended stands; what comes behind was not run."""
    found = matrix(
        bench,
        suite(
            "def test_a(self): self.assertEqual(double(1), 2)",
            f"def test_b(self):\n        {CHANGED}__import__('os')._exit(0)",
            "def test_c(self): self.assertEqual(double(1), 2)",
        ),
    )

    assert {m: short(dict.fromkeys(t)) for m, t in found.kills.items()} == {
        "three": {"test_a"},
        "four": {"test_a"},
    }


def test_every_style_of_a_method_is_one_test_and_detects(bench: Bench) -> None:
    """Parts of one method, bare asserts, another error, and prints of success: each finds both."""
    text = suite(
        "def test_a(self):\n        for i in (0, 1, 2):\n"
        "            with self.subTest(i=i): self.assertEqual(double(i), i + i)",
        "def test_b(self): assert double(1) == 2",
        "def test_c(self): [5, 6, 7][double(1)]",
        "def test_d(self):\n        print('OK')\n        assert double(1) == 2",
    )
    found = matrix(bench, text)

    tests = tuple(f"test_doubling.T.test_{letter}" for letter in "abcd")
    assert found.found == tests
    assert found.kills == {"three": tests, "four": tests}


def test_a_test_sees_the_same_place_in_every_run(bench: Bench) -> None:
    """Names, paths, times of files, arguments and environment do not differ between variants."""
    text = suite(
        "def test_a(self):\n        import doubling, hashlib, os, sys\n"
        "        seen = [sorted(vars(doubling).items(), key=lambda i: i[0])[:7], sys.argv, sys.path,\n"
        "                os.getcwd(), sorted(os.environ.items()), sorted(os.listdir('.')),\n"
        "                os.stat('.').st_mode, repr(doubling.__spec__), hash('x')]\n"
        "        text = ''.join(c for c in repr(seen) if not c.isdigit())\n"
        "        raise AssertionError(hashlib.sha256(text.encode()).hexdigest())"
    )
    seat = bench.seat({"test_doubling.py": text})
    texts = set()
    for number, source in enumerate((ORIGINAL, MUTANTS["three"], EQUAL["comment_1"], ORIGINAL)):
        variant = bench.seat({"doubling.py": source})
        run = seat.test("test_doubling", variant, "doubling", ("double",), budget=40, repeat=number)
        texts |= {event.text for event in run.events if event.kind == "failure"}

    assert len(texts) == 1


# ---------------------------------------------------------------- methods that compute


def rules_of(reader: Bench, text: str) -> MethodRules:
    return method_rules(reader, text, "doubling", ("double",))


KEPT = (
    "self.assertEqual(double(1), 2)",
    "self.assertEqual(double(3 * 7), 2 * 3 * 7 - -1 + 2**3)",
    "self.assertEqual([(1, 2)] * 3, double([(1, 2)] * 3))",
    "self.assertEqual(double(1), 2, 'at ' + name)",
    "self.assertEqual(double(1), 2, 'at %r' % name)",
    "self.assertEqual(double(1), 2, f'{name}')",
    "for x, y in ((1, 2), (2, 4)): self.assertEqual(double(x), y)",
    "assert not double(0)",
    "self.assertEqual(double(1), 2)  # no eval, no exec",
    "self.assertEqual(double(1), 2, 'eval(1 + 1)')",
    "self.evaluate(double(1))",
    "self.assertEqual(opened(double(1)), sum_of)",
    "self.assertEqual(max(double(1), 2), 2)",
)
BROKEN = {
    "self.assertEqual(double(x), x * 2)": "computes with names (line 6)",
    "self.assertEqual(double(x), x + x)": "computes with names (line 6)",
    "total += double(1)": "computes with names (line 6)",
    "self.assertEqual(double(1), -x)": "computes with names (line 6)",
    "self.assertEqual(double(1), sum([1, 1]))": "computes with sum (line 6)",
    "self.assertEqual(divmod(double(1), 2), 1)": "computes with divmod (line 6)",
    "eval('double(1)')": "uses eval (line 6)",
    "exec('x = 1')": "uses exec (line 6)",
    "getattr(self, 'x')": "uses getattr (line 6)",
    "__import__('os')": "uses __import__ (line 6)",
    "getattr(__builtins__, 'ev' + 'al')('1')": "uses getattr (line 6)",
    "__builtins__['ev' 'al']('1')": "uses __builtins__ (line 6)",
    "import ast": "imports ast (line 6)",
    "import random": "imports random (line 6)",
    "from os import path": "imports os (line 6)",
    "open('x')": "uses open (line 6)",
    "unittest.case.sys": "uses sys (line 6)",
    "self.assertEqual(double(1), int.__mul__(1, 2))": "uses __mul__ (line 6)",
}
CLASS = "import unittest\nfrom doubling import double\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        "


@pytest.mark.parametrize("line", KEPT)
def test_literals_and_text_are_no_computing(reader: Bench, line: str) -> None:
    """Arithmetic between number literals and the building of messages are free."""
    rules = rules_of(reader, CLASS + line + "\n")

    assert rules.shared == ""
    assert rules.methods == {"T.test_a": ""}
    assert rules.uses_module


@pytest.mark.parametrize("line", BROKEN)
def test_a_method_that_computes_is_named_with_its_rule(reader: Bench, line: str) -> None:
    """It alone does not count; what stands beside it does."""
    rules = rules_of(reader, f"{CLASS}{line}\n    def test_b(self): double(1)\n")

    assert rules.methods == {"T.test_a": BROKEN[line], "T.test_b": ""}
    assert rules.shared == ""
    assert rules.against("test_doubling.T.test_a") == BROKEN[line]
    assert rules.against("test_doubling.T.test_b") == ""


@pytest.mark.parametrize(
    "text",
    [
        "import operator\n" + CLASS + "double(1)\n",
        CLASS.replace("class T", "def twice(x): return x * 2\n\nclass T") + "double(1)\n",
        CLASS + "double(1)\n    def setUp(self): self.want = self.x * 2\n",
        CLASS + "double(1)\n    def test_b(self, x=[y * 2 for y in (1, 2)]): double(1)\n",
        CLASS + "double(1)\nREF = {}\nexec('', REF)\n",
        CLASS + "return self.x * 2\n    def test_b(self): self.test_a()\n",
        CLASS + "return self.x * 2\n    def test_b(self): T('test_a').run()\n",
        CLASS.replace("class T(", "class T(mixin(2 * n), ") + "double(1)\n",
    ],
    ids=["import", "helper", "setUp", "default", "exec", "called", "by_text", "bases"],
)
def test_computing_outside_the_methods_discounts_all(reader: Bench, text: str) -> None:
    """What stands outside serves every method, so none counts."""
    rules = rules_of(reader, text)

    assert rules.shared
    assert all(rules.against(f"test_doubling.{name}") for name in rules.methods)


def test_an_inherited_method_counts_as_where_it_stands(reader: Bench) -> None:
    """A class that has a method from another has its rule, too; an overriding one its own."""
    text = (
        CLASS + "double(self.x * 2)\n    def test_b(self): double(1)\n\n"
        "class U(T):\n    def test_b(self): double(self.x * 2)\n\nclass V(U):\n    pass\n"
    )
    rules = rules_of(reader, text)

    broken = {name for name, why in rules.methods.items() if why}
    assert broken == {"T.test_a", "U.test_a", "U.test_b", "V.test_a", "V.test_b"}


@pytest.mark.parametrize(
    ("text", "used"),
    [
        (CLASS + "double(1)\n", True),
        (CLASS + "self.assertTrue(1)\n", False),
        (CLASS.replace("import double", "import *") + "double(1)\n", True),
        (CLASS.replace("import double", "import *") + "self.assertTrue(1)\n", False),
        (
            CLASS.replace("from doubling import double", "import doubling as d") + "d.double(1)\n",
            True,
        ),
        (CLASS.replace("from doubling import double", "import doubling") + "doubling\n", True),
        (CLASS + "self.check(1)\n    def check(self, x): double(x)\n", True),
        (CLASS.replace("class T", "TABLE = [(double, 1)]\n\nclass T") + "TABLE\n", True),
        (CLASS.replace("unittest.TestCase", "object") + "double(1)\n", False),
        (HEAD + "def test_a(): double(1)\n", False),
        (HEAD, False),
        ("def f(:\n", False),
    ],
)
def test_a_test_method_must_use_the_module(reader: Bench, text: str, *, used: bool) -> None:
    """Directly, or by a helper or a table of the file; a function outside a TestCase is no test."""
    assert rules_of(reader, text).uses_module == used


@pytest.mark.parametrize("text", ["def f(:\n", "(" * 400, "x = 1\0\n"])
def test_a_file_that_is_no_python_has_no_rules(reader: Bench, text: str) -> None:
    """It does not compile, and that is said; our reader does not fail on it."""
    assert not rules_of(reader, text).compiles


def test_what_does_not_count_is_not_run(bench: Bench) -> None:
    """A method that computes leaves nothing behind for those that count."""
    text = suite(
        "def test_a(self): T.want = double(1) * 1",
        "def test_b(self): self.assertEqual(double(1), self.want)",
        "def test_c(self): self.assertEqual(double(1), 2)",
    )
    found = matrix(bench, text, method_rules(bench, text, "doubling", ("double",)))

    assert short(found.excluded) == {"test_a", "test_b"}
    assert "has no attribute 'want'" in found.excluded["test_doubling.T.test_b"]
    assert set(found.kills) == BOTH


def test_a_pasted_copy_of_the_module_counts_by_behaviour_alone(bench: Bench) -> None:
    """Without the rule it finds everything, so the rule is what stops it, and with it nothing."""
    text = suite(
        "def test_a(self):\n        for x in range(9): self.assertEqual(double(x), REF['double'](x))",
        after=f"REF = {{}}\nexec({ORIGINAL!r}, REF)",
    )

    assert set(matrix(bench, text).kills) == BOTH
    ruled = matrix(bench, text, method_rules(bench, text, "doubling", ("double",)))
    assert ruled.kills == {}
    assert "uses exec" in ruled.excluded["test_doubling.T.test_a"]


# ---------------------------------------------------------------- flags


FLAGGED: dict[str, tuple[str, set[str]]] = {
    "honest": (HEAD + RIGHT, set()),
    "wrong": (suite("def test_wrong(self): self.assertEqual(double(1), 3)"), set()),
    "waits": (
        suite(
            "def test_a(self):\n        import os\n        while os.urandom(1)[0] < 250: double(1)"
        ),
        set(),  # it spends its budget in four of ten runs, and that is no failure
    ),
    "load_tests": (STILL["load_tests"], {"load-tests"}),
    "patched": (STILL["patched_result"], {"unittest-changed"}),
    "coin": (
        # Not marked only if each falls on one side in all nine runs of correct modules: 2^-64.
        suite(
            *(
                f"def test_{n}(self):\n        import os\n        assert os.urandom(1)[0] < 128"
                for n in range(8)
            )
        ),
        {"chance"},
    ),
}


@pytest.mark.parametrize("name", FLAGGED)
def test_what_was_noticed_of_a_file_is_a_flag(bench: Bench, name: str) -> None:
    """Hooks, patches and coins are marked; being wrong or slow is no mark."""
    text, flags = FLAGGED[name]

    assert matrix(bench, text).flags == flags


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("import random", {"chance"}),
        ("from secrets import choice", {"chance"}),
        ("import inspect", {"introspection"}),
        ("x = double.__code__", {"introspection"}),
        ("import sys", set()),
        ("x = 1\nx += 1", set()),
    ],
)
def test_a_broken_rule_is_a_flag_where_it_is_a_sign(
    bench: Bench, line: str, flags: set[str]
) -> None:
    """A method that is not run is marked for what it names; most broken rules are no mark."""
    text = suite("def test_a(self):\n        " + line.replace("\n", "\n        "))
    rules = method_rules(bench, text, "doubling", ("double",))
    assert rules.methods["T.test_a"]

    assert matrix(bench, text, rules).flags == flags
