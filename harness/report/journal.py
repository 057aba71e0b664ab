"""The journal of an agent cell in plain lines: one per reply, with faults, prices and the end."""

from harness.records.world import AgentRecord, FaultFate, Step

LONGEST = 100


def journal_lines(record: AgentRecord) -> list[str]:
    """Return a line per reply, what happened in the world, each fault's fate, and the end."""
    lines = []
    events = list(record.events)
    for step in record.steps:
        lines.append(step_line(step))
        while events and step.call is not None and events[0].call <= step.call:
            event = events.pop(0)
            lines.append(f"     world: {event.name}{_of(event.detail)}")
    lines += [fault_line(fate) for fate in record.faults]
    lines.append(end_line(record))
    return lines


def step_line(step: Step) -> str:
    """Return one reply in a line."""
    place = f"{step.turn:>3}"
    if step.kind == "idle":
        return f"{place}  no call{_flags(step)}"
    if step.kind == "malformed":
        return f"{place}  not run: {step.code} {step.tool}".rstrip() + _flags(step)
    told = step.target or ", ".join(f"{k}={v}" for k, v in step.args.items() if k != "content")
    parts = [f"{place}  call {step.call}: {step.tool} {shortened(told)}".rstrip()]
    parts.append("ok" if step.ok else "error")
    if step.fault is not None:
        parts.append(f"FAULT {step.fault}")
    if step.price is not None:
        parts.append(f"cost {step.price}")
    if step.ignored:
        parts.append(f"{step.ignored} further call(s) not run")
    return ", ".join(parts) + _flags(step)


def fault_line(fate: FaultFate) -> str:
    """Return what became of a scheduled fault."""
    fault = fate.fault
    what = f"{fault.kind}{_of(fault.derive or '')} on {fault.tool} from call {fault.from_call}"
    if fate.call is None:
        return f"fault never fired: {what}"
    return f"fault fired at call {fate.call} (reply {fate.turn}){_of(fate.target)}: {what}"


def end_line(record: AgentRecord) -> str:
    """Return how the cell ended, and what it came to."""
    how = f"{record.ended} ({record.guard})" if record.guard else record.ended
    parts = [f"ended: {how}", f"{len(record.steps)} replies", f"{len(record.calls)} calls run"]
    if record.spent is not None:
        parts.append(f"spent {record.spent}")
    if record.finish is not None:
        parts += [f"{name} = {shortened(value)}" for name, value in record.finish.items()]
    return ", ".join(parts)


def shortened(text: str) -> str:
    """Return a text on one line and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _of(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _flags(step: Step) -> str:
    return f" [{', '.join(step.flags)}]" if step.flags else ""
