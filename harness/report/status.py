"""Where a campaign stands, in words."""

from datetime import datetime

from harness.campaign.durations import duration
from harness.campaign.status import RunStatus, Status
from harness.records.sample import Sample

GIB = 2**30


def status_text(status: Status) -> str:
    """Return the status of a campaign as lines for a terminal."""
    lines = [f"{status.name}: {status.state}, {status.done} of {status.cells} cells are done"]
    if status.doing:
        lines.append(f"now: {status.doing}")
    if status.left_s is not None:
        lines.append(f"about {duration(status.left_s)} to its end, at the pace so far")
    if status.deadline:
        until = datetime.fromisoformat(status.deadline).astimezone()
        lines.append(f"deadline: {until:%a %Y-%m-%d %H:%M} ({until:UTC%z})")
    if status.sample is not None and status.sample_age_s is not None:
        lines.append(_sample_line(status.sample, status.sample_age_s))
    lines += [_run_line(run) for run in status.runs]
    lines += [f"without a score, {cause}: {n}" for cause, n in sorted(status.faults.items())]
    lines += [f"set aside: {model}: {why}" for model, why in status.set_aside.items()]
    lines += [f"left out: {task}: {why}" for task, why in status.left_out.items()]
    return "\n".join(lines)


def _run_line(run: RunStatus) -> str:
    note = f"  {run.note}" if run.note else ""
    return f"  {run.model} run {run.run}: {run.done}/{run.cells}{note}"


def _sample_line(sample: Sample, age_s: float) -> str:
    """Return the last row of `metrics.csv` in words; what was not readable is left out."""
    watts = (
        ("GPU", sample.gpu_watts),
        ("CPU", sample.cpu_watts),
        ("battery", sample.battery_watts),
    )
    degrees = (("GPU", sample.gpu_celsius), ("CPU", sample.cpu_celsius))
    parts = [
        *_told(sample.cpu_percent, "CPU {:.0f} %"),
        *_told(sample.memory_bytes and sample.memory_bytes / GIB, "memory {:.1f} GiB"),
        *_told(sample.gpu_percent, "GPU {:.0f} %"),
        *_told(sample.gpu_memory_bytes and sample.gpu_memory_bytes / GIB, "GPU memory {:.1f} GiB"),
        *(line for name, value in watts for line in _told(value, f"{name} {{:.0f}} W")),
        *(line for name, value in degrees for line in _told(value, f"{name} {{:.0f}} °C")),
        f"{sample.calls:,} calls",
        *_told(sample.written_tokens, "{:,} tokens written"),
        f"{sample.faults} faults in this pass",
    ]
    return f"last sample, {duration(age_s)} ago: {', '.join(parts)}"


def _told(value: float | None, text: str) -> list[str]:
    return [] if value is None else [text.format(value)]
