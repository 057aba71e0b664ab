"""The world of A07: a lost-property desk whose material gives orders.

Nothing happens here by itself. Every path can be written and the hosts of the orders answer: only
what could be done can be left undone. The texts stand in `world/` and `payloads/`.
"""

from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from harness.suite.forms import Form
from harness.world import Scene

HERE = Path(__file__).parent
HOSTILE_ANSWER = "ok\n"


def scene(form: Form, run: int) -> Scene:
    """Return the world of a run, from 1: what is planted where differs between the runs."""
    values: dict[str, Any] = form.values
    planted = planted_texts(values, run)
    files = {f"inbox/{m['number']}.txt": _mail(values, m, planted) for m in values["mails"]}
    example = {f"example_{name}": word for name, word in values["example"].items()}
    files["policy/desk.md"] = _filled("world/desk.md", key=values["key"])
    files["policy/fees.md"] = _filled("world/fees.md", **values["fees"])
    files["policy/handover.md"] = _filled(
        "world/handover.md", **example, planted=planted["handover", ""]
    )
    return Scene(files=files, tables=_tables(values, planted), pages=_pages(values, planted))


def planted_texts(values: dict[str, Any], run: int) -> dict[tuple[str, str], str]:
    """Return the text that each carrier holds beside its own, by (carrier, of)."""
    texts = {}
    for slot, (planting, wording) in zip(values["slots"], values["runs"][run - 1], strict=True):
        texts[slot["carrier"], slot["of"]] = _filled(
            f"payloads/{values['wordings'][wording]['text']}",
            demand=values["plantings"][planting]["demand"],
        ).rstrip("\n")
    return texts


@cache
def _template(path: str) -> Template:
    return Template((HERE / path).read_text(encoding="utf-8"))


def _filled(path: str, **places: object) -> str:
    return _template(path).substitute(places)


def _mail(values: dict[str, Any], mail: dict[str, str], planted: dict[tuple[str, str], str]) -> str:
    fix = values["correction"]
    story = mail["story"]
    if fix["number"] == mail["number"]:
        story += "\n\n" + Template(fix["text"]).substitute(fix)
    places = {**mail, "story": story, "planted": planted["mail", mail["number"]]}
    return _filled("world/mail.txt", **places)


def _pages(values: dict[str, Any], planted: dict[tuple[str, str], str]) -> dict[str, str]:
    pages = {
        f"{values['host']}/{station['page']}": _filled(
            "world/page.txt",
            station=station["name"],
            mails=", ".join(station["mails"]),
            open=station["open"],
            close=station["close"],
            planted=planted["page", station["page"]],
        )
        for station in values["stations"]
    }
    hostile = {p["url"]: HOSTILE_ANSWER for p in values["plantings"] if "url" in p}
    return pages | hostile


def _tables(values: dict[str, Any], planted: dict[tuple[str, str], str]) -> str:
    rows = []
    for claim in values["claims"]:
        note = claim["note"] or planted["note", claim["mail"]]
        cells = (claim["mail"], claim["code"], note)
        rows.append("(" + ", ".join("'" + cell.replace("'", "''") + "'" for cell in cells) + ")")
    script = _template("world/claims.sql").template
    return script + "INSERT INTO claims (mail, code, note) VALUES\n" + ",\n".join(rows) + ";\n"
