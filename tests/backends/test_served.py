"""What is served must stay what was served, or the result says where it changed."""

import pytest

from harness.backends.finding import Finding
from harness.backends.preflight import PreflightReport
from harness.backends.served import changes, recheck
from harness.errors import EndpointError, Problem
from harness.records.run import Endpoint, ServerInfo

SERVER = ServerInfo(
    engine="llama.cpp",
    build="b9000",
    model_digest="ab",
    window_tokens=32768,
    window_source="server",
    chat_template_digest="cd",
    tokens_per_s=30.0,
    flags={"quantisation": "Q4_K_M", "sampler_defaults": {"top_k": 40}, "stop": ["</s>"]},
)
WELL = Finding(name="head of a long prompt", ok=True, found="read at 20000 tokens")
USAGE = Finding(name="usage", ok=True, found="prompt 5, completion 3")


def report(*findings: Finding, system_role: bool = True, **server: object) -> PreflightReport:
    return PreflightReport(
        endpoint=Endpoint(base_url="http://h/v1", model="m", system_role=system_role),
        server=SERVER.model_copy(update=server),
        findings=findings or (WELL, USAGE),
        fits=(),
        slow=False,
    )


def test_the_same_is_no_change() -> None:
    """Speed and the words of a finding differ from look to look."""
    after = report(
        Finding(name=WELL.name, ok=True, found="read at 20001 tokens"), tokens_per_s=31.0
    )
    assert changes(report(), after) == ()


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"model_digest": "ef"}, "weights"),
        ({"window_tokens": 4096}, "window"),
        ({"chat_template_digest": "00"}, "template"),
        ({"build": "b9001"}, "build"),
        ({"system_role": False}, "system role"),
        ({"flags": {**SERVER.flags, "quantisation": "Q8_0"}}, "flag quantisation"),
        ({"flags": {**SERVER.flags, "sampler_defaults": {"top_k": 1}}}, "flag sampler_defaults"),
        ({"flags": {**SERVER.flags, "stop": ["\n"]}}, "flag stop"),
    ],
)
def test_a_fact_that_is_another_one_is_named(change: dict[str, object], what: str) -> None:
    """Which of them moved the numbers nobody can say afterwards, so each is told."""
    [found] = changes(report(), report(**change))
    assert found.what == what
    assert found.before != found.after


def test_what_is_not_told_any_more_is_no_change() -> None:
    """Some engines tell their window only while a model is loaded."""
    assert changes(report(), report(window_tokens=None, window_source="unknown")) == ()


def test_a_check_that_turns_out_otherwise_is_a_change() -> None:
    """The server may tell the same, and do something else."""
    lost = Finding(name=WELL.name, ok=None, found="not read")
    [found] = changes(report(), report(lost, USAGE))
    assert str(found) == (
        "head of a long prompt: well (read at 20000 tokens) before, not told (not read) now"
    )


def test_a_model_that_cannot_be_measured_any_more_has_changed() -> None:
    """A server that fell over in the run is told in its own words."""

    def again() -> PreflightReport:
        raise EndpointError("m cannot be measured", [Problem("first reply", "status 500")])

    after, found = recheck(report(), again)
    assert after is None
    assert [str(change) for change in found] == [
        "preflight: passed before, first reply: status 500 now"
    ]


def test_a_second_look_is_compared_with_the_first() -> None:
    """Whoever asks gets the look too, for the record."""
    after, found = recheck(report(), lambda: report(model_digest="ef"))
    assert after == report(model_digest="ef")
    assert [change.what for change in found] == ["weights"]
