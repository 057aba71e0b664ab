"""What could be measured on this machine: servers that answer, and files of weights.

It is asked for a person who writes a plan. Nothing is started, loaded or changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.backends.engines import OLLAMA, UNKNOWN, describe
from harness.backends.probe import Answer, Probe, api_urls, entries, model_names, problem_with_url
from harness.backends.weights import PART
from harness.errors import EndpointError
from harness.records.base import Json

USUAL_PORTS = {11434: "Ollama", 8080: "llama-server", 8000: "vLLM", 1234: "LM Studio"}
ANSWER_LIMIT_S = 5.0  # a person waits, and a list is at hand
EMBEDDERS = ("bert", "embed")  # they turn texts into numbers, and answer nothing
PROJECTOR = "mmproj"  # the eyes of a model, in a file of their own


@dataclass(frozen=True)
class Candidate:
    """A model that somebody serves, or a file of weights.

    name : as requests name it, or the file's
    engine : only where the server names itself
    base_url : None for a file
    path : None for a served model
    window_tokens : of one request, where the server tells
    about : size and quantisation, as far as they are told
    chats : False where it is known that it cannot be asked
    """

    name: str
    engine: str | None = None
    base_url: str | None = None
    path: Path | None = None
    window_tokens: int | None = None
    about: str = ""
    chats: bool = True


@dataclass(frozen=True)
class Asked:
    """One place that was asked.

    problem : why nothing could be learned there; empty if it answered
    """

    where: str
    models: tuple[Candidate, ...] = ()
    problem: str = ""


def usual_places(ports: Mapping[int, str] = USUAL_PORTS) -> tuple[Asked, ...]:
    """Ask what answers on the ports of this machine that local servers usually take."""
    return tuple(_port(f"http://127.0.0.1:{port}", usually) for port, usually in ports.items())


def _port(url: str, usually: str) -> Asked:
    with Probe(url, answer_limit_s=ANSWER_LIMIT_S) as probe:
        tags = probe.get("/api/tags")
        if tags.status is None:
            return Asked(url, problem=f"nothing answers (usually {usually}): {tags.error}")
        listed = tags.fields.get("models")
        if isinstance(listed, list) and "Ollama" in probe.get("/").text:  # others copy the route
            return _ollama_list(url, listed)
    return served_at(url)


def _ollama_list(url: str, listed: Sequence[Json]) -> Asked:
    """Return what Ollama lists: everything that it has downloaded, loaded or not."""
    models = []
    for entry in listed:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            details = entry.get("details")
            told = details if isinstance(details, dict) else {}
            models.append(
                Candidate(
                    name=str(entry["name"]),
                    engine=OLLAMA,
                    base_url=f"{url}/v1",
                    about=_about(told, ("parameter_size", "quantization_level")),
                    chats=not _embeds(str(told.get("family") or ""), str(entry["name"])),
                )
            )
    problem = "" if models else "Ollama answers, and has downloaded no model"
    return Asked(f"{url}/api/tags", tuple(models), problem)


def served_at(url: str, api_key: str | None = None) -> Asked:
    """Return what a server lists at `/v1/models`, with its engine where it names itself."""
    problem = problem_with_url(url)
    if problem:
        return Asked(url, problem=problem)
    answers = []
    for base_url in api_urls(url):
        try:
            with Probe(base_url, api_key, ANSWER_LIMIT_S) as probe:
                answer = probe.get_api("/models")
                if model_names(answer) is not None:
                    return _listed(probe, answer)
        except EndpointError as error:
            return Asked(url, problem=str(error.problems[0]))
        answers.append(answer)
    return Asked(url, problem=_no_list(answers[0]))


def weights_below(folder: Path) -> Asked:
    """Return the GGUF files of a folder and of the folders in it; a split one is one model."""
    if not folder.is_dir():
        return Asked(str(folder), problem="is no folder")
    models = []
    try:
        for path in sorted(folder.rglob("*.gguf")):
            part = PART.search(path.name)
            if PROJECTOR in path.name or not path.is_file() or (part and int(part[1]) != 1):
                continue
            about = f"{path.stat().st_size / 2**30:.1f} GiB" + (" and more parts" if part else "")
            name = path.name[: part.start()] if part else path.stem
            models.append(
                Candidate(name=name, path=path.absolute(), about=about, chats=not _embeds(name))
            )
    except OSError as error:
        return Asked(str(folder), tuple(models), f"{error.filename}: {error.strerror}")
    return Asked(str(folder), tuple(models), "" if models else "holds no file that ends in .gguf")


def _listed(probe: Probe, answer: Answer) -> Asked:
    models = []
    for entry in entries(answer) or ():
        name = str(entry["id"])
        told = describe(probe, name)
        models.append(
            Candidate(
                name=name,
                engine=None if told.engine == UNKNOWN else told.engine,
                base_url=probe.base_url,
                window_tokens=told.window_tokens,
                about=_about(told.flags, ("model_ftype", "quantization")),
                chats=not _embeds(name),
            )
        )
    problem = "" if models else "it answers, and lists no model"
    return Asked(probe.base_url, tuple(models), problem)


def _no_list(answer: Answer) -> str:
    if answer.status is None:
        return f"nothing answers: {answer.error}"
    if answer.status in {401, 403}:
        return "it refuses to answer without the right key (--api-key-env NAME)"
    return f"something answers with status {answer.status}, and sends no list of models"


def _about(told: Mapping[str, Json], names: Sequence[str]) -> str:
    return ", ".join(str(told[name]) for name in names if told.get(name))


def _embeds(*words: str) -> bool:
    return any(word in text.lower() for text in words for word in EMBEDDERS)
