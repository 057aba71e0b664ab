"""A statement reads and writes the tables, whole or not at all, and nothing else."""

import pytest
from world.acting import HARBOUR, act

from harness.records.world import Table
from harness.world import Scene, World
from harness.world.tables import Tables


def asked(query: str, script: str = HARBOUR.tables) -> tuple[bool, str]:
    answer = Tables(script).ask(query)
    return answer.ok, answer.text


def test_rows_are_shown_as_plain_text() -> None:
    """Columns, rows, their number; nothing is NULL, and a real number keeps its point."""
    shown = "id | length | crew\n1 | 12.5 | 3\n2 | 8.0 | NULL\n3 | 30.25 | 9\n(3 rows)"

    assert asked("SELECT id, length, crew FROM visits ORDER BY id;") == (True, shown)
    assert asked("SELECT id FROM visits WHERE 0") == (True, "id\n(0 rows)")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", "1"),
        ("1.0", "1.0"),
        ("0.1 + 0.2", "0.3"),
        ("1e300", "1e+300"),
        ("9e999", "Inf"),
        ("-9e999", "-Inf"),
        ("x'00ff'", "x'00ff'"),
        ("'a' || char(10) || 'b'", "a\\nb"),
        ("''", ""),
        ("9223372036854775807", "9223372036854775807"),
        ("CAST(x'ff41' AS TEXT)", "\ufffdA"),
    ],
)
def test_a_value_has_one_text(value: str, shown: str) -> None:
    """Every type of SQLite's is shown on one line, the same on every machine."""
    assert asked(f"SELECT {value} AS v") == (True, f"v\n{shown}\n(1 rows)")


def test_at_most_fifty_rows_are_shown() -> None:
    """The rest is counted, so that an answer is known to be a part."""
    script = "CREATE TABLE n(x); INSERT INTO n VALUES (0)" + ",(0)" * 59

    answer = Tables(script).ask("SELECT x FROM n")
    assert answer.text == "x\n" + "0\n" * 50 + "(50 rows shown of 60)"
    assert answer.rows == 50
    assert Tables(script).ask("SELECT x FROM n LIMIT 50").text.endswith("\n(50 rows)")


def test_writing_says_how_many_rows_changed() -> None:
    """A write answers with its rows; the tables it changed stand in the journal."""
    world = World(HARBOUR)

    step = act(world, "sql", query="UPDATE visits SET crew = 1 WHERE berth = 'N'")
    assert (step.shown, step.target) == ("ok: 2 rows changed", "visits")
    assert step.changed_tables == ("visits",)
    step = act(world, "sql", query="UPDATE visits SET crew = 1 WHERE berth = 'N'")
    assert (step.shown, step.changed_tables) == ("ok: 2 rows changed", ())
    step = act(world, "sql", query="INSERT INTO surcharge SELECT berth, id FROM visits")
    assert (step.target, step.changed_tables) == ("surcharge,visits", ("surcharge",))
    step = act(world, "sql", query="DROP TABLE VISITS")
    assert (step.shown, step.target) == ("ok: 0 rows changed", "visits")
    assert step.changed_tables == ("visits",)
    step = act(world, "sql", query="CREATE TABLE lot(a, b)")
    assert (step.target, step.changed_tables) == ("lot", ("lot",))
    step = act(world, "sql", query="ALTER TABLE lot RENAME TO lots")
    assert (step.target, step.changed_tables) == ("lot", ("lot", "lots"))
    step = act(world, "sql", query="DELETE FROM surcharge")
    assert step.shown == "ok: 5 rows changed"


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("SELECT count(*) FROM visits", ("visits",)),
        ("SELECT 1", ()),
        ("SELECT * FROM sqlite_master", ("sqlite_master",)),
        (
            "SELECT v.id FROM Visits v JOIN surcharge s ON s.berth = v.berth",
            ("surcharge", "visits"),
        ),
        ("WITH late AS (SELECT * FROM visits) SELECT count(*) FROM late", ("visits",)),
        ("WITH one AS (SELECT 1) SELECT count(*) FROM one", ()),
        ("SELECT 1 WHERE EXISTS (SELECT 1 FROM surcharge)", ("surcharge",)),
        ("SELECT * FROM nowhere", ()),
    ],
)
def test_the_tables_that_a_statement_touches_are_known(query: str, tables: tuple[str, ...]) -> None:
    """The target is what SQLite itself says, each time that the statement is asked."""
    base = Tables(HARBOUR.tables)

    assert base.ask(query).tables == tables
    assert base.ask(query).tables == tables


@pytest.mark.parametrize(
    "query", ["PRAGMA table_info(surcharge)", "select name from pragma_table_info('surcharge')"]
)
def test_the_columns_of_a_table_can_be_asked_for(query: str) -> None:
    """It is how many models look first; the table that was asked about is the target."""
    base = Tables(HARBOUR.tables)
    answer = base.ask(query)
    assert answer.ok
    assert "cents" in answer.text
    assert answer.tables == ("surcharge",)
    assert base.dump() == Tables(HARBOUR.tables).dump()


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO '/tmp/arnes-escape.db'",
        "PRAGMA table_info",
        "PRAGMA table_list",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT random()",
        "SELECT hex(randomblob(8))",
        "SELECT date('now')",
        "SELECT strftime('%s', 'now')",
        "SELECT julianday()",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT current_date",
        "SELECT sqlite_version()",
        "CREATE TABLE t(a, b DEFAULT CURRENT_TIMESTAMP, c DEFAULT (random()))",
        "CREATE TEMP TABLE t(a)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON visits BEGIN DELETE FROM surcharge; END",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
        "BEGIN",
        "SAVEPOINT s",
        "ANALYZE",
        "EXPLAIN SELECT 1",
        "/* a */ -- b\n explain query plan SELECT 1",
    ],
)
def test_nothing_but_the_tables_can_be_reached(query: str) -> None:
    """No file, no setting, no clock, no chance, no unfinished change; the tables stay as they are."""
    base = Tables(HARBOUR.tables)
    before = base.dump()

    answer = base.ask(query)

    if query.startswith("CREATE TABLE"):  # a default is first needed by a row
        assert answer.ok
        answer = base.ask("INSERT INTO t(a) VALUES (1)")
        before["t"] = Table(columns=("a", "b", "c"), rows=())
    assert not answer.ok
    assert answer.text.startswith("sql error: ")
    assert base.dump() == before
    assert base.ask("SELECT count(*) AS n FROM visits").text == "n\n3\n(1 rows)"


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT * FROM lots", "no such table: lots"),
        ("SELECT colour FROM visits", "no such column: colour"),
        ("SELECT 1; SELECT 2", "only one statement is run at a time"),
        ("SELECT 1; DROP TABLE visits", "only one statement is run at a time"),
        ("SELECT 1\0", "the statement cannot be read"),
        ("SELECT ?", "the statement cannot be read"),
        ("SELECT '\ud800'", "the statement cannot be read"),
    ],
)
def test_an_error_is_told_as_sqlite_words_it(query: str, error: str) -> None:
    """A statement that fails changes nothing and says why."""
    base = Tables(HARBOUR.tables)
    before = base.dump()

    assert base.ask(query).text == f"sql error: {error}"
    assert base.dump() == before


@pytest.mark.parametrize(
    "query", ["", " ; ", "-- nothing", "SELECT ?", "SELEC", "((((", "'", "\ufeffSELECT 1"]
)
def test_no_text_raises(query: str) -> None:
    """Whatever is asked, there is an answer on one line or as a table."""
    assert Tables(HARBOUR.tables).ask(query).text.startswith(("sql error: ", "ok: 0", "1\n"))


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


@pytest.mark.parametrize(
    "query",
    [
        f"{ENDLESS} SELECT count(*) FROM c",
        f"{ENDLESS} SELECT printf('%4000s', x) FROM c ORDER BY 1 DESC",
        f"{ENDLESS} INSERT INTO visits(id) SELECT x FROM c",
        f"{ENDLESS} SELECT sum(printf('%4000s', x) LIKE '%a%a%a%a%a%a%a%') FROM c",
        f"SELECT count(*) FROM {', '.join(f'visits {alias}' for alias in 'abcdefghijklm')}",
        f"{ENDLESS} SELECT group_concat(x) FROM c",
        f"{ENDLESS} SELECT sum(instr(printf('%4000s', x), printf('%2000sb', ''))) FROM c",
        "SELECT replace(printf('%3000s', 1), ' ', printf('%3000s', 1))",
        f"CREATE TABLE big AS {ENDLESS} SELECT printf('%4000s', x) FROM c LIMIT 6000",
        f"SELECT {'(' * 5000}1{')' * 5000}",
        "SELECT 1 WHERE 'a' LIKE '" + "%a" * 500 + "'",
        "SELECT zeroblob(2000000000)",
    ],
)
def test_a_statement_has_bounds(query: str) -> None:
    """Steps, memory and the size of the tables are limited, and the tables stay as they were."""
    base = Tables(HARBOUR.tables)
    before = base.dump()

    answer = base.ask(query)

    assert (answer.ok, answer.text[:11]) == (False, "sql error: ")
    assert base.dump() == before


def test_the_dump_is_canonical() -> None:
    """The order in which rows came, and the kinds of their values, do not change a dump's order."""
    rows = ["(NULL)", "(2)", "(1.5)", "('b')", "('B')", "(x'01')", "(9e999)"]
    first, second = (
        Tables(f"CREATE TABLE b(v); INSERT INTO b VALUES {','.join(order)}; CREATE TABLE a(x)")
        for order in (rows, rows[::-1])
    )

    assert first.dump() == second.dump()
    assert list(first.dump()) == ["a", "b"]
    assert [v for (v,) in first.dump()["b"].rows] == [None, 1.5, 2, "B", "Inf", "b", "x'01'"]


def test_a_script_of_ours_is_free_of_the_bounds_of_statements() -> None:
    """The world itself may change what a model may not, and the dump follows."""
    world = World(Scene(tables="CREATE TABLE lots(lot)"))

    world.tables.script("DROP TABLE lots; BEGIN; CREATE TABLE lot(id INTEGER); COMMIT")

    assert world.tables.dump() == {"lot": Table(columns=("id",), rows=())}
    assert world.tables.rows("SELECT count(*) FROM lot") == [(0,)]


def test_a_row_of_comments_costs_no_time() -> None:
    """Tried in every way that it can be cut, forty comments would hold a cell for hours."""
    base = Tables(HARBOUR.tables)
    assert base.ask("/**/" * 400 + "SELECT 1 AS one").text == "one\n1\n(1 rows)"
    assert not base.ask("/* a */ " * 400 + "EXPLAIN SELECT 1").ok


def test_indexes_can_be_made_and_dropped() -> None:
    """SQLite asks for more than the name of the statement says."""
    base = Tables(HARBOUR.tables)
    made = base.ask("CREATE INDEX by_berth ON visits(berth)")
    assert (made.ok, made.tables) == (True, ("visits",))
    assert base.ask("DROP INDEX by_berth").ok
