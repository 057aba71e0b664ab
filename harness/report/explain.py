"""From one cell of a table to the evidence: prompt, reply, parse steps, observations, reason."""

from pathlib import Path

from harness.errors import Problem, StoreError, nearest
from harness.records.base import Json
from harness.records.response import Exchange
from harness.records.score import RowScore, ScoreSheet, Unscored
from harness.report.journal import journal_lines
from harness.stages.comparable import refuse_not_asked, refuse_other_forms
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.store.layout import CellFolder
from harness.suite.loader import Suite


def explain_row(
    folder: Path, suite: Suite, player: str, run: int, row: str
) -> tuple[str, dict[str, Json]]:
    """Explain one row, or all rows of a task.

    Parameters
    ----------
    folder : a campaign folder
    suite : the suite it was asked from
    player, run : which cell
    row : `A04` for a whole task, `A04.seating` for one row; a row's name alone will do where
        only one task of the campaign has it

    Returns
    -------
    The text for a person, and the same as JSON values.

    Raises
    ------
    StoreError
        If there is no such cell or row; it names the nearest one, or what is asked instead.
    NotComparableError
        If the suite is in other forms than those asked.
    """
    campaign = store.load(folder)
    refuse_other_forms(campaign, suite)
    task_id, row_id = _find(campaign, suite, player, run, row)
    cell = campaign.cell(player, run, task_id)
    exchange, outcome = store.last_exchange(cell), store.read_outcome(cell)
    lines = [f"{player}, run {run}, {task_id} {suite.task(task_id).definition.title}", ""]
    if suite.task(task_id).is_agent:
        lines += _agent(folder, cell, f"{player} {run} {task_id}")
    else:
        lines += _evidence(cell, exchange)
        lines += _parsing(cell)
    lines += _scores(outcome, row_id)
    data: dict[str, Json] = {
        "model": player,
        "run": run,
        "task": task_id,
        "row": row_id,
        "raw_files": [str(path) for path in cell.raws()],
        "exchange": exchange.model_dump(mode="json") if exchange else None,
        "parsed": _dumped(store.read_parsed(cell)),
        "outcome": _dumped(outcome),
    }
    return "\n".join(lines), data


def _dumped(record: object) -> Json:
    dump = getattr(record, "model_dump", None)
    return dump(mode="json") if dump else None


def _find(
    campaign: Campaign, suite: Suite, player: str, run: int, row: str
) -> tuple[str, str | None]:
    if player not in campaign.players:
        raise _no("model", player, campaign.players)
    if not 1 <= run <= campaign.record.runs:
        raise _no("run", str(run), [str(r) for r in range(1, campaign.record.runs + 1)])
    rows = {
        f"{task}.{definition.id}": (task, definition.id)
        for task in campaign.record.tasks
        for definition in suite.task(task).definition.rows
    }
    if row in campaign.record.tasks:
        return row, None
    if row in rows:
        return rows[row]
    alone = [found for found in rows.values() if found[1] == row]
    if len(alone) == 1:
        return alone[0]
    refuse_not_asked(campaign, suite, row.partition(".")[0])
    raise _no("row", row, [*campaign.record.tasks, *rows])


def _no(what: str, name: str, known: object) -> StoreError:
    names = [str(k) for k in known] if isinstance(known, (list, tuple)) else []
    return StoreError(
        f"no such {what} in this campaign",
        [Problem(what, f"{name!r} is not there", nearest(name, names))],
    )


def _evidence(cell: CellFolder, exchange: Exchange | None) -> list[str]:
    if exchange is None:
        return ["This cell was never run."]
    lines = [f"Evidence: {path}" for path in cell.raws()]
    request = exchange.request
    lines.append(
        f"Asked: model {request.model!r}, max_tokens {request.max_tokens}, temperature "
        f"{request.temperature:g}, top_p {request.top_p:g}, seed {request.seed}"
    )
    for message in request.messages:
        content = message.content if isinstance(message.content, str) else "(parts)"
        lines += ["", f"── {message.role} ──", content.rstrip()]
    lines += ["", f"── what came back (status {exchange.status}, ended: {exchange.ended}) ──"]
    if exchange.cause:
        lines.append(f"{exchange.cause}: {exchange.detail}")
    for attempt in exchange.retried:
        lines.append(f"retried after {attempt.elapsed_s:.1f} s: {attempt.cause}: {attempt.detail}")
    return lines


def _agent(folder: Path, cell: CellFolder, which: str) -> list[str]:
    """Return the journal of an agent cell; its conversation is a page of its own."""
    raws, parsed = cell.raws(), store.read_parsed(cell)
    if not raws:
        return ["This cell was never run."]
    lines = [f"Evidence: {raws[0]} to {raws[-1].name}, {len(raws)} exchange(s)"]
    lines += [f"Conversation: arnes transcript {folder} {which}", ""]
    if parsed is None or parsed.cell is None:
        return [*lines, "It did not come to its end."]
    return [*lines, "── journal ──", *journal_lines(parsed.cell)]


def _parsing(cell: CellFolder) -> list[str]:
    parsed = store.read_parsed(cell)
    if parsed is None:
        return ["No reply to parse."]
    lines = []
    if parsed.reasoning:
        lines += ["── reasoning (never graded) ──", parsed.reasoning.rstrip(), ""]
    lines += ["── visible reply ──", parsed.text.rstrip(), "", "── parsing ──"]
    lines += [f"- {step}" for step in parsed.steps] or ["- nothing was changed"]
    lines.append(
        f"- finish reason {parsed.finish_reason}, tokens in {parsed.prompt_tokens}, out "
        f"{parsed.completion_tokens}, cause {parsed.cause or 'none'}, flags "
        f"{', '.join(parsed.flags) or 'none'}"
    )
    lines += [f"- {key} = {value}" for key, value in parsed.answers.items()]
    lines += [f"- file {name}: {len(text)} characters" for name, text in parsed.files.items()]
    return lines


def _scores(outcome: ScoreSheet | Unscored | None, row_id: str | None) -> list[str]:
    if outcome is None:
        return ["", "Not scored yet. Next: arnes score DIR"]
    if isinstance(outcome, Unscored):
        return ["", f"Unscored ({outcome.cause}): {outcome.detail or 'no reply'}. Not a zero."]
    lines = ["", f"── score: {outcome.points:g} of {outcome.max_points:g} ──"]
    for row in outcome.rows:
        if row_id is None or row.id == row_id:
            lines += _row(row)
    lines += [f"repair: {r.file}: {r.kind}: {r.detail}" for r in outcome.repairs]
    lines += [f"flags: {', '.join(outcome.flags)}; they change no points"] if outcome.flags else []
    stamps = outcome.stamps
    lines += ["", f"arnes {stamps.arnes_version}, signature {stamps.signature[:16]}"]
    return lines


def _row(row: RowScore) -> list[str]:
    lines = [f"{row.id}: {row.points:g} of {row.max_points:g}. {row.reason}"]
    if row.gate_reason:
        lines.append(f"  gate {row.gate:g}: {row.gate_reason}")
    lines += [
        f"  {o.key}: {o.credit:g} × {o.weight:g}  {o.reason}".rstrip()
        for o in row.observations
        if len(row.observations) > 1
    ]
    return lines
