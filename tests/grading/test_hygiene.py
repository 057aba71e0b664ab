"""A structural slip costs its own row and nothing else; a copy is repaired, never the original."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playing import LIMITS, graded

from harness.grading.bench import Bench
from harness.grading.hygiene import STDLIB_NAMES, repair
from harness.records.score import Repair, RowScore
from harness.sandbox import probe
from harness.stages.grade import Graded
from harness.suite.forms import Form, Reply

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "multi_file"
FORM = Form(task="A99", family=1, seed="open", values={})

GOOD = {
    "shop/__init__.py": '"""A shop."""\n',
    "shop/models.py": (
        '"""Articles."""\n\nfrom __future__ import annotations\n\nfrom typing import Optional\n\n\n'
        "def known(name: str) -> Optional[str]:\n"
        "    return name if name in ('tea', 'salt') else None\n\n\nLIMIT: Optional[int] = Optional and 3\n"
    ),
    "shop/prices.py": "from shop.models import LIMIT\n\n\ndef price(n):\n    return n * LIMIT\n",
    "shop/stock.py": "from shop.models import known\n\nSTOCK = {'tea': 10}\n\n\ndef take(n):\n    return STOCK[known('tea')] - n\n",
    "shop/orders.py": (
        "from shop.models import known as find\nfrom shop.prices import price\n"
        "from shop.stock import take as order\n"
    ),
}  # fmt: skip


def reply(files: Mapping[str, str]) -> Reply:
    blocks = (f"### FILE: {path}\n```python\n{text}```\n" for path, text in files.items())
    return Reply("\n".join(blocks))


def changed(**files: str | None) -> dict[str, str]:
    """The good files with some replaced (by module name), or left out."""
    by_path = dict(GOOD)
    for name, text in files.items():
        path = f"shop/{name}.py"
        if text is None:
            del by_path[path]
        else:
            by_path[path] = text
    return by_path


def grade(files: Mapping[str, str]) -> Graded:
    return graded(FOLDER, FORM, reply(files))


def points(rows: tuple[RowScore, ...]) -> dict[str, float]:
    return {row.id: row.points for row in rows}


FULL = {
    "files_present": 1.0,
    "loads_clean": 1.0,
    "finds_existing": 2.0,
    "finds_nothing": 2.0,
    "prices": 2.0,
    "orders": 2.0,
}
NO_IMPORT = GOOD["shop/models.py"].replace("from typing import Optional\n", "")


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench(probe(), LIMITS, 1) as opened:
        yield opened


def test_a_sound_deliverable_is_not_repaired() -> None:
    """Nothing is done to what needs nothing, so there is one scoring."""
    found = grade(GOOD)
    assert points(found.rows) == FULL
    assert (found.repairs, found.rows_as_is) == ((), None)


def test_one_missing_import_costs_its_own_row_and_nothing_else() -> None:
    """As it came, it takes four more rows with it; on the copy they keep their points (G099)."""
    found = grade(changed(models=NO_IMPORT))
    assert found.repairs == (
        Repair(
            file="shop/models.py", kind="add_stdlib_import", detail="from typing import Optional"
        ),
    )
    assert points(found.rows) == {**FULL, "loads_clean": 0.0}
    assert found.rows_as_is is not None
    as_is = points(found.rows_as_is)
    # As it came: its row's fault is seen on the copy only, and the four behaviours are gone.
    assert {row for row, value in as_is.items() if value == 0} >= {
        "finds_existing",
        "finds_nothing",
        "prices",
        "orders",
    }


def test_the_ledger_balances() -> None:
    """The change in total is the sum of the rows' changes, for every counterfactual."""
    found = grade(changed(models=NO_IMPORT))
    assert found.rows_as_is is not None
    before, after = points(found.rows_as_is), points(found.rows)
    moved = {row: after[row] - before[row] for row in FULL}
    assert sum(after.values()) - sum(before.values()) == sum(moved.values()) == 7.0
    assert moved["loads_clean"] == -1.0


def test_a_missing_init_file_is_added_and_charged_once() -> None:
    """The package imports without it by accident of the import system; presence is lost (G100)."""
    found = grade({p: t for p, t in GOOD.items() if not p.endswith("__init__.py")})
    assert found.repairs == (
        Repair(file="shop/__init__.py", kind="add_init_file", detail="an empty file"),
    )
    rows = points(found.rows)
    assert rows["files_present"] == 0.0
    assert [rows[row] for row in ("finds_existing", "finds_nothing", "prices", "orders")] == [
        2.0
    ] * 4


def test_a_syntax_error_is_never_repaired() -> None:
    """It is the model's failure: no repair, the rows that need the file score nothing."""
    found = grade(changed(prices="def price(:\n    return 1\n"))
    assert found.repairs == ()
    rows = points(found.rows)
    assert (rows["loads_clean"], rows["prices"], rows["finds_existing"]) == (0.0, 0.0, 0.0)
    clean = next(row for row in found.rows if row.id == "loads_clean")
    assert "shop/prices.py does not compile, line 1" in clean.reason


def test_a_missing_file_is_not_made_up() -> None:
    """Only an empty `__init__.py` is ever created."""
    found = grade(changed(prices=None))
    assert found.repairs == ()
    assert points(found.rows)["files_present"] == 0.0
    assert points(found.rows)["prices"] == 0.0


def test_imports_go_behind_imports_from_the_future(bench: Bench) -> None:
    """An import before `from __future__` would break the file that it mends."""
    files = {"a.py": NO_IMPORT}
    text = repair(files, ["a.py"], bench.facts).files["a.py"]
    lines = text.split("\n")
    assert lines.index("from typing import Optional") > lines.index(
        "from __future__ import annotations"
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x = Counter('aab')\n", ["from collections import Counter"]),
        ("def f(a: List[int]) -> Dict[str, int]: ...\n", ["from typing import Dict", "from typing import List"]),
        ("def f(n):\n    return math.floor(n)\n", ["import math"]),
        ("d = defaultdict(list)\n", ["from collections import defaultdict"]),
        ("def math():\n    pass\n\n\nmath()\n", []),
        ("from typing import *\nx: Optional[int] = None\n", []),
        ("x = unknown_name\n", []),
        ("import json\nx = json.dumps([])\n", []),
        ("def f(Counter):\n    return Counter()\n", []),
    ],
)  # fmt: skip
def test_only_standard_names_that_are_used_and_bound_nowhere_are_imported(
    bench: Bench, text: str, lines: list[str]
) -> None:
    """The list is closed, and a name that the file binds itself is its own business."""
    repaired = repair({"a.py": text}, ["a.py"], bench.facts)
    assert [change.detail for change in repaired.changes] == lines


def test_repair_never_touches_the_original_and_twice_is_once(bench: Bench) -> None:
    """The deliverable stays as evidence, and a repaired copy needs nothing more."""
    files = changed(models=NO_IMPORT)
    before = dict(files)
    first = repair(files, list(GOOD), bench.facts)
    assert files == before
    assert repair(first.files, list(GOOD), bench.facts).changes == ()


def test_every_line_of_the_table_imports_its_name() -> None:
    """The closed list is right: each line, run here, binds the name that it stands for."""
    for name, line in STDLIB_NAMES.items():
        bound: dict[str, object] = {}
        exec(line, bound)  # our own table, not a deliverable
        assert name in bound, line


def test_observations_are_recalled_not_repeated() -> None:
    """Scoring again runs nothing: what was observed is believed, here a value that was changed."""
    first = grade(GOOD)
    price = next(key for key, seen in first.observations.items() if dict(seen).get("encoded") == 15)
    changed_one = {**first.observations, price: {**dict(first.observations[price]), "encoded": 16}}
    again = graded(FOLDER, FORM, reply(GOOD), remembered=changed_one)
    assert points(again.rows) == {**FULL, "prices": 0.0}
    assert set(again.observations) == set(first.observations)


def test_the_score_sheet_names_the_walls() -> None:
    """Which tier stood around the code is stamped in every sheet that ran any."""
    assert grade(GOOD).walls == probe().stamp
    assert probe().available
