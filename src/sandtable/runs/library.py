"""Datasets ready to be queried: found by id, put into the data store on first use."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sandtable.catalog.convert import Convert
from sandtable.catalog.ingest import ingest_declared, ingest_files
from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import Catalog
from sandtable.catalog.source import Progress
from sandtable.catalog.store import DataStore
from sandtable.errors import NotFound


class Library:
    def __init__(self, catalog: Catalog, store: DataStore, convert: Convert) -> None:
        self.catalog = catalog
        self._store = store
        self._convert = convert
        self._added: dict[str, Dataset] = {}
        self._locks: dict[str, asyncio.Lock] = {}
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
        async with self._locks.setdefault(dataset_id, asyncio.Lock()):
            return await ingest_declared(
                dataset, self.catalog.folder, self._store, self._convert, self.progress
            )

    async def version(self, dataset_id: str, version: str) -> Dataset:
        """One version, as it was when it was queried. Raises NotFound when it is not here."""
        try:
            current = await self.ready(dataset_id)
        except NotFound:
            current = None
        if current is not None and current.version == version:
            return current
        return await asyncio.to_thread(self._store.load, version)

    async def add_files(self, paths: Sequence[Path]) -> Dataset:
        """Data files become a dataset of this process, under the name of the first."""
        dataset = await ingest_files(paths, self._store, self._convert, self.progress)
        self._added[dataset.id] = dataset
        return dataset
