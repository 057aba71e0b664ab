"""What is shown under a named doubt: points stand, and whoever reads them is told."""

from harness.errors import Problem, StoreError, nearest
from harness.stages.strength import below_bar
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite


def doubts(campaign: Campaign, suite: Suite) -> dict[str, str]:
    """Return task, or task.row → why: graders below the bar, and the campaign's `hatched.toml`.

    Raises
    ------
    StoreError
        If a name is no task and no row of this campaign.
    """
    written = store.read_hatched(campaign)
    known = {
        name
        for task in campaign.record.tasks
        for name in (task, *(f"{task}.{row.id}" for row in suite.task(task).definition.rows))
    }
    problems = [
        Problem(f"hatched.{name}", "no task and no row of this campaign", nearest(name, known))
        for name in written
        if name not in known
    ]
    if problems:
        raise StoreError(f"{len(problems)} problem(s) in {campaign.folder.hatched}", problems)
    weak = below_bar(suite.root, suite.only(campaign.record.tasks))
    found = {task: f"its grader: {why}" for task, why in weak.items()}
    for name, why in written.items():  # what a person wrote never hides what was measured
        found[name] = f"{found[name]}; {why}" if name in found else why
    return dict(sorted(found.items()))
