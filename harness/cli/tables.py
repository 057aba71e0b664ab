"""The report's tables on a terminal: the same numbers and words as the Markdown."""

from typing import TYPE_CHECKING

from harness.cli.terminal import say

if TYPE_CHECKING:
    from harness.records.campaign import Final


def show_report(final: "Final") -> None:
    """Print models, controls and tasks of a finalized campaign."""
    from rich.console import Console
    from rich.table import Table

    from harness.report.render import counted, number, points_text, sigma_sentence, sigma_text
    from harness.report.tables import model_rows, task_rows

    console = Console()
    rows = model_rows(final)
    highest = max(row.max_points for row in rows)
    models = Table(title=f"Models: mean of {highest:g} points over {final.campaign.runs} run(s)")
    models.add_column("Model", no_wrap=True)
    for heading in ("Mean", "σ [95 %]", "Repairs", "Ended early", "Unscored", "tok/s"):
        models.add_column(heading, justify="right")
    for row in rows:
        models.add_row(
            f"[dim]{row.player}[/dim]" if row.control else row.player,
            number(row.spread.mean if row.spread else None),
            "control" if row.control else sigma_text(row.spread),
            str(row.repairs),
            "–" if row.control else counted(row.causes),
            counted(row.unscored),
            "–" if row.control else number(row.tokens_per_s, 1),
        )
    console.print(models)
    tasks = Table(title="Tasks")
    tasks.add_column("Task")
    tasks.add_column("Model", no_wrap=True)
    tasks.add_column("Of", justify="right")
    for run in range(1, final.campaign.runs + 1):
        tasks.add_column(f"Run {run}", justify="right")
    for line in task_rows(final):
        cells = (points_text(line, run) for run in range(1, final.campaign.runs + 1))
        tasks.add_row(line.task, line.player, f"{line.max_points:g}", *cells)
    console.print(tasks)
    say(sigma_sentence([row for row in rows if not row.control]))
    if final.campaign.subset:
        say(f"Declared subset ({', '.join(final.campaign.tasks)}): there is no total of level A.")
