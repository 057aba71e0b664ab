"""docs/overnight.md says what is there: its commands, options, unit, files and figures."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from campaigning import ROOT, arnes, instrument

from harness.campaign import history, time_guard
from harness.campaign.ending import LIMIT_S
from harness.records.campaign import CampaignPlan
from harness.records.sample import SAMPLE_EVERY_S
from harness.stages import energy
from harness.store import layout

TEXT = (ROOT / "docs" / "overnight.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"(?:^|[/\"])arnes ((?:campaign )?[a-z]+)([^;\n\"]*)", re.MULTILINE)


def blocks(*languages: str) -> str:
    """The code of these languages, without remarks."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r" +#.*", "", "\n".join(code for name, code in found if name in languages))


def commands() -> dict[str, set[str]]:
    """Each verb of arnes in a block, with the options that it is given anywhere."""
    found: dict[str, set[str]] = {}
    for verb, rest in COMMAND.findall(blocks("", "sh", "ini")):
        found.setdefault(verb, set()).update(re.findall(r"(?<=\s)--[a-z-]+", rest))
    return found


def test_every_command_and_option_is_there() -> None:
    """Whoever types what a document says gets no usage message."""
    found = commands()
    assert {"campaign new", "campaign plan", "campaign start", "campaign resume"} <= set(found)
    assert found["campaign start"] == {"--notify"}
    for verb, options in found.items():
        help_text = arnes(*verb.split(), "--help", COLUMNS="200")
        assert help_text.returncode == 0, verb
        for option in options:
            assert option in help_text.stdout, f"{verb} {option}"
    assert "--deadline" in arnes("campaign", "resume", "--help", COLUMNS="200").stdout


def test_its_plan_is_one() -> None:
    """Two quantisations that differ in id and weights alone."""
    plan = CampaignPlan.model_validate(tomllib.loads(blocks("toml")))
    first, second = plan.models
    same = {"id": "x", "options": {}}
    assert first.model_copy(update=same) == second.model_copy(update=same)
    assert first.options["weights"] != second.options["weights"]


def test_its_figures_are_those_of_the_instrument() -> None:
    """Caps, limits, margins and defaults: read from where they stand."""
    config = instrument().config
    window = 36 * 8 * 128 * 2 * 2
    for figure in (
        f"{config.max_tokens:,} tokens",
        f"{config.max_tokens / config.call_timeout_s:.1f} tokens a second",
        f"{config.call_timeout_s / 60:g} minutes",
        f"sends nothing for {config.transport.first_byte_timeout_s / 60:g} minutes",
        f"× {time_guard.GROWTH} + {time_guard.RESERVE_S / 60:g} minutes",
        f"{history.TOKENS_PER_TASK:,} a task",
        f"{LIMIT_S:g} seconds",
        f"Every {SAMPLE_EVERY_S:g} seconds a row",
        f"more than {energy.LONGEST_S:g} seconds apart",
        f"{window / 1024:g} KiB a token",
        f"{window * 32768 / 2**30} GiB for 32,768 tokens",
    ):
        assert figure in TEXT.replace("\n", " "), figure


def test_every_file_of_a_campaign_is_in_its_table() -> None:
    """The layout names each file once; the document explains each."""
    folder = layout.CampaignFolder(Path("c"))
    cell = folder.run("MODEL", 1).cell("TASK")
    named = [folder.record, folder.plan, folder.journal, folder.validation, folder.final]
    named += [
        folder.hatched,
        folder.metrics,
        folder.lock,
        folder.stop,
        folder.run("MODEL", 1).info,
        folder.run("MODEL", 1).summary,
    ]
    named += [cell.sheet, cell.first_sheet, cell.observations, cell.transcript, cell.test_runs]
    named += [cell.parsed, cell.raw(1).parent, folder.server_log("m").parent]
    for path in named:
        row = path.relative_to("c").as_posix().replace("run_1", "run_N")
        assert re.search(rf"^\| `{re.escape(row)}/?`", TEXT, re.MULTILINE), row


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_its_unit_is_one(tmp_path: Path) -> None:
    """systemd reads every line of it; only the program is another one here."""
    unit = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", blocks("ini"), flags=re.MULTILINE)
    path = tmp_path / "arnes-night.service"
    path.write_text(unit.replace("WorkingDirectory=%h/arnes", f"WorkingDirectory={tmp_path}"))
    done = subprocess.run(
        ["systemd-analyze", "--man=no", "verify", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if path.name in line]
    assert told == [], done.stderr
