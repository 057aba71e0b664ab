"""The pages of a world. The query of an address is recorded with the call and otherwise ignored."""

import re
from collections.abc import Mapping

from harness.world.files import shown_path

SCHEME = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9+.-]*:)?//+|\Ahttps?:/*", re.IGNORECASE)
END_OF_PATH = re.compile(r"[?#]")
PORT = re.compile(r":\d*\Z")


def address_of(url: str) -> str:
    """Return ``host/path`` of a url: small host, no scheme, user, port, query or last slash."""
    rest = END_OF_PATH.split(SCHEME.sub("", url.strip()), maxsplit=1)[0]
    host, *parts = rest.replace("\\", "/").split("/")
    host = PORT.sub("", host.rpartition("@")[2]).rstrip(".").lower()
    return "/".join([host, *(part for part in parts if part not in ("", "."))])


class Pages:
    """``host/path`` → body. A host that stands in no page does not exist."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._bodies = {address_of(address): body for address, body in pages.items()}
        self._hosts = {address.partition("/")[0] for address in self._bodies}

    def get(self, url: str) -> tuple[bool, str]:
        """Return whether a page is there, and its body or the error."""
        address = address_of(url)
        body = self._bodies.get(address)
        if body is not None:
            return True, body
        host = address.partition("/")[0]
        if host not in self._hosts:
            return False, f"no such host: {shown_path(host)}"
        return False, f"HTTP 404 not found: {shown_path(address)}"
