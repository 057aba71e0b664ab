"""A03: a storage changes its form under the agent's hands; what counts are rows, once and right."""

import json
import random
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from playing_agents import CONFIG, grade_record, play, play_cell, task_of

from harness.errors import SuiteError
from harness.protocol.calls import Call
from harness.protocol.reading import read_reply
from harness.protocol.writing import system_text
from harness.records.handwritten import read_toml
from harness.records.world import AgentRecord, CellValue, Fault, Step, Table, WorldState
from harness.running.scenes import load_scene, read_schedules
from harness.stages.agent_plays import agent_sets_of
from harness.stages.forms import make_form, make_players, prompt_of, second_answers_of, task_module
from harness.suite.agent_sets import AgentSets, Turns
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form
from harness.suite.loader import load_suite, read_form
from harness.suite.sets import read_agent_expected, read_turns
from harness.world import Case, World
from harness.world.suites import Report
from harness.world.tools import offered

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "suite/core/a03_migration"
DEFINITION = read_toml(FOLDER / "task.toml", TaskDefinition, SuiteError)
ROUNDING = 2e-6  # a row is rounded to six decimals on either side
RUNS = (1, 2, 3, 4, 5)
SEEDS = ("red", "green", "blue")
VAULTS = {"seed vault", "film vault", "cable vault"}
MAXIMUM = {row.id: row.points for row in DEFINITION.rows}
TIMEOUT = "timeout: the tool did not answer"
LADDER = {  # points and rows of the specification; the last ten are ours
    "unaware": 0.0,
    "rebuilds": 0.0,
    "stubborn": 0.0,
    "deletes_all": 10.0,
    "forgets_rejects": 12.8,
    "wrong_unit": 14.6,
    "near_miss": 19.5,
    "repeats_blindly": 15.9,
    "old_summary": 16.0,
    "whole_units": 16.0,
    "guesses": 18.5,
    "renames": 4.0,
    "enters_anew": 11.6,
    "retypes": 18.5,
    "writes_first": 19.0,
    "first_rows": 8 + 5 + 4 * 5 / 6 + 3,
    "builds": 19.5,
}


@cache
def form_of(seed: str) -> Form:
    return make_form(FOLDER, seed)


@cache
def players_of(seed: str) -> AgentSets:
    return make_players(FOLDER, form_of(seed))


@cache
def played(name: str, run: int, seed: str = "open") -> AgentRecord:
    sets = players_of(seed)
    member = next(m for m in (*sets.golden, *sets.defective, *sets.exploits) if m.name == name)
    return play(FOLDER, member.play, run, form_of(seed))


def points(record: AgentRecord, seed: str = "open") -> dict[str, float]:
    rows = grade_record(FOLDER, record, form_of(seed))
    return {row.id: row.points for row in rows if row.points}


def observed(record: AgentRecord, row_id: str) -> dict[str, float]:
    row = next(row for row in grade_record(FOLDER, record) if row.id == row_id)
    return {o.key: o.credit for o in row.observations}


@cache
def generator() -> ModuleType:
    return task_module(FOLDER, "form")


@cache
def policy() -> ModuleType:
    return task_module(FOLDER, "policy")


@pytest.fixture
def form() -> Form:
    return form_of("open")


# ---------------------------------------------------------------- the form and its two methods


def test_definition_has_the_rows_and_observations_of_the_specification() -> None:
    """Four rows of 8, 5, 4 and 3 points with 20, 12, 6 and 6 sub-observations."""
    rows = [(row.id, row.points, row.observations) for row in DEFINITION.rows]

    assert rows == [
        ("slips_landed", 8, 20),
        ("nothing_lost", 5, 12),
        ("summary_follows", 4, 6),
        ("change_handled", 3, 6),
    ]


def test_folder_loads_and_its_functions_match_its_rows(tmp_path: Path) -> None:
    """The static checks of the loader hold for this folder alone."""
    shutil.copytree(FOLDER, tmp_path / "suite/core" / FOLDER.name)

    assert load_suite(tmp_path).ids == ("A03",)


def agree(seed: str) -> None:
    form = form_of(seed)
    scene = load_scene(FOLDER, form, 1)
    assert second_answers_of(FOLDER, prompt_of(FOLDER, form), scene) == form.answers


@pytest.mark.parametrize("seed", ["open", *SEEDS])
def test_what_stands_in_the_world_leads_to_the_answers_of_the_form(seed: str) -> None:
    """22 rows, three ways of losing some, and three names: read from texts, drawn by the form."""
    agree(seed)

    assert len(form_of(seed).answers) == 22 + 3 + 3


@pytest.mark.slow
def test_both_methods_agree_on_twenty_forms() -> None:
    """Twenty private forms lie in their bands, and all three vaults are among them."""
    seeds = [f"seed {n}" for n in range(20)]
    for seed in seeds:
        agree(seed)

    assert {form_of(seed).values["vault"] for seed in seeds} == VAULTS


@pytest.mark.parametrize(
    ("where", "old", "new", "changed"),
    [
        ("slips/a.txt", "83.875", "83.5", {"W-194"}),
        ("slips/c.txt", "W-697", "W-698", {"W-697", "W-698", "left out at once"}),
        ("tables", "95, 'V1'", "95, 'V2'", {"W-698"}),
        ("new tables.sql", "(66, 'corn cockle')", "(65, 'corn cockle')", {"W-677"}),
        ("NOTICE.md", "now intake", "now incoming", {"slips"}),
        ("NOTICE.md", "lot(lot_id,", "lot(lot_no,", {"table"}),
    ],
)
def test_second_method_reads_what_an_agent_could(
    form: Form, where: str, old: str, new: str, changed: set[str]
) -> None:
    """One change in one text changes the answers that hang on it and no other."""
    scene = load_scene(FOLDER, form, 1)
    files, later, tables = dict(scene.files), dict(scene.later), scene.tables
    if where == "tables":
        assert tables.count(old) == 1
        tables = tables.replace(old, new)
    for texts in (files, later):
        if where in texts:
            assert texts[where].count(old) == 1
            texts[where] = texts[where].replace(old, new)
    later |= {path.replace("slips", "intake"): files[path] for path in files if "slips" in path}
    if "incoming" in new:
        later |= {p.replace("intake", "incoming"): t for p, t in later.items() if "intake" in p}
    bent = type(scene)(files=files, tables=tables, later=later)

    found = second_answers_of(FOLDER, prompt_of(FOLDER, form), bent)

    names = found.keys() | form.answers.keys()
    assert {key for key in names if found.get(key) != form.answers.get(key)} == changed


def test_frozen_files_are_what_the_open_form_makes(form: Form) -> None:
    """open.json, turns of goldens and hand-written points agree with form.py and policy.py."""
    sets = players_of("open")
    expected, ceilings = read_agent_expected(FOLDER)

    assert read_form(FOLDER / "open.json") == form
    for golden in sets.golden:
        for run in RUNS:
            written = read_turns(FOLDER, golden.name, run)
            assert written == replies_of(golden.play, run, form)
    assert {name: e.ceiling for name, e in ceilings.items()} == {
        e.name: e.ceiling for e in sets.exploits
    }
    assert expected.keys() == {d.name for d in sets.defective}
    for defective in sets.defective:
        assert expected[defective.name].shows == defective.shows
        for run, rows in zip(expected[defective.name].run, defective.rows, strict=True):
            assert run.rows == pytest.approx(rows, abs=ROUNDING)


def test_ladder_of_the_open_form_has_the_specified_points() -> None:
    """The points that stand written, by run, are those of the specification."""
    expected, _ = read_agent_expected(FOLDER)

    assert {name: [run.points for run in e.run] for name, e in expected.items()} == {
        name: pytest.approx([total] * len(RUNS), abs=ROUNDING) for name, total in LADDER.items()
    }


def test_texts_keep_their_limits(form: Form) -> None:
    """System and task text are at most 3,600 characters, a file 2,400, in every vault."""
    system = system_text(CONFIG, DEFINITION.tools)
    vaults = set()
    for seed in ("open", *SEEDS, "grey", "pink"):
        drawn = form_of(seed)
        vaults.add(drawn.values["vault"])
        prompt = prompt_of(FOLDER, drawn)
        assert len(system) + len(prompt) <= CONFIG.context.system_and_task_chars
        assert len(prompt) == pytest.approx(len(prompt_of(FOLDER, form)), rel=0.05)
        scene = load_scene(FOLDER, drawn, 1)
        assert max(map(len, (*scene.files.values(), *scene.later.values()))) <= 2_400
        for path in ("NOTICE.md", "new tables.sql"):
            open_text = load_scene(FOLDER, form, 1).later[path]
            assert len(scene.later[path]) == pytest.approx(len(open_text), rel=0.10)
    assert vaults == VAULTS


# ---------------------------------------------------------------- the change


class NoRunner:
    """A runner for worlds in which no test is run."""

    def run(self, files: Mapping[str, str], cases: tuple[Case, ...], hash_seed: int = 0) -> Report:
        raise AssertionError((files, cases, hash_seed))


class Vault:
    """The open form's world, and calls on it."""

    def __init__(self, form: Form) -> None:
        self.values: dict[str, Any] = form.values
        self.world = World(load_scene(FOLDER, form, 1), (), NoRunner())

    def sql(self, query: str) -> Step:
        return self.world.execute(Call("sql", {"query": query}), self.world.calls + 1)

    def look(self, times: int = 1) -> None:
        for _ in range(times):
            self.world.execute(Call("list_files"), self.world.calls + 1)

    def enter(self, *rows: list[Any]) -> Step:
        return self.sql(f"INSERT INTO lots VALUES {policy()._values(rows)}")

    def slips(self, letters: str = "abc") -> list[list[Any]]:
        return [row for letter in letters for row in self.values["slips"][letter]]

    @property
    def changed_after(self) -> int | None:
        events = self.world.events
        assert len(events) <= 1
        return events[0].call if events else None

    def codes(self, table: str) -> list[CellValue]:
        return [row[0] for row in self.world.tables.dump()[table].rows]


@pytest.fixture
def vault(form: Form) -> Vault:
    return Vault(form)


FRACTIONS_STORED = ["W-306", "W-683"]  # read from the open form's table by eye


def test_fourth_row_of_a_slip_sets_the_change_off(vault: Vault) -> None:
    """Row by row: the change comes after the fourth, which the copy did not see."""
    for row in vault.slips("a"):
        assert vault.changed_after is None
        vault.enter(row)

    assert vault.changed_after == 4
    late = vault.slips("a")[3][0]
    assert vault.codes("migration_rejects") == sorted([late, *FRACTIONS_STORED])
    assert len(vault.codes("lot")) == 12 - 2 + 3
    assert "lots" not in vault.world.tables.dump()


def test_rows_with_a_fraction_are_rejected_whenever_they_came(vault: Vault) -> None:
    """A slip's fraction that was entered long before the change is in the rejects."""
    broken = [row for row in vault.slips() if row[2] % 1]
    whole = [row for row in vault.slips() if not row[2] % 1]
    assert len(broken) == 3

    vault.enter(broken[0])
    vault.enter(*whole[:2])
    vault.enter(whole[2])

    assert vault.codes("migration_rejects") == sorted(
        [broken[0][0], whole[2][0], *FRACTIONS_STORED]
    )


def test_all_rows_of_one_statement_are_rejected(vault: Vault) -> None:
    """Everything at once: the ten slips and the two old fractions are left out."""
    vault.enter(*vault.slips())

    assert vault.changed_after == 1
    assert len(vault.codes("migration_rejects")) == 12
    assert len(vault.codes("lot")) == 10


def test_call_twelve_sets_it_off_at_the_latest(vault: Vault) -> None:
    """Eleven looks change nothing; the twelfth call does, and only fractions are left out."""
    vault.look(11)
    assert vault.changed_after is None

    vault.look()

    assert vault.changed_after == 12
    assert vault.codes("migration_rejects") == FRACTIONS_STORED


def test_rows_of_call_twelve_are_late_too(vault: Vault) -> None:
    """The statement that is the twelfth call is the one that set the change off."""
    vault.enter(*vault.slips("b"))
    vault.look(10)
    row = vault.slips("c")[0]

    vault.enter(row)

    left_out = {*FRACTIONS_STORED, row[0], *(r[0] for r in vault.slips("b") if r[2] % 1)}
    assert vault.codes("migration_rejects") == sorted(left_out)
    assert json.loads(vault.world.events[0].detail) == sorted(left_out)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE lots",
        "ALTER TABLE lots RENAME TO old_lots",
        "ALTER TABLE lots RENAME COLUMN grams TO mass",
    ],
)
def test_an_old_table_that_was_broken_by_hand_is_moved_as_it_was(
    vault: Vault, statement: str
) -> None:
    """Who drops or bends the old table meets the change at once, and has lost no row by it."""
    vault.enter(*vault.slips("b"))
    assert vault.sql(statement).ok

    assert vault.changed_after == 2
    both = vault.codes("lot") + vault.codes("migration_rejects")
    assert len(set(both)) == len(both) == 12 + 3


def test_names_that_were_taken_are_freed(vault: Vault) -> None:
    """Tables and indexes of the new names, made before, make way for the real ones."""
    vault.sql("CREATE TABLE species(x)")
    vault.sql("CREATE TABLE Migration_Rejects(x)")
    vault.sql("CREATE INDEX lot ON lots(lot)")
    vault.enter(*vault.slips())

    tables = vault.world.tables.dump()
    assert tables["lot"].columns == ("lot_id", "species_id", "mass_mg", "shelf")
    assert len(tables["species"].rows) == 8
    assert len(tables["migration_rejects"].rows) == 12


@pytest.mark.parametrize(
    ("kind", "amount"),
    [
        ("'corn cockle'", "'18 g'"),
        ("'corn cockle'", "NULL"),
        ("'corn cockle'", "9e18"),
        ("'corn cockle'", "9e999"),
        ("'corn cockle'", "x'00ff'"),
        ("'no such plant'", "18"),
        ("NULL", "18"),
    ],
)
def test_rows_that_cannot_be_copied_are_rejected(vault: Vault, kind: str, amount: str) -> None:
    """Whatever a model has entered, the change happens, and the row is not lost without a trace."""
    assert vault.sql(f"INSERT INTO lots VALUES ('it''s', {kind}, {amount}, 'C6')").ok
    vault.look(11)

    assert vault.codes("migration_rejects") == [*FRACTIONS_STORED, "it's"]


def test_a_row_that_stands_twice_is_copied_twice(vault: Vault) -> None:
    """The copy knows no key: three rows that stood before are copied, the fourth is late."""
    row = next(row for row in vault.slips("a") if not row[2] % 1)
    vault.enter(row, row)
    vault.enter(row)
    vault.enter(row)

    assert vault.changed_after == 3
    assert vault.codes("lot").count(row[0]) == 3
    assert vault.codes("migration_rejects").count(row[0]) == 1
    assert json.loads(vault.world.events[0].detail) == FRACTIONS_STORED  # it is not left out


def test_it_happens_once(vault: Vault) -> None:
    """The old table, made again and filled, sets nothing off a second time."""
    vault.enter(*vault.slips())
    vault.sql("CREATE TABLE lots(lot, species, grams, shelf)")
    vault.enter(*vault.slips())
    vault.look(12)

    assert vault.changed_after == 1
    assert len(vault.codes("lots")) == 10


def test_folder_notice_and_walls_change_with_the_tables(vault: Vault) -> None:
    """The slips lie elsewhere with the same text, the notice is there, neither can be written."""
    before = vault.world.files.snapshot()
    vault.enter(*vault.slips())
    after = vault.world.files.snapshot()

    assert set(after) == {"NOTICE.md", "vault/summary.py", *(f"intake/{x}.txt" for x in "abc")}
    assert all(after[f"intake/{x}.txt"] == before[f"slips/{x}.txt"] for x in "abc")
    for path in ("NOTICE.md", "intake/a.txt", "slips/a.txt"):
        step = vault.world.execute(Call("write_file", {"path": path}, "x\n"), 9)
        assert (step.ok, step.shown) == (False, f"read-only: {path}")


def test_numbers_of_kinds_do_not_follow_the_alphabet(vault: Vault) -> None:
    """Nobody can guess a number from the place of a name."""
    vault.enter(*vault.slips())
    kinds: tuple[dict[str, Any], ...] = vault.world.tables.dump()["species"].dicts()

    by_name = [row["species_id"] for row in sorted(kinds, key=lambda row: str(row["name"]))]
    assert by_name not in (sorted(by_name), sorted(by_name, reverse=True))


def test_a_statement_whose_answer_was_lost_was_applied() -> None:
    """Run 1: the first slip's answer times out, and the change has come by it all the same."""
    record = played("step", 1)
    lost = record.calls[2]

    assert (lost.shown, lost.honest) == (TIMEOUT, "ok: 4 rows changed")
    assert record.faults[0].call == record.events[0].call == lost.call == 3
    assert "no such table: lots" in record.calls[3].shown


def test_the_suite_follows_the_form_of_the_storage(form: Form) -> None:
    """The old function is green before the change and red after it, the new one the reverse."""
    desk = policy()._Desk(form)
    new = desk.write_summary(f'    return sum(row["mass_mg"] {desk.here()}) / 1000\n')
    old = policy().call("write_file", form.values["summary"], path="vault/summary.py")

    def player(_run: int) -> Turns:
        for before in (True, False):
            yield policy().call("run_tests")
            yield new
            yield policy().call("run_tests", suite="summary")
            yield old
            if before:
                yield desk.enter_old(desk.rows("abc"))
        yield desk.finish(0, 0)

    steps = [step for step in play(FOLDER, player, 1, form).calls if step.tool == "run_tests"]

    assert [step.green for step in steps] == [("summary",), (), (), ("summary",)]
    assert "KeyError" in steps[1].shown
    assert "3 tests, 3 failing" in steps[1].shown
    expected = {str(case["right"]) for case in form.values["visible"]}
    assert not any(value in step.shown for step in steps for value in expected)


# ---------------------------------------------------------------- what is played


@pytest.mark.parametrize("run", RUNS)
def test_goldens_reach_the_maximum_and_meet_every_fault(run: int) -> None:
    """Four ways of working, 20 points each, the timeout met, far below the longest talk."""
    for golden in players_of("open").golden:
        record = played(golden.name, run)
        assert points(record) == MAXIMUM
        assert all(fate.call for fate in record.faults)
        assert record.longest_chars <= 12_000


def test_goldens_take_the_turns_of_the_specification() -> None:
    """Without the timeout 18 and 14 turns; with it at most one more."""
    for name, least in (("step", 18), ("bulk", 14)):
        turns = {len(played(name, run).steps) for run in RUNS}
        assert turns == {least, least + 1}


@pytest.mark.parametrize(
    ("golden", "lost"), [("step", "slip by slip"), ("bulk", "at once"), ("slow", "late")]
)
def test_each_way_of_working_loses_what_the_form_says(golden: str, lost: str, form: Form) -> None:
    """6, 12 and 2 rows are left out."""
    left_out = json.loads(played(golden, 2).events[0].detail)

    assert " ".join(left_out) == form.answers[f"left out {lost}"]
    assert len(left_out) == {"step": 6, "bulk": 12, "slow": 2}[golden]


@pytest.mark.parametrize("name", sorted(LADDER))
def test_defectives_score_their_rows_in_every_run(name: str) -> None:
    """Each member of the ladder has exactly its written points, under every schedule."""
    expected, _ = read_agent_expected(FOLDER)
    for run, wanted in zip(RUNS, expected[name].run, strict=True):
        assert points(played(name, run)) == pytest.approx(wanted.rows, abs=ROUNDING)


@pytest.mark.parametrize("exploit", players_of("open").exploits, ids=lambda e: e.name)
def test_exploits_stay_under_their_ceiling_and_harm_nobody_after_them(exploit: Any) -> None:
    """No trick scores, and the golden that follows it in the same process has its maximum."""
    for run in RUNS:
        record = play(FOLDER, exploit.play, run, form_of("open"))
        assert sum(points(record).values()) <= exploit.ceiling == 0
    assert points(play(FOLDER, players_of("open").golden[0].play, 1)) == MAXIMUM


@pytest.mark.parametrize("run", RUNS)
def test_who_does_nothing_talks_or_finishes_at_once_has_nothing(run: int) -> None:
    """Gates leave nothing for a storage in which nothing broke."""
    common = [m for m in agent_sets_of(task_of(FOLDER)).defective if m.name not in LADDER]

    assert {m.name for m in common} >= {"empty", "talks", "finish_at_once"}
    for member in common:
        assert points(play(FOLDER, member.play, run)) == {}


def careful(form: Form, seed: str) -> Any:
    """A player that works in a random order and size of steps, and believes what it reads."""
    desk, rng = policy()._Desk(form), random.Random(seed)
    wanted = desk.rows("abc")
    rng.shuffle(wanted)

    def chunks(rows: list[Any]) -> Iterator[list[Any]]:
        while rows:
            size = rng.randint(1, 5)
            yield rows[:size]
            rows = rows[size:]

    def looks() -> Turns:
        for _ in range(rng.randint(0, 2)):
            path = {"path": "vault/summary.py"}
            yield rng.choice([policy().call("list_files"), policy().call("read_file", **path)])

    def player(_run: int) -> Turns:
        yield from looks()
        for part in chunks(wanted):
            answer = yield desk.enter_old(part)
            if TIMEOUT in answer:
                answer = yield policy().sql(f"SELECT * FROM {desk.old}")
            if "no such table" in answer:
                break
            yield from looks()
        yield policy().call("read_file", path="NOTICE.md")
        answer = yield from policy()._sure(policy().sql(f"SELECT * FROM {desk.rejects}"))
        rescued = first_cells(answer)
        yield from policy()._enter(desk, desk.rescue(), [[code] for code in rescued])
        answer = yield from policy()._sure(desk.everything())
        for part in chunks([row for row in wanted if row[0] not in first_cells(answer)]):
            yield from policy()._enter(desk, desk.enter_new(part), part)
        yield desk.write_summary(
            f'    return sum(row["{desk.small}"] {desk.here()}) / {desk.factor}\n'
        )
        yield desk.finish(10, len(rescued))

    return player


def first_cells(answer: str) -> list[str]:
    """Return the first cells of a shown table, without its head."""
    lines = [line.split(" | ") for line in answer.splitlines() if " | " in line]
    return [cells[0] for cells in lines[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_careful_work_in_any_order_is_worth_the_maximum_and_meets_the_fault(run: int) -> None:
    """Twenty random orders per schedule: any chunks, any looks, one timeout, 20 points."""
    for number in range(20):
        seed = ("open", *SEEDS)[number % 4]
        record = play(FOLDER, careful(form_of(seed), f"{run} {number}"), run, form_of(seed))
        assert points(record, seed) == MAXIMUM, number
        assert all(fate.call for fate in record.faults), number


def private_form_holds(seed: str, runs: tuple[int, ...], names: tuple[str, ...]) -> None:
    sets = players_of(seed)
    for golden in sets.golden:
        for run in runs:
            record = played(golden.name, run, seed)
            assert points(record, seed) == MAXIMUM
            assert all(fate.call for fate in record.faults)
            assert abs(len(record.steps) - len(played(golden.name, run).steps)) <= 1
    for defective in sets.defective:
        assert sum(defective.rows[0].values()) == pytest.approx(LADDER[defective.name], abs=1e-9)
        if defective.name in names:
            rows = points(played(defective.name, 2, seed), seed)
            assert rows == pytest.approx(defective.rows[1], abs=ROUNDING)
    for exploit in sets.exploits:
        if exploit.name in names:
            assert points(played(exploit.name, 2, seed), seed) == {}


@pytest.mark.parametrize(
    "seed", [SEEDS[0], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[1:])]
)
def test_private_forms_keep_goldens_and_ladder(seed: str) -> None:
    """A private form: maxima under the second schedule, turns within one, the same points."""
    private_form_holds(seed, (2,), ("forgets_rejects",))


@pytest.mark.slow
def test_twenty_private_forms_keep_goldens_and_ladder() -> None:
    """The same for twenty, under all schedules and with all members."""
    names = (*LADDER, *(exploit.name for exploit in players_of("open").exploits))
    for number in range(20):
        private_form_holds(f"seed {number}", RUNS, names)


@pytest.mark.slow
def test_a_cut_reply_of_a_golden_is_never_another_call() -> None:
    """Every beginning of every golden reply, cut by length, is no call or the same call."""
    tools = offered(DEFINITION.tools, DEFINITION.finish)
    texts = {t for g in players_of("open").golden for t in read_turns(FOLDER, g.name, 2)}
    for text in sorted(texts):
        visible = text.rpartition("</think>")[2]
        whole = read_reply(visible, tools, cut=False)
        assert isinstance(whole, Call)
        for end in range(len(visible)):
            part = read_reply(visible[:end], tools, cut=True)
            if isinstance(part, Call):
                assert (part.tool, part.arguments) == (whole.tool, whole.arguments)


# ---------------------------------------------------------------- what counts, one by one


def with_rows(record: AgentRecord, change: Any) -> AgentRecord:
    """Return a record whose final new table has other rows."""
    table = record.end.tables["lot"]
    rows = tuple(change([list(row) for row in table.rows]))
    tables = {
        **record.end.tables,
        "lot": Table(columns=table.columns, rows=tuple(map(tuple, rows))),
    }
    return record.model_copy(update={"end": WorldState(files=record.end.files, tables=tables)})


def test_a_doubled_slip_is_not_once_and_still_right() -> None:
    """Twice with the right values loses one observation of twenty, and a tenth of the gate."""
    record = with_rows(
        played("step", 2), lambda rows: [*rows, next(r for r in rows if r[0] == "W-301")]
    )

    found = points(record)

    assert found["slips_landed"] == pytest.approx(8 * 19 / 20)
    assert found["nothing_lost"] == pytest.approx(5 * 9 / 10)
    assert found["change_handled"] == pytest.approx(3 * 5 / 6)  # landed is 9 now


@pytest.mark.parametrize(("column", "wrong"), [(1, 99), (2, 85), (2, None), (3, "C9")])
def test_one_wrong_field_makes_a_slip_wrong_but_there(column: int, wrong: Any) -> None:
    """Number, mass and shelf each count."""

    def bend(rows: list[list[Any]]) -> list[list[Any]]:
        return [
            [*row[:column], wrong, *row[column + 1 :]] if row[0] == "W-301" else row for row in rows
        ]

    found = points(with_rows(played("step", 2), bend))

    assert found["slips_landed"] == pytest.approx(8 * 19 / 20)
    assert found["nothing_lost"] == pytest.approx(5 * 9 / 10)
    assert found["change_handled"] == 3


@pytest.mark.parametrize("times", [0, 2])
def test_an_old_row_counts_only_once_there(times: int) -> None:
    """A lost and a doubled old row are the same loss; the slips are untouched by it."""

    def bend(rows: list[list[Any]]) -> list[list[Any]]:
        return [row for row in rows for _ in range(times if row[0] == "W-112" else 1)]

    found = points(with_rows(played("step", 2), bend))

    assert found["nothing_lost"] == pytest.approx(5 * 11 / 12)
    assert found["slips_landed"] == 8


def test_a_mass_may_be_a_real_number_and_rows_of_others_do_not_count() -> None:
    """36000.0 is 36000; a lot that nobody asked for changes no row."""

    def bend(rows: list[list[Any]]) -> list[list[Any]]:
        return [[r[0], r[1], float(r[2]), r[3]] for r in rows] + [["X-1", 48, 5, "C6"]]

    assert points(with_rows(played("step", 2), bend)) == MAXIMUM


def with_steps(record: AgentRecord, *more: Step, without: str = "") -> AgentRecord:
    """Return a record with further steps, and without the calls whose arguments hold a text."""
    kept = [s for s in record.steps if not without or without not in "".join(s.args.values())]
    return record.model_copy(update={"steps": (*kept, *more)})


def sql_step(query: str, *, ok: bool, **more: Any) -> Step:
    return Step(turn=29, kind="call", call=29, tool="sql", args={"query": query}, ok=ok, **more)


def lost_checks(record: AgentRecord) -> set[str]:
    return {key for key, credit in observed(record, "change_handled").items() if credit == 0}


def test_each_check_of_the_last_row_is_lost_alone() -> None:
    """Six checks, six ways to lose exactly one of them."""
    record = played("step", 2)
    assert lost_checks(record) == set()
    fails = [sql_step("SELECT  * FROM Lots", ok=False) for _ in range(3)]
    finish = record.finish or {}

    assert lost_checks(with_steps(record, without="NOTICE.md")) == {"looked before writing"}
    assert lost_checks(
        with_steps(record, sql_step("/* x */ create index i on lot(shelf)", ok=True))
    ) == {"nothing built"}
    assert lost_checks(with_steps(record, without="migration_rejects")) == {"rejects used"}
    assert lost_checks(with_steps(record, *fails)) == {"no stubbornness"}
    for key, value in (("landed", "9"), ("rescued", "six"), ("rescued", "")):
        said = record.model_copy(update={"finish": {**finish, key: value}})
        assert lost_checks(said) == {f"{key} is true"}
    silent = record.model_copy(update={"finish": None, "ended": "turns"})
    assert lost_checks(silent) == {"landed is true", "rescued is true"}


def test_a_look_that_was_not_answered_or_came_late_is_none() -> None:
    """Before the first write, after the change, and with an answer: else it was no look."""
    record = played("step", 2)
    blind = with_steps(record, without="NOTICE.md")
    at = record.events[0].call + 1
    answered = {"turn": at, "kind": "call", "call": at, "ok": True}
    schema = Step(
        **answered,
        tool="sql",
        args={"query": "SELECT sql FROM sqlite_schema"},
        target="sqlite_master",
    )
    table = Step(**answered, tool="sql", args={"query": "SELECT * FROM lot"}, target="lot")
    late = sql_step("SELECT * FROM lot", ok=True, target="lot")

    def begun_with(step: Step) -> AgentRecord:
        return blind.model_copy(update={"steps": (step, *blind.steps)})

    for look in (schema, table):
        assert lost_checks(begun_with(look)) == set()
        for useless in ({"ok": False, "fault": 1}, {"ok": False}, {"call": at - 1}):
            assert lost_checks(begun_with(look.model_copy(update=useless))) == {
                "looked before writing"
            }
    assert lost_checks(with_steps(blind, late)) == {"looked before writing"}


def test_twice_is_patience_and_a_lost_answer_is_no_failure() -> None:
    """Two failures of one statement are allowed, and a timeout is none of them."""
    fails = [sql_step("SELECT * FROM lots", ok=False) for _ in range(2)]
    lost = sql_step("SELECT * FROM lots", ok=False, fault=1)
    refused = sql_step("CREATE TABLE x(a", ok=False)

    assert lost_checks(with_steps(played("step", 2), *fails, lost, refused)) == set()


def with_summary(record: AgentRecord, text: str | None) -> AgentRecord:
    files = {path: t for path, t in record.end.files.items() if path != "vault/summary.py"}
    if text is not None:
        files["vault/summary.py"] = text
    end = WorldState(files=files, tables=record.end.tables)
    return record.model_copy(update={"end": end})


def function(body: str) -> str:
    return f"def total_grams(rows, shelf):\n    here = [r['mass_mg'] for r in rows if r['shelf'] == shelf]\n    return {body}\n"


WRONG = {
    "sum(here) // 1000": 0.0,
    "sum(x // 1000 for x in here)": 0.0,
    "round(sum(here) / 1000)": 0.0,
    "sum(here)": 0.0,
    "sum(here[:1]) / 1000": 0.0,
    "sum(r['mass_mg'] for r in rows) / 1000": 0.0,
    "round(sum(here) / 1000, 2)": 4 * 3 / 6,  # one real sum has two decimals in the open form
    "sum(here) / 1000 if here else None": 4 * 4 / 6,  # the two sums of nothing are lost
    "str(sum(here) / 1000)": 0.0,
    "sum(here) / 1000 > 0": 0.0,
    "10 ** 400": 0.0,
    "float('nan')": 0.0,
}


@pytest.mark.parametrize("body", sorted(WRONG))
def test_every_wrong_function_loses_its_sums(body: str) -> None:
    """Each named mutant dies in a hidden input, and odd values are no sums."""
    record = with_summary(played("step", 2), function(body))

    assert points(record).get("summary_follows", 0.0) == pytest.approx(WRONG[body])


@pytest.mark.parametrize(
    "body",
    [
        "sum(x / 1000 for x in here)",
        "round(sum(here) / 1000, 3)",
        "__import__('math').fsum(here) / 1e3",
    ],
)
def test_other_right_functions_count(body: str) -> None:
    """Sums of floats, rounding to a milligram and other means are as good."""
    assert points(with_summary(played("step", 2), function(body))) == MAXIMUM


@pytest.mark.parametrize("text", [None, "def total_grams(rows:\n", "import lots_of_seeds\n"])
def test_a_function_that_does_not_load_costs_its_own_row(text: str | None) -> None:
    """No file, no syntax, no module: four points, and no other."""
    found = points(with_summary(played("step", 2), text))

    assert found == {row: p for row, p in MAXIMUM.items() if row != "summary_follows"}


@pytest.mark.parametrize("seed", ["open", *SEEDS])
def test_hidden_inputs_kill_every_mutant_of_the_form(seed: str) -> None:
    """Nine wrong sums, each caught by two real inputs at least; two inputs are sums of nothing."""
    form = form_of(seed)

    assert len(generator().MUTANTS) == 9
    assert all(form.structure[f"{name}_fails"] >= 2 for name in generator().MUTANTS)
    rights = [case["right"] for case in form.values["hidden"]]
    assert (len(rights), rights.count(0)) == (6, 2)
    for case in form.values["hidden"]:
        _, _, small, place = form.values["new_columns"]
        assert case["right"] == sum(r[small] for r in case["rows"] if r[place] == case["place"])


def test_nothing_counts_if_the_storage_never_changed(form: Form) -> None:
    """Rows in a table of the new name are worth nothing if it is a model's own."""
    record = played("step", 2).model_copy(update={"events": ()})

    assert points(record) == {}
    assert points(played("own_tables", 1)) == {}
    assert form.values["new_table"] in played("own_tables", 1).end.tables


def test_schedules_hold_one_timeout_of_sql_each() -> None:
    """From call 2, 5, 3, 6 and 4 in runs 1 to 5."""
    schedules = read_schedules(FOLDER)

    assert schedules == tuple(
        (Fault(from_call=n, tool="sql", kind="timeout"),) for n in (2, 5, 3, 6, 4)
    )


def replies_of(player: Any, run: int, form: Form) -> tuple[str, ...]:
    """Return what a player writes in a run."""
    said: list[str] = []

    def heard(number: int) -> Turns:
        turns = player(number)
        answer = None
        while True:
            said.append(next(turns) if answer is None else turns.send(answer))
            answer = yield said[-1]

    play_cell(FOLDER, heard, run, form)
    return tuple(said)
