"""Everything that is wrong with a server is found before a score, and named at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from backends.loopback import Loopback, PlayedModel, Route, refusal, tokens_of

from harness.arnes import load_arnes
from harness.backends.engines import describe
from harness.backends.interview import SHORT_QUESTION, SYSTEM_TEXT
from harness.backends.needle import FILLER
from harness.backends.preflight import Need, PreflightReport, preflight
from harness.backends.probe import Probe
from harness.backends.window import most_tokens
from harness.clock import SystemClock
from harness.errors import EndpointError
from harness.models.http import HttpChat
from harness.records.response import ChatRequest, Exchange, Timings
from harness.records.run import Endpoint

CONFIG = load_arnes(Path(__file__).resolve().parents[2])
TRANSPORT = CONFIG.transport.model_copy(update={"retries": 0, "retry_wait_s": 0.01})
CHAT = ("POST", "/v1/chat/completions")
SMALL = {"A04": Need(prompt_text="word " * 100, max_tokens=1000)}

# Letters, then digits: the second half has far more tokens than the first.
DENSE_END = "The boats lie in the harbour. " * 300 + " ".join(str(n * 7919) for n in range(1500))

Routes = dict[tuple[str, str], Route]


@contextmanager
def served(routes: Routes, **settings: Any) -> Iterator[tuple[Loopback, Callable[[], Any]]]:
    """Yield a server and a preflight of it; `slowed_s` is how long every call claims to take."""
    planned_window = settings.pop("context_tokens", None)
    slowed_s = settings.pop("slowed_s", None)
    needs = settings.pop("needs", SMALL)
    settings.setdefault("call_timeout_s", CONFIG.call_timeout_s)
    with Loopback(routes) as server:
        endpoint = Endpoint(base_url=server.base_url, model="played")
        with (
            Probe(server.base_url) as probe,
            HttpChat(endpoint, TRANSPORT, CONFIG.call_timeout_s, SystemClock()) as chat,
        ):

            def ask(request: ChatRequest) -> Exchange:
                exchange = chat.complete(request)
                if slowed_s is None:
                    return exchange
                return exchange.model_copy(update={"timings": Timings(total_s=slowed_s)})

            yield (
                server,
                lambda: preflight(
                    endpoint,
                    ask,
                    lambda: describe(probe, "played", planned_window),
                    needs,
                    sampling=CONFIG.sampling,
                    **settings,
                ),
            )


def report_of(routes: Routes, **settings: Any) -> PreflightReport:
    with served(routes, **settings) as (_, run):
        report: PreflightReport = run()
    return report


def refusal_of(routes: Routes, **settings: Any) -> str:
    with served(routes, **settings) as (_, run), pytest.raises(EndpointError) as caught:
        run()
    return str(caught.value)


def finding(report: PreflightReport, name: str) -> tuple[bool | None, str]:
    [found] = [f for f in report.findings if f.name == name]
    return found.ok, found.found


# A sound server


def test_a_sound_server_passes_every_check() -> None:
    """The checks must not refuse what is well, or nobody would keep them."""
    report = report_of(PlayedModel().llama_cpp())

    assert [f.name for f in report.findings if f.ok is not True] == []
    assert report.refused == {}
    assert report.endpoint.system_role
    assert report.server.system_role
    assert not report.slow
    assert report.server.tokens_per_s is not None
    assert report.server.notes == ()


def test_what_obviously_fits_costs_no_request() -> None:
    """Seven questions are asked and no tokenizer, however many tasks fit by the bound."""
    needs = {f"A{n:02}": SMALL["A04"] for n in range(1, 12)}
    with served(PlayedModel().llama_cpp(), needs=needs) as (server, run):
        run()
        # first reply, roles, long reply; a word in three short prompts and a long one
        assert len(server.asked(*CHAT)) == 7
        assert server.asked("POST", "/tokenize") == []


def test_whoever_waits_is_told_what_is_done() -> None:
    """A minute of silence looks like a hang."""
    said: list[str] = []
    report_of(PlayedModel().llama_cpp(), progress=said.append)
    assert [line.partition(": ")[2] for line in said] == [
        "first reply",
        "template and roles",
        "a reply of 200 words",
        "window",
        "the head of a long prompt",
    ]


def test_a_server_that_is_loading_is_waited_for() -> None:
    """A model list that answers early is no reason to refuse."""
    model = PlayedModel()
    loading = iter([refusal(503, "Loading model")] * 2)
    routes = model.llama_cpp()
    routes[CHAT] = lambda body: next(loading, None) or model.chat(body)
    assert report_of(routes).refused == {}


# Window


def test_a_window_split_between_slots_is_measured_for_one_request() -> None:
    """Asked for 98,304, four slots, 24,576 for a request: what does not fit is named."""
    needs = {
        "A04": Need(prompt_text="word " * 100, max_tokens=4096),
        "A09": Need(prompt_text="12 boats\n" * 9000, max_tokens=8192),
    }
    model = PlayedModel(window=24576, slots=4)
    report = report_of(model.llama_cpp(), needs=needs, context_tokens=98304)

    assert set(report.refused) == {"A09"}
    assert "the window of one request is 24576" in report.refused["A09"]


def test_prompt_and_reply_must_fit_together() -> None:
    """A prompt that fits alone leaves no room to answer; the limit itself still fits."""
    text = "12 boats\n" * 2000
    template = tokens_of(SYSTEM_TEXT) + tokens_of(SHORT_QUESTION)  # as the first reply counts it
    room = 32768 - tokens_of(text) - template
    needs = {
        "A01": Need(prompt_text=text, max_tokens=room),
        "A02": Need(prompt_text=text, max_tokens=room + 1),
    }
    report = report_of(PlayedModel().llama_cpp(), needs=needs)

    by_task = {fit.task: fit for fit in report.fits}
    assert by_task["A01"].fits is True
    assert by_task["A01"].counted_by == "tokenizer"
    assert by_task["A02"].fits is False


def test_without_a_tokenizer_a_real_request_counts() -> None:
    """The server's own usage is the count, for one token of reply."""
    text = "12 boats\n" * 2000
    routes = PlayedModel().llama_cpp()
    del routes["POST", "/tokenize"]
    needs = {"A01": Need(prompt_text=text, max_tokens=20000)}
    with served(routes, needs=needs) as (server, run):
        [fit] = run().fits
        sent = [body for body in server.asked(*CHAT) if body["max_tokens"] == 1]

    assert (fit.counted_by, fit.fits) == ("request", True)
    assert fit.prompt_tokens == tokens_of(text)
    assert [body["messages"][-1]["content"] for body in sent] == [text]


def test_a_context_error_is_found_here_and_not_graded_later() -> None:
    """The plan believes in 32,768; the server's refusal of a long prompt is quoted."""
    needs = {
        "A04": Need(prompt_text="word " * 100, max_tokens=1000),
        "A09": Need(prompt_text="word " * 8000, max_tokens=1000),
    }
    model = PlayedModel(window=8192)
    report = report_of(model.plain(), needs=needs, context_tokens=32768)

    assert set(report.refused) == {"A09"}
    assert "available context length (8192 tokens)" in report.refused["A09"]


def test_a_prompt_that_is_cut_in_silence_is_found() -> None:
    """Some servers drop the head of a long prompt and answer the rest with status 200."""
    needs = {"A09": Need(prompt_text=DENSE_END, max_tokens=100), **SMALL}
    model = PlayedModel(window=int(tokens_of(DENSE_END) * 0.9), truncates=True)
    report = report_of(model.plain(), needs=needs)

    assert set(report.refused) == {"A09"}
    assert f"arrived as {model.window}" in report.refused["A09"]


def test_a_prompt_that_arrives_whole_is_not_suspected() -> None:
    """The same prompt against a window that holds it."""
    needs = {"A09": Need(prompt_text=DENSE_END, max_tokens=100), **SMALL}
    model = PlayedModel(window=tokens_of(DENSE_END) + 1, truncates=True)
    report = report_of(model.plain(), needs=needs)

    assert report.refused == {}
    assert {fit.fits for fit in report.fits} == {None}
    assert finding(report, HEAD_NAME)[0] is True
    ok, found = finding(report, "window")
    assert ok is None
    assert found.startswith("not told")
    assert any(note.startswith("window: not told") for note in report.server.notes)


# The head of a long prompt

# 16,500 tokens, whose bound and cap do not fit together, so that they are counted.
LONG_PROMPT = {"A09": Need(prompt_text="12 boats\n" * 3000, max_tokens=15000)}
HEAD_NAME = "head of a long prompt"


def test_the_head_of_the_longest_prompt_is_read() -> None:
    """As many tokens are sent as the longest prompt has, up to a sentence, and it arrives."""
    with served(PlayedModel().llama_cpp(), needs=LONG_PROMPT) as (server, run):
        [fit] = run().fits
        sent = [tokens_of(body["messages"][-1]["content"]) for body in server.asked(*CHAT)]

    assert fit.prompt_tokens is not None
    assert fit.prompt_tokens - tokens_of(FILLER) <= max(sent) <= fit.prompt_tokens


def test_the_answer_has_room_in_the_window() -> None:
    """A task whose reply is capped at a line may fill the window with its prompt."""
    text = "12 boats\n" * 3000
    template = tokens_of(SYSTEM_TEXT) + tokens_of(SHORT_QUESTION)
    model = PlayedModel(window=tokens_of(text) + template + 1)
    report = report_of(model.llama_cpp(), needs={"A09": Need(prompt_text=text, max_tokens=1)})
    assert finding(report, HEAD_NAME)[0] is True


def test_a_window_that_is_smaller_than_it_is_told_is_refused() -> None:
    """The server tells 32,768 and cuts at 8,192 with status 200; its own count shows it."""
    routes = PlayedModel(window=32768).llama_cpp()
    routes[CHAT] = PlayedModel(window=8192, truncates=True).chat
    said = refusal_of(routes, needs=LONG_PROMPT)
    assert "arrived as 8192" in said


@pytest.mark.parametrize("real", [30000, 43000])
def test_a_cut_that_is_not_counted_is_refused_too(real: int) -> None:
    """A count can be made before the cut; what the model still reads cannot (rule 17)."""
    needs = {"A09": Need(prompt_text="12 boats\n" * 8000, max_tokens=50000)}  # 44,000 tokens
    routes = PlayedModel(window=98304).llama_cpp()
    routes[CHAT] = PlayedModel(window=real, truncates=True, counts_whole=True).chat
    said = refusal_of(routes, needs=needs)
    assert f"{HEAD_NAME}: not read at" in said


@pytest.mark.parametrize(
    "weak",
    [
        PlayedModel(reads=0),  # not even three lines
        PlayedModel(reads=5000),  # half of the long prompt is too much
        PlayedModel(reads=12000),  # half of it is read, and nothing of the whole
        PlayedModel(reads=5000, reads_middle=True),  # its head is lost at half already
    ],
)
def test_a_model_that_is_weak_at_length_is_not_taken_for_a_cut(weak: PlayedModel) -> None:
    """It is there to be measured; the record says that the head is not proved."""
    report = report_of(weak.llama_cpp(), needs=LONG_PROMPT)
    assert finding(report, HEAD_NAME)[0] is None
    assert any(note.startswith(HEAD_NAME) for note in report.server.notes)


def look_after(model: PlayedModel, changed: PlayedModel) -> tuple[PreflightReport, list[int]]:
    """Look before a run, and after it at what is served then; return that and its caps."""
    before = report_of(model.llama_cpp(), needs=LONG_PROMPT)
    with served(changed.llama_cpp(), needs=LONG_PROMPT, before=before) as (server, run):
        report: PreflightReport = run()
        return report, [body["max_tokens"] for body in server.asked(*CHAT)]


def test_a_look_after_a_run_asks_for_no_long_reply() -> None:
    """Stop tokens do not change while a server runs; 400 tokens cost a slow model a minute."""
    report, caps = look_after(PlayedModel(), PlayedModel())
    assert max(caps) < 400
    assert {"long reply", "speed"}.isdisjoint(f.name for f in report.findings)
    assert report.server.tokens_per_s is None


def test_a_look_after_a_run_asks_once_for_the_head() -> None:
    """The same prompt with the same count, read again: what the short ones show is known."""
    report, caps = look_after(PlayedModel(), PlayedModel())
    assert finding(report, HEAD_NAME)[0] is True
    assert len(caps) == 3  # first reply, roles, the head


def test_what_is_not_as_before_is_looked_into() -> None:
    """A cut that came in the night is told as it would be before a run."""
    before = report_of(PlayedModel().llama_cpp(), needs=LONG_PROMPT)
    routes = PlayedModel().llama_cpp()
    routes[CHAT] = PlayedModel(window=8192, truncates=True).chat
    assert "arrived as 8192" in refusal_of(routes, needs=LONG_PROMPT, before=before)


def test_a_head_that_is_not_read_again_is_looked_into() -> None:
    """One reply without the word may be chance; it is asked as often as before a run."""
    report, caps = look_after(PlayedModel(), PlayedModel(reads=12000))
    assert finding(report, HEAD_NAME)[0] is None
    # first reply, roles, the head; three short prompts, the head thrice, half, the middle
    assert len(caps) == 11


def test_the_bound_is_above_what_tokenizers_make_of_hard_texts() -> None:
    """A digit, a sign, a space or a byte of another script can be a token; letters come in pairs."""
    assert most_tokens("1234567890") == 10
    assert most_tokens("{[()]};") == 7
    assert most_tokens("é") == 2
    assert most_tokens("the boats") == 5
    assert most_tokens("1 2 3") == 5


# Roles and template


def test_a_refused_system_message_becomes_a_stamped_fallback() -> None:
    """The same words open the first user message; it is no reason to leave a model out."""
    with served(PlayedModel(system="refused").llama_cpp()) as (server, run):
        report = run()
        later = server.asked(*CHAT)[2:]

    assert report.endpoint.system_role is False
    assert report.server.system_role is False
    assert "System role not supported" in finding(report, "system role")[1]
    assert later
    assert all(message["role"] != "system" for body in later for message in body["messages"])


def test_a_template_that_drops_the_system_text_gets_the_same_fallback() -> None:
    """Status 200 hides it; the filled template shows it."""
    report = report_of(PlayedModel(system="dropped").llama_cpp())
    assert report.endpoint.system_role is False
    assert "drops it" in finding(report, "system role")[1]
    assert finding(report, "template")[0] is True


def test_a_template_that_raises_gets_the_fallback_too() -> None:
    """The chat route may hide what the template does, by merging the message itself."""
    model = PlayedModel(system="refused")
    routes = model.llama_cpp()
    routes[CHAT] = PlayedModel().chat
    assert report_of(routes).endpoint.system_role is False


def test_a_conversation_must_be_possible() -> None:
    """User, assistant, user: a server that refuses it would lose every agent task half-way."""
    said = refusal_of(PlayedModel(alternates=False).llama_cpp())
    assert "Conversation roles must alternate" in said
    assert "chat template" in said


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_template_that_loses_a_text_is_refused(role: str) -> None:
    """A template given by a wrong name turns every prompt into one word, with status 200."""
    said = refusal_of(PlayedModel(loses=(role,)).llama_cpp())
    assert f"it loses the text of: {role}" in said


def test_without_a_view_of_the_template_nothing_is_claimed() -> None:
    """An echo by the model would be no proof, so there is none."""
    report = report_of(PlayedModel().plain(), context_tokens=32768)
    assert finding(report, "template")[0] is None
    assert any("not checkable here" in note for note in report.server.notes)


# Replies


def test_replies_that_all_stop_short_are_refused() -> None:
    """Wrong stop tokens look like a laconic model; three seeds are tried before that is said."""
    model = PlayedModel(words=3)
    said = refusal_of(model.llama_cpp())
    assert "no reply reached 200 words" in said
    assert said.count("3 words") == 3
    assert len(set(model.seeds)) == 3


def test_one_long_reply_is_enough() -> None:
    """A model may be brief by chance; the next seed shows that it can."""
    model = PlayedModel(words=3)
    routes = model.llama_cpp()

    def chat(body: dict[str, Any]) -> tuple[int, Any]:
        model.words = 250 if len(model.seeds) >= 4 else 3
        return model.chat(body)

    routes[CHAT] = chat
    assert finding(report_of(routes), "long reply")[1].startswith("250 words")


def test_a_cap_of_the_servers_own_is_refused() -> None:
    """A reply that ends "length" far below what was asked for was cut by somebody else."""
    said = refusal_of(PlayedModel(cap=128).llama_cpp())
    assert "128 tokens, length" in said
    assert "lift its own limit" in said


def test_missing_usage_is_refused() -> None:
    """Without counts there is no budget and no speed."""
    said = refusal_of(PlayedModel(usage=False).llama_cpp())
    assert "usage: prompt None, completion None" in said


def test_an_error_with_status_200_is_refused() -> None:
    """Its text was once graded as the answer."""
    said = refusal_of(PlayedModel(error_with_200=True).llama_cpp())
    assert "an error with status 200: the engine fell over" in said


def test_another_name_in_the_reply_is_noted() -> None:
    """Routers answer so legitimately; the record must say it."""
    report = report_of(PlayedModel(answers_as="other").llama_cpp())
    assert finding(report, "identity")[0] is None
    assert "the reply names 'other'" in report.server.notes[0]


def test_all_problems_come_at_once() -> None:
    """A person does not start a night four times."""
    model = PlayedModel(words=3, usage=False, loses=("user",), alternates=False, window=8192)
    needs = {"A09": Need(prompt_text="word " * 8000, max_tokens=1000)}
    said = refusal_of(model.llama_cpp(), needs=needs)
    assert "5 problem(s)" in said
    for part in ("usage:", "template:", "roles:", "long reply:", "A09:", "Nothing was scored."):
        assert part in said


def test_a_dead_server_is_one_problem() -> None:
    """Nothing else can be asked, so nothing else is said."""
    routes = PlayedModel().llama_cpp()
    routes[CHAT] = lambda _body: refusal(500, "out of memory")
    said = refusal_of(routes)
    assert "1 problem(s)" in said
    assert "first reply: server_error: HTTP 500: out of memory" in said


# Speed


LONG = {"A10": Need(prompt_text="word", max_tokens=24576)}


def test_a_model_too_slow_for_its_caps_is_refused() -> None:
    """300 words in 10 s are 30 tokens a second: 24,576 take 819 s, and a call has 800."""
    said = refusal_of(PlayedModel().llama_cpp(), needs=LONG, slowed_s=10.0, call_timeout_s=800)
    assert "30.0 tokens/s: 24576 tokens take 819 s, a call has 800 s" in said
    assert "allow_slow" in said


def test_a_model_that_just_makes_it_is_not_refused() -> None:
    """The same model with a limit of 820 s."""
    report = report_of(PlayedModel().llama_cpp(), needs=LONG, slowed_s=10.0, call_timeout_s=820)
    assert not report.slow
    assert report.server.tokens_per_s == 30.0


def test_the_plan_may_allow_a_slow_model_and_it_is_stamped() -> None:
    """Its replies will be cut by time, and the record says so."""
    report = report_of(
        PlayedModel().llama_cpp(), needs=LONG, slowed_s=10.0, call_timeout_s=800, allow_slow=True
    )
    assert report.slow
