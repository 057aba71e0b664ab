"""What refuses to treat a campaign with an instrument that did not ask it.

Whoever reparses, scores, finalizes or explains asks here first, before anything is touched.
"""

from collections.abc import Sequence

from harness.errors import NotComparableError, Problem, StoreError
from harness.records.campaign import CampaignRecord
from harness.signature import changed_parts
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite

NOTHING = "Nothing was changed."


def refuse_incomparable(campaign: Campaign, suite: Suite) -> None:
    """Hold that the suite is in the forms that were asked, and that all runs saw one instrument.

    Raises
    ------
    NotComparableError
        If one of the two is not so.
    """
    refuse_other_forms(campaign, suite)
    refuse_mixed_runs(campaign)


def refuse_other_forms(campaign: Campaign, suite: Suite) -> None:
    """Hold that the suite is in the forms that were asked.

    Raises
    ------
    NotComparableError
        With every task whose form is another one.
    """
    problems = [
        Problem(
            f"form of {task}",
            f"asked in {form_id}, the suite holds {suite.forms.get(task, 'no such task')}",
            "check out the suite that was asked, or set `form` in arnes.toml",
        )
        for task, form_id in campaign.record.forms.items()
        if suite.forms.get(task) != form_id
    ]
    if problems:
        raise NotComparableError("this campaign was asked in other forms", problems, NOTHING)


def refuse_not_asked(campaign: Campaign, suite: Suite, task_id: str) -> None:
    """Refuse a task that the suite knows and the campaign was not asked; it is no slip of a name.

    Raises
    ------
    StoreError
        With the tasks that are asked.
    """
    asked = campaign.record.tasks
    if task_id in suite.ids and task_id not in asked:
        why = campaign.record.left_out.get(task_id, "")
        what = f"{task_id} was left out: {why}" if why else f"the plan does not ask {task_id}"
        raise StoreError(
            f"{task_id} is not asked in this campaign",
            [Problem("task", what, f"asked are: {', '.join(asked)}")],
        )


def refuse_mixed_runs(campaign: Campaign) -> None:
    """Hold that every run was made under the run-side signature of the campaign.

    Raises
    ------
    NotComparableError
        With every run that was not, and the parts that differ.
    """
    problems = []
    for player, run in campaign.runs():
        info = store.read_run_info(campaign.folder.run(player, run))
        if info is None:
            continue
        parts = changed_parts(campaign.record.stamps.parts, info.stamps.parts, "run")
        if parts:
            problems.append(
                Problem(
                    f"{player} run {run}",
                    f"ran under other {', '.join(parts)}",
                    "run it again in a campaign of its own",
                )
            )
    if problems:
        raise NotComparableError(
            "runs of different run-side signatures never mix", problems, NOTHING
        )


def refuse_apart(records: Sequence[tuple[str, CampaignRecord]]) -> None:
    """Hold that campaigns were made by one instrument over the same tasks.

    Parameters
    ----------
    records : where each lies, and its frozen record

    Raises
    ------
    NotComparableError
        With everything in which one differs from the first.
    """
    (first, one), *others = records
    problems = [
        Problem(place, f"{what} than {first}", "finalize it alone")
        for place, other in others
        for what in differing(one, other)
    ]
    if problems:
        raise NotComparableError(
            "these campaigns were not made by one instrument", problems, NOTHING
        )


def differing(one: CampaignRecord, other: CampaignRecord) -> list[str]:
    """Return in what two campaigns are not one instrument over the same tasks; empty if they are.

    The run-side parts of the signature come first, by name.
    """
    parts = changed_parts(one.stamps.parts, other.stamps.parts, "run")
    found = [f"other {', '.join(parts)}"] if parts else []
    if set(one.tasks) != set(other.tasks):
        apart = sorted(set(one.tasks) ^ set(other.tasks))
        found.append(f"other tasks ({', '.join(apart)} in one of them only)")
    elif one.forms != other.forms:
        found.append("other forms of its tasks")
    if one.stamps.profile != other.stamps.profile:
        found.append("another profile")
    if one.simulated != other.simulated:
        found.append("written replies in one of them only, another kind of campaign")
    return found
