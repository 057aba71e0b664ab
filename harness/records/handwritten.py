"""Documents that a person writes (TOML): read whole, with every problem at once."""

import json
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harness.errors import HarnessError, Problem, nearest
from harness.records.base import Record

AnyRecord = TypeVar("AnyRecord", bound=Record)

LIST = 'a list, as in ["one", "two"]'
TABLE = "a table, with a heading of its own"
WANTED = {  # error of pydantic → what TOML calls the value that is wanted
    "tuple_type": LIST,
    "list_type": LIST,
    "dict_type": TABLE,
    "model_type": TABLE,
    "string_type": "a text, in quotes",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}


def read_toml(path: Path, model: type[AnyRecord], error: type[HarnessError]) -> AnyRecord:
    """Read a TOML file into a record.

    Parameters
    ----------
    path : the file
    model : the record it should be
    error : the class that is raised when it is not

    Raises
    ------
    HarnessError
        Of the class asked for, with every problem at once: unknown keys with the nearest right
        name, missing keys, values out of range, or the line where it stops being TOML.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise error(
            f"{path.name} cannot be read",
            [Problem(str(path), failure.strerror or str(failure), "check the path")],
            "Nothing was run.",
        ) from failure
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as failure:
        raise error(
            f"{path.name} is not TOML",
            [Problem(str(path), str(failure), "correct that line")],
            "Nothing was run.",
        ) from failure
    try:
        return model.model_validate(content)
    except ValidationError as failure:
        problems = _problems(failure, path.name, model)
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''}"
        raise error(f"{count} in {path}", problems, "Nothing was run.") from failure


def _problems(error: ValidationError, where: str, model: type[Record]) -> list[Problem]:
    """Turn what pydantic found into problems a person can act on."""
    problems = []
    findings = error.errors()
    failed = [finding["loc"] for finding in findings]
    for finding in findings:
        place = finding["loc"]
        if finding["type"] == "too_short" and any(
            other[: len(place)] == place and len(other) > len(place) for other in failed
        ):
            continue  # the list is short because its member failed, which is said already
        path = ".".join(str(step) for step in finding["loc"])
        if finding["type"] == "extra_forbidden":
            known = _fields_at(model, finding["loc"][:-1])
            todo = nearest(str(finding["loc"][-1]), known)
            problems.append(Problem(f"{where}: {path}", "unknown key", todo))
        elif finding["type"] == "missing":
            problems.append(Problem(f"{where}: {path}", "missing", "add this key"))
        elif finding["type"] == "value_error" and isinstance(finding["input"], dict):
            # A rule between keys: the message names them, and the whole table is no value.
            what = finding["msg"].removeprefix("Value error, ")
            problems.append(
                Problem(f"{where}: {path}" if path else where, what, "correct the file")
            )
        else:
            problems.append(value_problem(f"{where}: {path}", finding))
    return problems


def value_problem(where: str, finding: ErrorDetails) -> Problem:
    """Return what is wrong with a value, in the words of TOML and not of Python."""
    value, said = finding["input"], finding["msg"].removeprefix("Value error, ")
    if isinstance(value, dict) and WANTED.get(finding["type"]) == LIST:
        heading = ".".join(step for step in finding["loc"] if isinstance(step, str))
        return Problem(where, "one table: has to be a list of tables", f"write [[{heading}]]")
    if finding["type"] in WANTED:
        said = f"has to be {WANTED[finding['type']]}"
        if isinstance(value, str) and WANTED[finding["type"]] not in {LIST, TABLE}:
            said += ", without quotes"
    said = said.replace("Input should be", "has to be")
    if isinstance(value, bool) and finding["type"] == "literal_error":
        said = said.lower()  # TOML has no False
    todo = "correct the value"
    if isinstance(value, (date, time)) and finding["type"] == "string_type":
        todo = f'write it in quotes: "{_shown(value)}"'
    return Problem(where, f"{_shown(value)}: {said}", todo)


def _shown(value: object) -> str:
    """Return a value about as it stands in the document."""
    if isinstance(value, (datetime, time)):
        return value.isoformat(timespec="minutes")
    if isinstance(value, date):
        return value.isoformat()
    return (
        repr(value)
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, default=str)
    )


def _fields_at(model: type[Record], path: tuple[int | str, ...]) -> list[str]:
    """Return the field names of the record that stands at a path inside another."""
    current: type[Record] = model
    for step in path:
        field = current.model_fields.get(str(step))
        if field is None:
            continue  # an index into a tuple: the record inside was found at the step before
        inner = _record_in(field.annotation)
        if inner is None:
            return []
        current = inner
    return list(current.model_fields)


def _record_in(annotation: object) -> type[Record] | None:
    """Return the first record type inside an annotation such as `tuple[Row, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _record_in(inner)
        if found is not None:
            return found
    return None
