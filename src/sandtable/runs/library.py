"""Datasets ready to be queried: found by id, put into the data store on first use, looked at once a version."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path

import structlog

from sandtable.catalog.convert import Convert
from sandtable.catalog.ingest import ingest_declared, ingest_files
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.catalog.registry import Catalog
from sandtable.catalog.source import Progress
from sandtable.catalog.store import DataStore
from sandtable.errors import NotFound

log = structlog.get_logger(__name__)

MakeProfile = Callable[[Dataset], Awaitable[Profile]]

_LOOKED_S = 2.0
_PROFILES_KEPT = 8


class Library:
    def __init__(
        self, catalog: Catalog, store: DataStore, convert: Convert, make_profile: MakeProfile
    ) -> None:
        self.catalog = catalog
        self._store = store
        self._convert = convert
        self._make_profile = make_profile
        self._profiles: OrderedDict[str, asyncio.Task[Profile]] = OrderedDict()
        self._added: dict[str, Dataset] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._there_until: dict[str, float] = {}
        """Versions that were seen in the store a moment ago: one answer asks a dozen times."""
        self.progress: Progress | None = None
        """Told how far a conversion is, in bytes; set by whoever can show it."""

    def datasets(self) -> tuple[Dataset, ...]:
        return (*self._added.values(), *(d for d in self.catalog.values() if d.id not in self._added))

    def get(self, dataset_id: str) -> Dataset:
        """Raises NotFound with the nearest id."""
        return self._added.get(dataset_id) or self.catalog.get(dataset_id)

    async def ready(self, dataset_id: str) -> Dataset:
        """The dataset, with its data in the store."""
        dataset = self.get(dataset_id)
        if dataset_id in self._added or self.catalog.folder is None:
            return dataset
        if time.monotonic() < self._there_until.get(dataset.version, 0.0):
            return dataset
        async with self._locks.setdefault(dataset_id, asyncio.Lock()):
            ready = await ingest_declared(
                dataset, self.catalog.folder, self._store, self._convert, self.progress
            )
        self._there_until[dataset.version] = time.monotonic() + _LOOKED_S
        return ready

    async def version(self, dataset_id: str, version: str) -> Dataset:
        """One version, as it was when it was queried. Raises NotFound when it is not here."""
        try:
            current = await self.ready(dataset_id)
        except NotFound:
            current = None
        if current is not None and current.version == version:
            return current
        return await asyncio.to_thread(self._store.load, version)

    async def add_files(self, paths: Sequence[Path], *, reserved: Collection[str] = ()) -> Dataset:
        """Data files become a dataset of this process, under the name of the first and a number if that is taken.

        `reserved` names are never given; else a file hides the dataset of the catalog that has its name.
        """
        dataset = await ingest_files(paths, self._store, self._convert, self.progress)
        name, number = dataset.id, 1
        while dataset.id in reserved or (
            (other := self._added.get(dataset.id)) is not None and other.version != dataset.version
        ):
            number += 1
            dataset = dataset.model_copy(update={"id": f"{name[:120]}_{number}"})
        self._added[dataset.id] = dataset
        return dataset

    async def profile(self, dataset: Dataset) -> Profile:
        """What the columns of this version hold. All who ask at the same time wait for one look at the data."""
        task = self._profiles.get(dataset.version)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(self._look_at(dataset), name=f"profile {dataset.id}")
            self._profiles[dataset.version] = task
            task.add_done_callback(_hear)
        self._profiles.move_to_end(dataset.version)
        while len(self._profiles) > _PROFILES_KEPT and next(iter(self._profiles.values())).done():
            self._profiles.popitem(last=False)
        # Whoever gives up does not take the profile from the others.
        return await asyncio.shield(task)

    async def _look_at(self, dataset: Dataset) -> Profile:
        kept = await asyncio.to_thread(self._store.profile, dataset.version)
        if kept is not None:
            return kept
        made = await self._make_profile(dataset)
        try:
            await asyncio.to_thread(self._store.keep_profile, made)
        except OSError as error:
            # It is as good as any for this process; the next one makes its own.
            log.warning("profile_not_kept", dataset_id=dataset.id, reason=str(error))
        return made


def _hear(task: asyncio.Task[Profile]) -> None:
    """Those who wait are told; a look at the data for which nobody waits any more fails in silence."""
    if not task.cancelled():
        task.exception()
