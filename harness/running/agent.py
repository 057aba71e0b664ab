"""An agent cell: send, read the reply, run its call, answer, until something ends it.

`AgentCell` is a machine that is fed one reply at a time and knows no network. A run, its
resumption and a reparse feed it the same exchanges, so they come to the same transcript and world.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.arnes import ArnesConfig
from harness.models.chat import ChatModel
from harness.parsing.channel import read_channel
from harness.parsing.completion import completion_of, reached_cap
from harness.parsing.wire import CAP_REASONS
from harness.protocol.calls import Call, Idle, Malformed
from harness.protocol.elision import Conversation
from harness.protocol.reading import read_reply
from harness.protocol.writing import (
    counter_line,
    idle_text,
    malformed_text,
    result_text,
    system_text,
)
from harness.records.response import ChatRequest, Exchange
from harness.records.tools import FINISH
from harness.records.transcript import Turn
from harness.records.world import AgentRecord, EndedBy, Fault, Step
from harness.running.guards import LoopWatch
from harness.running.single import cap_of
from harness.suite.forms import Reply
from harness.suite.loader import Task
from harness.world.scene import Scene
from harness.world.suites import Runner
from harness.world.tools import offered
from harness.world.world import World

Cut = Literal["", "tokens", "time"]


def run_agent(
    chat: ChatModel, cell: "AgentCell", keep: Callable[[Exchange], None]
) -> Exchange | None:
    """Play a cell to its end; return the exchange that stopped it if the infrastructure did.

    Each exchange is kept before it is read. What the channel tried again within one exchange is
    no turn and had no effect.
    """
    while cell.ended is None:
        exchange = chat.complete(cell.request())
        keep(exchange)
        if exchange.ended == "infrastructure":
            return exchange
        cell.take(exchange)
    return None


@dataclass(frozen=True)
class AgentSetup:
    """What a cell is played in. runner : None for a task whose world has no tests."""

    task: Task
    config: ArnesConfig
    run: int
    scene: Scene
    schedule: tuple[Fault, ...]
    runner: Runner | None = None


class AgentCell:
    """One cell while it is played. model : the name that the server knows the model by."""

    def __init__(self, setup: AgentSetup, *, model: str, system_role: bool = True) -> None:
        task, config = setup.task, setup.config
        tariff = setup.scene.tariff
        system = system_text(config, task.definition.tools, tariff.told if tariff else None)
        self._setup, self._model, self._system_role = setup, model, system_role
        self._tools = offered(task.definition.tools, task.definition.finish)
        self._talk = Conversation(system, task.prompt(cap_of(task, config)).strip())
        self._world = World(setup.scene, setup.schedule, setup.runner)
        self._start = self._world.state()
        self._watch = LoopWatch(config.guards)
        self._idle: list[Cut] = []  # what cut each idle reply since the last executed call
        self._turns: list[Turn] = []
        self._finish: dict[str, str] | None = None
        self._guard = ""
        self.ended: EndedBy | None = None
        self.answer = ""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The transcript so far."""
        return tuple(self._turns)

    def request(self) -> ChatRequest:
        """Return what is sent next."""
        task, config = self._setup.task, self._setup.config
        return ChatRequest(
            model=self._model,
            messages=self._talk.messages(system_role=self._system_role),
            max_tokens=cap_of(task, config),
            temperature=config.sampling.temperature,
            top_p=config.sampling.top_p,
            seed=config.seed_for(self._setup.run),
        )

    def take(self, exchange: Exchange) -> None:
        """Take in a reply of a server, whole or cut by the whole-call limit."""
        completion = completion_of(exchange)
        capped: Cut = "tokens" if reached_cap(exchange, completion) else ""
        cut: Cut = "time" if exchange.ended == "time" else capped
        self._reply(completion.content, completion.reasoning, cut)

    def take_reply(self, reply: Reply) -> None:
        """Take in a written reply."""
        cut: Cut = "tokens" if reply.finish_reason in CAP_REASONS else ""
        self._reply(reply.text, reply.reasoning, cut)

    def _reply(self, content: str, reasoning: str, cut: Cut) -> None:
        """Read a reply, run its call, answer, and see whether that was the end."""
        if self.ended is not None:
            raise ValueError(f"the cell has ended: {self.ended}")
        number = len(self._turns) + 1
        channel = read_channel(content, reasoning, self._setup.config.reasoning.tags)
        read = read_reply(channel.text, self._tools, cut=bool(cut))
        match read:
            case Call():
                self._idle.clear()
                step = self._world.execute(read, number)
                self._finish = step.args if read.tool == FINISH else None
            case Malformed():
                step = Step(turn=number, kind="malformed", tool=read.tool, code=read.code)
            case Idle():
                self._idle.append(cut)
                step = Step(turn=number, kind="idle")
        marks = tuple(sorted({*read.flags, *channel.flags}))
        step = step.model_copy(update={"flags": marks})
        self._guard = self._watch.see(step)
        self.answer = self._answer_to(read, step)
        turn = Turn(
            number=number,
            sent_chars=self._talk.chars,
            left_out=self._talk.left_out,
            cut=cut,
            reasoning_chars=len(channel.reasoning),
            reply=read.kept,
            step=step,
            answer=self.answer,
        )
        self._turns.append(turn)
        self._talk = self._talk.after(read.kept, self.answer, self._setup.config.context)
        self.ended = self._end(cut)

    def _answer_to(self, read: Call | Malformed | Idle, step: Step) -> str:
        """Return the answer of the harness, with the number of the reply as its last line."""
        config = self._setup.config
        counter = counter_line(step.turn, config.max_agent_turns, cost=step.price)
        match read:
            case Call():
                status: Literal["ok", "error"] = "ok" if step.ok else "error"
                cap = config.context.result_cap_chars
                return result_text(read, status, step.shown, counter=counter, cap_chars=cap)
            case Malformed():
                return f"{malformed_text(read, tuple(self._tools))}\n{counter}"
            case Idle():
                return f"{idle_text(len(self._idle), config.max_idle_turns)}\n{counter}"

    def _end(self, cut: Cut) -> EndedBy | None:
        """Return what ended the cell with this reply, if anything did; the first that applies."""
        config = self._setup.config
        if self._finish is not None:
            return "finish"
        if cut == "time":
            return "time"
        if len(self._idle) >= config.max_idle_turns:
            return "tokens" if set(self._idle) == {"tokens"} else "idle"
        if self._guard:
            return "guard"
        return "turns" if len(self._turns) >= config.max_agent_turns else None

    def record(self) -> AgentRecord:
        """Return what graders read of a cell that has ended."""
        if self.ended is None:
            raise ValueError("the cell has not ended")
        return AgentRecord(
            run=self._setup.run,
            ended=self.ended,
            guard=self._guard if self.ended == "guard" else "",
            finish=self._finish,
            steps=tuple(turn.step for turn in self._turns),
            start=self._start,
            end=self._world.state(),
            faults=self._world.fates,
            events=tuple(self._world.events),
            spent=self._world.spent,
            longest_chars=max(turn.sent_chars for turn in self._turns),
            guards=self._watch.longest,
        )
