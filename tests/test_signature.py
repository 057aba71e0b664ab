"""The signature: everything that can move a score is in it, and nothing else."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.arnes import PROFILE_FOLDER, load_arnes
from harness.errors import ConfigError
from harness.signature import PARTS, Signature, changed_parts, check_lock, signature_of
from harness.suite.loader import OPEN_FORM_FILE, Suite, load_suite, read_task

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ROOT / PROFILE_FOLDER
Sign = Callable[[], Signature]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("harness", "suite"):
        ignore = shutil.ignore_patterns("__pycache__", "private")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignore)
    for name in ("arnes.toml", "arnes.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def sign(checkout: Path, suite: Suite | None = None) -> Signature:
    """Sign a checkout, with its suite where that was read already."""
    return signature_of(load_arnes(checkout), suite or load_suite(checkout), checkout / "harness")


def with_one_read_again(suite: Suite, changed: Path) -> Suite:
    """Return the suite as it is now that one file was changed: its task is read again."""
    tasks = tuple(
        read_task(task.folder, task.folder / OPEN_FORM_FILE)
        if changed.is_relative_to(task.folder)
        else task
        for task in suite.tasks
    )
    return replace(suite, tasks=tasks)


def flip(path: Path) -> None:
    """Change one byte without making the file unreadable to the loader."""
    data = bytearray(path.read_bytes())
    at = len(data) - 1 if data[-1:] != b"\n" else len(data) - 2
    data[at] ^= 0x01
    path.write_bytes(bytes(data))


def test_one_flipped_byte_in_any_file_of_the_set_changes_the_signature(checkout: Path) -> None:
    """Every file of the set counts, and the part it belongs to is named."""
    before, suite = sign(checkout), load_suite(checkout)
    checked = 0
    for part, files in before.files.items():
        for name in files:
            path = checkout / name
            original = path.read_bytes()
            # A file that a loader parses keeps its meaning: the byte is added, not flipped.
            if path.suffix == ".py" and path.name == "grader.py":
                path.write_bytes(original + b"#")
            else:
                flip(path)
            after = sign(checkout, with_one_read_again(suite, path))
            path.write_bytes(original)
            moved = {p.name for p in PARTS if before.parts[p.name] != after.parts[p.name]}
            assert after.value != before.value, name
            assert part in moved, name
            checked += 1
    assert checked >= 20
    assert sign(checkout).value == before.value


@pytest.mark.parametrize(
    ("before", "after", "part", "side"),
    [
        ("max_tokens = 24576", "max_tokens = 24575", "config", "run"),
        ("temperature = 0.6", "temperature = 0.7", "config", "run"),
        ("You are given one task.", "You are given a task.", "prompts", "run"),
        ("runs one statement", "runs a statement", "tools", "run"),
        ("memory_mib = 512", "memory_mib = 511", "sandbox", "score"),
    ],
)
def test_a_setting_belongs_to_one_part_of_one_side(
    checkout: Path, before: str, after: str, part: str, side: str
) -> None:
    """A change of arnes.toml names the part that it costs, and only that one."""
    old = sign(checkout)
    path = checkout / "arnes.toml"
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))
    new = sign(checkout)
    assert changed_parts(old.parts, new.parts, "run") + changed_parts(
        old.parts, new.parts, "score"
    ) == (part,)
    assert (old.run_side != new.run_side) == (side == "run")
    assert (old.score_side != new.score_side) == (side == "score")


def test_comments_plan_defaults_and_documents_do_not_count(checkout: Path) -> None:
    """What cannot move a score of a cell does not change the signature."""
    old = sign(checkout)
    path = checkout / "arnes.toml"
    path.write_text("# a comment\n" + path.read_text().replace("runs = 3", "runs = 4"))
    (checkout / "README.md").write_text("other words")
    task = next((checkout / "suite" / "core").glob("a04_*/"))
    (task / "NOTES.md").write_text("other notes")
    toml = task / "task.toml"
    toml.write_text(toml.read_text().replace('does_not_measure = "', 'does_not_measure = "x '))
    assert sign(checkout).value == old.value


def test_points_of_a_row_are_score_side_and_limits_are_run_side(checkout: Path) -> None:
    """task.toml is digested by key."""
    old = sign(checkout)
    toml = next((checkout / "suite" / "core").glob("a04_*/task.toml"))
    text = toml.read_text()
    limit = next(line for line in text.splitlines() if line.startswith("prompt_tokens"))
    toml.write_text(text.replace(limit, "prompt_tokens = 1999999"))
    new = sign(checkout)
    assert changed_parts(old.parts, new.parts, "run") == ("tasks",)
    assert changed_parts(old.parts, new.parts, "score") == ()


# Code that is in no part, and why it cannot move a score without changing what is stamped anyway.
UNSIGNED = {
    "__init__.py": "the version's name",
    "__main__.py": "the entry point",
    "errors.py": "words of errors",
    "clock.py": "time",
    "signature.py": "signs, and is not signed",
    "backends/": "who serves, stamped per run as facts of the server",
    "campaign/": "order and life cycle; what is asked is made in running/",
    "cli/": "thin",
    "instruments/": "separate constructs",
    "report/": "reads FINAL.json",
    "stats/": "reads FINAL.json",
    "store/": "bytes to disk and back",
    "models/": "the scripted double; the channel's own files are in `loop`",
    "records/campaign.py": "plans and results",
    "records/handwritten.py": "reads TOML, whose values are signed",
    "records/run.py": "who ran",
    "records/sample.py": "the machine at a moment; joules stand beside the points",
    "records/summary.py": "sums of score sheets",
    "records/validation.py": "what validation found",
    "records/__init__.py": "",
    "running/": "in `loop`",
    "stages/": "verbs; parsing and grading are done by files that are signed",
    "suite/__init__.py": "",
    "suite/checks.py": "refuses task folders; changes nothing of one that it takes",
    "suite/sets.py": "what is played in validation",
    "suite/agent_sets.py": "what is played in validation",
    "records/transcript.py": "what people read of a cell; graders read records/world.py",
}


def test_every_file_of_the_code_is_signed_or_listed_with_a_reason(checkout: Path) -> None:
    """Nothing that reads, parses or grades a reply is forgotten."""
    signed = {name for files in sign(checkout).files.values() for name in files}
    must = ("parsing/", "protocol/", "grading/", "sandbox/", "running/", "world/")
    for path in sorted((checkout / "harness").rglob("*.py")):
        inside = path.relative_to(checkout / "harness").as_posix()
        if f"harness/{inside}" in signed:
            continue
        assert not inside.startswith(must), f"{inside} is in no part"
        assert any(inside.startswith(prefix) for prefix in UNSIGNED), inside


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ('"reflection"', '"reflections"', ("config", "parsing")),
    ],
)
def test_what_parsing_reads_is_named_on_the_score_side_too(
    checkout: Path, before: str, after: str, parts: tuple[str, ...]
) -> None:
    """A tag that is no longer reasoning moves points: finalize must be able to say by what."""
    old = sign(checkout)
    path = checkout / "arnes.toml"
    path.write_text(path.read_text().replace(before, after))
    new = sign(checkout)
    assert changed_parts(old.parts, new.parts, "run") == parts[:1]
    assert changed_parts(old.parts, new.parts, "score") == parts[1:]


def test_a_locked_version_refuses_another_value(checkout: Path) -> None:
    """A version that is locked stands for one instrument, for ever."""
    config = load_arnes(checkout).model_copy(update={"arnes_version": "9.0.0"})
    signature = sign(checkout)
    key = f"{config.arnes_version}/{config.profile}"
    lock = checkout / "arnes.lock"
    lock.write_text("")
    with pytest.raises(ConfigError, match=r"not in arnes\.lock"):
        check_lock(checkout, config, signature)
    lock.write_text(f'"{key}" = "{signature.lock}"\n')
    check_lock(checkout, config, signature)
    lock.write_text(f'"{key}" = "{"0" * 64}"\n')
    with pytest.raises(ConfigError) as error:
        check_lock(checkout, config, signature)
    assert "locked as" in str(error.value)
    assert signature.lock[:12] in str(error.value)


def test_a_development_version_is_never_locked(checkout: Path) -> None:
    """-dev results say so, and no lock is asked of them."""
    path = checkout / "arnes.toml"
    version = load_arnes(checkout).arnes_version
    path.write_text(path.read_text().replace(f'"{version}"', f'"{version}-dev"'))
    config = load_arnes(checkout)
    assert config.is_development
    check_lock(checkout, config, sign(checkout))


@pytest.mark.parametrize("profile", [None, *sorted(p.stem for p in PROFILES.glob("*.toml"))])
def test_what_is_here_is_what_its_version_was_locked_as(profile: str | None) -> None:
    """Whoever moves scores gives a new `arnes_version`, or a `-dev` one while they work on it."""
    config = load_arnes(ROOT, profile)
    check_lock(ROOT, config, signature_of(config, load_suite(ROOT)))


def test_form_and_candidate_python_stand_outside_the_lock() -> None:
    """A private form or another interpreter is the same version of the instrument."""
    assert {part.name for part in PARTS if part.outside_lock} == {"form", "candidate_python"}
