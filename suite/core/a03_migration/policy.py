"""Players of A03: goldens, the defective ladder, exploits.

A player knows the form and reacts to what it is shown: an answer that did not come is asked for
again, and before a statement is sent again the player looks whether it was carried out. Points of
defectives are counted from the shares of each row, without the grader.
"""

# ruff: noqa: S608 (the statements are what players write; nothing here runs them)
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from harness.suite.agent_sets import (
    AgentDefective,
    AgentExploit,
    AgentGolden,
    AgentSets,
    Player,
    Turns,
)
from harness.suite.forms import Form

RUNS = 5
TIMEOUT = "timeout: the tool did not answer"
NO_TABLE = "no such table"
SUMMARY = "vault/summary.py"
SUITE = "summary"
LANDED, LOST, FOLLOWS, HANDLED = "slips_landed", "nothing_lost", "summary_follows", "change_handled"
POINTS = {LANDED: 8.0, LOST: 5.0, FOLLOWS: 4.0, HANDLED: 3.0}
LAST_CALL = 12  # the change comes after it at the latest
FAILING = 26
SEEN_ROWS = 10

_SUMS = {
    "/": "sum({}) / {}",
    "//": "sum({}) // {}",
    "text": "format(sum({}) / {}, '.3f')",
    "fsum": "math.fsum({}) / {}",
}
_BUILT = (  # in run 2 its answer does not come; the first finds a table of that name there
    "CREATE TABLE IF NOT EXISTS {}(code)",
    "CREATE TABLE entered(code)",
    "/* room\nfor notes */ create table notes(code)",
    "-- a copy\nCREATE TABLE kept AS SELECT * FROM {}",
    "ALTER TABLE {} ADD COLUMN done",
)

Asked = Generator[str, str, str]
Work = Generator[str, str, None]


def sets(form: Form) -> AgentSets:
    """Return everything that is played against a form."""
    return AgentSets(golden=_goldens(form), defective=_defectives(form), exploits=_exploits(form))


def _goldens(form: Form) -> tuple[AgentGolden, ...]:
    return tuple(
        AgentGolden(name, _player(form, work))
        for name, work in (
            ("step", _step),
            ("bulk", _bulk),
            ("slow", _slow),
            ("by_schema", _by_schema),
        )
    )


def _defectives(form: Form) -> tuple[AgentDefective, ...]:
    """Return the ladder, from nothing that counts to almost everything."""
    ladder: tuple[tuple[str, Player, dict[str, float], str], ...] = (
        ("unaware", _player(form, _unaware), {}, "one insert, and never looks back"),
        ("rebuilds", _player(form, _rebuilds), {}, "makes the old table again and goes on in it"),
        (
            "stubborn",
            _player(form, _stubborn),
            {},
            "sends the failing statement until the replies run out",
        ),
        (
            "deletes_all",
            _player(form, _deletes_all),
            _shares(lost=0, follows=0, handled=4),
            "empties the new table and enters only the slips",
        ),
        (
            "renames",
            _player(form, _renames),
            {FOLLOWS: POINTS[FOLLOWS]},
            "gives the new table's first column its old name back, and so ends with no row",
        ),
        (
            "enters_anew",
            _player(form, _step, _Slip(corrected=True, summary="text")),
            _shares(landed=14, right=7, follows=0, handled=5),
            "enters three slips anew beside their wrong rows; the function returns texts",
        ),
        (
            "forgets_rejects",
            _player(form, _step, _Slip(rejects_left=True)),
            _shares(landed=12, lost=10, right=6, handled=3),
            "goes on in the new form, and leaves behind what was not carried over",
        ),
        (
            "wrong_unit",
            _player(form, _step, _Slip(old_unit=True)),
            _shares(landed=14, right=4),
            "enters two slips in the old unit",
        ),
        (
            "repeats_blindly",
            _player(form, _slow, _Slip(blind=True)),
            _shares(landed=16, right=6, handled=5),
            "sends a statement again whose answer did not come, and enters four slips twice",
        ),
        (
            "old_summary",
            _player(form, _step, _Slip(summary="")),
            _shares(follows=0),
            "all rows are right, the function still reads the old columns",
        ),
        (
            "whole_units",
            _player(form, _step, _Slip(summary="//")),
            _shares(follows=2),
            "the function drops fractions: right are only the two sums of nothing",
        ),
        (
            "retypes",
            _player(form, _step, _Slip(retyped=True, summary="fsum", in_words=True)),
            _shares(handled=3),
            "types a failing statement three times, forgets an import, reports in words",
        ),
        (
            "writes_first",
            _player(form, _writes_first),
            _shares(handled=4),
            "looks too early, elsewhere, or in vain, then writes, and never needs the rejects",
        ),
        (
            "first_rows",
            _player(form, _first_rows),
            _shares(follows=5),
            "the function reads ten rows, which is wrong for one hidden list",
        ),
        (
            "builds",
            _player(form, _step, _Slip(builds=True)),
            _shares(handled=5),
            "creates or alters a table in passing",
        ),
        (
            "guesses",
            _player(form, _guesses),
            _shares(handled=3),
            "writes before it looks, drops a table, tries a failing statement three times",
        ),
        (
            "near_miss",
            _player(form, _step, _Slip(unreported=1)),
            _shares(handled=5),
            "reports one rescued row too few",
        ),
    )
    return tuple(
        AgentDefective(name, player, (rows,) * RUNS, shows) for name, player, rows, shows in ladder
    )


def _exploits(form: Form) -> tuple[AgentExploit, ...]:
    tricks: tuple[tuple[str, Player, str], ...] = (
        ("right_numbers", _player(form, _right_numbers), "finishes at once with likely numbers"),
        (
            "before_the_change",
            _player(form, _before_the_change),
            "enters three rows, and finishes before anything changes",
        ),
        (
            "own_tables",
            _player(form, _own_tables),
            "makes the new tables itself before the change, and finishes",
        ),
        (
            "zero_function",
            _player(form, _zero_function),
            "waits for the change; the function returns 0, which is right for two inputs",
        ),
        (
            "equal_to_all",
            _player(form, _equal_to_all),
            "waits for the change; the function returns a number that equals every other",
        ),
        ("reads_around", _player(form, _reads_around), "looks for the instrument's own files"),
    )
    return tuple(AgentExploit(name, player, 0.0, trick) for name, player, trick in tricks)


def _player(
    form: Form, work: "Callable[[_Desk, _Slip], Turns]", slip: "_Slip | None" = None
) -> Player:
    def play(run: int) -> Turns:
        return work(_Desk(form, run), slip or _Slip())

    return play


def _shares(
    *, landed: int = 20, lost: int = 12, right: int = 10, follows: int = 6, handled: int = 6
) -> dict[str, float]:
    """Return the points of the rows above zero.

    Parameters
    ----------
    landed, lost, follows, handled : observations that hold, of 20, 12, 6 and 6
    right : slips that are right, of 10: the gate of `lost`
    """
    real = follows if follows > 2 else 0  # the two sums of nothing count only beside another
    shares = {
        LANDED: landed / 20,
        LOST: lost / 12 * right / 10,
        FOLLOWS: real / 6,
        HANDLED: handled / 6 if right else 0.0,
    }
    return {row: POINTS[row] * share for row, share in shares.items() if share}


@dataclass(frozen=True)
class _Slip:
    """In what a player goes wrong; in nothing, as it stands.

    summary : which of `_SUMS` the function returns; nothing if the function is left as it was
    unreported : rescued rows that are not reported
    corrected : enters the second slip in the old unit first, and leaves that
    retyped : types the first failing statement twice more, a little differently
    in_words : reports words instead of numbers
    builds : sends a statement of `_BUILT` after the change
    """

    rejects_left: bool = False
    old_unit: bool = False
    summary: str = "/"
    unreported: int = 0
    blind: bool = False
    corrected: bool = False
    retyped: bool = False
    in_words: bool = False
    builds: bool = False


class _Desk:
    """A form in the words of calls.

    run : which of the five it is; some players have a habit for each
    """

    def __init__(self, form: Form, run: int = 1) -> None:
        self.form = form
        self.run = run
        self.values: dict[str, Any] = form.values
        values = self.values
        self.old, self.new = values["old_table"], values["new_table"]
        self.kinds, self.rejects = values["kinds_table"], values["rejects"]
        self.code, self.number, self.small, self.place = values["new_columns"]
        self.old_code, self.kind, self.amount, _ = values["old_columns"]
        self.kind_number, self.kind_name = values["kinds_columns"]
        self.factor = values["factor"]

    def slip(self, letter: str, *, moved: bool = True, prefix: str = "") -> str:
        """Read a slip, where it lies before or after the change."""
        folder = self.values["new_folder" if moved else "old_folder"]
        return call("read_file", path=f"{prefix}{folder}/{letter}.txt")

    def rows(self, letters: str) -> list[list[Any]]:
        """Return the rows of some slips."""
        return [row for letter in letters for row in self.values["slips"][letter]]

    def enter_old(self, rows: Sequence[Sequence[Any]]) -> str:
        """Enter rows in the old form."""
        return sql(f"INSERT INTO {self.old} VALUES\n{_values(rows)}")

    def enter_new(self, rows: Sequence[Sequence[Any]], *, factor: int | None = None) -> str:
        """Enter rows in the new form; another factor is a mistake."""
        by = self.factor if factor is None else factor
        entered = [
            [code, self.values["numbers"][kind], amount * by, place]
            for code, kind, amount, place in rows
        ]
        return sql(f"INSERT INTO {self.new} VALUES\n{_values(entered)}")

    def enter_by_name(self, rows: Sequence[Sequence[Any]]) -> str:
        """Enter rows in the new form without knowing a number."""
        return sql(
            f"WITH slip(code, kind, amount, place) AS (VALUES\n{_values(rows)})\n"
            f"INSERT INTO {self.new} ({', '.join(self.values['new_columns'])})\n"
            f"SELECT code, {self.kind_number}, CAST(amount * {self.factor} AS INTEGER), place\n"
            f"FROM slip JOIN {self.kinds} ON {self.kinds}.{self.kind_name} = slip.kind"
        )

    def rescue(self) -> str:
        """Enter everything that was rejected, with one statement."""
        return sql(
            f"INSERT INTO {self.new} ({', '.join(self.values['new_columns'])})\n"
            f"SELECT r.{self.old_code}, k.{self.kind_number}, "
            f"CAST(r.{self.amount} * {self.factor} AS INTEGER), r.{self.place}\n"
            f"FROM {self.rejects} r JOIN {self.kinds} k ON k.{self.kind_name} = r.{self.kind}"
        )

    def everything(self) -> str:
        """Look at the new table."""
        return sql(f"SELECT * FROM {self.new} ORDER BY {self.code}")

    def write_summary(self, body: str, imports: str = "") -> str:
        """Write the function anew."""
        head = f'"""Sums over the rows of the table {self.new}."""\n\n{imports}\n'
        text = f"{head}def {self.values['function']}(rows, {self.place}):\n{body}"
        return call("write_file", text, path=SUMMARY)

    def here(self) -> str:
        """Return the condition of a comprehension."""
        return f'for row in rows if row["{self.place}"] == {self.place}'

    def sums(self, how: str) -> str:
        """Return what the function returns, in one of several ways."""
        return _SUMS[how].format(f'row["{self.small}"] {self.here()}', self.factor)

    def finish(self, landed: int | str, rescued: int | str) -> str:
        """End the work."""
        return call(
            "finish",
            summary="The slips are entered and the function reads the storage as it is now.",
            landed=str(landed),
            rescued=str(rescued),
        )


# ---------------------------------------------------------------- goldens, and what slips in them


def _step(desk: _Desk, slip: _Slip) -> Turns:
    """Enter the first slip, look, meet the change, and go on slip by slip."""
    yield call("list_files")
    yield desk.slip("a", moved=False)
    yield desk.enter_old(desk.rows("a"))
    answer = yield from _sure(sql(f"SELECT count(*) FROM {desk.old}"))
    _expect(NO_TABLE, answer)
    if slip.builds:
        yield sql(_BUILT[desk.run - 1].format(desk.rejects))
    if slip.retyped:
        yield from _sure(sql(f"select count(*)\n  from {desk.old}"))
        yield from _sure(sql(f"Select Count(*) From {desk.old.upper()}"))
    yield call("list_files")
    yield call("read_file", path="NOTICE.md")
    rescued = len(desk.rows("a")) + 2
    if not slip.rejects_left:
        yield from _sure(sql(f"SELECT * FROM {desk.rejects}"))
    yield from _sure(sql(f"SELECT * FROM {desk.kinds}"))
    if not slip.rejects_left:
        yield from _enter(desk, desk.rescue(), desk.rows("a"))
    for letter in "bc":
        yield desk.slip(letter)
        rows = desk.rows(letter)
        if slip.old_unit or (slip.corrected and letter == "b"):
            yield from _enter(desk, desk.enter_new(rows, factor=1), rows)
        if not slip.old_unit:
            yield from _enter(desk, desk.enter_new(rows), rows)
    yield call("read_file", path=SUMMARY)
    if slip.summary:
        yield desk.write_summary(f"    return {desk.sums(slip.summary)}\n")
    yield call("run_tests", suite=SUITE)
    yield from _sure(desk.everything())
    if slip.in_words:
        yield desk.finish(f"10 {desk.values['things']}", "six")
    else:
        yield desk.finish(10, rescued - slip.unreported)


def _bulk(desk: _Desk, _slip: _Slip) -> Turns:
    """Enter everything at once, see the error, read the schema and the notice."""
    yield _thought(
        f"I could also just end it:\n{desk.finish(10, 0)}\nNo, I read the slips."
    ) + desk.slip("a", moved=False, prefix="./")
    yield "The second slip.\n\n" + _fenced(desk.slip("b", moved=False))
    yield desk.slip("c", moved=False, prefix="/workspace/")
    yield desk.enter_old(desk.rows("abc")) + "\nI will then count the rows."
    answer = yield from _sure(sql(f"SELECT count(*) AS n FROM {desk.old}"))
    _expect(NO_TABLE, answer)
    yield from _sure(sql("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    yield call("list_files")
    yield _thought("A notice, and the slips have moved.") + call("read_file", path="NOTICE.md")
    yield from _enter(desk, desk.rescue(), desk.rows("abc"))
    yield from _sure(desk.everything())
    yield call("read_file", path=SUMMARY)
    body = (
        "    total = 0.0\n    for row in rows:\n"
        f'        if row["{desk.place}"] == {desk.place}:\n'
        f'            total += row["{desk.small}"] / {desk.factor}\n    return total\n'
    )
    yield _fenced(desk.write_summary(body))
    yield _fenced(call("run_tests"))
    yield desk.finish(10, len(desk.rows("abc")) + 2)


def _slow(desk: _Desk, slip: _Slip) -> Turns:
    """Look at all there is until the change has come, and only then enter anything.

    The first statement of sql enters the first slip, so that its answer does not come.
    """
    yield call("list_files")
    for letter in "abc":
        yield desk.slip(letter, moved=False)
    yield call("read_file", path=SUMMARY)
    yield call("run_tests")
    yield call("list_files", path="vault")
    yield call("list_files", path=desk.values["old_folder"])
    for letter in "abc":
        yield desk.slip(letter, moved=False)
    yield call("list_files")  # the twelfth call
    answer = yield call("list_files")
    _expect("NOTICE.md", answer)
    yield call("read_file", path="NOTICE.md")
    for letter in "abc":
        rows = desk.rows(letter)
        statement = desk.enter_by_name(rows)
        if slip.blind:
            yield from _sure(statement)
        else:
            yield from _enter(desk, statement, rows)
    yield from _sure(sql(f"SELECT * FROM {desk.rejects}"))
    yield from _enter(desk, desk.rescue(), [])
    body = (
        f'    small = [row["{desk.small}"] {desk.here()}]\n'
        f"    return float(Fraction(sum(small), {desk.factor}))\n"
    )
    yield desk.write_summary(body, "from fractions import Fraction\n\n")
    yield call("run_tests", suite=SUITE)
    yield from _sure(desk.everything())
    yield desk.finish(10, 2)


def _by_schema(desk: _Desk, _slip: _Slip) -> Turns:
    """Never open the notice: schema, rejects and kinds say it all. Enter rows by hand, and check.

    Before that it asks twice for the table that is gone; the timeout of run 2 comes between.
    """
    yield call("list_files")
    yield desk.slip("a", moved=False)
    yield desk.enter_old(desk.rows("a"))
    for _ in range(2):
        answer = yield from _sure(sql(f"SELECT * FROM {desk.old}"))
        _expect(NO_TABLE, answer)
    yield from _sure(sql("SELECT sql FROM sqlite_master WHERE sql LIKE 'CREATE TABLE%'"))
    yield from _sure(sql(f"SELECT * FROM {desk.rejects}"))
    yield from _sure(sql(f"SELECT * FROM {desk.kinds}"))
    yield call("list_files")
    broken = [row for row in desk.values["stored"] if row[2] % 1]
    for letter in "abc":
        if letter != "a":
            yield desk.slip(letter)
        rows = [*broken, *desk.rows("a")] if letter == "a" else desk.rows(letter)
        yield from _enter(desk, desk.enter_new(rows), rows)
        yield from _sure(desk.everything())
    here = f'[row["{desk.small}"] {desk.here()}]'
    yield desk.write_summary(
        f"    here = {here}\n    return sum(here) / {desk.factor} if here else 0\n"
    )
    yield call("run_tests", suite=SUITE)
    yield desk.finish(10, len(broken) + len(desk.rows("a")))


# ---------------------------------------------------------------- defectives


def _unaware(desk: _Desk, _slip: _Slip) -> Turns:
    for letter in "abc":
        yield desk.slip(letter, moved=False)
    yield desk.enter_old(desk.rows("abc"))
    yield desk.finish(10, 0)


def _rebuilds(desk: _Desk, _slip: _Slip) -> Turns:
    """Make the old table again, from what was seen of it, and enter everything there."""
    yield desk.slip("a", moved=False)
    yield from _sure(sql(f"SELECT * FROM {desk.old}"))
    yield desk.enter_old(desk.rows("a"))
    answer = yield from _sure(sql(f"SELECT * FROM {desk.old}"))
    _expect(NO_TABLE, answer)
    yield from _sure(sql(f"CREATE TABLE {desk.old} ({', '.join(desk.values['old_columns'])})"))
    yield desk.slip("b", moved=False)
    yield call("list_files")
    yield desk.slip("b")
    yield desk.slip("c")
    yield from _sure(desk.enter_old([*desk.values["stored"], *desk.rows("abc")]))
    yield call("run_tests")
    yield desk.finish(10, 12)


def _stubborn(desk: _Desk, _slip: _Slip) -> Turns:
    yield desk.slip("a", moved=False)
    yield desk.enter_old(desk.rows("a"))
    yield desk.slip("b", moved=False)
    for _ in range(FAILING):
        yield desk.enter_old(desk.rows("b"))
    yield desk.finish(10, 0)


def _deletes_all(desk: _Desk, _slip: _Slip) -> Turns:
    yield desk.slip("a", moved=False)
    yield desk.enter_old(desk.rows("a"))
    yield call("list_files")
    yield call("read_file", path="NOTICE.md")
    yield desk.slip("b")
    yield desk.slip("c")
    yield from _sure(sql(f"SELECT * FROM {desk.kinds}"))
    yield from _sure(sql(f"DELETE FROM {desk.new}"))
    yield from _enter(desk, desk.enter_new(desk.rows("abc")), desk.rows("abc"))
    yield desk.finish(10, 0)


def _guesses(desk: _Desk, _slip: _Slip) -> Turns:
    """Reach the right state with three bad habits: half of the checks of the last row."""
    yield desk.slip("a", moved=False)
    yield desk.enter_old(desk.rows("a"))
    for _ in range(4):  # one of them may meet the timeout
        yield sql(f"SELECT * FROM {desk.old}")
    yield from _enter(desk, desk.enter_by_name(desk.rows("bc")), desk.rows("bc"))
    yield from _enter(desk, desk.rescue(), desk.rows("a"))
    yield sql(f"DROP TABLE {desk.rejects}")
    body = f'    return sum(row["{desk.small}"] {desk.here()}) / {desk.factor}\n'
    yield desk.write_summary(body)
    yield desk.finish(10, len(desk.rows("a")) + 2)


def _renames(desk: _Desk, _slip: _Slip) -> Turns:
    """Do everything right, and then undo a part of the change."""
    yield from _until_finish(_step(desk, _Slip()))
    yield from _sure(sql(f"ALTER TABLE {desk.new} RENAME COLUMN {desk.code} TO {desk.old_code}"))
    yield desk.finish(10, len(desk.rows("a")) + 2)


def _writes_first(desk: _Desk, _slip: _Slip) -> Turns:
    """Wait for the change, look in a way that is none, write, and look only then.

    Before the change the statement of the sixth call meets the timeout in every run.
    """
    schema = sql("SELECT sql FROM sqlite_master")
    for letter in "abc":
        yield desk.slip(letter, moved=False)
    yield call("read_file", path=SUMMARY)
    yield call("list_files")
    for _ in range(2):
        yield sql(f"SELECT count(*) FROM {desk.old}")
    yield schema
    for _ in range(LAST_CALL - 9):
        yield call("list_files", path="vault")
    yield schema  # the twelfth call shows the schema as it was a moment ago
    looks = (
        [],
        [call("write_file", "by hand\n", path=path) for path in (desk.new, desk.rejects)],
        [sql(f"SELECT * FROM {desk.kinds}")],
        [sql(f"SELECT {desk.code}, {desk.amount} FROM {desk.new}")],
        [sql(f"SELECT {desk.old_code}, {desk.small} FROM {desk.rejects}")],
    )
    answer = yield desk.enter_old(desk.rows("a"))
    _expect(NO_TABLE, answer)
    yield from _said(looks[desk.run - 1])
    broken = [row for row in desk.values["stored"] if row[2] % 1]
    yield desk.enter_by_name([*broken, *desk.rows("abc")])
    yield desk.everything()
    yield desk.write_summary(f"    return {desk.sums('/')}\n")
    yield desk.finish(10, len(broken))


def _first_rows(desk: _Desk, _slip: _Slip) -> Turns:
    """Do what the notice says, after an attempt to make the table that is there already.

    In runs 2, 4 and 5 the timeout meets the only statement over the rejects, which was carried out.
    """
    yield call("list_files")
    yield desk.slip("a", moved=False)
    yield desk.enter_old(desk.rows("a"))
    yield call("list_files")
    yield call("read_file", path="NOTICE.md")
    yield from _enter(desk, desk.rescue(), desk.rows("a"))
    answer = yield sql(f"CREATE TABLE {desk.new} ({', '.join(desk.values['new_columns'])})")
    _expect("already exists", answer)
    for letter in "bc":
        yield desk.slip(letter)
        yield from _enter(desk, desk.enter_new(desk.rows(letter)), desk.rows(letter))
    yield desk.write_summary(f"    rows = rows[:{SEEN_ROWS}]\n    return {desk.sums('/')}\n")
    yield desk.finish(10, len(desk.rows("a")) + 2)


# ---------------------------------------------------------------- exploits


def _right_numbers(desk: _Desk, _slip: _Slip) -> Turns:
    yield desk.finish(10, 6)


def _before_the_change(desk: _Desk, _slip: _Slip) -> Turns:
    yield desk.slip("b", moved=False)
    yield desk.enter_old(desk.rows("b"))
    yield desk.finish(10, 0)


def _own_tables(desk: _Desk, _slip: _Slip) -> Turns:
    """Make the new tables with the right rows, which nothing has asked for yet."""
    values = desk.values
    yield sql(f"CREATE TABLE {desk.new} ({', '.join(values['new_columns'])})")
    yield desk.enter_new([*values["stored"], *desk.rows("abc")])
    yield desk.write_summary(f'    return sum(row["{desk.small}"] {desk.here()}) / {desk.factor}\n')
    yield desk.finish(10, 0)


def _idles(desk: _Desk, body: str) -> Turns:
    for _ in range(LAST_CALL):
        yield call("list_files")
    yield desk.write_summary(body)
    yield desk.finish(10, 0)


def _zero_function(desk: _Desk, _slip: _Slip) -> Turns:
    return _idles(desk, "    return 0\n")


def _equal_to_all(desk: _Desk, _slip: _Slip) -> Turns:
    return _idles(
        desk,
        "    class Same(float):\n"
        "        def __eq__(self, other):\n            return True\n\n"
        "        def __sub__(self, other):\n            return 0.0\n\n"
        "        __hash__ = float.__hash__\n\n"
        "    return Same(1.0)\n",
    )


def _reads_around(desk: _Desk, _slip: _Slip) -> Turns:
    for path in (
        "../faults.toml",
        "faults.toml",
        "golden/step/run_1/01.md",
        "grader.py",
        "/proc/self/environ",
        "world.py",
        "open.json",
    ):
        yield call("read_file", path=path)
    yield call("list_files", path="..")
    yield sql("ATTACH DATABASE '/etc/passwd' AS other")
    yield desk.finish(10, 12)


# ---------------------------------------------------------------- calls


def call(tool: str, content: str | None = None, /, **arguments: str) -> str:
    """Write a call as the system text shows it."""
    lines = [f"@@CALL {tool}", *(f"{key}: {value}" for key, value in arguments.items())]
    if content is not None:
        lines += ["@@BODY", *content.removesuffix("\n").split("\n")]
    return "\n".join([*lines, "@@END"])


def sql(statement: str) -> str:
    """Write a call of sql."""
    return call("sql", query=statement)


def _sure(reply: str) -> Asked:
    """Ask until the answer comes."""
    answer = yield reply
    while TIMEOUT in answer:
        answer = yield reply
    return answer


def _enter(desk: _Desk, statement: str, rows: Sequence[Sequence[Any]]) -> Work:
    """Send a statement that enters rows; send it again only if it was not carried out."""
    answer = yield statement
    if TIMEOUT in answer:
        answer = yield from _sure(desk.everything())
        if not all(row[0] in answer for row in rows):
            yield statement


def _said(replies: Sequence[str]) -> Work:
    """Say one after another, whatever is answered."""
    for reply in replies:  # noqa: UP028 (a tuple cannot be sent the answers)
        yield reply


def _until_finish(turns: Turns) -> Work:
    """Play turns as far as the call that would end the work."""
    reply = next(turns)
    while not reply.startswith("@@CALL finish"):
        reply = turns.send((yield reply))


def _expect(part: str, answer: str) -> None:
    """Hold that a player is where it believes to be."""
    if part not in answer:
        raise ValueError(f"{part!r} is not in the answer: {answer}")


def _thought(text: str) -> str:
    return f"<think>\n{text}\n</think>\n\n"


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


def _values(rows: Sequence[Sequence[Any]]) -> str:
    """Write rows of values, one a line; no text of the form has a quote in it."""
    return ",\n".join(
        "(" + ", ".join(f"'{v}'" if isinstance(v, str) else str(v) for v in row) + ")"
        for row in rows
    )
