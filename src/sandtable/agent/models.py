"""Settings → the proposer: a chat model, or None for the built-in planner.

Invariant: without a chat model in the settings neither LangChain's models nor a provider's client is loaded.
"""

from __future__ import annotations

from sandtable.agent.endpoint import BUILTIN, Endpoint, Privacy, choose_endpoint
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.negotiate import Negotiated
from sandtable.agent.proposer import Proposer
from sandtable.settings import Settings

__all__ = ["BUILTIN", "Endpoint", "ModelTrouble", "Privacy", "choose_endpoint", "model_name", "open_proposer"]

_MEMORY = "models.json"


def open_proposer(settings: Settings) -> Proposer | None:
    """The chat model of the settings; None for the built-in planner. ModelTrouble when it cannot be opened."""
    endpoint = choose_endpoint(settings)
    if endpoint is None:
        return None
    try:
        # Loads LangChain's models and a provider's client, which are optional dependencies.
        from sandtable.agent.model_proposer import ModelProposer

        limit_s = endpoint.time_limit(settings.model_timeout_s)
        return ModelProposer(endpoint, Negotiated(settings.home / _MEMORY), limit_s)
    except ImportError as error:
        raise ModelTrouble(
            "missing_extra",
            f"{endpoint.name} needs the package {error.name or 'langchain'}, which is not installed",
            suggestion=f"Run `pip install 'sandtable[{endpoint.provider}]'`.",
            model=endpoint.name,
        ) from error


def model_name(settings: Settings) -> str:
    """Who proposes, for a person who looks: `builtin`, or `openai:gpt-5` and where it is."""
    endpoint = choose_endpoint(settings)
    return (
        BUILTIN if endpoint is None else f"{endpoint.name} at {endpoint.address}, privacy {endpoint.privacy}"
    )
