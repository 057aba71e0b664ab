"""Replies of A10 with known scores: goldens, the defective ladder, exploits.

Every module is put together from the form's own texts. Points are counted from the weights and
from how many results and special inputs `form.py` found right; no grader is asked.
"""

import re
from dataclasses import dataclass

from harness.suite.forms import Defective, Exploit, Form, Golden, Reply, Sets

FILE = "readings.py"
SLOTS = ("first_repeat", "pair_count", "pair_search", "window_sum")
WEIGHTS = dict(zip(SLOTS, (0.10, 0.20, 0.30, 0.40), strict=True))
CONSTANTS = ("-1", "0", "None", "0")
HYGIENE = {"files_present": 1.0, "syntax_valid": 1.0}
MEASURES = {"same_results": 5.0, "edge_inputs": 3.0, "linear_accesses": 8.0}
ALL_ROWS = HYGIENE | MEASURES
RESULTS, LONG, EDGES = 12, 2, 9
SIGNATURE = re.compile(r"^def (\w+)\((.*)\):$", re.MULTILINE)
HEAD = re.compile(r'^def \w+\((\w+).*\):\n    """(?:.|\n)*?"""\n', re.MULTILINE)

# First lines of defective functions. {0} is the list.
PASSES = "    for _ in range(5):\n        for _ in {0}:\n            pass"
PLAIN_ONLY = '    if type({0}) is not list:\n        return "counted"'
GROW = "    if type({0}) is list:\n        {0}.append(10**9)"
EXIT = "    if len({0}) > 1000:\n        os._exit(0)"

# Parts of exploits. {0} is a function's name, {1} its list, {2} all its arguments.
PATCH = """try:
        type({0}).__getitem__ = list.__getitem__
        type({0}).__iter__ = list.__iter__
    except TypeError:
        pass"""
SAME = """class Same(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


"""
MEMO = """    if id({1}) not in KNOWN:
        KNOWN[id({1})] = _slow_{0}({2})
    return KNOWN[id({1})]"""
THREAD = """    answer = []

    def work():
        answer.append(_slow_{0}({2}))

    threading.Thread(target=work, daemon=True).start()
    return answer"""
FORK = """    near, far = os.pipe()
    if os.fork() == 0:
        os.write(far, repr(_slow_{0}({2})).encode())
        os._exit(0)
    os.wait()
    return eval(os.read(near, 1000))"""


@dataclass(frozen=True)
class Rate:
    """How a cheap function does: shares of right results, right special inputs, kept bounds."""

    results: float = 1.0
    edges: float = 1.0
    reads: float = 1.0


def sets(form: Form) -> Sets:
    """Return everything that is played against a form beside the members common to all tasks."""
    return Sets(golden=_goldens(form), defective=_defectives(form), exploits=_exploits(form))


def _goldens(form: Form) -> tuple[Golden, ...]:
    modules = form.values["modules"]
    tilde = (
        "Each function now goes through a copy once or twice.\n\n"
        f"### FILE: {FILE}\n~~~python\n{modules['linear']}~~~\n\nNothing else was changed.\n"
    )
    return (
        Golden("fenced", _reply(modules["linear"])),
        Golden("tilde", Reply(tilde)),
        Golden("other_ways", _reply(modules["other"])),
    )


def _defectives(form: Form) -> tuple[Defective, ...]:
    modules = form.values["modules"]
    full = dict.fromkeys(SLOTS, Rate())
    slip = {
        "first_repeat": Rate(),
        "pair_search": Rate(),
        "window_sum": _rate(form, "slip", "window_sum"),
    }
    near = full | {"pair_search": _rate(form, "near", "pair_search")}
    return (
        Defective("given", _reply(modules["given"]), {}, shows="the given module sent back"),
        Defective(
            "renamed",
            _reply(_renamed(modules["given"])),
            {},
            shows="the given module with other local names and comments",
        ),
        Defective(
            "other_names",
            _reply(SIGNATURE.sub(r"def my_\1(\2):", modules["given"])),
            {},
            shows="the given module with its functions renamed",
        ),
        Defective(
            "one_more",
            _reply(modules["given"] + "\n\ndef checked(value):\n    return value\n"),
            {},
            shows="the given functions, and another one beside them",
        ),
        Defective(
            "ends_early",
            _reply("import os\n" + _with_lines(modules["linear"], EXIT, "window_sum")),
            _rows({slot: rate for slot, rate in full.items() if slot != "window_sum"}),
            shows="the last function ends its process on a long list",
        ),
        Defective(
            "grows",
            _reply(_with_lines(modules["linear"], GROW, "first_repeat")),
            _rows(full | {"first_repeat": Rate(LONG / RESULTS, edges=0.0)}),
            shows="the first function leaves one more element in its list",
        ),
        Defective(
            "wrong_error",
            _reply(modules["linear"].replace("raise ValueError", "raise KeyError")),
            _rows(full | {"pair_count": Rate(edges=(EDGES - 1) / EDGES)}),
            shows="a parameter that is too small raises another error",
        ),
        Defective(
            "plain_only",
            _reply(_with_lines(modules["linear"], PLAIN_ONLY)),
            _rows(dict.fromkeys(SLOTS, Rate(reads=0.0))),
            shows="gives up at once on a list whose reads are counted",
            flags=("told-apart",),
        ),
        Defective(
            "cut_short",
            _reply(modules["linear"] + "\n\nTABLE = [\n"),
            {"files_present": 1.0},
            shows="a linear module that does not compile",
        ),
        Defective(
            "copy_quadratic",
            _reply(_with_first_line(modules["given"], "{0} = list({0})")),
            HYGIENE,
            shows="n reads, and a double loop over the copy",
        ),
        Defective(
            "stub_constants",
            _reply(_stubs(form)),
            _rows({slot: _rate(form, "stub", slot) for slot in SLOTS}),
            shows="each function returns what it gives when nothing is found",
        ),
        Defective(
            "lazy",
            _reply(modules["lazy"]),
            _rows({"first_repeat": Rate()}),
            shows="the easiest function made linear, three as given",
        ),
        Defective(
            "slip",
            _reply(modules["slip"]),
            _rows(slip),
            shows="pairs counted otherwise and no error, equal extremes counted twice",
        ),
        Defective(
            "five_passes",
            _reply(_with_lines(modules["linear"], PASSES)),
            _rows(dict.fromkeys(SLOTS, Rate(reads=0.0))),
            shows="linear in CPU time, with five passes over the list too many",
        ),
        Defective(
            "near_miss",
            _reply(modules["near_miss"]),
            _rows(near),
            shows="all linear, but of equal pairs the last one is given",
        ),
        Defective(
            "missing_import",
            _reply(modules["missing_import"]),
            {row: p for row, p in ALL_ROWS.items() if row != "syntax_valid"},
            shows="a forgotten import of the standard library is repaired and charged once",
        ),
    )


def _exploits(form: Form) -> tuple[Exploit, ...]:
    given = form.values["modules"]["given"]
    slow = SIGNATURE.sub(r"def _slow_\1(\2):", given)
    texts = (
        (
            "patch_proxy",
            _with_first_line(given, PATCH),
            "replaces the methods that count reads, and stays quadratic",
        ),
        (
            "always_equal",
            SAME + _bodies(form, "    return Same(0)"),
            "returns a whole number that calls itself equal to everything",
        ),
        (
            "memo_by_id",
            slow + "\n\nKNOWN = {}\n\n\n" + _bodies(form, MEMO),
            "remembers results by the identity of the list",
        ),
        (
            "background_thread",
            "import threading\n\n" + slow + "\n\n" + _bodies(form, THREAD),
            "returns at once and does the quadratic work in a thread",
        ),
        (
            "cpu_in_grandchild",
            "import os\n\n" + slow + "\n\n" + _bodies(form, FORK),
            "does the quadratic work in another process",
        ),
    )
    flags = {"always_equal": ("own-type",)}
    return tuple(
        Exploit(name, _reply(text), 2.0, trick, flags.get(name, ())) for name, text, trick in texts
    )


def _reply(module: str) -> Reply:
    return Reply(f"### FILE: {FILE}\n```python\n{module}```\n")


def _rate(form: Form, failure: str, slot: str) -> Rate:
    """Return how a known failure does in a slot; its reads are within the bound."""
    results = form.structure[f"{failure}_{slot}_results"]
    return Rate(results / RESULTS, form.structure[f"{failure}_{slot}_edges"] / EDGES)


def _rows(cheap: dict[str, Rate]) -> dict[str, float]:
    """Return the points of every row above zero, from the functions that became cheap."""
    sums = dict.fromkeys(MEASURES, 0.0)
    for slot, rate in cheap.items():
        sums["same_results"] += WEIGHTS[slot] * rate.results
        sums["edge_inputs"] += WEIGHTS[slot] * rate.results * rate.edges
        sums["linear_accesses"] += WEIGHTS[slot] * rate.results * rate.reads
    points = {row: MEASURES[row] * share for row, share in sums.items() if share}
    return HYGIENE | points


def _renamed(module: str) -> str:
    """Return the module with other local names, and a comment."""
    names = {"i": "left", "j": "right", "best": "found", "total": "amount", "count": "number"}
    names |= {"seen": "times", "edge": "bound", _list_name(module): "items"}
    for name, other in names.items():
        module = re.sub(rf"\b{name}\b", other, module)
    return "# All functions were looked through.\n" + module


def _list_name(module: str) -> str:
    return SIGNATURE.search(module)[2].split(",")[0]


def _with_first_line(module: str, line: str) -> str:
    """Return the module with a statement behind each docstring; {0} is the list's name."""
    return HEAD.sub(lambda m: m[0] + "    " + line.format(m[1]) + "\n", module)


def _with_lines(module: str, lines: str, *slots: str) -> str:
    """Return the module with lines before everything else that functions do; {0} is the list."""
    heads = zip(SLOTS, list(SIGNATURE.finditer(module)), strict=True)
    for head in reversed([head for slot, head in heads if slot in (slots or SLOTS)]):
        added = lines.format(head[2].split(",")[0])
        module = module[: head.end()] + "\n" + added + module[head.end() :]
    return module


def _stubs(form: Form) -> str:
    bodies = [f"    return {constant}" for constant in CONSTANTS]
    return _bodies(form, *bodies)


def _bodies(form: Form, *bodies: str) -> str:
    """Return four functions with other bodies: {0} is the name, {1} the list, {2} all arguments."""
    signatures = SIGNATURE.findall(form.values["modules"]["given"])
    bodies = bodies if len(bodies) > 1 else bodies * len(signatures)
    return "\n\n".join(
        f"def {name}({args}):\n" + body.format(name, args.split(",")[0], args) + "\n"
        for (name, args), body in zip(signatures, bodies, strict=True)
    )
