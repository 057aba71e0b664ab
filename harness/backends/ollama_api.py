"""What we ask of Ollama's own API, and what its answers mean."""

import re
from dataclasses import dataclass, field

from harness.backends.probe import Answer, Probe
from harness.records.base import Json, digest

BLOB = re.compile(r"^FROM\s+\S*sha256[:-]([0-9a-f]{64})\s*$", re.MULTILINE)
SAMPLERS = frozenset(
    {"top_k", "min_p", "typical_p", "repeat_penalty", "presence_penalty", "frequency_penalty"}
    | {"repeat_last_n", "mirostat", "num_keep"}
)


def tagged(name: str) -> str:
    """Return a model's name with its tag; without one Ollama means `latest`."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


@dataclass(frozen=True)
class Shown:
    """What `/api/show` says of a model.

    weights : sha256 of the file with the weights, as Ollama's own store names it
    template : digest of the template's text
    stops : the words that end a reply
    samplers : what the model's own file sets and no request does
    """

    weights: str | None = None
    template: str | None = None
    quantisation: str | None = None
    stops: tuple[str, ...] = ()
    samplers: dict[str, Json] = field(default_factory=dict)

    @property
    def flags(self) -> dict[str, Json]:
        """What of it is stamped beside the digests; what is not told is left out."""
        flags: dict[str, Json] = {
            "quantisation": self.quantisation,
            "stop": list(self.stops),
            "sampler_defaults": self.samplers,
        }
        return {name: value for name, value in flags.items() if value}


def show(probe: Probe, model: str) -> Shown | None:
    """Ask what a model is; None where that is not told."""
    fields = probe.post("/api/show", {"model": model}).fields
    if not fields:
        return None
    blob = BLOB.search(_text(fields.get("modelfile")))
    template, details = fields.get("template"), fields.get("details")
    quantisation = details.get("quantization_level") if isinstance(details, dict) else None
    stops, samplers = _parameters(_text(fields.get("parameters")))
    return Shown(
        weights=None if blob is None else blob[1],
        template=digest(template.encode()) if isinstance(template, str) else None,
        quantisation=quantisation if isinstance(quantisation, str) else None,
        stops=stops,
        samplers=samplers,
    )


def names(probe: Probe) -> tuple[str, ...] | None:
    """Return the models that lie on the machine; None if that is not told."""
    return _names(probe.get("/api/tags"))


def loaded(probe: Probe) -> tuple[str, ...] | None:
    """Return the models that are in memory; None if that is not told."""
    return _names(probe.get("/api/ps"))


def running(probe: Probe, model: str) -> dict[str, Json] | None:
    """Return what is told of a model that is in memory; None if it is not there."""
    entries = _entries(probe.get("/api/ps")) or ()
    return next((entry for entry in entries if entry.get("name") == tagged(model)), None)


def window_of(probe: Probe, model: str) -> int | None:
    """Return the window that a loaded model really has; None where that is not told."""
    window = (running(probe, model) or {}).get("context_length")
    return window if isinstance(window, int) else None


def copy_with_window(probe: Probe, source: str, target: str, window: int) -> str:
    """Make a model of the same weights whose own file sets the window; return what went wrong.

    Requests through `/v1` cannot set it: there the model's own parameter counts, else a default
    of the server's. The copy is a page of text beside the same weights.
    """
    asked: dict[str, Json] = {
        "model": target,
        "from": source,
        "parameters": {"num_ctx": window},
        "stream": False,
    }
    answer = probe.post("/api/create", asked)
    return "" if answer.fields.get("status") == "success" else said(answer)


def load(probe: Probe, model: str) -> str:
    """Load a model until it is told to go; return what went wrong, or an empty text."""
    answer = probe.post("/api/generate", {"model": model, "keep_alive": -1, "stream": False})
    return "" if answer.fields.get("done") is True else said(answer)


def unload(probe: Probe, model: str) -> None:
    """Tell a model to go; whether it has gone is seen in what is loaded."""
    probe.post("/api/generate", {"model": model, "keep_alive": 0, "stream": False})


def said(answer: Answer) -> str:
    """Return what an answer says went wrong."""
    error = answer.value.get("error") if isinstance(answer.value, dict) else None
    text = error if isinstance(error, str) else answer.error or answer.text[:200]
    return f"status {answer.status}: {text}" if answer.status is not None else text


def _names(answer: Answer) -> tuple[str, ...] | None:
    found = _entries(answer)
    return None if found is None else tuple(str(entry.get("name")) for entry in found)


def _entries(answer: Answer) -> list[dict[str, Json]] | None:
    models = answer.fields.get("models")
    if not isinstance(models, list):
        return None
    return [entry for entry in models if isinstance(entry, dict)]


def _parameters(text: str) -> tuple[tuple[str, ...], dict[str, Json]]:
    """Return the stop words and the samplers of a parameter list, one `name value` a line."""
    stops: list[str] = []
    samplers: dict[str, Json] = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition(" ")
        value = value.strip()
        if name == "stop":
            stops.append(value.strip('"'))
        elif name in SAMPLERS:
            samplers[name] = value
    return tuple(stops), samplers


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
