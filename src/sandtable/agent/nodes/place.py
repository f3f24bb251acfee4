"""Where a turn takes place: the dataset it is about, and who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtable.agent.means import Means
from sandtable.agent.state import State
from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import Catalog
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

Config = Mapping[str, Any]
"""A `RunnableConfig` of LangGraph; `configurable` says who asks, in which thread, about which dataset."""


def user_of(config: Config) -> str:
    return str((config.get("configurable") or {}).get("user") or "local")[:128]


def datasets_of(means: Means, config: Config) -> tuple[Dataset, ...]:
    """Those that the user may see."""
    seen = (config.get("configurable") or {}).get("datasets")
    every = means.datasets.datasets()
    return every if seen is None else tuple(dataset for dataset in every if dataset.id in seen)


async def ready_dataset(means: Means, config: Config, dataset_id: str) -> Dataset:
    """Raises NotFound, also for a dataset that the user may not see."""
    seen = (config.get("configurable") or {}).get("datasets")
    if seen is not None and dataset_id not in seen:
        return Catalog(datasets_of(means, config)).get(dataset_id)
    return await means.datasets.ready(dataset_id)


def thread_of(config: Config) -> str:
    """The conversation, and so the session in which its code runs."""
    return str((config.get("configurable") or {})["thread_id"])


def dataset_id_of(state: State, config: Config) -> str | None:
    """What the turn's caller says, else what the thread is about."""
    asked = (config.get("configurable") or {}).get("dataset_id")
    return str(asked) if asked else state.get("dataset_id")


async def dataset_of(means: Means, state: State, config: Config) -> Dataset:
    """Raises NotFound, and InvalidInput when the thread has no dataset yet."""
    dataset_id = dataset_id_of(state, config)
    if not dataset_id:
        known = ", ".join(quote(dataset.id) for dataset in datasets_of(means, config))
        raise InvalidInput(
            "no dataset is chosen for this conversation", suggestion=f"Give `dataset_id`, one of {known}."
        )
    return await ready_dataset(means, config, dataset_id)
