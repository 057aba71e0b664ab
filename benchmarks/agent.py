"""What a turn of an agent costs around the model: 1,000 scripted turns with tools.

    python benchmarks/agent.py [--rounds 5]

Both sides play 40 cells of 25 written replies: two listings, eleven reads and ten writes of files,
a reply without a call, and the end. Ours is the loop as a campaign runs it from the text of a reply
on: channel, protocol, world with journal and faults, conversation with its shortening, transcript,
and the next request. mini-swe-agent runs its own `DefaultAgent`: once with commands that are looked
up in a table, which is the nearer comparison since our world is simulated, too, and once in its own
local environment, whose shells cost more time than is counted here. Neither side talks to a server
or writes a file. CPU of one process; sides take turns.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from measuring.environments import PLACE, environment
from measuring.tables import print_machine, print_table

from harness.arnes import load_arnes
from harness.protocol.writing import render_call
from harness.records.world import Fault
from harness.running.agent import AgentCell, AgentSetup
from harness.suite.definition import TaskDefinition
from harness.suite.forms import Form, Reply
from harness.suite.loader import Task
from harness.world import Scene

ROOT = Path(__file__).resolve().parent.parent
THEIRS = ROOT / "benchmarks" / "measuring" / "mini_turns.py"
CELLS = 40
FILES = 10
PROSE = "I look at what is there first, and go on with the next file.\n\n"
LINES = "".join(f"value_{number} = {number * 37 % 101}\n" for number in range(40))
NAMES = [f"notes/part_{number}.py" for number in range(FILES)]
LISTING = "\n".join(f"{name} ({len(LINES)} characters)" for name in NAMES)
FENCE = "```"


def replies() -> list[str]:
    """Return the 25 replies of one cell for our side."""
    calls = [render_call("list_files", {})]
    for name in NAMES:
        calls.append(render_call("read_file", {"path": name}))
        calls.append(render_call("write_file", {"path": name}, LINES))
    calls += [render_call("list_files", {}), render_call("read_file", {"path": NAMES[0]})]
    return [*(PROSE + call for call in calls), PROSE, render_call("finish", {"summary": "done"})]


def their_script() -> tuple[list[str], dict[str, str]]:
    """Return the same 25 replies as commands, and what the commands print."""
    outputs: dict[str, str] = {}
    commands = ["ls -l notes"]
    for name in NAMES:
        commands += [f"cat {name}", f"mkdir -p notes && cat > {name} <<'EOF'\n{LINES}EOF"]
    commands += ["ls -l notes", f"cat {NAMES[0]}"]
    for command in commands:
        outputs[command] = LISTING if command.startswith("ls") else ""
        if command.startswith("cat"):
            outputs[command] = LINES
    done = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    outputs[done] = "DONE"
    block = f"{FENCE}mswea_bash_command\n{{}}\n{FENCE}"
    texts = [PROSE + block.format(command) for command in commands]
    return [*texts, PROSE, block.format(done)], outputs


def setup() -> AgentSetup:
    """Return a small task with the real config, two faults that never fire among its schedule."""
    definition = TaskDefinition.model_validate(
        {
            "schema_version": 1,
            "id": "A99",
            "title": "Turns",
            "level": "A",
            "mode": "agent",
            "max_points": 1.0,
            "tools": ["list_files", "read_file", "write_file", "sql", "finish"],
            "measures": "Nothing.",
            "does_not_measure": "Anything.",
            "limits": {"prompt_tokens": 8192},
            "rows": [
                {"id": "r", "kind": "state", "points": 1.0, "observations": 1, "asks": "Nothing."}
            ],
        }
    )
    form = Form(task="A99", family=1, seed="open", values={})
    task = Task(ROOT, definition, form, "0" * 12, "Go through the notes.\n" * 40)
    rows = ",".join(f"({number}, 'x')" for number in range(24))
    scene = Scene(
        files=dict.fromkeys(NAMES, LINES),
        tables=f"CREATE TABLE visits(id, berth); INSERT INTO visits VALUES {rows}",
    )
    never = Fault(from_call=99, tool="*", kind="timeout")
    return AgentSetup(
        task, load_arnes(ROOT), 1, scene, (never, never.model_copy(update={"tool": "sql"}))
    )


def ours() -> tuple[int, float]:
    """Play all cells; return turns and CPU seconds."""
    written, base = [Reply(text) for text in replies()], setup()
    began, turns = time.process_time(), 0
    for _ in range(CELLS):
        cell = AgentCell(replace(base), model="written")
        for reply in written:
            cell.request()
            cell.take_reply(reply)
        cell.record()
        turns += len(cell.turns)
    return turns, time.process_time() - began


def theirs(python: Path, place: str) -> tuple[int, float]:
    """Play all cells in mini-swe-agent; return turns and CPU seconds."""
    texts, outputs = their_script()
    told = AgentCell(setup(), model="written").request().messages
    done = subprocess.run(
        [str(python), str(THEIRS), place, str(CELLS)],
        input=json.dumps([texts, outputs, told[0].content, told[1].content]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MSWEA_SILENT_STARTUP": "1", "MSWEA_GLOBAL_CONFIG_DIR": str(PLACE)},
    )
    if done.returncode:
        sys.exit(f"mini-swe-agent ended with {done.returncode}:\n{done.stderr[-2000:]}")
    turns, cpu_s = json.loads(done.stdout.strip().splitlines()[-1])
    return turns, cpu_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    print_machine()
    sides = {"arnes": ours}
    found = environment("mini-swe-agent")
    if found:
        sides[f"{found.label}, table"] = lambda: theirs(found.python, "memory")
        sides[f"{found.label}, local"] = lambda: theirs(found.python, "local")
    costs: dict[str, list[float]] = {name: [] for name in sides}
    ours()  # also warms what is compiled once
    for _ in range(asked.rounds):
        for name, side in sides.items():
            turns, cpu_s = side()
            if turns != CELLS * len(replies()):
                sys.exit(f"{name} played {turns} turns")
            costs[name].append(cpu_s / turns * 1000)
    base = median(costs["arnes"])
    rows = [
        (name, f"{median(of):.3f}", f"{min(of):.3f} to {max(of):.3f}", f"{median(of) / base:.1f}")
        for name, of in costs.items()
    ]
    print_table(("loop", "CPU ms/turn", "rounds", "ratio"), rows)


if __name__ == "__main__":
    main()
