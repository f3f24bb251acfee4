"""The connected databases of a home."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.uploads import Uploads
from sandtable.catalog.reading.filenames import NamedFile
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.catalog.stored.source import Progress
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput, NotFound
from sandtable.imports.copies import for_clients
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.quoting import quote
from sandtable.settings import Settings

if TYPE_CHECKING:
    from sandtable.assemble import Parts
    from sandtable.sandbox.live.executor import LiveExecutor
    from sandtable.sources.sources import Sources


def executor_of(settings: Settings, name: str, tracer: Tracer = UNOBSERVED.tracer) -> LiveExecutor:
    """Of the connected database with this name. The caller closes it."""
    # These load what speaks with workers, which most commands and servers never need.
    from sandtable.sandbox.live.executor import LiveExecutor
    from sandtable.sources.executing import ExecutingSource
    from sandtable.sources.records import SourceRecords

    database = ExecutingSource(SourceRecords(settings.home), name)
    return LiveExecutor(database, settings.source_workers, tracer=tracer)


def sources_of(parts: Parts) -> Sources:
    return sources_in(parts.settings, parts.datasets.own, parts.uploads)


class LoadedCopies:
    """Implements `imports.copies.Copies` by `Sources`, which it loads when tables are copied."""

    def __init__(self, settings: Settings, own: OwnDatasets, uploads: Uploads) -> None:
        self._settings = settings
        self._own = own
        self._uploads = uploads

    @asynccontextmanager
    async def copied(
        self, name: str, owner: str, tables: Sequence[str], progress: Progress
    ) -> AsyncGenerator[Sequence[NamedFile], None]:
        source = await asyncio.to_thread(self._sources.records.get, name)
        if source.owner != owner:
            # It was forgotten, and somebody else connected another one by this name.
            raise NotFound(f"no source {quote(name)} is connected", suggestion="Connect it again.")
        try:
            async with self._sources.copied(name, tables, progress) as files:
                yield files
        except InvalidInput as error:
            raise for_clients(error) from None

    @cached_property
    def _sources(self) -> Sources:
        """Not those that connect and look: a long copy does not keep anybody from that."""
        return sources_in(self._settings, self._own, self._uploads)


def sources_in(settings: Settings, own: OwnDatasets, uploads: Uploads) -> Sources:
    # These load what speaks with workers, which most commands and servers never need.
    from sandtable.sources.records import SourceRecords
    from sandtable.sources.sources import Sources

    registry = load_catalog(registry_folder(settings), column_type)
    records = SourceRecords(settings.home)
    return Sources(records, own, registry, uploads, settings.snapshot_timeout_s)
