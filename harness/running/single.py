"""A single cell: one prompt, one response."""

from harness.arnes import ArnesConfig
from harness.models.chat import ChatModel
from harness.records.response import ChatRequest, Exchange, Message
from harness.suite.loader import Task
from harness.suite.prompts import render


def request_for(task: Task, config: ArnesConfig, *, run: int, model: str) -> ChatRequest:
    """Return the request of a single cell.

    Parameters
    ----------
    task : the task in its form
    config : caps, sampling and system text
    run : the run's number, from 1; it decides the seed
    model : the name that the server knows the model by
    """
    cap = cap_of(task, config)
    return ChatRequest(
        model=model,
        messages=(
            Message(role="system", content=system_text(task, config)),
            Message(role="user", content=task.prompt(cap)),
        ),
        max_tokens=cap,
        temperature=config.sampling.temperature,
        top_p=config.sampling.top_p,
        seed=config.seed_for(run),
    )


def system_text(task: Task, config: ArnesConfig) -> str:
    """Return the system text of a single cell, the same for every model."""
    values = {"max_tokens": cap_of(task, config)}
    return render(config.prompts.single_system, values, "arnes.toml").strip()


def cap_of(task: Task, config: ArnesConfig) -> int:
    """Return a task's generation cap: what arnes.toml allows, or less where the task says so."""
    allowed = config.max_tokens_for(task.id)
    return min(allowed, task.definition.limits.max_tokens or allowed)


def run_single(chat: ChatModel, request: ChatRequest) -> Exchange:
    """Ask, and return what came back, verbatim. Nothing is parsed here."""
    return chat.complete(request)
