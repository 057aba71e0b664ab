"""What `arnes validate --deep` prints of the mutants of our own code."""

from typing import TYPE_CHECKING

from harness.cli.terminal import print_table, say

if TYPE_CHECKING:
    from harness.records.validation import Strength


def show(found: "Strength") -> None:
    """Print noticed and judged mutants by task and by operator, then what nobody noticed."""
    from rich.table import Table

    tasks = Table(title=None)
    for heading in ("Task", "Mutants", "Noticed", "Share", "Equivalent", "Wording", "Unobserved"):
        tasks.add_column(heading, justify="left" if heading == "Task" else "right")
    for t in found.tasks:
        made = f"{t.mutants}" if t.judged == t.made else f"{t.mutants} ({t.judged} of {t.made})"
        share = f"{t.share:.1%}" if t.share >= found.bar else f"[red]{t.share:.1%}[/red]"
        tasks.add_row(t.id, made, *map(str, (t.noticed, share, t.equivalent, t.wording, t.asked)))
    print_table(tasks)
    operators = Table(title=None)
    operators.add_column("Noticed by operator")
    for t in found.tasks:
        operators.add_column(t.id, justify="right")
    for name in sorted({o.operator for t in found.tasks for o in t.operators}):
        counts = [next((o for o in t.operators if o.operator == name), None) for t in found.tasks]
        operators.add_row(name, *(f"{c.noticed} / {c.mutants}" if c else "" for c in counts))
    print_table(operators)
    for t in found.tasks:
        for s in (s for s in t.survivors if not s.reason):
            where = f"{s.file}:{s.line}" if s.line else s.file
            say(f"{t.id} survivor ({s.operator}): {where} {s.function}\n  {s.text}\n  {s.change}")
    for problem in found.problems:
        say(f"\n{problem}")
    verdict = "reaches" if found.holds else "does not reach, or not with a true list,"
    say(f"Every task {verdict} the bar of {found.bar:.0%}.")
