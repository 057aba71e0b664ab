"""Forms of A05: 27 programs in Tarn, which is Python but for six rules, and their answers.

Method 1 stands here whole: a tokenizer, a precedence parser and a tree walker of our own, which
know nothing of Python's. The shapes of the programs stand in programs.txt; their numbers are
drawn anew until every band holds.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.suite.forms import Form, generator, refuse

TASK, FAMILY = "A05", 1
RULES = ("INCL", "CEIL", "ONE", "COPY", "PLUS", "LATE")
SHAPES = Path(__file__).with_name("programs.txt")

SMALLEST, LARGEST = 10, 99_999  # a right answer
NEVER_RIGHT = (10, 42, 100)  # so that one habitual number for all keys earns nothing
DRAWS = 400  # per program; over 200 forms no shape needed more than 7
STATEMENT_LIMIT = 2_000  # a program that forgets a rule may loop for ever

COMPARISONS, SUMS, PRODUCTS = ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "//", "%")
TOKEN = re.compile(r"\s*(\w+|//|[=!<>]=|[-+*%<>()\[\],])")
LINES = (
    ("def", re.compile(r"def (?P<name>\w+)\((?P<value>[\w, ]*)\):")),
    ("for", re.compile(r"for (?P<name>\w+) in (?P<value>.+):")),
    ("while", re.compile(r"while (?P<value>.+):")),
    ("if", re.compile(r"if (?P<value>.+):")),
    ("else", re.compile(r"else:")),
    ("print", re.compile(r"print\((?P<value>.+)\)")),
    ("return", re.compile(r"return (?P<value>.+)")),
    ("append", re.compile(r"(?P<name>\w+)\.append\((?P<value>.+)\)")),
    ("set", re.compile(r"(?P<name>\w+)(\[(?P<index>.+?)\])? (?P<sign>[-+]?)= (?P<value>.+)")),
)

# An expression is a number, a name, or a tuple that begins with an operator or one of the words
# "list" (items), "item" (list, index) and "call" (name, arguments).
Expression = int | str | tuple
Value = int | list
Names = dict[str, Value]


class TarnError(Exception):
    """A program that cannot go on; the message is the name Python has for it."""


@dataclass(frozen=True)
class Statement:
    """One line of a program, with the lines under it."""

    verb: str
    name: str
    index: Expression | None
    sign: str
    value: Expression
    body: tuple["Statement", ...] = ()
    otherwise: tuple["Statement", ...] = ()


class Expressions:
    """Parses one expression; the operators of a rank group from the left."""

    def __init__(self, text: str, rules: tuple[str, ...]) -> None:
        loose, tight = (PRODUCTS, SUMS) if "PLUS" in rules else (SUMS, PRODUCTS)
        self._ranks = (COMPARISONS, loose, tight)
        self._tokens = TOKEN.findall(text)
        if "".join(self._tokens) != text.replace(" ", ""):
            raise ValueError(f"no expression of Tarn: {text!r}")

    def parse(self, rank: int = 0) -> Expression:
        """Return what begins here, as far as operators of this rank or a tighter one reach."""
        if rank == len(self._ranks):
            return self._operand()
        left = self.parse(rank + 1)
        while self._tokens and self._tokens[0] in self._ranks[rank]:
            operator = self._tokens.pop(0)
            left = (operator, left, self.parse(rank + 1))
        return left

    def _operand(self) -> Expression:
        piece = self._tokens.pop(0)
        found: Expression = int(piece) if piece.isdigit() else piece
        if piece == "(":
            (found,) = self._until(")")
        elif piece == "[":
            found = ("list", self._until("]"))
        while self._tokens and self._tokens[0] in ("(", "["):
            if self._tokens.pop(0) == "(":
                found = ("call", found, self._until(")"))
            else:
                found = ("item", found, *self._until("]"))
        return found

    def _until(self, closing: str) -> tuple[Expression, ...]:
        inside = []
        while self._tokens[0] != closing:
            inside.append(self.parse())
            if self._tokens[0] == ",":
                self._tokens.pop(0)
        self._tokens.pop(0)
        return tuple(inside)


def parse_block(lines: list[str], depth: int, rules: tuple[str, ...]) -> tuple[Statement, ...]:
    """Take the lines of one block off the front of `lines` and return its statements."""
    block: list[Statement] = []
    while lines and len(lines[0]) - len(lines[0].lstrip()) == depth:
        line = lines.pop(0).strip()
        body = parse_block(lines, depth + 4, rules) if line.endswith(":") else ()
        verb, found = next((verb, m) for verb, p in LINES if (m := p.fullmatch(line)))
        part = {"name": "", "index": None, "sign": "", "value": None} | found.groupdict()
        if verb == "else":
            above = block.pop()
            block.append(Statement(above.verb, "", None, "", above.value, above.body, body))
            continue
        if verb == "def":
            value: Expression = tuple(part["value"].split(", "))
        else:
            value = Expressions(part["value"], rules).parse()
        index = None if part["index"] is None else Expressions(part["index"], rules).parse()
        block.append(Statement(verb, part["name"], index, part["sign"], value, body))
    return tuple(block)


class Machine:
    """Walks the tree of one program under the rules that hold.

    statements : executed lines; a header counts once each time it is reached
    unusual : a negative number was divided or used as an index, which no right run may do
    """

    def __init__(self, source: str, rules: tuple[str, ...]) -> None:
        self._rules = rules
        self._body = parse_block(source.splitlines(), 0, rules)
        self._functions: dict[str, Statement] = {}
        self._printed: Value | None = None
        self.statements = 0
        self.unusual = False

    def run(self) -> Value | None:
        """Return what the program prints.

        Raises
        ------
        TarnError
            If an index or a name has no meaning, a divisor is zero, or it does not end.
        """
        self._block(self._body, {}, None)
        return self._printed

    def _block(
        self, block: tuple[Statement, ...], names: Names, late: Names | None
    ) -> Value | None:
        """Run a block and return the value of its `return`, if it met one.

        late : where assignments wait for the end of the pass, or None where they act at once
        """
        for line in block:
            self.statements += 1
            if self.statements > STATEMENT_LIMIT:
                raise TarnError("RuntimeError")
            result = None
            match line.verb:
                case "def":
                    self._functions[line.name] = line
                case "for" | "while":
                    result = self._loop(line, names)
                case "if":
                    chosen = line.body if self._value(line.value, names) else line.otherwise
                    result = self._block(chosen, names, late)
                case "print":
                    self._printed = self._value(line.value, names)
                case "return":
                    return self._value(line.value, names)
                case "append":
                    self._value(line.name, names).append(self._value(line.value, names))
                case _:
                    self._set(line, names, names if late is None else late)
            if result is not None:
                return result
        return None

    def _loop(self, line: Statement, names: Names) -> Value | None:
        for _ in self._passes(line, names):
            late: Names | None = {} if "LATE" in self._rules else None
            result = self._block(line.body, names, late)
            names.update(late or {})
            if result is not None:
                return result
        return None

    def _passes(self, line: Statement, names: Names) -> Iterator[None]:
        if line.verb == "for":
            for item in self._value(line.value, names):
                names[line.name] = item
                yield
        else:
            while self._value(line.value, names):
                yield

    def _set(self, line: Statement, names: Names, target: Names) -> None:
        if line.index is not None:
            items = self._value(line.name, names)
            place = self._place(items, self._value(line.index, names))
            items[place] = self._changed(line, items[place], names)
        elif line.sign:
            target[line.name] = self._changed(line, self._value(line.name, names), names)
        else:
            target[line.name] = self._own(self._value(line.value, names))

    def _changed(self, line: Statement, old: Value, names: Names) -> Value:
        value = self._value(line.value, names)
        return {"": value, "+": old + value, "-": old - value}[line.sign]

    def _own(self, value: Value) -> Value:
        return list(value) if "COPY" in self._rules and isinstance(value, list) else value

    def _place(self, items: list, index: int) -> int:
        self.unusual |= index < 0
        first = 1 if "ONE" in self._rules else -len(items)
        place = index - 1 if "ONE" in self._rules else index
        if index < first or place >= len(items):
            raise TarnError("IndexError")
        return place

    def _value(self, node: Expression, names: Names) -> Value:
        match node:
            case int():
                return node
            case str():
                if node not in names:
                    raise TarnError("NameError")
                return names[node]
            case ("list", items):
                return [self._value(item, names) for item in items]
            case ("item", xs, index):
                items = self._value(xs, names)
                return items[self._place(items, self._value(index, names))]
            case ("call", name, arguments):
                return self._call(name, [self._value(given, names) for given in arguments])
            case (operator, left, right):
                return self._operate(operator, self._value(left, names), self._value(right, names))
        raise ValueError(f"no expression of Tarn: {node!r}")

    def _call(self, name: str, given: list[Value]) -> Value | None:
        if name == "len":
            return len(given[0])
        if name == "range":
            first, last = given if len(given) > 1 else (0, given[0])
            return list(range(first, last + 1 if "INCL" in self._rules else last))
        function = self._functions[name]
        names = dict(zip(function.value, map(self._own, given), strict=True))
        return self._block(function.body, names, None)

    def _operate(self, operator: str, left: int, right: int) -> int:
        if operator in ("//", "%"):
            self.unusual |= left < 0 or right < 0
            if right == 0:
                raise TarnError("ZeroDivisionError")
            if operator == "%":
                return left % right
            return -(-left // right) if "CEIL" in self._rules else left // right
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        order = (left > right) - (left < right)
        return {"==": (0,), "!=": (-1, 1), "<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}[
            operator
        ].count(order)


@dataclass(frozen=True)
class Shape:
    """A program whose numbers are still to be drawn, with its band of executed statements."""

    key: str
    rules: tuple[str, ...]
    fewest: int
    most: int
    text: str


def shapes() -> list[Shape]:
    """Read programs.txt."""
    found = []
    for part in SHAPES.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, text = part.split("\n", 1)
        key, rules, statements = head.split()
        fewest, most = map(int, statements.split("-"))
        found.append(Shape(key, tuple(rules.split(",")), fewest, most, text.strip()))
    return found


def filled(text: str, rng: random.Random) -> str:
    """Return a shape's text with its numbers drawn (programs.txt says how a brace is read)."""
    kept: dict[str, int] = {}

    def number(brace: re.Match[str]) -> str:
        count, name, mark, low, high = brace.groups()
        if low is None:
            return str(kept[name])
        if count:
            return ", ".join(map(str, rng.sample(range(int(low), int(high) + 1), int(count))))
        drawn = rng.randint(int(low), int(high))
        if mark == "+":
            return str(kept[name] + drawn)
        if name:
            kept[name] = drawn
        return str(drawn)

    return re.sub(r"\{(?:(\d+)x)?([a-z])?([:+])?(?:(\d+)-(\d+))?\}", number, text)


def traps(source: str, rules: tuple[str, ...]) -> dict[str, str]:
    """Return the answers of a reader who forgets one rule, or all of them.

    Raises
    ------
    TarnError
        If one of these readers cannot finish the program.
    """
    readings = {f"forgot {rule}": tuple(r for r in rules if r != rule) for rule in sorted(rules)}
    readings["plain Python"] = ()
    return {name: str(Machine(source, kept).run()) for name, kept in readings.items()}


@dataclass(frozen=True)
class Program:
    """A drawn program inside its bands."""

    source: str
    answer: str
    traps: dict[str, str]
    statements: int


def program(shape: Shape, rng: random.Random, taken: list[str]) -> Program | None:
    """Draw one program, or return None if its numbers fall out of the bands."""
    source = filled(shape.text, rng)
    machine = Machine(source, shape.rules)
    try:
        answer = machine.run()
        wrong = traps(source, shape.rules)
    except TarnError:
        return None
    held = (
        SMALLEST <= answer <= LARGEST
        and answer not in NEVER_RIGHT
        and str(answer) not in (*wrong.values(), *taken)
        and shape.fewest <= machine.statements <= shape.most
        and not machine.unusual
    )
    return Program(source, str(answer), wrong, machine.statements) if held else None


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if a shape finds no numbers inside its bands."""
    rng = generator(TASK, FAMILY, seed)
    drawn: dict[str, Program] = {}
    problems = []
    asked = shapes()
    for shape in asked:
        taken = [other.answer for other in drawn.values()]
        tries = (program(shape, rng, taken) for _ in range(DRAWS))
        found = next((one for one in tries if one is not None), None)
        if found is None:
            problems.append(f"{shape.key}: no numbers inside the bands in {DRAWS} draws")
        else:
            drawn[shape.key] = found
    if problems:
        raise refuse(TASK, seed, problems)
    return Form(
        task=TASK,
        family=FAMILY,
        seed=seed,
        values={
            "programs": [
                {"key": s.key, "rules": list(s.rules), "source": drawn[s.key].source} for s in asked
            ]
        },
        keys=tuple(drawn),
        answers={key: one.answer for key, one in drawn.items()},
        traps={key: one.traps for key, one in drawn.items()},
        structure={f"statements {key}": one.statements for key, one in drawn.items()},
    )
