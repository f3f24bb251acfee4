"""The connected databases: connect one, see what it has, copy chosen tables, forget it.

Invariant: every session begins with the preflight, because what a role may do can change. A copy is a file of the
uploads until its dataset has taken it, and is removed then, or when anything fails.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sandtable.catalog.model import Dataset
from sandtable.catalog.own.datasets import Added, OwnDatasets
from sandtable.catalog.own.live_datasets import keep_live
from sandtable.catalog.own.uploads import Uploads
from sandtable.catalog.reading.filenames import NamedFile
from sandtable.catalog.registry import Catalog
from sandtable.catalog.stored.source import Progress
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.sources import troubles
from sandtable.sources.answers import FoundTable, Identity, Preflight
from sandtable.sources.landing import (
    LandedTable,
    chosen_tables,
    landed,
    origin_of,
    table_names,
    to_measure,
)
from sandtable.sources.live import live_dataset, require_pushed
from sandtable.sources.preflight import remarks, require_reader
from sandtable.sources.records import Source, SourceRecords
from sandtable.sources.session import SourceSession, opened
from sandtable.stopping import in_thread

USER = "@source"
"""Owner of these uploads: no user of a server has such a name."""
_MOST_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Connected:
    source: Source
    identity: Identity
    preflight: Preflight
    overruled: tuple[str, ...]
    """What the role can do beside reading, where a person allowed it."""
    tables: tuple[FoundTable, ...]

    @property
    def remarks(self) -> list[str]:
        return remarks(self.preflight, self.source)


class Sources:
    def __init__(
        self,
        records: SourceRecords,
        own: OwnDatasets,
        registry: Catalog,
        uploads: Uploads,
        timeout_s: float,
    ) -> None:
        self.records = records
        self._own = own
        self._registry = registry
        self._uploads = uploads
        self._timeout_s = timeout_s
        self._places = asyncio.Semaphore(_MOST_AT_ONCE)

    async def connect(self, source: Source, password: str | None, tables: Sequence[str] = ()) -> Connected:
        """Remembers the source where its role is a reader and these tables are there; nothing is kept of another."""
        self._require_free(source.name)
        found = await self.look(source, password)
        chosen_tables(found.tables, tables)
        await asyncio.to_thread(self.records.write, source, password)
        return found

    def _require_free(self, name: str) -> None:
        """A source's dataset has its name. Raises InvalidInput where another dataset has it."""
        record = self._own.find(name)
        if name in self._registry or (record is not None and self._origins(name) != {name}):
            raise InvalidInput(
                f"there is a dataset {quote(name)}, which is not from this source",
                suggestion="Choose another --name: snapshots become a dataset with the name of the source.",
            )

    def _origins(self, dataset_id: str) -> set[str | None]:
        return self._own.get(dataset_id).current.origins

    async def look(self, source: Source, password: str | None) -> Connected:
        """What the database has now, and what the role can do."""
        async with self._session(source, password) as (session, identity, found, overruled):
            await session.begin()
            return Connected(source, identity, found, tuple(overruled), tuple(await session.tables()))

    async def make_live(
        self, name: str, tables: Sequence[str] = (), *, title: str = "", owner: str = ""
    ) -> Added:
        """These tables, or those that the dataset has, as a dataset whose rows stay in the database."""
        source = await asyncio.to_thread(self.records.get, name)
        self._require_free(name)
        wanted = list(tables) or self._tables_of(name)
        made = await self._live_now(source, wanted, title)
        return await keep_live(self._own, made, title=title, owner=owner)

    async def live_now(self, dataset: Dataset) -> Dataset:
        """The same tables as the database has them now. Raises InvalidInput where one is gone."""
        if dataset.live is None:
            raise ValueError(f"the rows of {dataset.id} are here")
        source = await asyncio.to_thread(self.records.get, dataset.live.source)
        wanted = [f"{each.db_schema}.{each.db_table}" for each in dataset.live.tables]
        return await self._live_now(source, wanted, dataset.title)

    async def _live_now(self, source: Source, wanted: Sequence[str], title: str) -> Dataset:
        require_pushed(source)
        password = await asyncio.to_thread(self.records.password, source)
        found = await self.look(source, password)
        return live_dataset(source, found.tables, wanted, title)

    @asynccontextmanager
    async def copied(
        self, name: str, tables: Sequence[str], progress: Progress
    ) -> AsyncGenerator[list[NamedFile], None]:
        """Copies of these tables, or of those that the dataset has, all of one moment. They are removed at the end."""
        source = await asyncio.to_thread(self.records.get, name)
        self._require_free(name)
        wanted = list(tables) or self._tables_of(name)
        password = await asyncio.to_thread(self.records.password, source)
        kept: list[str] = []
        await in_thread(self._uploads.clean_of, USER)
        try:
            try:
                async with asyncio.timeout(self._timeout_s):
                    files = await self._copies(source, password, wanted, progress, kept)
            except TimeoutError:
                raise troubles.timed_out(source, "making the snapshot") from None
            yield files
        finally:
            for upload_id in kept:
                await in_thread(self._uploads.remove, upload_id)

    def _tables_of(self, name: str) -> list[str]:
        record = self._own.find(name)
        if record is None:
            raise InvalidInput(
                f"no table of source {quote(name)} is chosen",
                suggestion="Name tables with --table; `sandtable data sources` with the name lists them.",
            )
        return record.current.tables_there

    async def _copies(
        self, source: Source, password: str | None, wanted: Sequence[str], progress: Progress, kept: list[str]
    ) -> list[NamedFile]:
        async with self._session(source, password) as (session, *_):
            await session.begin()
            found = chosen_tables(await session.tables(), wanted)
            names = table_names(found)
            plans = [landed(t, names[t.place], await session.measure(t, to_measure(t))) for t in found]
            done = 0
            copies: list[tuple[LandedTable, str, int]] = []
            for plan in plans:
                upload_id = await self._begun(plan, kept)
                rows, done = await self._copy(session, plan, upload_id, progress, done)
                copies.append((plan, upload_id, rows))
        return [
            NamedFile(
                plan.name,
                self._uploads.path(upload_id),
                plan.found.shown,
                copied=origin_of(plan, source.name, rows, plans, source.kind),
            )
            for plan, upload_id, rows in copies
        ]

    async def _begun(self, plan: LandedTable, kept: list[str]) -> str:
        """An upload with the header, which is ours."""
        upload = await in_thread(self._uploads.begin, f"{plan.name}.csv", None, USER)
        kept.append(upload.id)
        header = io.StringIO()
        writer = csv.writer(header, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow([column.name for column in plan.columns])
        await in_thread(self._uploads.append, upload.id, 0, header.getvalue().encode())
        return upload.id

    async def _copy(
        self, session: SourceSession, plan: LandedTable, upload_id: str, progress: Progress, done: int
    ) -> tuple[int, int]:
        """Rows, and the bytes of all tables so far."""
        offset = (await in_thread(self._uploads.find, upload_id)).offset
        begun = offset

        async def write(block: bytes) -> None:
            nonlocal offset
            offset = await in_thread(self._uploads.append, upload_id, offset, block)
            progress(done + offset - begun, 0)

        copied = await session.copy(plan.found, [(c.source, c.read) for c in plan.columns], write)
        await in_thread(self._uploads.complete, upload_id)
        return copied.rows, done + offset - begun

    @asynccontextmanager
    async def _session(
        self, source: Source, password: str | None
    ) -> AsyncGenerator[tuple[SourceSession, Identity, Preflight, list[str]], None]:
        async with self._places, opened(source, password, self._timeout_s) as (session, identity):
            found = await session.preflight()
            yield session, identity, found, require_reader(found, identity, source)

    async def disconnect(self, name: str) -> Source:
        """Its dataset stays as it is."""
        return await asyncio.to_thread(self.records.remove, name)
