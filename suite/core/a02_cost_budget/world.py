"""The world of A02: 36 logbooks, one table, one page, and what it costs to ask them."""

from pathlib import Path
from string import Template

from harness.suite.forms import Form
from harness.world import Price, Scene, Tariff

PAGE = "coast.test/stations"
SCRIPT = Path(__file__).parent / "world" / "keepers.sql"
MEASURED = {"read_file": "characters", "sql": "rows"}


def scene(form: Form, run: int) -> Scene:  # noqa: ARG001 (the archive is the same in every run)
    """Return the archive of a form."""
    values = form.values
    return Scene(
        files=dict(values["logs"]),
        tables=script(values["keepers"]),
        pages={PAGE: values["page"]},
        read_only=("logs",),
        tariff=tariff(values["prices"], values["hard_stop"]),
        search_hits=values["hits"],
    )


def script(rows: list[list[int | str]]) -> str:
    """Return the statements that make and fill the table."""
    filled = ",\n".join(
        f"({number}, '{name}', '{station}', {year}, {wage})"
        for number, name, station, year, wage in rows
    )
    return Template(SCRIPT.read_text(encoding="utf-8")).substitute(rows=filled)


def tariff(prices: dict[str, list[int]], hard_stop: int) -> Tariff:
    """Return the prices, and how each is told in the line of its tool."""
    told = {
        tool: f"{base}, and 1 for every {step} {MEASURED[tool]} begun" if step else str(base)
        for tool, (base, step) in prices.items()
    }
    return Tariff(
        prices={
            tool: Price(base, step, MEASURED[tool]) if step else Price(base)
            for tool, (base, step) in prices.items()
        },
        hard_stop=hard_stop,
        told=told | {"write_file": "0", "finish": "0"},
    )
