"""Where a turn takes place: the dataset it is about, and who asks."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from sandtable.agent.means import Means
from sandtable.agent.state import State
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput
from sandtable.quoting import quote


def user_of(config: RunnableConfig) -> str:
    return str((config.get("configurable") or {}).get("user") or "local")[:128]


def thread_of(config: RunnableConfig) -> str:
    """The conversation, and so the session in which its code runs."""
    return str((config.get("configurable") or {})["thread_id"])


def dataset_id_of(state: State, config: RunnableConfig) -> str | None:
    """What the turn's caller says, else what the thread is about."""
    asked = (config.get("configurable") or {}).get("dataset_id")
    return str(asked) if asked else state.get("dataset_id")


async def dataset_of(means: Means, state: State, config: RunnableConfig) -> Dataset:
    """Raises NotFound, and InvalidInput when the thread has no dataset yet."""
    dataset_id = dataset_id_of(state, config)
    if not dataset_id:
        known = ", ".join(quote(dataset.id) for dataset in means.datasets.datasets())
        raise InvalidInput(
            "no dataset is chosen for this conversation", suggestion=f"Give `dataset_id`, one of {known}."
        )
    return await means.datasets.ready(dataset_id)
