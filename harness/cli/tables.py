"""The report's tables on a terminal: the same numbers and words as the Markdown."""

from typing import TYPE_CHECKING

from harness.cli.terminal import print_table, say

if TYPE_CHECKING:
    from harness.records.campaign import Final
    from harness.report.tables import ModelRow


def show_report(final: "Final") -> None:
    """Print what does not hold, models, controls, costs, tasks and flags of a final result."""
    from harness.report.tables import model_rows
    from harness.report.wording import counted, form_text, sigma_sentence

    for problem in final.problems:
        say(f"DOES NOT HOLD: {problem}")
    rows = model_rows(final)
    _show_models(final, rows)
    _show_costs(rows)
    _show_point_costs(final)
    _show_tasks(final)
    say(f"Asked in the {form_text(final.campaign)}.")
    say(sigma_sentence([row for row in rows if not row.control]))
    for row in rows:
        if row.flags:
            say(f"Flags of {row.player}, which never change points: {counted(row.flags)}")
    if final.campaign.subset:
        say(f"Declared subset ({', '.join(final.campaign.tasks)}): there is no total of level A.")


def _show_models(final: "Final", rows: "list[ModelRow]") -> None:
    from rich.table import Table

    from harness.report.wording import counted, number, sigma_text

    highest = sum(final.max_points.values())
    table = Table(title=f"Models: mean of {highest:g} points over {final.campaign.runs} run(s)")
    table.add_column("Model")
    for heading in ("Mean", "σ [95 %]", "Repairs", "Ended early", "Unscored"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            f"[dim]{row.player}[/dim]" if row.control else row.player,
            number(row.spread.mean if row.spread else None),
            "control" if row.control else sigma_text(row.spread),
            str(row.repairs),
            "–" if row.control else counted(row.causes),
            counted(row.unscored),
        )
    print_table(table)


def _show_costs(rows: "list[ModelRow]") -> None:
    from rich.table import Table

    from harness.report.wording import number

    table = Table(title="Tokens of all runs")
    table.add_column("Model")
    for heading in ("In", "Out", "Out per second"):
        table.add_column(heading, justify="right")
    for row in rows:
        if not row.control:
            table.add_row(
                row.player,
                number(row.prompt_tokens, 0),
                number(row.completion_tokens, 0),
                number(row.tokens_per_s, 1),
            )
    print_table(table)


def _show_point_costs(final: "Final") -> None:
    """Print what a point cost, each level for itself; nothing where nothing is known."""
    from rich.table import Table

    from harness.report.cost_tables import DECIMALS, measures, meters, names, notes, shown
    from harness.report.wording import number
    from harness.stages.costs import point_costs

    costs = shown(point_costs(final))
    if not costs:
        return
    table = Table(title="What a point cost, over complete runs")
    table.add_column("Level")
    table.add_column("Model")
    measured = names(costs)
    for name in measured:
        table.add_column(name.capitalize(), justify="right")
    joules = "joules" in measured
    if joules:
        table.add_column("Joules of")
    for cost in costs:
        values = (number(measures(cost)[name], DECIMALS[name]) for name in measured)
        table.add_row(cost.level, cost.model, *values, *((meters(cost),) if joules else ()))
    print_table(table)
    for note in notes(costs):
        say(note)


def _show_tasks(final: "Final") -> None:
    from rich.table import Table

    from harness.report.tables import task_rows
    from harness.report.wording import points_text

    runs = range(1, final.campaign.runs + 1)
    table = Table(title="Tasks")
    table.add_column("Task")
    table.add_column("Model")
    table.add_column("Of", justify="right")
    for run in runs:
        table.add_column(f"Run {run}", justify="right")
    for line in task_rows(final):
        cells = (points_text(line, run) for run in runs)
        table.add_row(line.task, line.player, f"{line.max_points:g}", *cells)
    print_table(table)
