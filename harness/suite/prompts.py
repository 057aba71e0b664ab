"""Prompt rendering: a missing value is an error, never an empty place.

The first line of every `prompt.md` is a canary comment, so that a text which turns up in a
training set can be found there. It is cut off before anything is sent.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jinja2

from harness.errors import Problem, SuiteError
from harness.records.base import Json

CANARY = re.compile(r"\A<!-- arnes canary [0-9a-f]{32}[^\n]*-->\n")

_ENVIRONMENT = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # noqa: S701 (plain text for a model, no HTML)
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=False,
)


@cache
def _compiled(source: str) -> jinja2.Template:
    return _ENVIRONMENT.from_string(source)


def read_template(path: Path) -> str:
    """Return a template's text.

    Raises
    ------
    SuiteError
        If it cannot be read, or is not UTF-8.
    """
    where = f"{path.parent.name}/{path.name}"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SuiteError(
            f"{where} cannot be read", [Problem(where, str(error), "check the path")]
        ) from error
    except UnicodeDecodeError as error:
        raise SuiteError(
            f"{where} is not UTF-8", [Problem(where, f"not UTF-8: {error}", "save it as UTF-8")]
        ) from error


def render(source: str, values: Mapping[str, Json], where: str) -> str:
    """Render a template of ours.

    Parameters
    ----------
    source : the template's text; a canary line at its head is stripped
    values : name → value
    where : the file, for the error

    Raises
    ------
    SuiteError
        If a name has no value or the template is not Jinja.
    """
    try:
        return _compiled(CANARY.sub("", source)).render(values).strip() + "\n"
    except jinja2.TemplateError as error:
        raise SuiteError(
            f"{where} cannot be rendered",
            [Problem(where, str(error), "give the value in the form, or correct the name")],
        ) from error
