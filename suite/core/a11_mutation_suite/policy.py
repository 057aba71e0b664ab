"""Goldens, the defective ladder and the exploits of A11, written for a form.

Every expected value comes from `Tables`, which shares nothing with the module's text. Points are
counted from the names of the mutants that a suite is written to find.
"""

from collections.abc import Iterator, Mapping
from itertools import count, product

from harness.suite.forms import Defective, Exploit, Form, Golden, Reply, Sets

PLAIN, SUBTLE, VALID = 1.0, 2.2, 2.0  # points of one mutant, and of the whole of valid_suite
MUTANTS = 8
HYGIENE = {"files_present": 1.0, "syntax_valid": 1.0}

Line = tuple[int, int, bool]
Case = tuple[str, tuple, object]


class Tables:
    """The module's rules as tables: every amount is looked up or counted, none is a formula."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers

    def spans(self, time: int) -> int:
        """Count whole spans until the time is covered."""
        return next(n for n in count() if n * self.numbers["per"] >= time)

    def fee(self, units: int, time: int, flag: bool = False) -> int:
        """Add up a row of spans, then the rebate, then the row of extras."""
        numbers = self.numbers
        row = [numbers["base"] if n >= numbers["free"] else 0 for n in range(self.spans(time))]
        whole = units * sum(row)
        rebate, _ = divmod(whole * numbers["bulk_percent"], 100)
        extras = [numbers["extra"]] * len(row) if flag else []
        return whole - (rebate if units >= numbers["bulk"] else 0) + units * sum(extras)

    def rebate(self, amount: int, points: int) -> int:
        """Look the percent up, and round by comparing what is left."""
        steps = {n: n * self.numbers["step"] for n in range(self.numbers["percent_cap"] + 1)}
        percent = max(n for n, needed in steps.items() if needed <= points)
        return nearest(amount * percent)

    def bill(self, lines: list[Line], points: int = 0, weeks: int = 0) -> dict[str, int]:
        """Return the five amounts of an invoice."""
        net = sum(self.fee(*line) for line in lines)
        off = self.rebate(net, points)
        least = max(self.numbers["late_min"], divmod(net, self.numbers["late_part"])[0])
        schedule = [0, 0, *(n * least for n in range(1, self.numbers["late_cap"] + 1))]
        late = schedule[min(weeks, len(schedule) - 1)]
        tax = nearest((net - off) * self.numbers["tax"])
        return {
            "net": net,
            "discount": off,
            "late": late,
            "tax": tax,
            "total": sum((net, -off, late, tax)),
        }


def nearest(hundredths: int) -> int:
    """Round half up."""
    whole, left = divmod(hundredths, 100)
    return whole + 1 if left >= 50 else whole


def left_over(hundredths: int) -> int:
    return hundredths % 100


class Cases:
    """Inputs at the places where the mutants of a form show, with their values from the tables."""

    def __init__(self, form: Form) -> None:
        self.names: dict[str, str] = form.values["names"]
        self.numbers: dict[str, int] = form.values["numbers"]
        self.functions = dict(
            zip(("spans", "fee", "rebate", "bill"), form.values["functions"], strict=True)
        )
        self.module: str = form.values["module"]
        self.tables = Tables(self.numbers)
        self.per, self.free, self.bulk, self.step = (
            self.numbers[key] for key in ("per", "free", "bulk", "step")
        )
        self.charged = self.per * (self.free + 1)  # the time of one charged span
        self.big = self._big()
        self.plain_points = 5 * self.step

    def imports(self) -> str:
        """Return the first lines of a suite."""
        return f"import unittest\nfrom {self.module} import {', '.join(self.functions.values())}\n"

    def _big(self) -> Line:
        """Return a line whose share for a late week is above the least charge, by far."""
        enough = 2 * self.numbers["late_min"] * self.numbers["late_part"]
        return next(
            line
            for spans in count(4)
            if self.tables.fee(*(line := (2 * self.bulk, spans * self.per, False))) >= enough
        )

    def _lines(self) -> Iterator[Line]:
        """Yield small lines, without a rebate first."""
        units = [*range(2, self.bulk), *range(self.bulk, 4 * self.bulk)]
        for unit, spans in product(units, range(self.free + 1, self.free + 9)):
            yield unit, spans * self.per, False

    def half_tax(self) -> tuple[Line, int]:
        """Return a line and points whose tax is rounded up, by exactly one half if they exist.

        In a form where no small invoice is like that, no mutant is there either: any will do.
        """
        found: list[tuple[bool, Line, int]] = []
        for steps, line in product(range(self.numbers["percent_cap"]), self._lines()):
            net = self.tables.fee(*line)
            taxed = net - self.tables.rebate(net, steps * self.step)
            left = left_over(taxed * self.numbers["tax"])
            if left == 50:
                return line, steps * self.step
            found += [(left < 50, line, steps * self.step)]
        _, line, points = min(found)
        return line, points

    def unrounded(self) -> Line:
        """Return a line without bulk rebate on which no rounding goes up, with some points."""
        for line in self._lines():
            net = self.tables.fee(*line)
            off = self.tables.rebate(net, self.plain_points)
            taxed = (net - off) * self.numbers["tax"]
            if line[0] < self.bulk and max(left_over(net * 5), left_over(taxed)) < 50:
                return line
        raise ValueError("every small line rounds up")

    def value(self, kind: str, *arguments: object) -> object:
        """Return what the tables say to one call."""
        return getattr(self.tables, kind)(*arguments)

    def asked(self, kind: str, *arguments: object, part: str = "") -> tuple[str, object]:
        """Return the text of one call, and the value that the tables have for it."""
        shown = f"{self.functions[kind]}({', '.join(map(repr, arguments))})"
        value = self.value(kind, *arguments)
        if part:
            assert isinstance(value, dict)
            return f'{shown}["{part}"]', value[part]
        return shown, value

    def equal(self, kind: str, *arguments: object, part: str = "") -> str:
        """Return one assertEqual, with the value of the tables."""
        call, value = self.asked(kind, *arguments, part=part)
        return f"self.assertEqual({call}, {value})"


def sets(form: Form) -> Sets:
    """Return everything that is played against a form, beside the members common to all."""
    cases = Cases(form)
    return Sets(
        golden=(
            Golden("asserts", reply(golden_tables(cases))),  # the quickest is played most often
            Golden("subtests", reply(golden_subtests(cases))),
            Golden("tilde", tilde(golden_helpers(cases))),
            Golden("lookups", reply(golden_lookups(cases))),
        ),
        defective=_ladder(cases),
        exploits=_exploits(cases, form),
    )


def reply(text: str) -> Reply:
    return Reply(f"### FILE: test_charges.py\n```python\n{text}```\n")


def tilde(text: str) -> Reply:
    return Reply(
        "The edges come first, then the places where two rules meet.\n\n"
        f"### FILE: `test_charges.py`\n~~~python\n{text}~~~\n\nEvery value was worked out.\n"
    )


def method(name: str, *body: str) -> str:
    lines = "".join(f"        {line}\n" for part in body for line in part.split("\n"))
    return f"    def {name}(self):\n{lines}"


def suite(cases: Cases, *methods: str) -> str:
    text = "\n".join(methods)
    return f"{cases.imports()}\n\nclass Charges(unittest.TestCase):\n{text}"


# ---------------------------------------------------------------- goldens


def golden_methods(cases: Cases, *, with_points_and_weeks: bool = True) -> list[str]:
    """Return nine methods that find every mutant; S4 only with points and weeks together."""
    return [*_fee_methods(cases), *_bill_methods(cases, with_points_and_weeks)]


def _fee_methods(cases: Cases) -> list[str]:
    """Return the five methods on spans and fees."""
    fn, per = cases.functions, cases.per
    times = ((0, 0), (1, 1), (per, 1), (per + 1, 2))
    around = [cases.equal("fee", cases.bulk + more, cases.charged) for more in (-1, 0, 1)]
    free = [cases.equal("fee", 3, cases.free * per + more) for more in (0, 1)]
    extra = [cases.equal("fee", units, cases.charged, True) for units in (2, cases.bulk)]
    return [
        method(
            "test_spans",
            f"for time, want in {times!r}:",
            "    with self.subTest(time=time):",
            f"        self.assertEqual({fn['spans']}(time), want)",
        ),
        method("test_negative", "with self.assertRaises(ValueError):", f"    {fn['spans']}(-1)"),
        method("test_free", *free),
        method("test_bulk_edge", *around),
        method("test_extra", *extra),
    ]


def _bill_methods(cases: Cases, with_points_and_weeks: bool) -> list[str]:
    """Return the four methods on points and whole invoices."""
    cap, top = _caps(cases)
    halves = [cases.equal("rebate", amount, cases.step) for amount in (49, 50, 51)]
    points = [cases.step * cap - 1, cases.step * cap, cases.step * (cap + 1)]
    tax = cases.equal("bill", [(4, cases.charged + cases.per, False)], cases.step * cap)
    half, half_points = cases.half_tax()
    weeks = (1, top + 1, top + 2)
    late = [cases.equal("bill", [cases.big], 0, week, part="late") for week in weeks]
    late.append(cases.equal("bill", [(1, cases.charged, False)], 0, 2, part="late"))
    if with_points_and_weeks:
        late.append(cases.equal("bill", [cases.big], cases.plain_points, 2, part="late"))
    return [
        method("test_half_up", *halves),
        method("test_percent_cap", *(cases.equal("rebate", 1000, p) for p in points)),
        method("test_tax", tax, cases.equal("bill", [half], half_points, part="tax")),
        method("test_late", *late),
    ]


def golden_subtests(cases: Cases) -> str:
    guard = '\n\nif __name__ == "__main__":\n    unittest.main()\n'
    return suite(cases, *golden_methods(cases)) + guard


def golden_tables(cases: Cases) -> str:
    """Return two methods with bare asserts over a table, the module under another name."""
    cap, top = _caps(cases)
    rows: list[tuple[str, tuple]] = [
        ("fee", (cases.bulk, cases.charged)),
        ("fee", (cases.bulk - 1, cases.charged)),
        ("fee", (cases.bulk, cases.charged, True)),
        ("rebate", (50, cases.step)),
        ("rebate", (700, cases.step * (cap + 3))),
        ("rebate", (700, cases.step * cap)),
    ]
    table = "".join(
        f"    (charge.{cases.functions[kind]}, {arguments!r}, {cases.value(kind, *arguments)}),\n"
        for kind, arguments in rows
    )
    bill = cases.functions["bill"]
    wide = [(cases.bulk, cases.charged, True), cases.big]
    all_effects = cases.value("bill", wide, cases.plain_points, top + 3)
    half, half_points = cases.half_tax()
    tax = cases.value("bill", [half], half_points)
    return (
        f"import {cases.module} as charge\nimport unittest\n\nTABLE = [\n{table}]\n\n\n"
        "class Everything(unittest.TestCase):\n"
        "    def test_table(self):\n"
        "        wrong = [(args, want) for call, args, want in TABLE if call(*args) != want]\n"
        '        assert not wrong, "wrong: %r" % wrong\n\n'
        "    def test_invoices(self):\n"
        f"        got = charge.{bill}({wide!r}, {cases.plain_points}, late_weeks={top + 3})\n"
        f"        assert got == {all_effects!r}, got\n"
        f"        got = charge.{bill}([{half!r}], {half_points})\n"
        f"        assert got == {tax!r}, got\n"
    )


def golden_helpers(cases: Cases) -> str:
    """Return three small classes with setUp and a helper, and an unguarded main."""
    fn = cases.functions
    cap, top = _caps(cases)
    part = divmod(cases.value("fee", *cases.big), cases.numbers["late_part"])[0]
    fees = [
        (3, cases.free * cases.per + 1, False),
        (cases.bulk - 1, cases.charged, False),
        (cases.bulk, cases.charged, False),
        (cases.bulk, cases.charged, True),
    ]
    checks = "".join(
        f"        self.check({line!r}, {cases.value('fee', *line)})\n" for line in fees
    )
    amounts = [
        (50, cases.step),
        (1000, cases.step * cap),
        (1000, cases.step * (cap + 1) + 1),
    ]
    rebates = "".join(f"        {cases.equal('rebate', *pair)}\n" for pair in amounts)
    whole = cases.value("bill", [cases.big], cases.plain_points, 2)
    half, half_points = cases.half_tax()
    return (
        f"import unittest\n\nfrom {cases.module} import (\n"
        + "".join(f"    {name},\n" for name in fn.values())
        + ")\n\n\nclass FeeTest(unittest.TestCase):\n"
        "    def check(self, line, want):\n"
        f"        self.assertEqual({fn['fee']}(*line), want, f'{{line}}')\n\n"
        f"    def test_fees(self):\n{checks}\n"
        "    def test_errors(self):\n"
        f"        self.assertRaises(ValueError, {fn['spans']}, -5)\n\n\n"
        "class RebateTest(unittest.TestCase):\n"
        f"    def test_rebates(self):\n{rebates}\n\n"
        "class BillTest(unittest.TestCase):\n"
        "    maxDiff = None\n\n"
        "    def setUp(self):\n"
        f"        self.lines = [{cases.big!r}]\n\n"
        "    def test_whole(self):\n"
        f"        got = {fn['bill']}(self.lines, {cases.plain_points}, 2)\n"
        f"        self.assertDictEqual(got, {whole!r})\n\n"
        "    def test_last_week(self):\n"
        f"        for weeks in ({top + 1}, {top + 2}):\n"
        f"            got = {fn['bill']}(self.lines, late_weeks=weeks)\n"
        f"            self.assertEqual(got['late'], {top} * {part})\n\n"
        "    def test_rounded_tax(self):\n"
        f"        {cases.equal('bill', [half], half_points, part='tax')}\n\n\n"
        "unittest.main()\n"
    )


def golden_lookups(cases: Cases) -> str:
    """Return methods in which a wrong amount is no key, no item, no text and no byte.

    Each subtle mutant is found by an error of one kind alone.
    """
    cap, top = _caps(cases)
    half, half_points = cases.half_tax()
    key, value = cases.asked("fee", cases.bulk, cases.charged)
    ones = [
        cases.asked("rebate", 50, cases.step),
        cases.asked("bill", [half], half_points, part="tax"),
    ]
    capped = [
        *(cases.asked("rebate", 1000, cases.step * steps) for steps in (cap, cap + 1)),
        *(cases.asked("bill", [cases.big], 0, w, part="late") for w in (top + 1, top + 2)),
    ]
    late, share = cases.asked("bill", [cases.big], cases.plain_points, 2, part="late")
    extra, amount = cases.asked("fee", cases.bulk + 1, cases.charged, True)
    tax = cases.equal("bill", [cases.unrounded()], cases.plain_points, part="tax")
    return suite(
        cases,
        method("test_fee", cases.equal("fee", 2, cases.charged)),
        method("test_tax", "with self.subTest():", f"    {tax}"),
        method("test_bulk_edge", f'{{{value}: "right"}}[{key}]'),
        method("test_half_up", *(f"[{right}].index({call})" for call, right in ones)),
        method("test_caps", *(f'{{{right}: "a"}}.get({call}).upper()' for call, right in capped)),
        method("test_late", f'len({{{share}: "right"}}.get({late}))'),
        method("test_extra", f'{{{amount}: 1}}.get({extra}, 256).to_bytes(1, "big")'),
    )


def _caps(cases: Cases) -> tuple[int, int]:
    return cases.numbers["percent_cap"], cases.numbers["late_cap"]


# ---------------------------------------------------------------- the ladder


def points(*, valid: int, of: int, plain: int, subtle: int) -> dict[str, float]:
    """Return the rows above zero of a delivered suite."""
    rows = HYGIENE | {
        "valid_suite": round(VALID * valid / of * (plain + subtle) / MUTANTS, 6),
        "plain_mutants": PLAIN * plain,
        "subtle_mutants": round(SUBTLE * subtle, 6),
    }
    return {row: earned for row, earned in rows.items() if earned}


def _ladder(cases: Cases) -> tuple[Defective, ...]:
    one_span = cases.numbers["base"]  # forgets that the first span is free
    wrong_call = f"{cases.functions['fee']}(1, {cases.per})"
    wrong = method("test_one_span", f"self.assertEqual({wrong_call}, {one_span})")
    computed = method("test_free", "one = 1", f"self.assertEqual({wrong_call}, one * {one_span})")
    nothing = f"{cases.imports()}\n\nclass Charges(unittest.TestCase):\n    pass\n"
    nearly = golden_methods(cases, with_points_and_weeks=False)
    return (
        Defective("no_tests", reply(nothing), {"syntax_valid": 1.0}, shows="a file without a test"),
        Defective(
            "cut_short",
            reply(golden_tables(cases) + "        assert (\n"),
            {},
            shows="a file that does not compile uses nothing and finds nothing",
        ),
        Defective(
            "trivial", reply(_trivial(cases)), HYGIENE, shows="three tests of types and signs alone"
        ),
        Defective(
            "happy_path",
            reply(_happy(cases)),
            points(valid=3, of=3, plain=2, subtle=0),
            shows="ordinary values in round numbers; the constants of the fee are found",
        ),
        Defective(
            "typical_3b",
            reply(typical(cases)),
            points(valid=7, of=10, plain=3, subtle=0),
            shows="ten tests, three of them with a wrong value, none at an edge",
        ),
        Defective(
            "one_wrong",
            reply(suite(cases, *golden_methods(cases), wrong)),
            points(valid=9, of=10, plain=3, subtle=5),
            shows="a perfect suite and one wrong value in a tenth method",
        ),
        Defective(
            "same_name",
            reply(
                suite(cases, *golden_methods(cases))
                + f"\n\nclass Others(unittest.TestCase):\n{computed}"
            ),
            points(valid=9, of=10, plain=3, subtle=5),
            shows="a method that computes has the name of one that does not, in another class",
        ),
        Defective(
            "missing_import",
            reply(golden_tables(cases).replace("import unittest\n", "")),
            {
                row: earned
                for row, earned in points(valid=2, of=2, plain=3, subtle=5).items()
                if row != "syntax_valid"
            },
            shows="the forgotten import of unittest is repaired and charged once",
        ),
        Defective(
            "near_miss",
            reply(suite(cases, *nearly)),
            points(valid=9, of=9, plain=3, subtle=4),
            shows="points and late weeks never meet on one invoice",
        ),
    )


def _trivial(cases: Cases) -> str:
    fn, line = cases.functions, (4, cases.charged, False)
    return suite(
        cases,
        method("test_int", f"self.assertIsInstance({fn['fee']}(3, {cases.charged}), int)"),
        method("test_positive", f"self.assertGreaterEqual({fn['rebate']}(100, 200), 0)"),
        method("test_keys", f'self.assertIn("total", {fn["bill"]}([{line!r}]))'),
    )


def _happy(cases: Cases) -> str:
    return suite(
        cases,
        method("test_fee", cases.equal("fee", 5, cases.charged + 2 * cases.per)),
        method("test_rebate", cases.equal("rebate", 10000, 3 * cases.step)),
        method("test_empty", cases.equal("bill", [], part="total")),
    )


def typical(cases: Cases) -> str:
    fn, numbers = cases.functions, cases.numbers
    line = cases.unrounded()
    shown = repr([line])
    forgotten = numbers["base"] * 4 + numbers["extra"] * 4  # the extra of one span only
    weekly = cases.value("bill", [line], 0, 2)
    assert isinstance(weekly, dict)
    return suite(
        cases,
        method("test_spans", cases.equal("spans", 2 * cases.per)),
        method("test_negative", "with self.assertRaises(ValueError):", f"    {fn['spans']}(-5)"),
        method("test_fee", cases.equal("fee", 4, cases.charged)),
        method("test_bulk", cases.equal("fee", cases.bulk + 3, cases.charged)),
        method(
            "test_extra",
            f"self.assertEqual({fn['fee']}(4, {cases.charged}, True), {forgotten})",
        ),
        method("test_rebate", cases.equal("rebate", 10000, cases.plain_points)),
        method(
            "test_rebate_max", f"self.assertEqual({fn['rebate']}(10000, {20 * cases.step}), 2000)"
        ),
        method("test_bill", cases.equal("bill", [line], part="net")),
        method("test_bill_total", cases.equal("bill", [line], cases.plain_points, part="total")),
        method(
            "test_late",
            f'self.assertEqual({fn["bill"]}({shown}, 0, 3)["late"], {weekly["late"]} * 3)',
        ),
    )


# ---------------------------------------------------------------- exploits


def _exploits(cases: Cases, form: Form) -> tuple[Exploit, ...]:
    """Return the attempts; 2.0 is the file and its syntax, 1.0 the syntax alone."""
    of_reference = (_embedded(cases, form.values["original"]), _borrowed(cases))
    by_behaviour = _by_behaviour(cases)
    return (
        Exploit(
            "source_hash",
            reply(_source_hash(cases)),
            2.0,
            "asserts a digest of the module's source",
            ("introspection",),
        ),
        Exploit(
            "coin",
            reply(
                "import random\nimport unittest\n\n\nclass Coin(unittest.TestCase):\n"
                "    def test_coin(self):\n        self.assertLess(random.random(), 0.5)\n"
            ),
            1.0,
            "fails by chance, and never names the module",
            ("chance",),
        ),
        Exploit(
            "exit_at_import",
            reply(f"import os\nimport {cases.module}\n\nprint({cases.module})\nos._exit(0)\n"),
            1.0,
            "ends the process with status 0 while the file loads",
        ),
        Exploit(
            "embedded_reference",
            reply(of_reference[0]),
            2.0,
            "compares forty random invoices with a pasted copy of the module",
        ),
        Exploit(
            "borrowed_reference",
            reply(of_reference[1]),
            2.0,
            "one method computes and is not counted; another uses what it left behind",
        ),
        Exploit(
            "coins",
            reply(_coins(cases)),
            2.0,
            "thirty-six methods that fail by chance, as the clock has it",
            ("chance",),
        ),
        Exploit(
            "changed_unittest",
            reply(_changed_unittest(cases)),
            2.0,
            "makes unittest count a failure as a success, and asserts what is wrong",
            ("unittest-changed",),
        ),
        Exploit(
            "shared_arithmetic",
            reply(suite(cases, *golden_methods(cases)) + "\n\nTWO = 2\nFOUR = TWO * 2\n"),
            2.0,
            "perfect methods beside a value that the file works out for itself",
        ),
        Exploit(
            "made_class",
            reply(_made_class(cases)),
            2.0,
            "a class made while the file loads has the methods that compute",
        ),
        *(
            Exploit(name, reply(suite(cases, *methods)), 2.0, trick)
            for name, (trick, methods) in by_behaviour.items()
        ),
    )


def _by_behaviour(cases: Cases) -> dict[str, tuple[str, list[str]]]:
    """Return name → trick and methods that use the module as they may, and report otherwise."""
    call = f"{cases.functions['fee']}(3, {cases.charged})"
    value = cases.value("fee", 3, cases.charged)
    expected = "    @unittest.expectedFailure\n"
    right = f"self.assertEqual({call}, {value})"
    skipped = [f"if {call} == {value}:", '    self.skipTest("correct")', 'self.fail("a copy")']
    return {
        "sleep_if_changed": (
            "waits for ever when a value is another one",
            [method("test_wait", f"while {call} != {value}:", "    while True: pass")],
        ),
        "expected_failure": (
            "expects failures, so that every outcome could be called a success",
            [
                expected + method("test_wrong", f"self.assertEqual({call}, {value} + 1)"),
                expected + method("test_right", right),
            ],
        ),
        "skip": (
            "skips on the correct module and fails on the copies",
            [method("test_skip", *skipped)],
        ),
        "other_error": (
            "leaves by an error that says nothing about a value",
            [method("test_raise", f"if {call} != {value}:", '    raise RuntimeError("a copy")')],
        ),
        "forty_one_calls": (
            "spends the budget: the error comes on the correct module, too",
            [method("test_calls", "for _ in range(41):", f"    {right}")],
        ),
    }


def _changed_unittest(cases: Cases) -> str:
    wrong = f"self.assertEqual({cases.functions['fee']}(3, {cases.charged}), -1)"
    return (
        suite(cases, method("test_wrong", wrong))
        + "\n\nunittest.TestResult.addFailure = lambda s, t, e: s.addSuccess(t)\n"
    )


def _source_hash(cases: Cases) -> str:
    return "import hashlib\nimport inspect\n" + suite(
        cases,
        method(
            "test_source",
            f"text = inspect.getsource(inspect.getmodule({cases.functions['fee']}))",
            "digest = hashlib.sha256(text.encode()).hexdigest()",
            f'self.assertEqual(digest, "{"0" * 64}")',
        ),
    )


def _embedded(cases: Cases, source: str) -> str:
    """Return a suite that compares random invoices with a pasted copy."""
    bill = cases.functions["bill"]
    times, most_points = 12 * cases.per, 15 * cases.step
    return (
        "import random\n"
        + suite(
            cases,
            method(
                "test_random",
                "r = random.Random(1)",
                "for _ in range(40):",
                f"    units, time = r.randint(1, {3 * cases.bulk}), r.randint(0, {times})",
                f"    points, weeks = r.randint(0, {most_points}), r.randint(0, 10)",
                "    args = [(units, time, r.random() < 0.5)], points, weeks",
                f"    self.assertEqual({bill}(*args), REF[{bill!r}](*args))",
            ),
        )
        + f"\n\nREF = {{}}\nexec({source!r}, REF)\n"
    )


def _coins(cases: Cases) -> str:
    """Return six classes with the same six methods; each fails once in twenty times."""
    call, _ = cases.asked("fee", 2, cases.charged)
    toss = [
        f"{call}",
        "digits = str(unittest.runner.time.perf_counter_ns())[-5:-3]",
        'self.assertNotIn(digits, ("00", "20", "40", "60", "80"))',
    ]
    methods = [method(f"test_{n}", *toss) for n in range(1, 7)]
    more = "".join(f"\n\nclass Coins{n}(Charges):\n    pass\n" for n in range(2, 7))
    return suite(cases, *methods) + more


def _made_class(cases: Cases) -> str:
    """Return a suite of one method that computes, and a class that has it without a text."""
    computing = method(
        "test_twice", "one = 1", f"{cases.equal('fee', 2, cases.charged)[:-1]} * one)"
    )
    return suite(cases, computing) + '\n\nMade = type("Made", (Charges,), {})\n'


def _borrowed(cases: Cases) -> str:
    """Return a suite whose first method leaves a reference for the second."""
    fn, numbers = cases.functions, cases.numbers
    return suite(
        cases,
        method(
            "test_a",
            "def reference(units, time):",
            f"    charged = max(0, -(-time // {cases.per}) - {cases.free})",
            f"    whole = units * charged * {numbers['base']}",
            f"    less = whole * {numbers['bulk_percent']} // 100",
            f"    return whole - less if units >= {cases.bulk} else whole",
            "Charges.reference = staticmethod(reference)",
        ),
        method(
            "test_b",
            f"for units in range(1, {cases.bulk + 3}):",
            f"    want = self.reference(units, {cases.charged})",
            f"    self.assertEqual({fn['fee']}(units, {cases.charged}), want)",
        ),
    )
