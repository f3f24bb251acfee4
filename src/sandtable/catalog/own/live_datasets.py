"""A dataset whose rows stay in a database becomes, or follows, a version of the dataset of its source."""

from __future__ import annotations

import asyncio

from sandtable.catalog.model import Dataset
from sandtable.catalog.own.changes import changes_of
from sandtable.catalog.own.datasets import Added, OwnDatasets
from sandtable.catalog.own.records import OwnDataset, OwnVersion, now, repeated


async def keep_live(own: OwnDatasets, dataset: Dataset, *, title: str = "", owner: str = "") -> Added:
    """A new version where the tables or their columns are others than those of the current version."""

    async def attempt() -> Added:
        return await asyncio.to_thread(_kept, own, dataset, title, owner)

    return await repeated(attempt, dataset.id)


def _kept(own: OwnDatasets, dataset: Dataset, title: str, owner: str) -> Added:
    """Raises Outdated."""
    before = own.find(dataset.id)
    title = title or (before.title if before else dataset.title)
    made = dataset.model_copy(update={"title": title})
    version = OwnVersion(at=now(), dataset=made, sources=(), table_sources={})
    if before is None:
        record = OwnDataset(id=made.id, title=title, added_at=version.at, owner=owner, versions=(version,))
        own.records.write(record, None)
        return Added(record, "added")
    current = before.current
    if made.version == current.dataset.version:
        if title == before.title:
            return Added(before, "unchanged")
        renamed = current.model_copy(update={"dataset": made})
        record = before.model_copy(update={"title": title, "versions": (*before.versions[:-1], renamed)})
        own.records.write(record, before)
        return Added(record, "unchanged")
    changes = changes_of(current.dataset, made, current.findings, {})
    version = version.model_copy(update={"changes": changes})
    # A version that was asked before comes back as the current one.
    others = tuple(v for v in before.versions if v.dataset.version != made.version)
    record = before.model_copy(update={"title": title, "versions": (*others, version)})
    own.records.write(record, before)
    return Added(record, "changed")
