"""`arnes tasks`: what is measured, and what is not."""

from harness.cli.terminal import (
    JsonFlag,
    ProfileOption,
    instrument_for,
    print_json,
    print_table,
    say,
)


def tasks(profile: ProfileOption = None, as_json: JsonFlag = False) -> None:
    """List the tasks with their points, rows and forms."""
    instrument = instrument_for(profile=profile)
    rows = [
        {
            "id": task.id,
            "title": task.definition.title,
            "level": task.definition.level,
            "mode": task.definition.mode,
            "max_points": task.definition.max_points,
            "rows": len(task.definition.rows),
            "observations": task.definition.observations,
            "form": task.form_id,
            "measures": task.definition.measures,
            "does_not_measure": task.definition.does_not_measure,
        }
        for task in instrument.suite.tasks
    ]
    if as_json:
        print_json(rows)
        return
    from rich.table import Table

    shown = ("id", "title", "level", "mode", "max_points", "rows", "observations", "form")
    table = Table("Task", "Title", "Level", "Mode", "Points", "Rows", "Obs.", "Form")
    for row in rows:
        table.add_row(*(f"{row[k]:g}" if k == "max_points" else str(row[k]) for k in shown))
    print_table(table, ("Title", "Form"))
    for row in rows:
        say(f"{row['id']} measures: {row['measures']}\n    not: {row['does_not_measure']}")
