"""Whose end a reply of full length is: the model's budget, or its server's room."""

import json

import pytest

from harness.models.outcome import Outcome, Received, judge
from harness.records.response import Timings

CAP = 1000


def ended(reason: str, usage: dict[str, int] | None, *, cap: int = CAP, text: str = "x") -> Outcome:
    """Judge a whole reply that ended for a reason, with the server's counts."""
    body: dict[str, object] = {
        "choices": [{"index": 0, "message": {"content": text}, "finish_reason": reason}]
    }
    if usage is not None:
        body["usage"] = usage
    got = Received(
        status=200,
        content_type="application/json",
        retry_after=None,
        body=json.dumps(body).encode(),
        key_removed=False,
        fault=None,
        stale=False,
        timings=Timings(total_s=1),
    )
    return judge(got, tools_offered=False, max_tokens=cap)


@pytest.mark.parametrize(
    ("cap", "tokens", "cause"),
    [
        (1000, 1000, None),
        (1000, 1001, None),
        (1000, 999, None),
        (1000, 900, None),  # nine tenths are near enough
        (1000, 899, "cut_short"),
        (24576, 8192, "cut_short"),
        (16, 8, None),  # of a small cap, eight tokens are the edge
        (16, 7, "cut_short"),
        (1, 1, None),
        (1, 0, None),
    ],
)
def test_a_reply_cut_clearly_below_its_cap_is_the_servers(
    cap: int, tokens: int, cause: str | None
) -> None:
    """Below nine tenths, and by more than servers differ in counting, somebody else cut it."""
    assert ended("length", {"completion_tokens": tokens}, cap=cap).cause == cause


@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_length", "LENGTH"])
def test_every_spelling_of_the_cap_is_held_to_it(reason: str) -> None:
    """Servers name the same end in different words."""
    outcome = ended(reason, {"completion_tokens": 100})

    assert (outcome.ended, outcome.cause) == ("infrastructure", "cut_short")
    assert outcome.detail == (
        "the server ended the reply at 100 of 1000 tokens: its window or its own cap"
    )


@pytest.mark.parametrize("reason", ["stop", "eos", "content_filter"])
def test_a_reply_that_the_model_ended_may_be_short(reason: str) -> None:
    """Only an end for length is held to the cap."""
    assert ended(reason, {"completion_tokens": 3}) == Outcome("reply")


@pytest.mark.parametrize("usage", [None, {}, {"completion_tokens": 0}, {"prompt_tokens": 10}])
def test_without_counts_a_cut_is_the_models(usage: dict[str, int] | None) -> None:
    """Nobody knows who cut it; a zero beside a text is no count."""
    assert ended("length", usage) == Outcome("reply")


def test_a_window_that_the_prompt_filled_is_the_servers() -> None:
    """Not one token was written, and the count says so."""
    outcome = ended("length", {"prompt_tokens": 4096, "completion_tokens": 0}, text="")

    assert outcome.cause == "cut_short"
    assert "0 of 1000" in outcome.detail


def test_reasoning_that_is_counted_in_the_total_only_is_budget() -> None:
    """A model that thought until its cap was not cut by the server."""
    usage = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 1050}

    assert ended("length", usage) == Outcome("reply")
