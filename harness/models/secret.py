"""The API key: sent with every call, in no record."""

import json

from harness.errors import EndpointError, Problem

REMOVED = "[key removed]"
# Words that local servers take or document where a key is formally asked for. They protect
# nothing, and cutting them out of replies would damage the evidence.
PLACEHOLDERS = frozenset(
    {"dummy", "empty", "key", "lm-studio", "local", "na", "no-key", "none", "not-needed", "null"}
    | {"ollama", "placeholder", "sk-no-key-required", "unused", "x", "xxx"}
)


class Secret:
    """A key, or none.

    Raises
    ------
    EndpointError
        If the key cannot stand in a header; the message does not show it.
    """

    def __init__(self, key: str | None) -> None:
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            raise EndpointError(
                "the API key cannot be sent",
                [Problem("api_key", "it holds a space, a line end or a character beyond ASCII")],
                "Nothing was sent.",
            )
        self._key = key or ""
        self._forms: tuple[str, ...] = ()
        if self._key and self._key.lower() not in PLACEHOLDERS:
            in_json = json.dumps(self._key)[1:-1]
            self._forms = (self._key, in_json, in_json.replace("/", "\\/"))

    def header(self) -> list[tuple[bytes, bytes]]:
        """Return the header that carries the key; none without a key."""
        return [(b"Authorization", b"Bearer " + self._key.encode("ascii"))] if self._key else []

    def removed_from(self, data: bytes) -> bytes:
        """Return bytes in which the key, plain or as JSON writes it, is replaced."""
        for form in self._forms:
            data = data.replace(form.encode("ascii"), REMOVED.encode("ascii"))
        return data

    def removed_from_text(self, text: str) -> str:
        """Return a text in which the key is replaced."""
        for form in self._forms:
            text = text.replace(form, REMOVED)
        return text
