"""What a cell cost: tokens, seconds and repetitions, beside the points."""

from collections.abc import Iterable, Sequence

from harness.parsing.completion import completion_of
from harness.records.campaign import CellMetrics
from harness.records.parsed import ParsedReply
from harness.records.response import Exchange

METRIC_DECIMALS = 3


def metrics_of(exchanges: Sequence[Exchange], parsed: ParsedReply | None) -> CellMetrics:
    """Return what a cell cost. Generation is from the first to the last token, in seconds.

    Of an agent cell every exchange counts; of a single one the last, for the others were no reply.
    """
    if parsed is not None and parsed.cell is not None:
        return _of_agent(exchanges)
    if not exchanges:
        return CellMetrics()
    return CellMetrics(
        prompt_tokens=parsed.prompt_tokens if parsed else None,
        completion_tokens=parsed.completion_tokens if parsed else None,
        finish_reason=parsed.finish_reason if parsed else None,
        generation_s=_seconds(exchanges[-1:]),
        calls=len(exchanges),
        retries=len(exchanges[-1].retried),
    )


def _of_agent(exchanges: Sequence[Exchange]) -> CellMetrics:
    replies = [one for one in exchanges if one.ended != "infrastructure"]
    read = [completion_of(one) for one in replies]
    return CellMetrics(
        prompt_tokens=_sum(one.prompt_tokens for one in read),
        completion_tokens=_sum(one.completion_tokens for one in read),
        finish_reason=read[-1].finish_reason if read else None,
        generation_s=_seconds(replies),
        calls=len(exchanges),
        retries=sum(len(one.retried) for one in exchanges),
    )


def _seconds(exchanges: Iterable[Exchange]) -> float | None:
    timed = [
        one.timings.last_token_s - one.timings.first_token_s
        for one in exchanges
        if one.timings.first_token_s is not None and one.timings.last_token_s is not None
    ]
    return round(sum(timed), METRIC_DECIMALS) if timed else None


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of what was counted; None where nothing was."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
