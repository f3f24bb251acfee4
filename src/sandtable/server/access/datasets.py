"""Datasets as the principal may see them.

Invariant: names of datasets that may not be seen appear in no list, no error and no suggestion.
"""

from __future__ import annotations

import asyncio
from typing import Any

from sandtable.accounts.asking import Asking, asking
from sandtable.accounts.refusals import NotAllowed
from sandtable.accounts.shares import Right, Thing
from sandtable.catalog.model import Dataset
from sandtable.catalog.own.records import OwnDataset
from sandtable.catalog.profile import Profile
from sandtable.catalog.proposed.proposals import Proposals
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.registry import Catalog
from sandtable.catalog.semantics.editions import Edition
from sandtable.catalog.semantics.model import Semantics
from sandtable.catalog.stored.integrity import OpenData
from sandtable.quoting import quote


def right_on(record: OwnDataset | None, found: Asking) -> Right | None:
    """What the principal may do with a dataset; `record` is None for a built-in one."""
    principal = found.principal
    if principal.sees_all:
        return "edit"
    if record is None:
        return "see"
    if record.owner in ("", principal.user):
        return "edit"
    return found.datasets.get(Thing("dataset", record.id, record.owner))


class SeenDatasets:
    """Has what routes use of `ReadyDatasets`."""

    def __init__(self, every: ReadyDatasets) -> None:
        self._every = every
        self.own = SeenOwn(every, self)
        self.editions = SeenEditions(every, self)

    def datasets(self) -> tuple[Dataset, ...]:
        found = asking()
        every = self._every.datasets()
        if found.principal.sees_all:
            found.note_list("dataset")
            return every
        records = {record.id: record for record in self._every.own.list()}
        return tuple(each for each in every if self._right(each.id, records.get(each.id), found) is not None)

    def get(self, dataset_id: str) -> Dataset:
        """Raises NotFound with the nearest id that may be seen."""
        self.require(dataset_id)
        return self._every.get(dataset_id)

    def as_found(self, dataset_id: str) -> Dataset:
        self.require(dataset_id)
        return self._every.as_found(dataset_id)

    async def ready(self, dataset_id: str) -> Dataset:
        self.require(dataset_id)
        return await self._every.ready(dataset_id)

    async def open(self, dataset_id: str, version: str, catalog_version: str | None = None) -> OpenData:
        self.require(dataset_id)
        return await self._every.open(dataset_id, version, catalog_version)

    async def version(self, dataset_id: str, version: str, catalog_version: str | None = None) -> Dataset:
        """Needs no right: it describes the version that a run names, for people who may see that run."""
        return await self._every.version(dataset_id, version, catalog_version)

    async def profile(self, dataset: Dataset) -> Profile:
        self.require(dataset.id)
        return await self._every.profile(dataset)

    async def proposals(self, dataset: Dataset) -> Proposals:
        self.require(dataset.id)
        return await self._every.proposals(dataset)

    def is_lasting(self, dataset_id: str) -> bool:
        return self._every.is_lasting(dataset_id)

    # What may be done

    def require(self, dataset_id: str) -> None:
        """Raises NotFound."""
        found = asking()
        if found.principal.sees_all and not found.principal.is_admin:
            return
        record = self._every.own.find(dataset_id)
        if found.principal.sees_all:
            found.note_look("dataset", dataset_id, record.owner if record else "")
        elif self._right(dataset_id, record, found) is None or not self._is_there(dataset_id, record):
            raise_unknown(self.datasets(), dataset_id)

    def require_edit(self, dataset_id: str) -> None:
        """Raises NotFound, and NotAllowed for one that may only be seen."""
        self.require(dataset_id)
        found = asking()
        record = self._every.own.find(dataset_id)
        if found.principal.sees_all or self._right(dataset_id, record, found) == "edit":
            return
        if record is None:
            raise NotAllowed(
                f"{quote(dataset_id)} belongs to everyone here: only an administrator changes what is said about it",
                suggestion="Ask an administrator.",
                dataset=dataset_id,
            )
        raise NotAllowed(
            f"{quote(dataset_id)} is shared with you to ask about, not to change",
            suggestion=f"Ask {record.owner} to share it for editing.",
            dataset=dataset_id,
        )

    def require_removal(self, dataset_id: str) -> None:
        """Raises NotFound, and NotAllowed unless it is the principal's own."""
        self.require(dataset_id)
        record = self._every.own.find(dataset_id)
        found = asking()
        if record is None or found.owns(record.owner):
            return
        whose = record.owner or "everyone here"
        raise NotAllowed(
            f"{quote(dataset_id)} belongs to {whose}",
            suggestion="Ask an administrator to remove it."
            if not record.owner
            else f"Ask {whose} to remove it.",
            dataset=dataset_id,
        )

    def _right(self, dataset_id: str, record: OwnDataset | None, found: Asking) -> Right | None:
        # A dataset of this process hides an added one of the same name.
        return right_on(record if self._every.is_lasting(dataset_id) else None, found)

    def _is_there(self, dataset_id: str, record: OwnDataset | None) -> bool:
        return record is not None or any(each.id == dataset_id for each in self._every.datasets())


def raise_unknown(seen: tuple[Dataset, ...], dataset_id: str) -> None:
    """Raises NotFound with the nearest of the names that may be seen."""
    Catalog(seen).get(dataset_id)


class SeenOwn:
    """Has what routes use of `OwnDatasets`."""

    def __init__(self, every: ReadyDatasets, seen: SeenDatasets) -> None:
        self._every = every
        self._seen = seen

    def list(self) -> tuple[OwnDataset, ...]:
        found = asking()
        if found.principal.sees_all:
            found.note_list("dataset")
        return tuple(record for record in self._every.own.list() if right_on(record, found) is not None)

    def find(self, dataset_id: str) -> OwnDataset | None:
        record, found = self._every.own.find(dataset_id), asking()
        if record is None or right_on(record, found) is None:
            return None
        found.note_look("dataset", dataset_id, record.owner)
        return record

    async def remove(self, dataset_id: str) -> OwnDataset:
        await asyncio.to_thread(self._seen.require_removal, dataset_id)
        record = await self._every.own.remove(dataset_id)
        await asking().shares.forget("dataset", [dataset_id])
        return record

    async def remove_file(self, dataset_id: str, table: str) -> None:
        await asyncio.to_thread(self._seen.require_edit, dataset_id)
        record = self._every.own.find(dataset_id)
        if record is not None and all(source.table == table for source in record.current.sources):
            # The dataset goes with its last file.
            await self.remove(dataset_id)
            return
        await self._every.own.remove_file(dataset_id, table)


class SeenEditions:
    """What people say about datasets. Methods that take a `Dataset` got it from `SeenDatasets`."""

    _OF_A_DATASET = frozenset(
        {"describe", "described", "listed", "as_found", "at", "version_of", "fitted", "problems", "whole"}
    )

    def __init__(self, every: ReadyDatasets, seen: SeenDatasets) -> None:
        self._editions = every.editions
        self._seen = seen

    def current(self, dataset_id: str) -> Semantics:
        self._seen.require(dataset_id)
        return self._editions.current(dataset_id)

    def editions(self, dataset_id: str) -> tuple[Edition, ...]:
        self._seen.require(dataset_id)
        return self._editions.editions(dataset_id)

    def write(self, dataset: Dataset, *given: Any, **named: Any) -> Any:
        self._seen.require_edit(dataset.id)
        return self._editions.write(dataset, *given, **named)

    def __getattr__(self, name: str) -> Any:
        if name in self._OF_A_DATASET:
            return getattr(self._editions, name)
        raise AttributeError(name)
