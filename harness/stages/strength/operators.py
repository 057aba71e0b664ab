"""The operators that make mutants: what each changes in one node of a syntax tree."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

SWAPPED_OPERATIONS: dict[type[ast.AST], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
BOUNDARIES: dict[type[ast.AST], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
NEGATIONS: dict[type[ast.AST], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OTHER_CALLS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "startswith": "endswith",
    "endswith": "startswith",
    "fullmatch": "match",
    "match": "search",
    "search": "match",
}
PASSED_THROUGH = frozenset(
    {"set", "frozenset", "sorted", "reversed", "tuple", "list", "abs", "bare", "unwrapped"}
)
TEXT_METHODS = frozenset(
    {
        *("strip", "lstrip", "rstrip", "lower", "upper", "casefold", "replace"),
        *("removesuffix", "removeprefix", "sub"),
    }
)
FACTORS = (0.9, 1.1)  # what a number with a fraction is multiplied by


@dataclass(frozen=True)
class Variant:
    """What may stand in a node's place; change is how it is told, if not by the code itself."""

    operator: str
    node: ast.AST
    change: str = ""


def variants(node: ast.AST, parent: ast.AST, field: str) -> Iterator[Variant]:
    """Yield the changes of one node.

    Parameters
    ----------
    parent, field : where it hangs; a condition is known by that
    """
    if _is_condition(parent, field):
        yield from _forced(node)
    if isinstance(node, ast.stmt):
        yield from _removed(node, parent)
    make = _BY_TYPE.get(type(node))
    if make is not None:
        yield from make(node)


def _is_condition(parent: ast.AST, field: str) -> bool:
    """Say whether what hangs there decides between two ways."""
    return (isinstance(parent, ast.If | ast.IfExp | ast.While) and field == "test") or (
        isinstance(parent, ast.comprehension) and field == "ifs"
    )


def _forced(node: ast.AST) -> Iterator[Variant]:
    for value in (True, False):
        yield Variant("condition forced", ast.Constant(value))
    if not isinstance(node, ast.Compare) and isinstance(node, ast.expr):
        yield Variant("condition negated", ast.UnaryOp(ast.Not(), node))


def _removed(node: ast.stmt, parent: ast.AST) -> Iterator[Variant]:
    """Yield the block without a statement, where that is no plain NameError or forced condition."""
    alone = isinstance(parent, ast.If) and len(parent.body) == 1 and not parent.orelse
    if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue) and (
        alone or isinstance(parent, ast.FunctionDef)
    ):
        return
    plain = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.AugAssign, ast.Expr)
    if isinstance(node, plain) or (isinstance(node, ast.Assign) and not _is_first(node, parent)):
        text = ast.unparse(node)
        yield Variant("statement removed", ast.Pass(), f"without `{text}`")


def _is_first(node: ast.Assign, parent: ast.AST) -> bool:
    """Say whether an assignment gives its names their first value, as far as its block shows."""
    if not isinstance(parent, ast.FunctionDef):
        return isinstance(parent, ast.Module)
    names = {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    before = {argument.arg for argument in [*parent.args.args, *parent.args.kwonlyargs]}
    for statement in parent.body:
        if statement is node:
            break
        before |= {
            n.id
            for n in ast.walk(statement)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
    return not names <= before or not names


def _compare(node: ast.Compare) -> Iterator[Variant]:
    for table, operator in ((BOUNDARIES, "boundary"), (NEGATIONS, "comparison negated")):
        for place, op in enumerate(node.ops):
            if type(op) in table:
                ops = [*node.ops[:place], table[type(op)](), *node.ops[place + 1 :]]
                yield Variant(operator, ast.Compare(node.left, ops, node.comparators))


def _arithmetic(node: ast.BinOp) -> Iterator[Variant]:
    other = SWAPPED_OPERATIONS.get(type(node.op))
    if other is not None and not any(map(_is_text, (node.left, node.right))):
        yield Variant("arithmetic swapped", ast.BinOp(node.left, other(), node.right))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _augmented(node: ast.AugAssign) -> Iterator[Variant]:
    other = SWAPPED_OPERATIONS.get(type(node.op))
    if other is not None:
        yield Variant("arithmetic swapped", ast.AugAssign(node.target, other(), node.value))


def _unary(node: ast.UnaryOp) -> Iterator[Variant]:
    if isinstance(node.op, ast.Not):
        yield Variant("not dropped", node.operand)
    elif isinstance(node.op, ast.USub):
        yield Variant("sign dropped", node.operand)


def _boolean(node: ast.BoolOp) -> Iterator[Variant]:
    other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
    yield Variant("and/or swapped", ast.BoolOp(other, node.values))
    for place in range(len(node.values)):
        rest = [value for index, value in enumerate(node.values) if index != place]
        yield Variant("operand dropped", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))


def _constant(node: ast.Constant) -> Iterator[Variant]:
    value = node.value
    if isinstance(value, bool):
        yield Variant("constant changed", ast.Constant(not value))
    elif isinstance(value, int):
        for other in (value + 1, value - 1):
            yield Variant("constant changed", ast.Constant(other))
    elif isinstance(value, float):
        for factor in FACTORS if value else ():
            yield Variant("constant changed", ast.Constant(value * factor))
        if not value:
            yield Variant("constant changed", ast.Constant(0.1))
    elif isinstance(value, str):
        for text in dict.fromkeys([value[:-1], ""]) if value else ["x"]:
            yield Variant("text changed", ast.Constant(text), f"{value!r} → {text!r}")


def _returned(node: ast.Return) -> Iterator[Variant]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield Variant("return replaced", ast.Return(ast.Constant(None)))


def _indexed(node: ast.Subscript) -> Iterator[Variant]:
    if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
        for bound in ("lower", "upper", "step"):
            if getattr(node.slice, bound) is not None:
                kept = {b: getattr(node.slice, b) for b in ("lower", "upper", "step")}
                cut = ast.Slice(**{**kept, bound: None})
                yield Variant("slice changed", ast.Subscript(node.value, cut, node.ctx))


def _sequence(node: ast.Tuple | ast.List | ast.Set) -> Iterator[Variant]:
    items = node.elts
    if isinstance(getattr(node, "ctx", ast.Load()), ast.Store) or len(items) < 2:
        return
    if not isinstance(node, ast.Tuple) or all(map(_is_plain, items)):
        for place, item in enumerate(items):
            rest = [*items[:place], *items[place + 1 :]]
            yield Variant("element dropped", _like(node, rest), f"without `{ast.unparse(item)}`")
    for place in range(len(items) - 1):
        one, two = items[place : place + 2]
        if not isinstance(node, ast.Set) and _differ(one, two):
            swapped = [*items[:place], two, one, *items[place + 2 :]]
            yield Variant("elements swapped", _like(node, swapped), _swap_of(one, two))


def _like(node: ast.Tuple | ast.List | ast.Set, items: list[ast.expr]) -> ast.expr:
    if isinstance(node, ast.Set):
        return ast.Set(items)
    return type(node)(items, ast.Load())


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Tuple) and all(map(_is_plain, node.elts))
    )


def _differ(one: ast.expr, two: ast.expr) -> bool:
    """Say whether both are numbers, and not the same one: exchanged, they keep their sum."""
    return (
        isinstance(one, ast.Constant)
        and isinstance(two, ast.Constant)
        and isinstance(one.value, int | float)
        and isinstance(two.value, int | float)
        and one.value != two.value
    )


def _swap_of(one: ast.expr, two: ast.expr) -> str:
    return f"{ast.unparse(one)}, {ast.unparse(two)} → {ast.unparse(two)}, {ast.unparse(one)}"


def _mapping(node: ast.Dict) -> Iterator[Variant]:
    if len(node.keys) < 2:
        return
    for place, key in enumerate(node.keys):
        keys = [*node.keys[:place], *node.keys[place + 1 :]]
        values = [*node.values[:place], *node.values[place + 1 :]]
        named = ast.unparse(key if key is not None else node.values[place])
        yield Variant("element dropped", ast.Dict(keys, values), f"without `{named}`")
    for place in range(len(node.values) - 1):
        one, two = node.values[place : place + 2]
        if _differ(one, two):
            swapped = [*node.values[:place], two, one, *node.values[place + 2 :]]
            yield Variant("elements swapped", ast.Dict(node.keys, swapped), _swap_of(one, two))


def _call(node: ast.Call) -> Iterator[Variant]:
    name = _called(node)
    other = OTHER_CALLS.get(name)
    if other is not None:
        func = node.func
        renamed: ast.expr = ast.Name(other, ast.Load())
        if isinstance(func, ast.Attribute):
            renamed = ast.Attribute(func.value, other, ast.Load())
        yield Variant("call exchanged", ast.Call(renamed, node.args, node.keywords))
    if name in PASSED_THROUGH and isinstance(node.func, ast.Name) and len(node.args) == 1:
        yield Variant("call dropped", node.args[0])
    if name in TEXT_METHODS and isinstance(node.func, ast.Attribute):
        yield Variant("call dropped", node.args[-1] if name == "sub" else node.func.value)


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _loop(node: ast.For) -> Iterator[Variant]:
    empty = ast.For(node.target, ast.Tuple([], ast.Load()), node.body, node.orelse)
    yield Variant("loop skipped", empty, f"for {ast.unparse(node.target)} in nothing")


_BY_TYPE: dict[type[ast.AST], Callable[[Any], Iterator[Variant]]] = {
    ast.Compare: _compare,
    ast.BinOp: _arithmetic,
    ast.AugAssign: _augmented,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Constant: _constant,
    ast.Return: _returned,
    ast.Subscript: _indexed,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _sequence,
    ast.Dict: _mapping,
    ast.Call: _call,
    ast.For: _loop,
}
