"""`arnes doctor`: what this machine can do, and what to do about what it cannot."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.terminal import JsonFlag, print_json, say


def doctor(
    url: Annotated[
        str | None, typer.Option(help="Also look at this server.", show_default=False)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check Python, CPU, memory, disk, GPU, the embedded model, and a server of yours."""
    from harness.backends.doctor import examine
    from harness.sandbox import describe, probe
    from harness.stages.instrument import find_root

    findings = examine(find_root(Path.cwd()), url)
    walls = probe()
    bad = [f for f in findings if f.ok is False]
    if as_json:
        found = [{"name": f.name, "ok": f.ok, "found": f.found, "todo": f.todo} for f in findings]
        sandbox = {"name": "sandbox", "ok": walls.available, "found": walls.stamp}
        print_json([*found, {**sandbox, "todo": walls.todo}])
    else:
        marks = {True: "ok  ", False: "NO  ", None: "–   "}
        for f in findings:
            say(f"{marks[f.ok]} {f.name:22} {f.found}")
            if f.todo and f.ok is not True:
                say(f"       → {f.todo}")
        say()
        for line in describe():
            say(line)
        if not walls.available:
            say("Tasks that run what models write are left out of campaigns here.")
    raise typer.Exit(1 if bad else 0)
