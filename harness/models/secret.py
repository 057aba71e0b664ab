"""The API key: sent with every call, in no record."""

import json

from harness.errors import EndpointError, Problem

REMOVED = "[key removed]"
# A shorter key may be a word of a reply: to remove it would alter evidence, and to leave it
# there would show it. Keys that are made to be secret are longer.
SHORTEST_KEY = 16
# Words that local servers take or document where a key is formally asked for. They protect
# nothing, and cutting them out of replies would damage the evidence.
PLACEHOLDERS = frozenset(
    {"dummy", "empty", "key", "lm-studio", "local", "na", "no-key", "none", "not-needed", "null"}
    | {"ollama", "placeholder", "sk-no-key-required", "token-abc123", "unused", "x", "xxx"}
)


class Secret:
    """A key, or none.

    Raises
    ------
    EndpointError
        If the key cannot stand in a header, or is too short to be told from a reply's own
        words; the message does not show it.
    """

    def __init__(self, key: str | None) -> None:
        self._key = key or ""
        self._forms: tuple[str, ...] = ()
        if self._key and self._key.lower() not in PLACEHOLDERS:
            _refuse_unusable(self._key)
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


def _refuse_unusable(key: str) -> None:
    """Raise an EndpointError, which does not show the key, if a key cannot be used."""
    if not (key.isascii() and key.isprintable() and " " not in key):
        what = "it holds a space, a line end or a character beyond ASCII"
        todo = "correct the variable that api_key_env names"
    elif len(key) < SHORTEST_KEY:
        what = f"shorter than {SHORTEST_KEY} characters, it could be a word of a reply"
        todo = 'give the server a longer key, or write "none" if it checks no key'
    else:
        return
    raise EndpointError(
        "the API key cannot be sent", [Problem("api_key", what, todo)], "Nothing was sent."
    )
