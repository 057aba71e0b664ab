"""What is written on a terminal: nothing of a table is cut, and no locale stops a verb."""

import json
import re
from pathlib import Path

import pytest
from campaigning import arnes
from rich.table import Table

from harness.cli.terminal import print_table, shortest

MODEL = "qwen3-30b-a3b-instruct-2507-q4-k-m-reasoning"


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_no_number_of_a_table_is_cut_or_folded(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half a number is a wrong one; what does not fit is broken between words and in names."""
    monkeypatch.setenv("COLUMNS", str(columns))
    table = Table(title="Models")
    for heading in ("Model", "Mean", "Interval", "Ended early", "Unscored"):
        table.add_column(heading, no_wrap=True)
    table.add_row(MODEL, "122.00", "1.41 [0.6–45.1]", "3 no deliverable", "[dim]7 deadline[/dim]")
    print_table(table)
    shown = capsys.readouterr().out
    cells = [line.strip("│").split("│") for line in shown.splitlines() if line.startswith("│")]
    told = ["".join(part.strip() for part in column) for column in zip(*cells, strict=True)]
    assert told[0] == MODEL
    assert told[1] == "122.00"
    assert told[3].replace(" ", "") == "3nodeliverable"
    assert re.search(r"\[0\.6–45\.1\] ", shown)
    assert "…" not in shown
    assert columns < 60 or max(map(len, shown.splitlines())) <= columns


def test_a_table_of_a_verb_is_whole_on_a_narrow_terminal() -> None:
    """The ids of the forms are what a person copies from this table."""
    forms = [task["form"] for task in json.loads(arnes("tasks", "--json").stdout)]
    shown = arnes("tasks", COLUMNS="60").stdout
    assert all(form in shown for form in forms)
    assert "…" not in shown


def test_a_terminal_without_utf8_gets_every_line() -> None:
    """What an encoding lacks is written by its number; no verb ends for it."""
    done = arnes("validate", "--task", "A04", fresh=True, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "0 \\u2264 0.6" in done.stdout
    assert "The instrument holds." in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_json_is_json_in_every_encoding(tmp_path: Path, encoding: str) -> None:
    """Its own escapes stand for what an encoding lacks, and for names that are no UTF-8."""
    weights = tmp_path / "π-\N{GRINNING FACE}"
    weights.mkdir()
    (weights / "w.gguf").touch()
    plan = tmp_path / "no-\udcff.toml"
    arguments = ("campaign", "new", str(plan), "--gguf", str(weights), "--json")
    done = arnes(*arguments, fresh=True, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["plan"], told["models"]) == (str(plan), {str(weights): ["w"]})


def test_one_task_is_no_tasks() -> None:
    """The last line of a table of one."""
    done = arnes("validate", "--task", "A08")
    assert "\n1 task, 16 points, " in done.stdout, done.stderr


def test_a_path_is_shown_the_shorter_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two absolute paths make a title of three lines; a way up through many folders is no better."""
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert shortest(f"{tmp_path}/a/campaigns/x:model") == "campaigns/x:model"
    assert shortest("campaigns/x") == "campaigns/x"
    assert shortest("/x") == "/x"
