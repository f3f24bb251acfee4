"""The dataset of a stored run, as the run asked it."""

from __future__ import annotations

from typing import Protocol

from sandtable.catalog.model import Dataset, on_the_day
from sandtable.errors import SandtableError
from sandtable.runs.model import Run


class Versions(Protocol):
    async def version(self, dataset_id: str, version: str, catalog_version: str | None = None) -> Dataset: ...


async def dataset_as_asked(datasets: Versions, run: Run) -> Dataset | None:
    """The version that the run asked, by its catalog, and with 'now' as it was; None where it is not here any more."""
    try:
        found = await datasets.version(
            run.request.dataset_id, run.dataset_version, run.catalog_version or None
        )
    except SandtableError:
        return None
    return on_the_day(found, run.created_at)
