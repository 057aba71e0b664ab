"""Generator of A10's forms: four slow functions, and the cases that a rewritten one must stand.

Each of four slots holds a kind of task: find a first repeat, count pairs, search a pair, sum over
windows. `variants/` has six functions for each, as texts: the slow original, two linear ones, and
known failures. A form draws one of each slot, the names, and the cases. Method 1 of every right
result is the linear text; the second method runs the slow one that stands in the prompt.
"""

import builtins
import hashlib
import itertools
import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.suite.forms import Form, generator, refuse

TASK = "A10"
FAMILY = 1
FILE = "readings.py"
VARIANTS = Path(__file__).parent / "variants"
SLOTS = ("first_repeat", "pair_count", "pair_search", "window_sum")
CONSTANTS = dict(zip(SLOTS, ("-1", "0", "None", "0"), strict=True))  # what a stub would return
LONGEST = 20_000
SIZES = (1_000, 4_000, LONGEST)
READS, CPU_RATIO = 4, 25
SHORT_CASES, LONG_CASES, EDGES = 10, 2, 9
SHORT, BARREN = (20, 60), (12, 20)  # lengths of short lists, and of those in which nothing is found
DRAWS_AT_MOST = 20_000
PRIME_OF_PLACES, PRIME = 20_011, 1_000_003  # the first is above the longest list

# Module → which text of each slot it is put together from.
MODULES = {
    "given": ("original", "original", "original", "original"),
    "linear": ("linear", "linear", "linear", "linear"),
    "other": ("other", "other", "other", "other"),
    "lazy": ("linear", "original", "original", "original"),
    "slip": ("linear", "slip", "sorted", "slip"),
    "near_miss": ("linear", "linear", "near", "linear"),
    "missing_import": ("linear", "other", "linear", "linear"),
}
SUBJECTS = ("kiln", "tide gauge", "seed scale", "ski lift", "river buoy", "wind mast")
LIST_NAMES = ("xs", "levels", "loads", "ticks", "marks", "depths")

# How many of the twelve results known failures get right. So the ladder of points is the same in
# every form, up to the special inputs.
BANDS = {
    **{f"stub_{slot}_results": (c, c) for slot, c in zip(SLOTS, (1, 1, 1, 0), strict=True)},
    "slip_pair_count_results": (0, 0),
    "near_pair_search_results": (6, 6),
    "slip_window_sum_results": (2, 2),
    "near_pair_search_edges": (6, EDGES - 1),
    "module_chars": (1_300, 2_600),
}

PROBE_VALUES, PROBE_LENGTH, PROBE_PARAMETERS = (-1, 0, 1, 2, 3), 5, (-1, 0, 1, 2, 3)

Run = dict[str, int]
Function = Callable[..., Any]
Test = Callable[[list[int], tuple[int, ...]], bool]


def form(seed: str) -> Form:
    """Return the form of a seed; FormError if it does not lie in the bands."""
    rng = generator(TASK, FAMILY, seed)
    chosen = [rng.choice(_variants(slot)) for slot in SLOTS]
    texts = _named(chosen, rng)
    subject = rng.choice(SUBJECTS)
    drawn = [_Drawn(rng, *pair) for pair in zip(chosen, texts, strict=True)]
    modules = {name: _module(subject, texts, parts) for name, parts in MODULES.items()}
    modules["missing_import"] = _without_imports(modules["missing_import"], texts[1]["other"])
    structure: dict[str, float] = {"module_chars": len(modules["given"])}
    for one in drawn:
        structure |= one.structure()
    problems = [
        f"{key} is {structure[key]:g}, not in {low} to {high}"
        for key, (low, high) in BANDS.items()
        if not low <= structure[key] <= high
    ]
    if problems:
        raise refuse(TASK, seed, problems)
    answers = {one.name: probed(one.functions["linear"], one.parameters) for one in drawn}
    return Form(
        task=TASK,
        family=FAMILY,
        seed=seed,
        values={
            "file": FILE,
            "longest": LONGEST,
            "reads_per_element": READS,
            "cpu_ratio": CPU_RATIO,
            "modules": modules,
            "functions": [one.values() for one in drawn],
        },
        answers=answers
        | {
            "reads per element": str(READS),
            "longest list": str(LONGEST),
            "cpu ratio": str(CPU_RATIO),
        },
        structure=structure,
    )


def probed(function: Function, parameters: int) -> str:
    """Return 16 hex digits that stand for a function's results on every list of a small domain.

    The lists have up to five elements from -1 to 3, short ones first and then in the order of
    counting; with a parameter each is asked for -1 to 3.
    """
    digest = hashlib.sha256()
    for length in range(PROBE_LENGTH + 1):
        for values in itertools.product(PROBE_VALUES, repeat=length):
            for rest in itertools.product(PROBE_PARAMETERS, repeat=parameters):
                digest.update(outcome(function, list(values), *rest).encode() + b"\n")
    return digest.hexdigest()[:16]


def outcome(function: Function, *args: Any) -> str:
    """Return what a call gives: the value as Python writes it, or what it raises."""
    try:
        return repr(function(*args))
    except (ValueError, ZeroDivisionError) as error:  # the latter by a failure without its check
        return f"raises {type(error).__name__}"


def series(runs: list[Run]) -> list[int]:
    """Return the list that runs describe, one after the other.

    The k-th element of a run is start + step * (k // every) + scale * noise, with
    noise = (a * k * k + b * k + c) % prime % spread.
    """
    return [
        r["start"]
        + r["step"] * (k // r["every"])
        + r["scale"] * ((r["a"] * k * k + r["b"] * k + r["c"]) % r["prime"] % r["spread"])
        for r in runs
        for k in range(r["count"])
    ]


class _Drawn:
    """One function of a form, with its cases."""

    def __init__(self, rng: random.Random, variant: dict[str, Any], texts: dict[str, str]) -> None:
        self.rng = rng
        self.slot: str = variant["slot"]
        self.variant: str = variant["variant"]
        self.name = texts["name"]
        self.functions = {
            part: _loaded(text, self.name) for part, text in texts.items() if part != "name"
        }
        self.failure = {"pair_search": "near"}.get(self.slot, "slip")  # slot 1 has none
        self.parameters = int("parameter" in variant)
        self.edges = [
            {"what": what, "args": list(args), "right": self.right(*args)}
            for what, *args in variant["edges"]
        ]
        self.long = [self._long(worst=True), self._long(worst=False)]
        self.reads = [*(self._shape(n, worst=True) for n in SIZES[:-1]), self.long[0]]
        self.short = self._short(variant)

    def right(self, *args: Any) -> str:
        """Return the right result by method 1."""
        return outcome(self.functions["linear"], *args)

    def fails(self, *args: Any) -> bool:
        """Return whether the slot's known failure is wrong here."""
        wrong = self.functions.get(self.failure)
        return wrong is not None and outcome(wrong, *args) != self.right(*args)

    def values(self) -> dict[str, Any]:
        """Return what graders and players need."""
        return {
            "slot": self.slot,
            "variant": self.variant,
            "name": self.name,
            "short": [
                {"args": [xs, *rest], "right": self.right(xs, *rest)} for xs, *rest in self.short
            ],
            "long": [self._with_right(shape) for shape in self.long],
            "edges": self.edges,
            "reads": [self._with_right(shape) for shape in self.reads],
        }

    def structure(self) -> dict[str, float]:
        """Return how many results and special inputs the known failures get right."""
        results = [(xs, *rest) for xs, *rest in self.short]
        results += [(series(runs), *rest) for runs, *rest in self.long]
        edges = [tuple(edge["args"]) for edge in self.edges]
        found: dict[str, float] = {}
        for kind, cases in (("results", results), ("edges", edges)):
            constant = CONSTANTS[self.slot]
            found[f"stub_{self.slot}_{kind}"] = sum(self.right(*c) == constant for c in cases)
            if self.failure in self.functions:
                key = f"{self.failure}_{self.slot}_{kind}"
                found[key] = sum(not self.fails(*c) for c in cases)
        return found

    def _with_right(self, shape: list[Any]) -> dict[str, Any]:
        runs, *rest = shape
        return {"runs": runs, "rest": rest, "right": self.right(series(runs), *rest)}

    def _shape(self, n: int, *, worst: bool) -> list[Any]:
        return list(_LONG[self.slot](self.rng, self.variant, n, worst))

    def _long(self, *, worst: bool) -> list[Any]:
        """Draw a long list on which constants are wrong, and the slips of the ladder too."""
        for _ in range(DRAWS_AT_MOST):
            runs, *rest = self._shape(LONGEST, worst=worst)
            xs = series(runs)
            slips = self.failure == "slip" and "slip" in self.functions
            if self.right(xs, *rest) != CONSTANTS[self.slot] and self.fails(xs, *rest) >= slips:
                return [runs, *rest]
        raise refuse(TASK, self.name, ["no long list"])

    def _short(self, variant: dict[str, Any]) -> list[list[Any]]:
        """Draw the short lists: in how many nothing is found, and in how many a failure shows."""
        failing = {"first_repeat": 0, "pair_count": 9, "window_sum": 8}.get(self.slot)
        if failing is None:
            failing = 6 - sum(self.fails(series(runs), *rest) for runs, *rest in self.long)
        barren = 0 if self.slot == "window_sum" else 1
        kinds = ["barren"] * barren + ["failing"] * failing
        kinds += ["sound"] * (SHORT_CASES - len(kinds))
        self.rng.shuffle(kinds)
        return [self._one(variant, kind) for kind in kinds]

    def _one(self, variant: dict[str, Any], kind: str) -> list[Any]:
        low, high = variant["values"]
        for _ in range(DRAWS_AT_MOST):
            length = self.rng.randint(*(BARREN if kind == "barren" else SHORT))
            rest = [self.rng.randint(*variant["parameter"])] if self.parameters else []
            if self.slot == "window_sum" and kind == "sound":
                xs = self.rng.sample(range(10 * low, 10 * high), length)
            else:
                xs = [self.rng.randint(low, high) for _ in range(length)]
            shows = kind == "failing" or (kind == "barren" and self.slot == "pair_count")
            nothing = self.right(xs, *rest) == CONSTANTS[self.slot]
            if nothing == (kind == "barren") and self.fails(xs, *rest) == shows:
                return [xs, *rest]
        raise refuse(TASK, self.name, [f"no {kind} list"])


def _variants(slot: str) -> list[dict[str, Any]]:
    """Return the variants of a slot, each with its texts."""
    return [
        {
            "slot": slot,
            "variant": folder.name,
            "texts": {p.stem: p.read_text(encoding="utf-8") for p in sorted(folder.glob("*.txt"))},
            **tomllib.loads((folder / "variant.toml").read_text(encoding="utf-8")),
        }
        for folder in sorted((VARIANTS / slot).iterdir())
    ]


def _named(chosen: list[dict[str, Any]], rng: random.Random) -> list[dict[str, str]]:
    """Return the texts of each variant under the names of this form."""
    list_name = rng.choice(LIST_NAMES)
    named = []
    for variant in chosen:
        name = rng.choice(variant["names"])
        texts = {
            part: re.sub(r"\bxs\b", list_name, re.sub(rf"\b{variant['variant']}\b", name, text))
            for part, text in variant["texts"].items()
        }
        named.append(texts | {"name": name})
    return named


def _module(subject: str, texts: list[dict[str, str]], parts: tuple[str, ...]) -> str:
    """Put a module together, imports first."""
    imports, bodies = [], []
    for named, part in zip(texts, parts, strict=True):
        lines = named[part].strip().split("\n")
        start = next(k for k, line in enumerate(lines) if line.startswith("def "))
        imports += [line for line in lines[:start] if line]
        bodies.append("\n".join(lines[start:]))
    head = [f'"""Readings of a {subject}, as lists of whole numbers."""']
    if imports:
        head.append("\n" + "\n".join(sorted(dict.fromkeys(imports))))
    return "\n".join(head) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


def _without_imports(module: str, text: str) -> str:
    """Return a module without the imports that one of its functions needs."""
    needed = text.split("\ndef ", maxsplit=1)[0].strip()
    return re.sub(r"\n{4,}", "\n\n\n", module.replace(needed + "\n", "", 1))


def _loaded(text: str, name: str) -> Function:
    """Return a function of ours from its text."""
    names = "abs dict enumerate len list max min range repr reversed set sorted sum zip ValueError"
    allowed = {word: getattr(builtins, word) for word in [*names.split(), "__import__"]}
    space: dict[str, Any] = {"__builtins__": allowed}
    exec(compile(text, name, "exec"), space)  # noqa: S102 (a text of this folder)
    function: Function = space[name]
    return function


def _run(count: int, start: int = 0, step: int = 0, every: int = 1, **noise: int) -> Run:
    quiet = {"scale": 0, "a": 0, "b": 0, "c": 0, "prime": 1, "spread": 1}
    return {"count": count, "start": start, "step": step, "every": every, **quiet, **noise}


def _noise(rng: random.Random, low: int, high: int) -> Run:
    factors = {letter: rng.randrange(1, PRIME) for letter in "abc"}
    return {"start": low, "scale": 1, **factors, "prime": PRIME, "spread": high - low + 1}


def _repeat(rng: random.Random, variant: str, n: int, worst: bool) -> tuple[Any, ...]:
    """All different, and the repeat at the very end, or at three quarters of the list."""
    until = n if worst else 3 * n // 4
    prime = PRIME_OF_PLACES
    places = {
        "b": rng.randrange(2, prime),
        "c": rng.randrange(prime),
        "prime": prime,
        "spread": prime,
    }
    places |= {"start": 1, "scale": 3 if variant == "first_neighbour" else 1}
    half = until // 2 if variant == "third_time" else until - 1
    runs = [_run(half, **places)]
    if variant == "third_time":
        runs.append(_run(until - 1 - half, **places))
    again = series(runs)[until - 2 if variant == "first_to_return" else until // 4]
    last = {"first_opposite": -again, "first_neighbour": again + 1}.get(variant, again)
    runs.append(_run(1, last))
    if not worst:
        runs.append(_run(n - until, **_noise(rng, 1, 1_000)))
    return (runs,)


def _count(rng: random.Random, variant: str, n: int, worst: bool) -> tuple[Any, ...]:
    """Few different values, so that pairs within a value are many; or many values."""
    few, many = {
        "gap_pairs": ((0, 7), (0, n // 2)),
        "multiple_pairs": ((0, 8), (-n // 4, n // 4)),
        "drift_pairs": ((0, 7), (0, n)),
        "near_twins": ((0, 2), (0, n // 2)),
        "far_twins": ((0, 2), (0, n // 2)),
        "divided_sums": ((0, 99_999), (0, 99)),
    }[variant]
    parameter = {
        "gap_pairs": rng.randint(1, 5),
        "multiple_pairs": rng.randint(2, 3),
        "drift_pairs": rng.randint(1, 5),
        "near_twins": n // 3 if worst else n // 10,
        "far_twins": n // 3 if worst else n // 10,
        "divided_sums": n // 2 + rng.randint(0, 50) if worst else rng.randint(7, 12),
    }[variant]
    slope = int(worst and variant == "drift_pairs")
    return [_run(n, step=slope, **_noise(rng, *(few if worst else many)))], parameter


def _search(rng: random.Random, variant: str, n: int, worst: bool) -> tuple[Any, ...]:
    """A slope on which a search by width cannot leave early, from either side; or noise."""
    if not worst:
        close = rng.randint(1_980, 1_995)
        noise = _run(n, **_noise(rng, -1_000, 1_000))
        return [noise], -close if variant == "widest_light_pair" else close
    up = variant in ("widest_drop", "widest_heavy_pair", "nearest_rise")
    base, step = rng.randint(-n, n), 1 if up else -1
    slope = {"step": step, **_noise(rng, base, base + 2)}
    late = 9 * n // 10  # only pairs in the last tenth fit
    if variant.startswith("nearest"):
        return [_run(n, **slope)], 7 * n // 10
    if variant in ("widest_drop", "widest_rise"):
        least = rng.randint(20, 40)
        return [_run(n - 1, **slope), _run(1, base + step * (late - least))], least
    return [_run(n, **slope)], 2 * base + step * (n + late)


def _windows(rng: random.Random, variant: str, n: int, worst: bool) -> tuple[Any, ...]:
    """A mountain or valley of short plateaus, where growing to both sides is long; or noise."""
    if not worst:
        return ([_run(n, **_noise(rng, -500, 500))],)
    step, base = 1 if variant.endswith("peaks") else -1, rng.randint(-n, n)
    half = n // 2
    top = base + step * (half // 3)
    return ([_run(half, base, step, 3), _run(n - half, top, -step, 3)],)


_LONG = dict(zip(SLOTS, (_repeat, _count, _search, _windows), strict=True))
