"""Datasets by id: put into the data store on first use, opened when their files are whole, profiled once per version.

Invariant: `open` returns only data that were found whole, in the state that `unchanged` compares with.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

import structlog

from sandtable.catalog.convert import Convert
from sandtable.catalog.model import Dataset, on_the_day
from sandtable.catalog.own.datasets import Added, OwnDatasets
from sandtable.catalog.own.records import now
from sandtable.catalog.profile import Profile
from sandtable.catalog.proposed.keys import (
    IdentityCounts,
    KeyCandidate,
    KeyProposal,
    key_candidates,
    proposed_keys,
)
from sandtable.catalog.proposed.proposals import (
    JoinCandidate,
    KeyCounts,
    Proposals,
    join_candidates,
    proposals_of,
)
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided
from sandtable.catalog.reading.filenames import NamedFile
from sandtable.catalog.reading.ingest import ingest_declared, ingest_files
from sandtable.catalog.rebuilding import Rebuilding
from sandtable.catalog.registry import Catalog
from sandtable.catalog.semantics.editions import CatalogEditions, Check
from sandtable.catalog.stored.integrity import Damage, OpenData, Whole, damaged
from sandtable.catalog.stored.source import Progress
from sandtable.catalog.stored.store import DataStore, parquet_name
from sandtable.errors import NotFound, SandboxUnavailable
from sandtable.recent import Recent

log = structlog.get_logger(__name__)

MakeProfile = Callable[[OpenData], Awaitable[Profile]]


class KeyCounting(Protocol):
    """Counts all rows; `sandbox.key_counts.KeyCounter`."""

    async def references(
        self, data: OpenData, considered: Sequence[JoinCandidate]
    ) -> Sequence[KeyCounts | None]: ...

    async def identities(
        self, data: OpenData, considered: Sequence[KeyCandidate]
    ) -> Sequence[IdentityCounts | None]: ...


_LOOKED_S = 2.0
_PROFILES_KEPT = 8
_PROPOSALS_KEPT = 32
_LIVE_PROFILE_S = 300.0
_LOG_S = 5.0


class ReadyDatasets:
    def __init__(
        self,
        catalog: Catalog,
        store: DataStore,
        convert: Convert,
        make_profile: MakeProfile,
        *,
        rebuilds: bool = False,
        check_metrics: Check | None = None,
        count_keys: KeyCounting | None = None,
    ) -> None:
        """`rebuilds`: damaged data are rebuilt as soon as they are found, where their original is kept.
        `check_metrics`: what is wrong with metrics that a person writes. `count_keys`: counts for joins and
        keys that are proposed."""
        self.catalog = catalog
        self._store = store
        self._convert = convert
        self._make_profile = make_profile
        self._count_keys = count_keys
        self._proposals: Recent[str, Proposals] = Recent(_PROPOSALS_KEPT)
        self._profiles: OrderedDict[str, asyncio.Task[Profile]] = OrderedDict()
        self._added: dict[str, Dataset] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._there_until: dict[str, float] = {}
        """Versions that were recently seen in the store: one answer asks a dozen times."""
        self._checks: dict[str, asyncio.Task[Whole | Damage]] = {}
        """Versions whose files are being hashed: all callers wait for the same check."""
        self._closed = False
        self.editions = CatalogEditions(store.root, check_metrics)
        self.own = OwnDatasets(catalog, store, convert, editions=self.editions)
        self.rebuilding = Rebuilding(
            catalog, store, convert, self.own, self.lock_of, self._watched, by_itself=rebuilds
        )
        self.progress: Progress | None = None
        """Called with the progress of a conversion or a check, in bytes."""

    async def aclose(self) -> None:
        """Ends running checks and rebuilds."""
        self._closed = True
        await self.rebuilding.aclose()
        await asyncio.gather(*self._checks.values(), return_exceptions=True)

    def lock_of(self, dataset_id: str) -> asyncio.Lock:
        return self._locks.setdefault(dataset_id, asyncio.Lock())

    def datasets(self) -> tuple[Dataset, ...]:
        """Those of this process, then those that people added, then those of the registry. The first of a name hides
        the others."""
        every = (
            *self._added.values(),
            *(record.dataset for record in self.own.list()),
            *self.catalog.values(),
        )
        by_id = {dataset.id: dataset for dataset in reversed(every)}
        return tuple(
            self._added_here(by_id[each]) or self.editions.listed(by_id[each]) for each in _ids(every)
        )

    def get(self, dataset_id: str) -> Dataset:
        """By its current catalog. Raises NotFound with the nearest id."""
        return self._described(self.as_found(dataset_id))

    def _described(self, dataset: Dataset) -> Dataset:
        return self._added_here(dataset) or on_the_day(self.editions.described(dataset), now())

    def _added_here(self, dataset: Dataset) -> Dataset | None:
        """A dataset of this process has the id of another one at most by chance: what is written about that is not
        about it."""
        return self.editions.as_found(dataset) if dataset.id in self._added else None

    def is_lasting(self, dataset_id: str) -> bool:
        """Whether what people write about it is used: see `_added_here`."""
        return dataset_id not in self._added

    def as_found(self, dataset_id: str) -> Dataset:
        """As its data describe it, without what people wrote about it. Raises NotFound with the nearest id."""
        found = self._added.get(dataset_id)
        if found is None and (record := self.own.find(dataset_id)) is not None:
            found = record.dataset
        if found is None and dataset_id in self.catalog:
            found = self.catalog.get(dataset_id)
        return found or Catalog(self.datasets()).get(dataset_id)

    async def ready(self, dataset_id: str) -> Dataset:
        """The dataset by its current catalog, with its data in the store; `open` checks that they are whole."""
        dataset = self.as_found(dataset_id)
        if dataset_id not in self._added and time.monotonic() >= self._there_until.get(dataset.version, 0.0):
            if self.own.find(dataset_id) is not None:
                await self._restore(dataset.version)
            elif self.catalog.folder is not None:
                async with self.lock_of(dataset_id):
                    dataset = await ingest_declared(
                        dataset, self.catalog.folder, self._store, self._convert, self.progress
                    )
            self._there_until[dataset.version] = time.monotonic() + _LOOKED_S
        return self._described(dataset)

    async def version(self, dataset_id: str, version: str, catalog_version: str | None = None) -> Dataset:
        """One version, by one version of its catalog, or by the current one. Raises NotFound when one of the two is
        not here."""
        await self._restore(version)
        current = await self._current(dataset_id, version)
        if not catalog_version:
            return current or await asyncio.to_thread(self._stored, dataset_id, version)
        if current is not None and current.catalog_version == catalog_version:
            return current
        return await asyncio.to_thread(self._at, dataset_id, version, catalog_version)

    def _stored(self, dataset_id: str, version: str) -> Dataset:
        return self._described(self._loaded(dataset_id, version))

    def _loaded(self, dataset_id: str, version: str) -> Dataset:
        """As it was ingested: another dataset of the same data may have been the first."""
        if (live := self._live(dataset_id, version)) is not None:
            return live
        return self._store.load(version).model_copy(update={"id": dataset_id})

    def _at(self, dataset_id: str, version: str, catalog_version: str) -> Dataset:
        """The description may be of today's registry or record, or the one with which the data were ingested."""
        own = self.own.records.version(version)
        found = [*([own.dataset] if own is not None else ()), self._loaded(dataset_id, version)]
        if dataset_id in self.catalog and (declared := self.catalog.get(dataset_id)).version == version:
            found.insert(0, declared)
        for dataset in found[:-1]:
            with contextlib.suppress(NotFound):
                return self.editions.at(dataset.model_copy(update={"id": dataset_id}), catalog_version)
        return self.editions.at(found[-1], catalog_version)

    def _live(self, dataset_id: str, version: str) -> Dataset | None:
        """A version whose rows stay in a database; only its record is here."""
        record = self.own.find(dataset_id)
        return None if record is None else record.live(version)

    async def _restore(self, version: str) -> None:
        """Builds a version again that is lost and whose sources are kept."""
        if not self._store.path(version).exists() and self.own.is_kept(version):
            async with self.lock_of(version):
                if not self._store.path(version).exists():
                    await self.own.rebuild(version, self.progress)

    async def _current(self, dataset_id: str, version: str) -> Dataset | None:
        try:
            current = await self.ready(dataset_id)
        except NotFound:
            return None
        return current if current.version == version else None

    # Whether the files are the published ones

    async def open(self, dataset_id: str, version: str, catalog_version: str | None = None) -> OpenData:
        """One version whose files were found whole; the catalog as for `version`. Raises NotFound, DataDamaged."""
        if self._live(dataset_id, version) is not None:
            return OpenData(await self.version(dataset_id, version, catalog_version), Whole(version))
        await self._restore(version)
        await self._current(dataset_id, version)
        whole = await self._whole(dataset_id, version)
        dataset = await self.version(dataset_id, version, catalog_version)
        unknown = [t.name for t in dataset.tables if parquet_name(t.name) not in whole.stamps]
        if unknown:
            raise damaged(version, f"no digest of {', '.join(unknown)} is recorded", dataset_id)
        return OpenData(dataset, whole)

    async def unchanged(self, data: OpenData) -> bool:
        """Whether the files are still those that were opened, so that a run that ended has read nothing else."""
        if not self._store.integrity.same(data.whole):
            return False
        if data.whole.settled:
            return True
        found = await self._checked(data.whole.version)
        return isinstance(found, Whole) and found.stamps == data.whole.stamps

    async def _whole(self, dataset_id: str, version: str) -> Whole:
        # A stat of a few files takes microseconds, less than a switch to a thread.
        found = self._store.integrity.look(version) or await self._checked(version)
        if isinstance(found, Whole):
            return found
        raise damaged(version, found.why, dataset_id, rebuilding=self.on_damage(version))

    def on_damage(self, version: str) -> bool:
        """Discards what was made from the version. Returns whether it is being rebuilt."""
        self._profiles.pop(version, None)
        return self.rebuilding.begin(version)

    async def _checked(self, version: str) -> Whole | Damage:
        task = self._checks.get(version)
        if task is None:
            check = asyncio.to_thread(self._store.check, version, self._watched(version))
            task = self._checks[version] = asyncio.create_task(check, name=f"check {version}")
            task.add_done_callback(lambda _: self._checks.pop(version, None))
            task.add_done_callback(_retrieve)
        return await asyncio.shield(task)

    def _watched(self, version: str) -> Progress:
        """Reports the progress of a check, and logs it if it takes long; ends the check when this object is closed."""
        logged_at = time.monotonic()

        def watch(done: int, total: int) -> None:
            nonlocal logged_at
            if self._closed:
                raise SandboxUnavailable(
                    "nothing is read any more: the server stops", suggestion="Try again soon."
                )
            if self.progress is not None:
                self.progress(done, total)
            if time.monotonic() - logged_at > _LOG_S:
                logged_at = time.monotonic()
                log.info("data_being_read", version=version, bytes_done=done, bytes_in_all=total)

        return watch

    async def add_files(
        self, paths: Sequence[Path], *, reserved: Collection[str] = (), decided: Decided = NOTHING_DECIDED
    ) -> Dataset:
        """Adds data files as a dataset of this process, named after the first, with a number if that is taken.

        `reserved` names are never used; otherwise a file hides another dataset of the same name.
        """
        dataset = await ingest_files(paths, self._store, self._convert, self.progress, decided)
        name, number = dataset.id, 1
        while dataset.id in reserved or (
            (other := self._added.get(dataset.id)) is not None and other.version != dataset.version
        ):
            number += 1
            dataset = dataset.model_copy(update={"id": f"{name[:120]}_{number}"})
        self._added[dataset.id] = dataset
        return self._described(dataset)

    async def add_own(
        self,
        files: Sequence[Path | NamedFile],
        *,
        dataset_id: str | None = None,
        title: str = "",
        to: str | None = None,
        decided: Decided = NOTHING_DECIDED,
    ) -> Added:
        """Adds data files as a dataset that stays, or as a newer version of one: see `OwnDatasets.add`."""
        return await self.own.add(
            files, dataset_id=dataset_id, title=title, to=to, decided=decided, progress=self.progress
        )

    async def profile(self, dataset: Dataset) -> Profile:
        """The contents of this version's columns. Concurrent callers share one profiling job."""
        # Rows that stay in a database change under the same version.
        at = "" if dataset.live is None else f" {time.monotonic() // _LIVE_PROFILE_S}"
        key = dataset.version + at
        task = self._profiles.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(self._look_at(dataset), name=f"profile {dataset.id}")
            self._profiles[key] = task
            task.add_done_callback(_retrieve)
        self._profiles.move_to_end(key)
        while len(self._profiles) > _PROFILES_KEPT and next(iter(self._profiles.values())).done():
            self._profiles.popitem(last=False)
        # A cancelled caller does not cancel the profile for the others.
        return await asyncio.shield(task)

    async def proposals(self, dataset: Dataset) -> Proposals:
        """Keys, joins, metrics and masks that a person may confirm. Made once for each version of data and catalog."""
        known = self._proposals.get(dataset.edition)
        if known is not None:
            return known
        profile = await self.profile(dataset)
        considered = await asyncio.to_thread(join_candidates, dataset, profile)
        identities = await asyncio.to_thread(key_candidates, dataset, profile)
        counted: Sequence[KeyCounts | None] = (None,) * len(considered)
        keys: tuple[KeyProposal, ...] = ()
        if (considered or identities) and self._count_keys is not None and dataset.live is None:
            data = await self.open(dataset.id, dataset.version, dataset.catalog_version)
            counted = await self._count_keys.references(data, considered)
            keys = proposed_keys(identities, await self._count_keys.identities(data, identities))
        made = await asyncio.to_thread(proposals_of, dataset, profile, considered, counted, keys)
        self._proposals.put(dataset.edition, made)
        return made

    async def _look_at(self, dataset: Dataset) -> Profile:
        if dataset.live is not None:
            return await self._make_profile(await self.open(dataset.id, dataset.version))
        kept = await asyncio.to_thread(self._store.profile, dataset.version)
        if kept is not None:
            return kept
        data = await self.open(dataset.id, dataset.version)
        made = await self._make_profile(data)
        if not await self.unchanged(data):
            raise damaged(dataset.version, "its files changed while they were read", dataset.id)
        try:
            await asyncio.to_thread(self._store.keep_profile, made)
        except OSError as error:
            # It is valid for this process; the next one makes its own.
            log.warning("profile_not_kept", dataset_id=dataset.id, reason=str(error))
        return made


def _ids(datasets: Sequence[Dataset]) -> dict[str, None]:
    return dict.fromkeys(dataset.id for dataset in datasets)


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Waiting callers get the error; without any, asyncio must not log it as unhandled."""
    if not task.cancelled():
        task.exception()
