"""The report's folder: what it shows, where every number came from, and what it leaves out."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from finals import final_of
from reported import ABILITY, POINTS, made, report_of

from harness.records.campaign import Final, Source
from harness.report.redact import is_redacted

PROBLEM = "control-golden run 1 A04: 17 points, must be 18"
PLACE = Path(__file__).resolve().parent.parent
MARKS_OF_NOTHING = re.compile(r">\s*(None|nan|inf|-0\.0+)\s*<|\bnan\b")


class Reader(HTMLParser):
    """Collects what a test asks of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.evidence: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href":
                self.links.append(value or "")
            elif name in ("src", "srcset", "action", "data", "poster"):
                self.sources.append(value or "")
            elif name == "data-e":
                self.evidence.append(value or "")


@pytest.fixture(scope="module")
def final() -> Final:
    return made()


@pytest.fixture(scope="module")
def folder(final: Final, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_of(final, tmp_path_factory.mktemp("report") / "made")


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a measured campaign in a private form, whose control went wrong."""
    broken = made(simulated=False, form="0123456789ab").model_copy(update={"problems": (PROBLEM,)})
    return report_of(broken, tmp_path_factory.mktemp("private"))


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Reader:
    return Reader(text)


def files_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def test_the_report_holds_every_form_of_itself(folder: Path) -> None:
    """One page, Markdown, four tables, the pictures, the card, the evidence."""
    names = dict(files_of(folder))
    assert {"report.html", "report.md", "EVIDENCE.json", "card.svg", "card.png"} <= set(names)
    assert {n for n in names if n.startswith("tables/")} == {
        f"tables/{n}.csv" for n in ("ranking", "cells", "rows", "pairs")
    }
    assert {n for n in names if n.startswith("figures/")} == {
        f"figures/{n}.svg"
        for n in (
            "forest", "runs", "pairs", "tasks", "variance", "design", "checks", "ranks", "repairs",
            "resolution", "noise",
        )
    }  # fmt: skip


def test_the_page_reaches_for_nothing_outside(page: Reader, text: str, folder: Path) -> None:
    """Every link leads to a place on the page or to a file beside it; nothing is fetched."""
    assert page.sources == []
    assert not {"link", "img", "iframe", "object", "embed"} & set(page.tags) - {"link"}
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        elif link != "data:,":
            assert (folder / link).is_file(), link
    assert "default-src 'none'" in text
    outside = {u for u in re.findall(r"https?://[^\s\"'<)]+", text) if "www.w3.org" not in u}
    assert outside == set()


def test_ids_are_unique(page: Reader) -> None:
    """A link leads to one place, pictures included."""
    assert len(page.ids) == len(set(page.ids))


def test_every_number_has_its_evidence_and_all_evidence_is_shown(
    page: Reader, folder: Path, final: Final
) -> None:
    """What is shown names its files, and each of them has its digest or was never run."""
    evidence = json.loads((folder / "EVIDENCE.json").read_text(encoding="utf-8"))
    assert set(page.evidence) == set(evidence["numbers"])
    assert evidence["files"] == final.files
    cells = {(c.outcome.cell.model, c.outcome.cell.run, c.outcome.cell.task) for c in final.cells}
    never_run = {f"{m}/run_{r}/{t}" for m, r, t in cells} - {
        path.split("/raw/")[0] for path in final.files
    }
    for name, number in evidence["numbers"].items():
        for place in number["made_from"]:
            found = any(p == place or p.startswith(f"{place}/") for p in final.files)
            assert found or place in never_run, (name, place)


def test_a_number_of_the_ranking_is_the_one_that_is_added_up_by_hand(
    folder: Path, final: Final
) -> None:
    """The mean of EVIDENCE.json is the mean of the run totals in the cells."""
    evidence = json.loads((folder / "EVIDENCE.json").read_text(encoding="utf-8"))
    for model in ABILITY:
        totals: dict[int, list[float]] = {}
        for cell in final.cells:
            if cell.outcome.cell.model == model:
                points = getattr(cell.outcome, "points", None)
                totals.setdefault(cell.outcome.cell.run, []).append(points)
        whole = [sum(run) for run in totals.values() if None not in run]
        shown = evidence["numbers"][f"A.ranking.{model}.mean"]
        # 1e-6: what EVIDENCE.json is rounded to
        assert shown["value"] == pytest.approx(sum(whole) / len(whole), abs=1e-6)
        assert shown["made_from"] == [f"{model}/run_{run}" for run in (1, 2, 3)]


def test_no_score_stands_without_its_repairs(text: str) -> None:
    """The table of means has the repairs in the same line, and both scorings further down."""
    table = text[text.index('id="table-of-ranking-A"') :]
    table = table[: table.index("</table>")]
    assert "Repairs" in table
    (line,) = [row for row in table.split("<tr") if "elm_7b</a>" in row]
    assert re.search(r'data-e="A\.ranking\.elm_7b\.repairs" data-s="1\.0">1<', line)
    assert 'id="table-of-repairs-A"' in text


def test_a_simulated_campaign_says_so_in_every_file(folder: Path) -> None:
    """Nobody can share a part of it that does not say that no model is meant."""
    for name, data in files_of(folder):
        if name == "EVIDENCE.json":
            assert json.loads(data)["simulated"] is True
        elif name.startswith("tables/"):
            lines = data.decode().splitlines()
            assert lines[0].endswith(",origin")
            assert all(line.endswith(",simulated") for line in lines[1:] if not line.endswith('"'))
        elif not name.endswith(".png"):
            assert b"SIMULATED" in data, name


def test_a_measured_campaign_does_not(private: Path) -> None:
    """The mark means something because it is not always there."""
    assert not [n for n, data in files_of(private) if b"SIMULATED" in data]
    assert "measured" in (private / "tables" / "ranking.csv").read_text(encoding="utf-8")


def test_what_a_model_wrote_is_text_and_no_markup(text: str, page: Reader) -> None:
    """A reason that holds a script runs nothing."""
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert page.tags.count("script") == 1
    assert "Whether &lt;rules&gt; hold." in text


def test_a_private_form_is_quoted_nowhere(private: Path, folder: Path) -> None:
    """No file of its report holds an answer; the report of an open form does."""
    assert [n for n, data in files_of(private) if b"Bea" in data] == []
    text = (private / "report.html").read_text(encoding="utf-8")
    assert "<strong>Redacted:</strong>" in text
    assert {n for n, data in files_of(folder) if b"Bea" in data} == {
        "report.html", "tables/rows.csv",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("form", "redact", "left_out"),
    [
        ("open", None, False),
        ("open", True, True),
        ("0123456789ab", None, True),
        ("0123456789ab", False, False),
    ],
)
def test_what_is_asked_for_decides_before_the_form_does(
    form: str, redact: bool | None, left_out: bool
) -> None:
    """Redaction is the default of private forms, and a choice for all."""
    assert is_redacted(made(form=form), redact) == left_out


def test_two_reports_are_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Another process with another hash seed writes the same files."""
    code = (
        "import sys; from pathlib import Path; from reported import made, report_of; "
        "report_of(made(), Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "made")],
        env={**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": str(PLACE)},
        cwd=PLACE.parent,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert dict(files_of(folder)) == dict(files_of(tmp_path / "made"))


def test_what_does_not_hold_is_read_first(private: Path) -> None:
    """The alarm stands before any number, on the page and on the card."""
    text = (private / "report.html").read_text(encoding="utf-8")
    assert text.index(PROBLEM) < text.index("<table")
    assert "DOES NOT HOLD" in (private / "card.svg").read_text(encoding="utf-8")


def test_one_model_of_one_run_has_a_report_without_a_rank(tmp_path: Path) -> None:
    """What cannot be computed is absent with its reason; no dash turns into a number."""
    only = {"solo": [[0.5], [None], [1.0]]}
    folder = report_of(final_of(only, POINTS), tmp_path / "report")
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "No picture:" in text
    assert MARKS_OF_NOTHING.search(text) is None
    assert "<th>Rank set" not in text
    assert not (folder / "figures" / "ranks.svg").exists()
    assert not (folder / "card.svg").exists()
    assert "card.svg" not in text


def test_levels_have_tables_of_their_own_and_only_level_a_has_ranks(tmp_path: Path) -> None:
    """Points of two levels never meet in a sum, and level B orders nothing."""
    shares = {
        "m": [[0.5, 0.6, 0.4], [0.9, 0.8, 0.9], [0.2, 0.3, 0.2]],
        "n": [[0.9, 0.8, 1.0], [0.6, 0.7, 0.5], [0.7, 0.9, 0.8]],
    }
    final = final_of(shares, {"A04": 18.0, "A08": 16.0, "B01": 10.0})
    text = (report_of(final, tmp_path / "report") / "report.html").read_text(encoding="utf-8")
    tables = {
        level: text[text.index(f'id="table-of-ranking-{level}"') :].split("</table>")[0]
        for level in "AB"
    }
    assert "Level A: means of 34 points" in tables["A"]
    assert "Level B: means of 10 points" in tables["B"]
    assert "Rank set" in tables["A"]
    assert "Rank set" not in tables["B"]
    assert "of 44" not in text
    ids = Reader(text).ids
    assert len(ids) == len(set(ids))


def test_a_result_of_several_campaigns_leads_into_each_of_them(tmp_path: Path) -> None:
    """Evidence and commands name the campaign's folder and the id that the model has there."""
    one = final_of({"m": [[0.5, 0.7], [0.5, 0.4], [1.0, 0.9]]}, POINTS)
    cells = tuple(c.model_copy(update={"source": "night-1"}) for c in one.cells)
    source = Source(name="night-1", campaign=one.campaign, renamed={"old": "m"})
    files = {f"night-1/old/run_{r}/{t}/raw/0001.json": "0" * 64 for r in (1, 2) for t in POINTS}
    pooled = one.model_copy(update={"cells": cells, "sources": (source,), "files": files})
    folder = report_of(pooled, tmp_path / "report")
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "Made from 1 campaign:" in text
    assert "night-1/old/run_2/A08/raw/0001.json" in text
    assert "arnes explain night-1 old 2 A08" in text
    evidence = json.loads((folder / "EVIDENCE.json").read_text(encoding="utf-8"))
    assert evidence["numbers"]["A.ranking.m.mean"]["made_from"] == [
        "night-1/old/run_1", "night-1/old/run_2",
    ]  # fmt: skip


def test_a_rank_under_doubt_is_hatched_with_its_reason(text: str, folder: Path) -> None:
    """The reader sees which place rests on a row that its grader's mutants put under doubt."""
    table = text[text.index('id="table-of-rows-A"') :].split("</table>", maxsplit=1)[0]
    (line,) = [row for row in table.split("<tr") if ">A10.row_2 " in row]
    assert 'class=" doubt"' in line
    assert "two changes of its grader go unnoticed" in line
    assert "<pattern" in (folder / "figures" / "ranks.svg").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_full_campaign_fits_into_two_megabytes(tmp_path: Path) -> None:
    """Eight models, eleven tasks of seven rows, five runs, a long reason in every row."""
    shares = {
        f"model-{k}": [[((k * t + r) % 10) / 10 for r in range(5)] for t in range(11)]
        for k in range(8)
    }
    final = final_of(shares, {f"A{t:02d}": 18.0 for t in range(1, 12)}, rows=7)
    cells = tuple(
        c.model_copy(
            update={
                "outcome": c.outcome.model_copy(
                    update={
                        "rows": tuple(
                            r.model_copy(
                                update={"reason": f"{r.id} of {c.outcome.cell}: " + "x" * 400}
                            )
                            for r in c.outcome.rows
                        )
                    }
                )
            }
        )
        for c in final.cells
    )
    folder = report_of(final.model_copy(update={"cells": cells}), tmp_path / "report")
    assert (folder / "report.html").stat().st_size < 2_000_000
