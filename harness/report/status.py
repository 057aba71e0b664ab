"""Where a campaign stands, in words."""

from harness.campaign.status import RunStatus, Status


def status_text(status: Status) -> str:
    """Return the status of a campaign as lines for a terminal."""
    lines = [f"{status.name}: {status.state}, {status.done} of {status.cells} cells are done"]
    if status.doing:
        lines.append(f"now: {status.doing}")
    if status.left_s is not None:
        lines.append(f"about {_duration(status.left_s)} to its end, at the pace so far")
    if status.deadline:
        lines.append(f"deadline: {status.deadline}")
    lines += [_run_line(run) for run in status.runs]
    lines += [f"without a score, {cause}: {n}" for cause, n in sorted(status.faults.items())]
    lines += [f"set aside: {model}: {why}" for model, why in status.set_aside.items()]
    lines += [f"left out: {task}: {why}" for task, why in status.left_out.items()]
    return "\n".join(lines)


def _run_line(run: RunStatus) -> str:
    note = f"  {run.note}" if run.note else ""
    return f"  {run.model} run {run.run}: {run.done}/{run.cells}{note}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
