"""Second method of A05: rewrite Python's own syntax tree and let Python run it.

Reads nothing but the rendered prompt, and shares nothing with form.py. What runs here is the
text of our own prompt, never a word that a model wrote.
"""

import ast
import re
from collections.abc import Callable

HEAD = re.compile(r"(P[1-9]\.\d) \(rules: ([A-Z ]+)\)")
PASSES = 10_000  # a prompt that was altered by hand may hold a loop without end
TIGHTER = {ast.LShift: ast.Mult, ast.RShift: ast.FloorDiv}


def answers(prompt: str) -> dict[str, str]:
    """Return the number every program of a prompt prints, by key."""
    return {key: str(printed(source, rules)) for key, rules, source in programs(prompt)}


def programs(prompt: str) -> list[tuple[str, frozenset[str], str]]:
    """Return key, rules and source of every program; a source ends at the next empty line."""
    found = []
    for paragraph in prompt.split("\n\n"):
        head, _, source = paragraph.strip("\n").partition("\n")
        if match := HEAD.fullmatch(head):
            found.append((match[1], frozenset(match[2].split()), source))
    return found


def printed(source: str, rules: frozenset[str]) -> int:
    """Run one program under its rules and return the last number it prints."""
    if "PLUS" in rules:
        # In Python's grammar the shifts are what * and // are to be: looser than + and -.
        source = source.replace("//", ">>").replace("*", "<<")
    tree = ast.fix_missing_locations(Tarn(rules).visit(ast.parse(source)))
    out: list[int] = []
    scope = {"__builtins__": {}, "len": len, "print": out.append, "range": range}
    if "INCL" in rules:
        scope["range"] = lambda *ends: range(*ends[:-1], ends[-1] + 1)
    scope |= {"_up": rounded_up, "_own": own, "_place": places("ONE" in rules), "_tick": ticking()}
    exec(compile(tree, "<Tarn>", "exec"), scope)  # noqa: S102 (our own prompt's programs)
    return out[-1]


def rounded_up(left: int, right: int) -> int:
    """Divide and round toward plus infinity."""
    whole, rest = divmod(left, right)
    return whole + (rest != 0)


def own(value: object) -> object:
    """Copy a list; anything else is itself."""
    return value[:] if isinstance(value, list) else value


def places(from_one: bool) -> Callable[[int], int]:
    """Return the function from a number in brackets to Python's place in the list."""

    def place(number: int) -> int:
        if number < from_one:
            raise IndexError(number)
        return number - from_one

    return place


def ticking() -> Callable[[], None]:
    """Return a function that may be called `PASSES` times."""
    left = iter(range(PASSES))

    def tick() -> None:
        if next(left, None) is None:
            raise RuntimeError(f"more than {PASSES} passes")

    return tick


def called(name: str, *arguments: ast.expr) -> ast.Call:
    """Return the tree of a call of one of our own functions."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class Tarn(ast.NodeTransformer):
    """Turns the tree of a program into one that means in Python what it means in Tarn."""

    def __init__(self, rules: frozenset[str]) -> None:
        self._rules = rules
        self._loops = 0  # how many loops stand around a line, within its own function

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """PLUS gives the operators back, CEIL divides upward."""
        self.generic_visit(node)
        if "PLUS" in self._rules:
            node.op = TIGHTER.get(type(node.op), type(node.op))()
        if "CEIL" in self._rules and isinstance(node.op, ast.FloorDiv):
            return called("_up", node.left, node.right)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        """ONE moves every index; without it the index is still checked for its sign."""
        self.generic_visit(node)
        node.slice = called("_place", node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """COPY copies what a function gets; `append` is a method and stays as it is."""
        self.generic_visit(node)
        plain = isinstance(node.func, ast.Name) and node.func.id not in ("len", "print", "range")
        if "COPY" in self._rules and plain:
            node.args = [called("_own", given) for given in node.args]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """COPY copies what a name gets, LATE keeps it aside until the pass ends."""
        self.generic_visit(node)
        (target,) = node.targets
        if isinstance(target, ast.Name):
            if "COPY" in self._rules:
                node.value = called("_own", node.value)
            if "LATE" in self._rules and self._loops:
                aside = ast.Name(f"_late{self._loops}", ast.Load())
                node.targets = [ast.Subscript(aside, ast.Constant(target.id), ast.Store())]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Spell out += and -= on a name; on an element they act at once in both languages."""
        if not isinstance(node.target, ast.Name):
            self.generic_visit(node)
            return node
        old = ast.Name(node.target.id, ast.Load())
        return self.visit_Assign(ast.Assign([node.target], ast.BinOp(old, node.op, node.value)))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """LATE looks at where a line stands, so a function's own lines are in no loop."""
        outside, self._loops = self._loops, 0
        self.generic_visit(node)
        self._loops = outside
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """Treat a `for` as any loop."""
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.While:
        """Treat a `while` as any loop."""
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.For | ast.While:
        self._loops += 1
        aside = f"_late{self._loops}"
        self.generic_visit(node)
        self._loops -= 1
        kept = [
            line.slice.value
            for line in ast.walk(node)
            if isinstance(line, ast.Subscript)
            and isinstance(line.value, ast.Name)
            and line.value.id == aside
        ]
        ending = [f"if {name!r} in {aside}: {name} = {aside}[{name!r}]" for name in sorted({*kept})]
        node.body = [
            *ast.parse(f"_tick()\n{aside} = {{}}").body,
            *node.body,
            *ast.parse("\n".join(ending)).body,
        ]
        return node
