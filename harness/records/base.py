"""The base of all records, canonical JSON, and digests."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic_core import from_json, to_json

Json = JsonValue


class Record(BaseModel):
    """A frozen document. An unknown key is an error: a misspelt key is a lost setting."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="strings", allow_inf_nan=False
    )


def canonical_json(value: Any) -> bytes:
    """Return the one JSON text of a value: sorted keys, no spaces, UTF-8, no NaN.

    Parameters
    ----------
    value : a Record, or anything `json` can write

    Raises
    ------
    ValueError
        For NaN and infinities, which have no JSON form.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode("utf-8")


def readable_json(value: Any) -> bytes:
    """Return the JSON text that is written to disk: sorted keys, indented, final newline.

    Canonical JSON, taken apart and written with indents; `json` would need three times as long,
    because its indents are written by Python code.

    Raises
    ------
    ValueError
        For NaN and infinities, as in `canonical_json`.
    """
    return to_json(from_json(canonical_json(value)), indent=1) + b"\n"


def digest(value: Any) -> str:
    """Return the sha256 (64 hex digits) of bytes as they are, or of a value's canonical JSON."""
    data = value if isinstance(value, bytes) else canonical_json(value)
    return hashlib.sha256(data).hexdigest()
