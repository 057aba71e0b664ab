"""What serves under a name must be what served it before."""

from harness.campaign.players import Served
from harness.errors import EndpointError, Problem
from harness.records.run import Endpoint, ServerInfo
from harness.store import campaign as store
from harness.store.campaign import Campaign

SAME_MODEL = ("engine", "build", "model_digest", "window_tokens", "chat_template_digest")
SAME_FLAGS = ("model_file", "model_ftype", "cache_prompt", "n_parallel")


def refuse_another_model(campaign: Campaign, player: str, served: Served) -> None:
    """Compare what serves a player now with what served its earlier runs.

    Raises
    ------
    EndpointError
        If a fact that both servers tell is another one now.
    """
    for number in range(1, campaign.record.runs + 1):
        info = store.read_run_info(campaign.folder.run(player, number))
        if info is None:
            continue
        problems = [
            Problem(
                f"{player}: {name.replace('_', ' ')}",
                f"run {number} had {was}, now {now}",
                "serve what was served before, or give it an id of its own in another campaign",
            )
            for (name, was), (_, now) in zip(
                _identity(info.endpoint, info.server),
                _identity(served.endpoint, served.server),
                strict=True,
            )
            if was is not None and now is not None and was != now
        ]
        if problems:
            raise EndpointError(
                f"{player} is not the model that this campaign began with",
                problems,
                "Nothing was asked of it.",
            )


def _identity(endpoint: Endpoint, server: ServerInfo) -> list[tuple[str, object]]:
    """Return the facts that make a served model the same one; None where a server does not tell."""
    facts: list[tuple[str, object]] = [(name, getattr(server, name) or None) for name in SAME_MODEL]
    facts += [(name, server.flags.get(name)) for name in SAME_FLAGS]
    facts += [("system_role", endpoint.system_role), ("extra_body", endpoint.extra_body)]
    return [*facts, ("served_name", endpoint.model)]
