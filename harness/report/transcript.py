"""A readable transcript of an agent cell: as text, and as one HTML page that fetches nothing.

It is made from the stored replies alone, by replaying them, so it can be had of a cell that was
interrupted too. What faults replaced, what was left out of the conversation and what happened in
the world by itself is shown where it happened; none of it was seen by the model.
"""

from dataclasses import dataclass
from pathlib import Path

import jinja2

from harness.arnes import ArnesConfig
from harness.errors import NotComparableError, Problem, StoreError, nearest
from harness.records.base import Json
from harness.records.score import ScoreSheet, Unscored
from harness.records.transcript import Turn
from harness.records.world import AgentRecord, WorldEvent
from harness.report.journal import end_line, fault_line, step_line
from harness.report.render import TEMPLATES
from harness.running.agent import AgentCell
from harness.stages.comparable import refuse_not_asked, refuse_other_forms
from harness.stages.reparse import replayed
from harness.store import campaign as store
from harness.store.campaign import Campaign
from harness.suite.loader import Suite, Task


@dataclass(frozen=True)
class Shown:
    """One reply as it is shown.

    about : what was sent and what came of it, in short lines
    honest : the tool's own answer, where a fault replaced it
    events : what happened in the world after it
    """

    turn: Turn
    about: tuple[str, ...]
    honest: str | None
    events: tuple[WorldEvent, ...] = ()


@dataclass(frozen=True)
class Transcript:
    """A cell as it is shown.

    end : how it ended, or why it did not; faults and points follow
    """

    title: str
    opening: tuple[tuple[str, str], ...]
    replies: tuple[Shown, ...]
    end: tuple[str, ...]


def transcript(
    folder: Path, suite: Suite, config: ArnesConfig, *, player: str, run: int, task_id: str
) -> Transcript:
    """Return the transcript of a cell.

    Raises
    ------
    StoreError
        If there is no such cell, or nothing of it is stored; it names the nearest one.
    NotComparableError
        If the suite is in other forms than those asked, or the task is a single one.
    """
    campaign = store.load(folder)
    refuse_other_forms(campaign, suite)
    refuse_not_asked(campaign, suite, task_id)
    _refuse_unknown(campaign, player, run, task_id)
    task = suite.task(task_id)
    if not task.is_agent:
        todo = f"arnes explain {folder} {player} {run} {task_id}"
        what = "has one reply and no tools"
        raise NotComparableError(
            "only agent tasks have a transcript", [Problem(task_id, what, todo)]
        )
    cell = campaign.cell(player, run, task_id)
    if not cell.raws():
        raise StoreError(
            "this cell was never run",
            [Problem(str(cell.path), "holds no reply", f"arnes campaign resume {folder}")],
        )
    played = replayed(cell, task, config, run)
    return Transcript(
        title=f"{player}, run {run}, {task_id} {task.definition.title}",
        opening=tuple(
            (message.role, str(message.content))
            for message in store.exchanges(cell)[0].request.messages
        ),
        replies=_replies(played),
        end=(*_end(campaign, cell.raws()[-1], played), *_points(store.read_outcome(cell), task)),
    )


def _refuse_unknown(campaign: Campaign, player: str, run: int, task_id: str) -> None:
    runs = [str(number) for number in range(1, campaign.record.runs + 1)]
    for what, given, known in (
        ("model", player, list(campaign.players)),
        ("run", str(run), runs),
        ("task", task_id, list(campaign.record.tasks)),
    ):
        if given not in known:
            raise StoreError(
                f"no such {what} in this campaign",
                [Problem(what, f"{given!r} is not there", nearest(given, known))],
            )


def _replies(played: AgentCell) -> tuple[Shown, ...]:
    events = list(played.record().events) if played.ended else []
    shown = []
    for turn in played.turns:
        after: list[WorldEvent] = []
        while events and turn.step.call is not None and events[0].call <= turn.step.call:
            after.append(events.pop(0))
        shown.append(Shown(turn, _about(turn), turn.step.honest, tuple(after)))
    return tuple(shown)


def _about(turn: Turn) -> tuple[str, ...]:
    sent = f"sent {turn.sent_chars:,} characters"
    if turn.left_out:
        sent += f", replies 1 to {turn.left_out} left out"
    lines = [sent]
    if turn.reasoning_chars:
        lines.append(f"{turn.reasoning_chars:,} characters of reasoning, never sent again")
    if turn.cut:
        lines.append(f"cut: {'generation cap' if turn.cut == 'tokens' else 'call limit'}")
    return (*lines, step_line(turn.step).strip())


def _end(campaign: Campaign, last: Path, played: AgentCell) -> list[str]:
    if played.ended is None:
        return [f"not at its end; last file: {last.relative_to(campaign.folder.path)}"]
    record: AgentRecord = played.record()
    return [end_line(record), *(fault_line(fate) for fate in record.faults)]


def _points(outcome: ScoreSheet | Unscored | None, task: Task) -> list[str]:
    if outcome is None:
        return [f"not scored yet; {task.definition.max_points:g} points can be had"]
    if isinstance(outcome, Unscored):
        return [f"unscored ({outcome.cause}), which is not a zero"]
    total = f"{outcome.points:g} of {outcome.max_points:g} points, {len(outcome.repairs)} repairs"
    rows = [f"{r.id}: {r.points:g} of {r.max_points:g}. {r.reason}" for r in outcome.rows]
    return [total, *rows]


def as_text(shown: Transcript) -> str:
    """Return a transcript for a terminal."""
    lines = [shown.title]
    for role, text in shown.opening:
        lines += ["", f"── {role} ──", text.rstrip()]
    for reply in shown.replies:
        lines += ["", f"── reply {reply.turn.number} ── " + "; ".join(reply.about)]
        lines += [reply.turn.reply.rstrip() or "(empty reply)", "", "── harness ──"]
        lines.append(reply.turn.answer.rstrip())
        if reply.honest is not None:
            lines += ["", "── not shown to the model: the tool's own answer ──", reply.honest]
        lines += [f"── world: {e.name} {e.detail}".rstrip() + " ──" for e in reply.events]
    return "\n".join([*lines, "", "── end ──", *shown.end])


def as_page(shown: Transcript) -> str:
    """Return a transcript as one HTML page. What a model wrote is escaped, never markup."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("transcript.html").render(shown=shown)


def as_data(shown: Transcript) -> dict[str, Json]:
    """Return a transcript as JSON values."""
    return {
        "title": shown.title,
        "opening": [{"role": role, "text": text} for role, text in shown.opening],
        "replies": [reply.turn.model_dump(mode="json") for reply in shown.replies],
        "end": list(shown.end),
    }
