"""A drafted plan is a plan: whatever a server calls its models, and over no file."""

import tomllib
from pathlib import Path

import pytest
from campaigning import instrument

from harness.backends.discovery import Asked, Candidate
from harness.campaign.drafting import draft, look_around, write_new
from harness.campaign.plan import resolve
from harness.errors import PlanError
from harness.records.campaign import CampaignPlan

URL = "http://127.0.0.1:9/v1"


def plan_of(*models: Candidate, api_key_env: str | None = None) -> tuple[CampaignPlan, str]:
    text = draft("night", [Asked("here", models)], api_key_env)
    return CampaignPlan.model_validate(tomllib.loads(text)), text


def test_each_model_gets_the_backend_that_knows_its_engine() -> None:
    """Ollama would choose its own window, and LM Studio load a model with one: both are told."""
    plan, text = plan_of(
        Candidate("qwen3:8b", engine="ollama", base_url="http://127.0.0.1:11434/v1"),
        Candidate("phi-4", engine="lm-studio", base_url="http://127.0.0.1:1234/v1"),
        Candidate("some", engine="vllm", base_url="http://127.0.0.1:8000/v1"),
        Candidate("other", base_url=URL, window_tokens=4096),
        Candidate("w.Q4_K_M", path=Path("/weights/w.Q4_K_M.gguf")),
    )
    assert [(m.id, m.backend, m.served_name) for m in plan.models] == [
        ("qwen3-8b", "ollama", "qwen3:8b"),
        ("phi-4", "lmstudio", "phi-4"),
        ("some", "external", "some"),
        ("other", "external", "other"),
        ("w.Q4_K_M", "llama_server", None),
    ]
    assert plan.models[0].context_tokens == 32768
    assert plan.models[4].options == {"weights": "/weights/w.Q4_K_M.gguf"}
    assert "a window of 4096 tokens, and level A needs 32768" in text


def test_start_takes_a_draft_as_it_is() -> None:
    """Every check of a plan is passed; only the commented lines wait for a person."""
    plan, text = plan_of(
        Candidate("qwen3:8b", engine="ollama", base_url="http://127.0.0.1:11434/v1"),
        Candidate("some", engine="vllm", base_url=URL),
        Candidate("w", path=Path("/weights/w.gguf")),
    )
    core = instrument()
    assert resolve(plan, text.encode(), core).runs == core.config.plan.runs


NAMES = [
    "Qwen/Qwen3-8B",
    "qwen3-8b",
    "control-golden",
    "plan.toml",
    "…",
    "名",
    'a"]\nbackend = "embedded',
    "a\\b\x7f\x00\u2028",
    "x" * 200,
    "x" * 200 + "y",
    "..",
]


def test_any_name_is_quoted_and_gets_an_id_of_its_own() -> None:
    """A name is data of somebody else's: it ends no line, and two folders are never one."""
    plan, text = plan_of(*(Candidate(n, base_url=URL, about=n, engine=n) for n in NAMES))
    assert [model.served_name for model in plan.models] == NAMES
    ids = [model.id.lower() for model in plan.models]
    assert len(set(ids)) == len(NAMES)
    assert not {"control-golden", "plan.toml"} & set(ids)
    assert {model.backend for model in plan.models} == {"external"}
    assert resolve(plan, text.encode(), instrument()).plan == plan


def test_a_name_that_is_no_text_is_left_out() -> None:
    """A file's name in another encoding cannot stand in a plan; the others can."""
    broken = "caf\udce9"
    plan, text = plan_of(
        Candidate(broken, path=Path(f"/{broken}.gguf")), Candidate("m", base_url=URL)
    )
    assert [model.id for model in plan.models] == ["m"]
    assert "left out: a model whose name is no text" in text
    assert text.encode("utf-8")


def test_a_model_that_answers_nothing_stays_a_comment() -> None:
    """An embedding model in a plan would cost a night's first hour."""
    plan, text = plan_of(
        Candidate("nomic-embed-text", base_url=URL, chats=False), Candidate("m", base_url=URL)
    )
    assert [model.id for model in plan.models] == ["m"]
    assert '# served_name = "nomic-embed-text"' in text


def test_a_key_is_named_and_never_written() -> None:
    """The plan holds the variable; with a key even Ollama is asked by its address."""
    served = Candidate("q", engine="ollama", base_url=URL)
    plan, _ = plan_of(served, api_key_env="MY_KEY")
    assert (plan.models[0].backend, plan.models[0].api_key_env) == ("external", "MY_KEY")
    with pytest.raises(PlanError, match="MY_KEY is not set"):
        look_around([URL], [], "MY_KEY", environment={})


def test_where_nothing_is_there_is_no_plan() -> None:
    """Every place that was asked is told with what was there."""
    with pytest.raises(PlanError, match="no model was found") as refused:
        draft("night", [Asked("http://a", problem="nothing answers"), Asked("/b")])
    assert [(p.where, p.what) for p in refused.value.problems] == [
        ("http://a", "nothing answers"),
        ("/b", "no chat model"),
    ]


@pytest.mark.parametrize("name", ["", "Night", "a b", "../up", "x" * 49])
def test_a_name_that_no_campaign_can_have_is_refused(name: str) -> None:
    """It becomes a folder's name."""
    with pytest.raises(PlanError, match="--name"):
        draft(name, [Asked("here", (Candidate("m", base_url=URL),))])


def test_a_file_is_never_written_over(tmp_path: Path) -> None:
    """Somebody's plan may be a night's work."""
    path = tmp_path / "plan.toml"
    write_new(path, "first")
    with pytest.raises(PlanError, match="is there already"):
        write_new(path, "second")
    assert path.read_text() == "first"
