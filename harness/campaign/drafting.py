"""Write a plan for a person to correct: what this machine could measure, one entry each."""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.backends import BACKENDS, make_backend
from harness.backends.discovery import (
    Asked,
    Candidate,
    served_at,
    usual_places,
    weights_below,
)
from harness.backends.engines import LM_STUDIO, OLLAMA
from harness.campaign.controls import CONTROLS
from harness.clock import SystemClock
from harness.errors import PlanError, Problem
from harness.records.base import Json
from harness.records.campaign import RESERVED, CampaignPlan, PlannedModel

WINDOW = 32768  # what every task of level A fits into, with its whole reply
LONGEST_ID = 64
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,47}")  # as `CampaignPlan` takes it
HEAD = """\
# A plan of `arnes campaign`. Correct it, then:
#   arnes campaign plan FILE     what it will cost
#   arnes campaign start FILE    run it; Ctrl-C loses nothing
schema_version = 1
name = {name}
# runs = 3                # of every model; the scatter between runs is what tells models apart
# tasks = ["A04", "A08"]  # a declared subset has no total of level A
# hours = 9               # from the start; or: deadline = "07:00"
# order = "balanced"      # of the models within a run; or "fixed", "random"
"""
USUAL = "# tokens_per_run = 150000  # about what it writes in a run, if you know"


def look_around(
    urls: Sequence[str],
    folders: Sequence[Path],
    api_key_env: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Asked, ...]:
    """Ask the places that are named; where none is, the usual ports of this machine.

    Raises
    ------
    PlanError
        If the variable of the key is not set.
    """
    if not urls and not folders:
        return usual_places()
    key = environment.get(api_key_env) if api_key_env else None
    if api_key_env and not key:
        problem = Problem("--api-key-env", f"the variable {api_key_env} is not set", "export it")
        raise PlanError("the key is missing", [problem], "Nothing was asked.")
    return (*(served_at(url, key) for url in urls), *(weights_below(f) for f in folders))


def draft(name: str, found: Sequence[Asked], api_key_env: str | None = None) -> str:
    """Return the text of a plan over everything that was found.

    Parameters
    ----------
    name : the campaign's
    found : the places that were asked
    api_key_env : the variable that holds the key of the servers that were asked

    Raises
    ------
    PlanError
        If no model was found that can be asked; it tells every place and what was there.
    """
    if not NAME.fullmatch(name):
        problem = Problem("--name", f"{name!r}", "small letters, digits and -, at most 48")
        raise PlanError("a campaign cannot be called so", [problem], "Nothing was written.")
    blocks, taken = [], set[str]()
    for place in found:
        blocks += [f"# ── {_remark(place.where)}"] if place.models else []
        for candidate in place.models:
            if not _is_text(f"{candidate.name}{candidate.path or ''}{candidate.about}"):
                blocks.append("# left out: a model whose name is no text\n")
                continue
            planned = _planned(candidate, _fresh_id(candidate.name, taken), api_key_env)
            taken.add(planned.id.lower())
            blocks.append(_block(planned, candidate))
    text = "\n".join([HEAD.format(name=_toml(name)), *blocks])
    if "\n[[models]]" not in text:
        raise PlanError(
            "no model was found that could be asked",
            [Problem(place.where, place.problem or "no chat model", "") for place in found],
            "Nothing was written. Start a server, or name a place: --url URL, --gguf FOLDER",
        )
    CampaignPlan.model_validate(tomllib.loads(text))  # a draft that is no plan is a fault of ours
    return text


def write_new(path: Path, text: str) -> None:
    """Write a plan, and never over a file.

    Raises
    ------
    PlanError
        If there is something at this place.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        problem = Problem(str(path), "is there already", "name another file")
        raise PlanError("a plan is never written over a file", [problem]) from error


def _planned(candidate: Candidate, model_id: str, api_key_env: str | None) -> PlannedModel:
    """Return the entry of a model: its own backend's, where that takes it; else by its address."""
    fields: dict[str, Json] = {"id": model_id, "context_tokens": WINDOW}
    if candidate.path is not None:
        own = {"backend": "llama_server", "options": {"weights": str(candidate.path)}}
        return PlannedModel.model_validate({**fields, **own})
    fields |= {"base_url": candidate.base_url, "served_name": candidate.name}
    by_address = {**fields, "backend": "external", "api_key_env": api_key_env}
    backend = {OLLAMA: "ollama", LM_STUDIO: "lmstudio"}.get(candidate.engine or "")
    if api_key_env is None and backend in BACKENDS:
        planned = PlannedModel.model_validate({**fields, "backend": backend})
        if _is_taken(planned):
            return planned
    return PlannedModel.model_validate(by_address)


def _is_taken(planned: PlannedModel) -> bool:
    """Say whether the backend takes an entry as it is."""
    try:
        make_backend(planned, Path(os.devnull), SystemClock())
    except PlanError:
        return False
    return True


def _block(planned: PlannedModel, candidate: Candidate) -> str:
    """Return an entry as TOML; as a comment where the model cannot be asked as it is."""
    lines = ["[[models]]", f"id = {_toml(planned.id)}", f"backend = {_toml(planned.backend)}"]
    lines += [
        f"{name} = {_toml(value)}"
        for name in ("base_url", "served_name", "api_key_env")
        if (value := getattr(planned, name)) is not None
    ]
    lines.append(_window_line(planned, candidate))
    lines += [f"options.{name} = {_toml(value)}" for name, value in planned.options.items()]
    lines.append(USUAL)
    if planned.backend == "llama_server":
        lines.append('# options.flags = ["--n-gpu-layers", "99"]')
    told = [word for word in (candidate.engine, candidate.about) if word]
    remarks = [f"# {_remark(', '.join(told))}"] if told else []
    if not candidate.chats:
        remarks.append("# left out: by its name it turns texts into numbers, and answers nothing")
    elif not _is_taken(planned):
        remarks.append("# left out: its backend does not take it as it is")
    else:
        return "\n".join([*remarks, *lines, ""])
    return "\n".join([*remarks, *(f"# {line.removeprefix('# ')}" for line in lines), ""])


def _window_line(planned: PlannedModel, candidate: Candidate) -> str:
    line = f"context_tokens = {planned.context_tokens}"
    told = candidate.window_tokens
    if planned.backend not in ("external", "lmstudio"):
        return f"{line}  # the window it gets; less refuses the longest tasks"
    if told is None:
        return f"# {line}  # write what it serves, if preflight says that the window is not known"
    small = f", and level A needs {WINDOW}" if told < WINDOW else ""
    return f"# the server tells a window of {told} tokens{small}"


def _fresh_id(name: str, taken: Iterable[str]) -> str:
    """Return an id for a model that no other one of the plan has."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name.rpartition("/")[2]).strip("._-") or "model"
    base = plain[: LONGEST_ID - 4]
    for number in range(1, 1000):
        found = base if number == 1 else f"{base}-{number}"
        if found.lower() not in {*taken, *CONTROLS, *RESERVED}:
            return found
    raise PlanError(f"a thousand models are called {base!r}")


def _toml(value: Json) -> str:
    """Return a text or a number as TOML writes it; JSON differs in one character alone."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_text(text: str) -> bool:
    """False for half a character, as a file's name of another encoding or a server may hold."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _remark(text: str) -> str:
    """Return words of others as a part of one comment line."""
    return "".join(c if c.isprintable() else " " for c in text)
