"""Files at addresses, for one command: fetched into uploads, which are removed when the command has read them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from sandtable.catalog.own.records import KeptSource
from sandtable.catalog.own.uploads import Uploads
from sandtable.catalog.reading.filenames import FetchedFrom, NamedFile
from sandtable.catalog.stored.source import Progress
from sandtable.imports.fetches import Fetches
from sandtable.stopping import in_thread

USER = "@command"
"""Owner of these uploads: no user of a server has such a name."""

K = TypeVar("K")


class Addresses:
    def __init__(self, uploads: Uploads, fetcher: Fetches) -> None:
        self._uploads = uploads
        self._fetcher = fetcher

    @asynccontextmanager
    async def fetched(
        self, addresses: Sequence[str], progress: Progress
    ) -> AsyncGenerator[dict[str, NamedFile], None]:
        """By address. Raises NotFetched, NotPublic, TooLarge, NoSpace, and InvalidInput for what is no data file."""
        async with self._files([(each, FetchedFrom(address=each)) for each in addresses], progress) as files:
            yield files

    @asynccontextmanager
    async def fetched_again(
        self, sources: Iterable[KeptSource], progress: Progress
    ) -> AsyncGenerator[dict[str, NamedFile], None]:
        """By `KeptSource.table`, those that may have changed since. Raises as `fetched`."""
        known = [(source.table, source.fetched) for source in sources if source.fetched is not None]
        async with self._files(known, progress) as files:
            yield {table: NamedFile(table, f.path, f.name, f.fetched) for table, f in files.items()}

    @asynccontextmanager
    async def _files(
        self, wanted: Sequence[tuple[K, FetchedFrom]], progress: Progress
    ) -> AsyncGenerator[dict[K, NamedFile], None]:
        made: dict[K, NamedFile] = {}
        kept: list[str] = []
        try:
            if wanted:
                await in_thread(self._uploads.clean_of, USER)
            for key, known in wanted:
                upload = await self._fetcher.fetch_again(known, USER, progress)
                if upload is not None:
                    kept.append(upload.id)
                    made[key] = self._uploads.named(upload)
            yield made
        finally:
            for upload_id in kept:
                await in_thread(self._uploads.remove, upload_id)
