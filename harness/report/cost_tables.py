"""What points cost → the table of a level, and the words that go with it on every surface."""

from collections.abc import Sequence

from harness.report.analysis import LevelAnalysis
from harness.report.sources import Sources, of_model
from harness.report.view import Column, Entry, Line, Table, word
from harness.report.wording import number
from harness.stages.costs import PointCost

METERS = {"gpu": "graphics cards", "cpu": "processor packages", "battery": "battery, all of it"}
ABOUT_JOULES = "energy while cells were asked, of what the last column names; loading is not in it"


def measures(cost: PointCost) -> dict[str, float | None]:
    """Return what a point cost, by name; the order is that of the columns."""
    return {
        "tokens": cost.tokens_per_point,
        "calls": cost.calls_per_point,
        "seconds": cost.seconds_per_point,
        "joules": cost.joules_per_point,
    }


DECIMALS = {"tokens": 0, "calls": 2, "seconds": 1, "joules": 0}


def shown(costs: Sequence[PointCost]) -> tuple[PointCost, ...]:
    """Return the costs of which anything is known."""
    return tuple(cost for cost in costs if any(v is not None for v in measures(cost).values()))


def names(costs: Sequence[PointCost]) -> tuple[str, ...]:
    """Return the measures that any of these models has: nothing is shown where there is none."""
    every = [measures(cost) for cost in costs]
    return tuple(name for name in DECIMALS if any(of[name] is not None for of in every))


def meters(cost: PointCost) -> str:
    """Return what the joules are of."""
    return " + ".join(METERS[name] for name in cost.measured) or "–"


def notes(costs: Sequence[PointCost]) -> tuple[str, ...]:
    """Return what a reader of the joules has to know, model by model."""
    found = []
    for cost in costs:
        if cost.joules is not None and cost.measured_runs < cost.runs:
            found.append(
                f"{cost.model}: power was sampled in {cost.measured_runs} of {cost.runs} complete"
                " runs; joules per point are of those alone"
            )
        if cost.joules is not None and cost.gap_s:
            found.append(
                f"{cost.model}: in {cost.gap_s:,.0f} s while cells were asked no power is known;"
                " the joules are without them"
            )
    return tuple(found)


def costs(level: LevelAnalysis, every: Sequence[PointCost], sources: Sources) -> Table | None:
    """Return what points of a level cost; None where nothing is known of it."""
    of_level = {cost.model: cost for cost in shown(every) if cost.level == level.level}
    ordered = [of_level[s.model] for s in level.standings if s.model in of_level]
    if not ordered:
        return None
    measured = names(ordered)
    joules = "joules" in measured
    columns = (
        Column("Model", numeric=False),
        Column("Complete runs"),
        *(
            Column(f"{name.capitalize()} per point", about=ABOUT_JOULES if name == "joules" else "")
            for name in measured
        ),
        *((Column("Joules of", numeric=False),) if joules else ()),
    )

    def entry(cost: PointCost, name: str) -> Entry:
        value = measures(cost)[name]
        text = number(value, DECIMALS[name])
        made_from = of_model(level, cost.model)
        return sources.number(
            f"{level.level}.per_point.{cost.model}.{name}", value, text, *made_from
        )

    lines = tuple(
        Line(
            (
                word(cost.model),
                Entry(f"{cost.runs}", cost.runs),
                *(entry(cost, name) for name in measured),
                *((word(meters(cost)),) if joules else ()),
            )
        )
        for cost in ordered
    )
    caption = "What a point cost, over complete runs; it changes no point"
    return Table(f"costs-{level.level}", caption, columns, lines, notes(ordered))
