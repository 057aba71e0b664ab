"""The completion of a stored exchange, and whether the model's cap ended it.

Both are asked of every reply, of a single cell's as of each turn of an agent.
"""

from harness.parsing.wire import CAP_REASONS, Completion, decode
from harness.records.response import Exchange


def completion_of(exchange: Exchange) -> Completion:
    """Return what the server told, of a reply that is whole or was cut by the whole-call limit.

    Raises
    ------
    ValueError
        If there is no reply to parse.
    """
    if exchange.ended == "infrastructure":
        raise ValueError(f"no reply to parse: {exchange.cause} is a failure of the infrastructure")
    completion = decode(exchange.body_bytes, exchange.content_type)
    cut = exchange.ended == "time" and completion.error_cause == "not_a_completion"
    if completion.error is not None and not cut:
        raise ValueError(f"no reply to parse: {completion.error_cause}: {completion.error}")
    return completion


def reached_cap(exchange: Exchange, completion: Completion) -> bool:
    """Say whether the cap ended the reply; some servers call that a stop."""
    used = completion.completion_tokens
    return completion.reason in CAP_REASONS or (
        used is not None and used >= exchange.request.max_tokens
    )
