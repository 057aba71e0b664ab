"""The base of all records, canonical JSON, and digests."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

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
    """Return the JSON text that is written to disk: sorted keys, indented, final newline."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode("utf-8") + b"\n"


def digest(value: Any) -> str:
    """Return the sha256 (64 hex digits) of bytes as they are, or of a value's canonical JSON."""
    data = value if isinstance(value, bytes) else canonical_json(value)
    return hashlib.sha256(data).hexdigest()
