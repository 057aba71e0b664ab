"""Bytes reach the disk whole or not at all; raw is write-once, derived is replaced whole."""

import os
import stat
from pathlib import Path

import pytest

from harness.errors import StoreError
from harness.records.campaign import JournalEvent
from harness.store import journal
from harness.store.campaign import read_test_runs, write_test_runs
from harness.store.files import remove_leftovers, replace_folder, write_once, write_whole
from harness.store.layout import CellFolder


def event(task: str) -> JournalEvent:
    return JournalEvent(at="2026-01-01T00:00:00+00:00", event="cell_finished", task=task)


def test_evidence_is_written_once(tmp_path: Path) -> None:
    """A second write of the same evidence is refused and changes nothing."""
    path = tmp_path / "raw" / "0001.json"
    write_once(path, b"first")
    with pytest.raises(StoreError, match="written once"):
        write_once(path, b"second")
    assert path.read_bytes() == b"first"


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    """What an older parse left behind is gone: a stale file is worse than none."""
    replace_folder(
        tmp_path / "parsed", {"reply.json": b"1", "files/a/b.py": b"x", "files/c.py": b"y"}
    )
    replace_folder(tmp_path / "parsed", {"reply.json": b"2", "files/c.py": b"y"})
    found = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert found == {"parsed/reply.json", "parsed/files/c.py"}
    assert not (tmp_path / "parsed" / "files" / "a").exists()


def test_an_equal_write_touches_nothing(tmp_path: Path) -> None:
    """Idempotent to the byte includes the file's own time."""
    path = tmp_path / "x.json"
    write_whole(path, b"same")
    before = path.stat().st_mtime_ns
    write_whole(path, b"same")
    assert path.stat().st_mtime_ns == before


def test_temp_files_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    """A kill between temp file and rename leaves nothing that could be taken for a record."""
    (tmp_path / "m" / "raw").mkdir(parents=True)
    (tmp_path / "m" / "raw" / ".arnes-tmp-abc").write_bytes(b"half")
    (tmp_path / ".tmp-of-somebody-else").mkdir()
    remove_leftovers(tmp_path)
    assert list((tmp_path / "m" / "raw").iterdir()) == []
    assert (tmp_path / ".tmp-of-somebody-else").is_dir()


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Nobody knows the temp file, and it is gone."""
    (tmp_path / "page").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_whole(tmp_path / "page", b"text")
    assert caught.value.filename == str(tmp_path / "page")
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "file" / "page", b"text")
    assert {p.name for p in tmp_path.iterdir()} == {"file", "page"}


def test_records_can_be_read_by_others(tmp_path: Path) -> None:
    """A report or a sheet has the mode that any new file has, not that of a temp file."""
    (tmp_path / "usual").touch()
    write_whole(tmp_path / "record.json", b"{}")
    assert (tmp_path / "record.json").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_torn_last_line_of_the_journal_is_skipped(tmp_path: Path) -> None:
    """A kill in the middle of a write costs that line only."""
    path = tmp_path / "journal.jsonl"
    journal.append(path, event("A04"))
    journal.append(path, event("A08"))
    path.write_bytes(path.read_bytes() + b'{"at": "2026-')
    assert [e.task for e in journal.read(path)] == ["A04", "A08"]
    assert journal.read(tmp_path / "none.jsonl") == []


def test_a_torn_line_costs_no_later_event(tmp_path: Path) -> None:
    """Whoever goes on after a kill or a full disk begins a line of his own."""
    path = tmp_path / "journal.jsonl"
    journal.append(path, event("A04"))
    path.write_bytes(path.read_bytes() + b'{"at": "2026-')
    journal.append(path, event("A08"))
    journal.append(path, event("A07"))
    assert [e.task for e in journal.read(path)] == ["A04", "A08", "A07"]


def test_an_event_of_another_version_is_not_taken_for_a_torn_line(tmp_path: Path) -> None:
    """What is whole and cannot be understood is said in one message, not skipped."""
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"at": "2026-11-30", "event": "unheard_of"}\n')
    with pytest.raises(StoreError) as error:
        journal.read(path)
    assert "unheard_of" in str(error.value)


def test_what_a_replay_needs_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut may leave an empty file where one was only renamed: no cell could go on then."""
    synced: list[str] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    cell = CellFolder(tmp_path / "A11")
    write_test_runs(cell, {"key": "outcome"})
    assert synced == ["file", "folder"]
    assert read_test_runs(cell) == {"key": "outcome"}
