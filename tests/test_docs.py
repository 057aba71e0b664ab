"""The documents say what is true: their commands, plans, figures and links."""

import re
import tomllib
from pathlib import Path

import pytest
from campaigning import ROOT, arnes, instrument

from harness.records.campaign import CampaignPlan

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_readme_begins_with_the_two_commands() -> None:
    """A newcomer sees first what to type."""
    first = blocks(README, "")[0]
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text()
    assert {"demo:", "test:"} <= {line.split()[0] for line in makefile.splitlines() if line.strip()}


@pytest.mark.slow
def test_the_tour_shows_what_validate_prints() -> None:
    """The table in the README is the one that the command prints."""
    shown = next(b for b in blocks(README, "") if b.startswith("$ arnes validate"))
    printed = arnes("validate", COLUMNS="80", limit_s=1200)
    assert printed.returncode == 0, printed.stdout
    assert [line.rstrip() for line in shown.splitlines()[1:]] == [
        line.rstrip() for line in printed.stdout.splitlines()
    ]


def test_the_figures_of_the_readme_are_the_suite() -> None:
    """84 points, 44 rows, 225 sub-observations: counted, not remembered."""
    tasks = [task.definition for task in instrument().suite.tasks]
    points = f"{sum(t.max_points for t in tasks):g}"
    rows, observations = sum(len(t.rows) for t in tasks), sum(t.observations for t in tasks)
    assert f"({points} points, {rows} rows, {observations}" in README.replace("\n", " ")


def test_plans_in_documents_are_plans() -> None:
    """Whoever copies a plan from a document gets a plan."""
    plans = [b for d in DOCUMENTS for b in blocks(d.read_text(encoding="utf-8"), "toml")]
    assert plans
    for plan in plans:
        CampaignPlan.model_validate(tomllib.loads(plan))


def test_every_command_in_a_document_exists() -> None:
    """A document never names a verb that is not there."""
    verbs = set()
    for document in DOCUMENTS:
        for block in blocks(document.read_text(encoding="utf-8"), ""):
            verbs |= set(
                re.findall(r"^(?:\$ )?arnes ([a-z]+(?: [a-z]+(?:-[a-z]+)?)?)", block, re.MULTILINE)
            )
    assert verbs
    for verb in sorted(verbs):
        first, *rest = verb.split()
        words = (first, *rest) if first in ("campaign", "suite") else (first,)
        assert arnes(*words, "--help").returncode == 0, verb


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link is a file of the repository."""
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_changelog_has_its_two_headings() -> None:
    """What moves scores is told apart from what does not."""
    text = (ROOT / "CHANGELOG.md").read_text()
    assert "### Moves scores" in text
    assert "### Does not move scores" in text


def test_the_repository_names_no_machine_and_no_host() -> None:
    """It speaks of the product only."""
    # Put together here, so that this file does not hold what it looks for.
    banned = ["/wo" + "rk/", "pypi" + ".org", "python" + "hosted", "registry.npm" + "js"]
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT)
        # Bytecode comes and goes while another process runs tests.
        hidden = inside.parts[0] in (".venv", ".git", "campaigns", "reports") or any(
            (part.startswith(".") and part != ".ci") or part == "__pycache__"
            for part in inside.parts
        )
        if hidden or not path.is_file() or path.suffix == ".png":
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        assert not [word for word in banned if word in text], inside
