"""arnes.toml: what is misspelt is refused with the nearest right name, all problems at once."""

from pathlib import Path

import pytest

from harness.arnes import load_arnes
from harness.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent
CORE = (ROOT / "arnes.toml").read_text(encoding="utf-8")


def write(folder: Path, text: str) -> Path:
    (folder / "arnes.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_values_are_the_declared_ones() -> None:
    """The instrument's constants stand where everybody can read them."""
    config = load_arnes(ROOT)
    assert (config.max_tokens, config.max_tokens_for("A09"), config.max_tokens_for("A04")) == (
        24576,
        8192,
        24576,
    )
    assert (config.max_agent_turns, config.max_idle_turns, config.tool_protocol) == (30, 3, "text")
    assert (config.call_timeout_s, config.parallel_cells) == (1800, 1)
    assert (config.sampling.temperature, config.sampling.top_p) == (0.6, 0.95)
    assert [config.seed_for(run) for run in (1, 2, 3)] == [1001, 1002, 1003]
    assert (config.transport.connect_timeout_s, config.transport.first_byte_timeout_s) == (10, 900)
    assert config.transport.idle_timeout_s == 120


def test_the_demo_differs_in_its_caps_only() -> None:
    """The demo asks the prompts of level A unchanged."""
    core, demo = load_arnes(ROOT), load_arnes(ROOT, "demo")
    different = {
        name for name in type(core).model_fields if getattr(core, name) != getattr(demo, name)
    }
    assert different == {
        "arnes_version",
        "profile",
        "max_tokens",
        "max_tokens_of_task",
        "context",
        "plan",
    }
    assert (demo.max_tokens, demo.plan.runs) == (256, 2)


def test_unknown_keys_are_refused_with_the_nearest_name(tmp_path: Path) -> None:
    """A misspelt setting would silently be its default; every problem is named at once."""
    text = CORE.replace("max_agent_turns", "max_agent_turn").replace("top_p", "top_pp")
    with pytest.raises(ConfigError) as error:
        load_arnes(write(tmp_path, text))
    message = str(error.value)
    assert 'max_agent_turn: unknown key\n  → did you mean "max_agent_turns"?' in message.replace(
        "\n    ", "\n  "
    )
    assert 'did you mean "top_p"?' in message
    assert "max_agent_turns: missing" in message
    assert error.value.exit_status == 2


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("max_tokens = 24576", "max_tokens = 0", "max_tokens: 0"),
        ("temperature = 0.6", 'temperature = "warm"', "'warm'"),
        ('tool_protocol = "text"', 'tool_protocol = "native"', "'native'"),
        ("resend = false", "resend = true", "reasoning.resend: true: has to be false"),
        ("parallel_cells = 1", "parallel_cells = 0", "parallel_cells: 0"),
        ("retries = 2", "retries = true", "transport.retries: true"),
        ("max_agent_turns = 30", 'max_agent_turns = "30"', "max_agent_turns: '30'"),
        ("elide_to_chars = 12000", "elide_to_chars = 17000", "17000 is not below"),
        ("A09 = 8192", "A09 = 999999", "999999 is above max_tokens"),
        ("read_file = ", "raed_file = ", 'did you mean "read_file"?'),
        ('profile = "core"', 'profile = "demo"', "'demo' in the file of the profile 'core'"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    """The message shows the value that is wrong."""
    assert CORE.count(before) == 1
    with pytest.raises(ConfigError) as error:
        load_arnes(write(tmp_path, CORE.replace(before, after)))
    assert words in str(error.value)


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    """A file that is no TOML is no reason for a traceback."""
    with pytest.raises(ConfigError, match="line 3"):
        load_arnes(write(tmp_path, "a = 1\nb = 2\nc = \n"))


def test_an_unknown_profile_names_the_known_ones() -> None:
    """`--profile dmeo` is answered with the profile that was meant."""
    with pytest.raises(ConfigError, match="no profile 'dmeo'") as error:
        load_arnes(ROOT, "dmeo")
    assert 'did you mean "demo"?' in str(error.value)
