"""Worlds, and calls on them, as the tests of this room write them."""

from collections.abc import Mapping

from harness.protocol.calls import CONTENT, Call
from harness.records.world import Fault, Step
from harness.world import Case, Scene
from harness.world.suites import Outcome, Report
from harness.world.world import World

HARBOUR = Scene(
    files={
        "dues/steps.py": "STEP = 25\nFLOOR = 400\n",
        "dues/bands.py": "LIMITS = (80, 120)\n",
        "tickets/1.md": "Write dues/mooring.py.\n",
    },
    tables=(
        "CREATE TABLE visits(id INTEGER, berth TEXT, length REAL, crew INTEGER);"
        "INSERT INTO visits VALUES (1, 'N', 12.5, 3), (2, 'S', 8.0, NULL), (3, 'N', 30.25, 9);"
        "CREATE TABLE surcharge(berth TEXT, cents INTEGER);"
        "INSERT INTO surcharge VALUES ('N', 120), ('S', 80);"
    ),
    pages={"port.test/v1/mooring": '{"id": "m-7", "base": 300}\n', "port.test/v1/waste": "w"},
    read_only=("tickets", "NOTICE.md"),
    stale_tables=(
        "CREATE TABLE visits(id INTEGER, berth TEXT, length REAL, crew INTEGER);"
        "INSERT INTO visits VALUES (1, 'N', 12.5, 3), (2, 'S', 8.0, NULL);"
        "CREATE TABLE surcharge(berth TEXT, cents INTEGER);"
        "INSERT INTO surcharge VALUES ('N', 120), ('S', 80);"
    ),
    variants={"dues/steps.py": "STEP = 20\nEXTRA = 11\n"},
)
SUITES = {
    "helpers": (
        Case("steps up", "dues.steps:f", (1,), 2),
        Case("steps down", "dues.steps:f", (2,)),
    ),
    "ticket_1": (Case("mooring", "dues.mooring:f", (3,), 4),),
}


class SaidRunner:
    """A runner whose outcomes are written: test → status, `ok` where none is."""

    def __init__(self, **statuses: str) -> None:
        self.statuses = {name.replace("_", " "): status for name, status in statuses.items()}

    def run(self, files: Mapping[str, str], cases: tuple[Case, ...], hash_seed: int = 0) -> Report:  # noqa: ARG002 (the shape of a runner)
        outcomes = []
        for case in cases:
            status = self.statuses.get(case.name, "ok")
            outcomes.append(Outcome(case.name, status, "7" if status == "FAIL" else ""))
        return Report(tuple(outcomes))


def fault(from_call: int, tool: str, kind: str, derive: str | None = None) -> Fault:
    return Fault.model_validate(
        {"from_call": from_call, "tool": tool, "kind": kind, "derive": derive}
    )


def act(world: World, tool: str, turn: int = 0, **args: str) -> Step:
    """Call a tool as the loop would; the reply's number is the call's where none is given."""
    body = args.pop(CONTENT, None)
    return world.execute(Call(tool, args, body), turn or world.calls + 1)
