"""What the rest of the harness knows of a model: ask once, get evidence back."""

from typing import Protocol

from harness.records.response import ChatRequest, Exchange


class CallCut(Exception):  # noqa: N818 (no fault: somebody wanted it)
    """Another thread ended the call in flight. Nothing of it is evidence."""


class ChatModel(Protocol):
    """A served model.

    It is this small because retries, limits and streaming are the channel's affair: whoever
    runs a task must not be able to treat one model's calls differently from another's.
    """

    def complete(self, request: ChatRequest) -> Exchange:
        """Send one request and return what became of it, whatever that was."""
        ...

    def cut(self) -> None:
        """End the call in flight, from another thread: it raises `CallCut`, and so does any later.

        At the latest a second after a wait between attempts, or when a connection is made.
        """
        ...

    def close(self) -> None:
        """Give the connection back; no call comes after it."""
        ...
