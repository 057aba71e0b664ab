"""What a server tells of itself. An engine is named only where it names itself.

Each reader looks at one route and returns None unless the answer has that engine's own shape:
some servers answer every path with status 200, and others imitate each other's routes.
"""

from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath

from harness.backends import ollama_api
from harness.backends.probe import Answer, Probe, entries
from harness.records.base import Json, digest
from harness.records.run import ServerInfo

UNKNOWN = "unknown"
LLAMA_CPP = "llama.cpp"
LLAMA_CPP_UNTOLD = "b0-unknown"  # built from an archive, where no history says which version it is
VLLM = "vllm"
OLLAMA = "ollama"
LM_STUDIO = "lm-studio"
# The samplers that a request does not name stay at the server's own defaults: they are stamped.
SAMPLER_DEFAULTS = (
    "top_k",
    "min_p",
    "typical_p",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "dry_multiplier",
    "xtc_probability",
    "samplers",
)


def describe(probe: Probe, model: str, planned_window: int | None = None) -> ServerInfo:
    """Ask a server what it is and what window one request has.

    Parameters
    ----------
    probe : the server
    model : the served model's name
    planned_window : `context_tokens` of the plan, used where the server does not tell

    Returns
    -------
    ServerInfo
        `window_source` says where the window came from. A plan that contradicts the server
        is noted, and the server is believed.
    """
    found = _first(probe, model) or ServerInfo(engine=UNKNOWN)
    if found.window_tokens is None:
        listed = _tokens(_entry(probe.get_api("/models"), model).get("max_model_len"))
        found = found.model_copy(update={"window_tokens": listed})
    if found.window_tokens is None:
        source = "unknown" if planned_window is None else "plan"
        return found.model_copy(update={"window_tokens": planned_window, "window_source": source})
    notes = found.notes
    if planned_window not in {None, found.window_tokens}:
        both = f"the plan says {planned_window}, the server tells {found.window_tokens}"
        notes += (f"context_tokens: {both}; the server is believed",)
    return found.model_copy(update={"window_source": "server", "notes": notes})


def _first(probe: Probe, model: str) -> ServerInfo | None:
    for reader in READERS:
        found = reader(probe, model)
        if found is not None:
            return found
    return None


def _llama_cpp(probe: Probe, model: str) -> ServerInfo | None:  # noqa: ARG001 (one model a server)
    props = probe.get("/props").fields
    settings = props.get("default_generation_settings")
    if not isinstance(settings, dict):
        return None
    slots = _slots(probe.get("/slots"))
    windows = [tokens for tokens in (_tokens(settings.get("n_ctx")), *slots) if tokens]
    sampling = settings.get("params")
    defaults = sampling if isinstance(sampling, dict) else {}
    template = props.get("chat_template")
    path = props.get("model_path")
    flags: dict[str, Json] = {
        "model_file": _file_name(path) if isinstance(path, str) else None,
        "model_ftype": props.get("model_ftype"),
        "eos_token": props.get("eos_token"),
        "total_slots": props.get("total_slots"),
        "sampler_defaults": {k: defaults[k] for k in SAMPLER_DEFAULTS if k in defaults},
    }
    build = str(props.get("build_info") or "")
    untold = f"its build {build!r} names no version: two such servers may differ"
    return ServerInfo(
        engine=LLAMA_CPP,
        build=build,
        notes=(untold,) if build == LLAMA_CPP_UNTOLD else (),
        window_tokens=min(windows, default=None),  # of one slot: a server with four has a quarter
        chat_template_digest=digest(template.encode()) if isinstance(template, str) else None,
        flags={key: value for key, value in flags.items() if value not in (None, {})},
    )


def _ollama(probe: Probe, model: str) -> ServerInfo | None:
    version = probe.get("/api/version").fields.get("version")
    if not isinstance(version, str) or "Ollama" not in probe.get("/").text:
        return None
    shown = ollama_api.show(probe, model) or ollama_api.Shown()
    told = ollama_api.running(probe, model)
    found = ServerInfo(
        engine=OLLAMA,
        build=version,
        model_digest=shown.weights,
        chat_template_digest=shown.template,
        flags=shown.flags,
    )
    if told is None:
        note = "the model is not loaded; its window is not told"
        return found.model_copy(update={"notes": (note,)})
    digest_of_page = told.get("digest")
    details = _details(told.get("details"), ("quantization_level", "parameter_size"))
    return found.model_copy(
        update={
            "model_digest": shown.weights or _text(digest_of_page),
            "window_tokens": _tokens(told.get("context_length")),
            "flags": {**details, **found.flags},
        }
    )


def _lm_studio(probe: Probe, model: str) -> ServerInfo | None:
    listing = probe.get("/api/v0/models")
    if entries(listing) is None:
        return None
    entry = _entry(listing, model)
    return ServerInfo(
        engine=LM_STUDIO,
        window_tokens=_tokens(entry.get("loaded_context_length")),
        flags=_details(entry, ("quantization", "arch", "compatibility_type")),
        notes=() if entry else (f"{model!r} is not in LM Studio's own list",),
    )


def _vllm(probe: Probe, model: str) -> ServerInfo | None:
    version = probe.get("/version").fields.get("version")
    entry = _entry(probe.get_api("/models"), model)
    if not isinstance(version, str) or entry.get("owned_by") != VLLM:
        return None
    return ServerInfo(engine=VLLM, build=version, window_tokens=_tokens(entry.get("max_model_len")))


READERS: tuple[Callable[[Probe, str], ServerInfo | None], ...] = (
    _llama_cpp,
    _ollama,
    _lm_studio,
    _vllm,
)


def _entry(listing: Answer, model: str) -> dict[str, Json]:
    """Return a model's entry in a list of models; empty if there is none."""
    return next((entry for entry in entries(listing) or () if entry["id"] == model), {})


def _slots(answer: Answer) -> list[int | None]:
    """Return the window of each slot of llama.cpp, where the server shows its slots."""
    if answer.status != 200 or not isinstance(answer.value, list):
        return []
    return [_tokens(slot.get("n_ctx")) for slot in answer.value if isinstance(slot, dict)]


def _details(found: Json, names: tuple[str, ...]) -> dict[str, Json]:
    return {k: found[k] for k in names if k in found} if isinstance(found, dict) else {}


def _tokens(value: Json) -> int | None:
    """Return a count of tokens; anything but a positive whole number is none."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    return None


def _file_name(path: str) -> str:
    """Return the last part of a path of any system: the rest may name a person."""
    return PurePosixPath(PureWindowsPath(path).as_posix()).name


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None
