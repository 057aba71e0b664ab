"""The world of A01: helpers in use, two tables, three pages, four suites, and tickets in turn."""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from harness.suite.forms import Form
from harness.world import Case, Scene, Step, Table, Trigger, World

FOLDER = Path(__file__).parent
MODULES = ("mooring", "waste", "stay")  # of tickets 1, 2 and 3
HELPERS = ("steps", "bands", "days")


def scene(form: Form, run: int) -> Scene:  # noqa: ARG001 (every run begins with the same world)
    """Return the world of a form. Runs differ in their faults alone."""
    values = form.values
    files = _texts("world/dues", form, "dues/") | _texts("world/tickets", form, "tickets/")
    later = _texts("world/later/tickets", form, "tickets/")
    pages = _texts("world/pages", form, "port.test/v1/")
    suites = {name: tuple(map(_case, cases)) for name, cases in values["suites"].items()}
    return Scene(
        files=files,
        tables=_script(values["visits"], values["surcharge"]),
        pages=pages,
        read_only=("tickets/",),
        suites=suites,
        stale_tables=_script(_without_longest(values["visits"]), values["surcharge_before"]),
        variants=_texts("payloads/dues", form, "dues/"),
        wrong_values=values["wrong_values"],
        triggers=tuple(_release(k, later) for k in (1, 2)),
        later=later,
    )


def _texts(folder: str, form: Form, prefix: str) -> dict[str, str]:
    """Return path → text of a folder of texts; a text of path p is kept as p.txt."""
    return {
        prefix + path.name.removesuffix(".txt"): Template(
            path.read_text(encoding="utf-8")
        ).substitute(form.values["places"])
        for path in sorted((FOLDER / folder).glob("*.txt"))
    }


def _case(case: Mapping[str, Any]) -> Case:
    return Case(
        name=case["name"],
        entry=case["entry"],
        args=tuple(case["args"]),
        expected=case["expected"],
        raises=case["raises"],
    )


def _script(visits: list[list[Any]], surcharge: Mapping[str, int]) -> str:
    """Return the statements that make both tables."""
    lines = [
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, vessel TEXT, berth TEXT,",
        "  length_dm INTEGER, arrive INTEGER, leave INTEGER, crew INTEGER);",
        "CREATE TABLE surcharge (berth TEXT PRIMARY KEY, cents INTEGER);",
    ]
    rows = [("visits", visit) for visit in visits]
    rows += [("surcharge", [berth, cents]) for berth, cents in sorted(surcharge.items())]
    for table, row in rows:
        cells = ", ".join(f"'{cell}'" if isinstance(cell, str) else str(cell) for cell in row)
        lines.append(f"INSERT INTO {table} VALUES ({cells});")  # noqa: S608 (words of ours)
    return "\n".join(lines)


def _without_longest(visits: list[list[Any]]) -> list[list[Any]]:
    """Leave out the visit of the longest vessel at each berth."""
    longest: dict[str, list[Any]] = {}
    for visit in visits:
        berth = visit[2]
        if berth not in longest or visit[3] > longest[berth][3]:
            longest[berth] = visit
    return [visit for visit in visits if visit is not longest[visit[2]]]


def _release(k: int, later: Mapping[str, str]) -> Trigger:
    """Bring the next ticket once the suite of ticket k was run while its module exists."""
    path = f"tickets/{k + 1}.md"

    def release(world: World, step: Step, _tables: Mapping[str, Table]) -> None:
        ran = step.args.get("suite", "").strip() in ("", f"ticket_{k}")
        if step.tool != "run_tests" or not ran or world.files.text(path) is not None:
            return
        known = world.files.text(f"tickets/{k}.md") is not None
        released_now = any(event.call == world.calls for event in world.events)
        if known and not released_now and world.files.text(f"dues/{MODULES[k - 1]}.py") is not None:
            world.files.put(path, later[path])
            world.note("released", str(k + 1))

    return release
