"""What variants of a module of ours do on probes. Sent as a snippet; the texts are trusted."""

from typing import Any


def main(payload: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return variant → {"loads", "results"}: one text per probe, equal for equal outcomes."""
    return {name: outcomes(text, payload["probes"]) for name, text in payload["texts"].items()}


def outcomes(text: str, probes: list[list[Any]]) -> dict[str, Any]:
    """Run one module and call it: each probe is [function, arguments]."""
    scope: dict[str, Any] = {"__name__": "variant"}
    try:
        exec(compile(text, "variant", "exec", dont_inherit=True), scope)  # noqa: S102 (our text)
    except Exception as error:  # noqa: BLE001 (whatever it is, it does not load)
        return {"loads": f"{type(error).__name__}: {error}", "results": []}
    return {"loads": "", "results": [outcome(scope, *probe) for probe in probes]}


def outcome(scope: dict[str, Any], function: str, arguments: list[Any]) -> str:
    """Return what one call gives, as text."""
    try:
        return shown(scope[function](*arguments))
    except Exception as error:  # noqa: BLE001 (an exception is an outcome)
        return f"raises {type(error).__name__}"


def shown(value: Any) -> str:
    """Return a value as text in which the order of a dict's keys does not matter."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{k!r}: {shown(v)}" for k, v in value.items())) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[" + ", ".join(map(shown, value)) + "]"
    return repr(value)
