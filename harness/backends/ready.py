"""Is a server ready? Its health route says so too early, so it is asked for a completion."""

import os
import shutil
import socket
from pathlib import Path

from harness.backends.probe import Probe
from harness.parsing.wire import decode
from harness.records.base import Json

HOST = "127.0.0.1"  # servers have no key and open CORS: nobody else may reach them


def free_port() -> int:
    """Return a TCP port that is free now.

    Another program may take it before the server does. So whoever starts one makes sure
    afterwards that its own process listens there.
    """
    with socket.socket() as trial:
        trial.bind((HOST, 0))
        return int(trial.getsockname()[1])


def path_of(name: str) -> str | None:
    """Return the path of a program: a path as it is, a bare name as the shell would find it."""
    found = shutil.which(os.path.expanduser(name))  # noqa: PTH111 (a bare name stays bare)
    return None if found is None else str(Path(found).absolute())


def problem_with_completion(probe: Probe, model: str) -> str:
    """Ask a model for one token; return what is wrong with the answer, or an empty text."""
    asked: dict[str, Json] = {
        "model": model,
        "messages": [{"role": "user", "content": "Say yes."}],
        "max_tokens": 1,
    }
    answer = probe.post_api("/chat/completions", asked)
    reply = decode(answer.text.encode("utf-8"))
    if answer.status != 200 or not reply.complete:
        return f"a real completion failed: status {answer.status}, {answer.error or reply.error}"
    if reply.model not in {model, None}:
        return f"{reply.model!r} replied, {model!r} was started"
    return ""
