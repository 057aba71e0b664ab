"""Faults that local servers really had, played by a hostile scripted server, one test for each.

The numbers are those of the catalogue of known faults, section 1h. Two of them need a process
that can be stopped and are played by the stubs in `test_llama_server` and `test_vllm` as well.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.arnes import Transport, load_arnes
from harness.backends.engines import describe
from harness.backends.interview import SHORT_QUESTION
from harness.backends.preflight import Need, PreflightReport, preflight
from harness.backends.probe import Probe
from harness.clock import SystemClock
from harness.errors import EndpointError
from harness.models.http import HttpChat
from harness.models.scripted import Behaviour, Script, ScriptedServer, prompt_key
from harness.parsing.wire import decode
from harness.records.response import ChatRequest, Exchange, Message
from harness.records.run import Endpoint

CONFIG = load_arnes(Path(__file__).resolve().parents[2])
QUICK = CONFIG.transport.model_copy(
    update={"retry_wait_s": 0.01, "first_byte_timeout_s": 1.0, "idle_timeout_s": 1.0}
)
HONEST = Behaviour(content=" ".join(f"word{n}" for n in range(260)))
MODEL = "played"
Look = Callable[..., PreflightReport]


@pytest.fixture(scope="module")
def stage() -> Iterator[ScriptedServer]:
    """One server for all tests here."""
    with ScriptedServer(Script()) as server:
        yield server


def chat_with(stage: ScriptedServer, limits: Transport = QUICK) -> HttpChat:
    endpoint = Endpoint(base_url=stage.base_url, model=MODEL)
    return HttpChat(endpoint, limits, CONFIG.call_timeout_s, SystemClock())


@pytest.fixture
def look(stage: ScriptedServer) -> Look:
    """Preflight of a server that plays a script."""

    def run(script: Script, needs: dict[str, Need] | None = None) -> PreflightReport:
        stage.play(script)
        with Probe(stage.base_url) as probe, chat_with(stage) as chat:
            return preflight(
                Endpoint(base_url=stage.base_url, model=MODEL),
                chat.complete,
                lambda: describe(probe, MODEL),
                needs or {"A04": Need(prompt_text="word " * 50, max_tokens=500)},
                sampling=CONFIG.sampling,
                call_timeout_s=CONFIG.call_timeout_s,
            )

    return run


def ask(
    stage: ScriptedServer, *behaviours: Behaviour, times: int = 1, limits: Transport = QUICK
) -> list[Exchange]:
    """Ask a server that plays these behaviours so many times, over one channel."""
    stage.play(Script(default=behaviours))
    request = ChatRequest(
        model=MODEL,
        messages=(Message(role="user", content="Say it."),),
        max_tokens=100,
        temperature=0.0,
        top_p=0.95,
        seed=1001,
    )
    with chat_with(stage, limits) as chat:
        return [chat.complete(request) for _ in range(times)]


def text_of(exchange: Exchange) -> str:
    return decode(exchange.body_bytes, exchange.content_type).content


def refusal_of(look: Look, script: Script) -> str:
    with pytest.raises(EndpointError, match="cannot be measured") as caught:
        look(script)
    return str(caught.value)


def test_loading_is_waited_for_although_the_list_answers(look: Look) -> None:
    """G105: 503 "Loading model" on completions while `/v1/models` says 200; nothing is scored."""
    assert look(Script(default=(HONEST,), loading_s=0.5)).refused == {}


def test_roles_that_must_alternate_are_found_before_the_campaign(look: Look) -> None:
    """G106: the second turn of every agent task would be refused."""
    refused = Behaviour(status=500, error="Conversation roles must alternate user/assistant")
    opening = {prompt_key(SHORT_QUESTION): (HONEST, refused)}
    said = refusal_of(look, Script(by_opening=opening, default=(HONEST,)))
    assert "roles: user, assistant, user is refused" in said


def test_a_refused_system_message_is_a_stamped_fallback(look: Look) -> None:
    """G107: the same words open the first user message, for every task."""
    refused = Behaviour(status=400, error="System role not supported")
    by_prompt = {prompt_key(SHORT_QUESTION): (refused,)}
    report = look(Script(by_prompt=by_prompt, default=(HONEST,)))
    assert report.endpoint.system_role is False
    assert report.server.system_role is False


def test_a_context_error_is_found_before_the_campaign(look: Look) -> None:
    """G108: the text of the error was once graded as the answer."""
    text = "the longest prompt " * 30
    refused = Behaviour(status=400, error="maximum context length is 4096 tokens")
    script = Script(by_prompt={prompt_key(text): (refused,)}, default=(HONEST,))
    report = look(script, {"A09": Need(prompt_text=text, max_tokens=100)})
    assert "maximum context length is 4096 tokens" in report.refused["A09"]


def test_a_window_that_is_split_is_judged_for_one_request(look: Look) -> None:
    """G109: 98,304 were asked for, and four slots have 24,576 each."""
    props = {"default_generation_settings": {"n_ctx": 24576}, "total_slots": 4}
    script = Script(default=(HONEST,), pages={"/props": props})
    report = look(script, {"A09": Need(prompt_text="word", max_tokens=24576)})
    assert report.server.window_tokens == 24576
    assert set(report.refused) == {"A09"}


def test_a_server_error_repeats_the_same_request_twice_at_most(stage: ScriptedServer) -> None:
    """G111: the next call was fine; every try is counted, and after two it is infrastructure."""
    broken = Behaviour(status=500, error="failed to decode")
    [exchange] = ask(stage, broken, broken, Behaviour(content="12"))
    assert (exchange.ended, text_of(exchange), len(exchange.retried)) == ("reply", "12", 2)
    assert len({str(seen.body) for seen in stage.requests()}) == 1

    [exchange] = ask(stage, broken)
    assert (exchange.ended, exchange.cause) == ("infrastructure", "server_error")
    assert len(stage.requests()) == 3


def test_a_server_that_takes_requests_and_never_answers_is_given_up(look: Look) -> None:
    """G112: out of memory, and the process lives on; no byte within the limit is no answer."""
    hangs = Behaviour(content="late", first_byte_delay_s=60)
    assert "no_first_byte" in refusal_of(look, Script(default=(hangs,)))


def test_a_stream_that_stops_is_no_short_answer(stage: ScriptedServer) -> None:
    """G113: thirty tokens and silence; silence has a limit of its own."""
    stalls = Behaviour(content="word " * 60, chunk_words=1, stall_after_chunks=30)
    [exchange] = ask(stage, stalls)
    assert (exchange.ended, exchange.cause) == ("infrastructure", "stall")


def test_a_connection_that_was_closed_costs_no_retry(stage: ScriptedServer) -> None:
    """G114: the request never arrived, so it is sent once more on a new connection."""
    closing = Behaviour(content="12", close_after_reply=True)
    exchanges = ask(stage, closing, times=3, limits=QUICK.model_copy(update={"retries": 0}))
    assert [e.ended for e in exchanges] == ["reply"] * 3
    assert len(stage.requests()) == 3


def test_replies_of_three_tokens_are_wrong_stop_words(look: Look) -> None:
    """G115: every reply ends with the reason stop; a text of 200 words is asked for."""
    said = refusal_of(look, Script(default=(Behaviour(content="Once upon a"),)))
    assert "no reply reached 200 words" in said


@pytest.mark.parametrize(
    "ending",
    [
        Behaviour(content="It is 12.", crlf=True),
        Behaviour(content="It is 12.", usage=True),
        Behaviour(content="It is 12.", finish_with_content=True),
    ],
    ids=["carriage-return", "usage-alone-at-the-end", "reason-beside-content"],
)
def test_every_way_to_end_a_stream_is_complete(stage: ScriptedServer, ending: Behaviour) -> None:
    """G117: `[DONE]` with a carriage return, a last chunk of counts only, the reason in a chunk."""
    [exchange] = ask(stage, ending)
    assert (exchange.ended, text_of(exchange)) == ("reply", "It is 12.")


def test_two_texts_for_one_request_are_both_kept_with_their_seed(stage: ScriptedServer) -> None:
    """G120: a cache makes them differ at temperature 0; nothing claims that they must not."""
    first, second = ask(stage, Behaviour(content="12"), Behaviour(content="13"), times=2)
    assert first.request == second.request
    assert first.request.seed == 1001
    assert (text_of(first), text_of(second)) == ("12", "13")
