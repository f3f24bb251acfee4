"""Rebuilds damaged versions from their source files, where these are kept."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from sandtable.catalog.convert import Convert
from sandtable.catalog.model import Dataset
from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.reading.ingest import ingest_again, ingest_declared
from sandtable.catalog.registry import Catalog
from sandtable.catalog.stored.integrity import Whole
from sandtable.catalog.stored.source import Progress
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import SandtableError

log = structlog.get_logger(__name__)

_AGAIN_S = 60.0
"""After a failed rebuild, no other is started for this long."""


class Rebuilding:
    def __init__(
        self,
        catalog: Catalog,
        store: DataStore,
        convert: Convert,
        own: OwnDatasets,
        lock_of: Callable[[str], asyncio.Lock],
        watched: Callable[[str], Progress],
        *,
        by_itself: bool,
    ) -> None:
        """`lock_of` a dataset excludes concurrent conversions; `watched` a version is called with the progress of its
        rebuild, and ends it by raising. `by_itself`: `begin` starts rebuilds."""
        self._catalog = catalog
        self._store = store
        self._convert = convert
        self._own = own
        self._lock_of = lock_of
        self._watched = watched
        self._by_itself = by_itself
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}

    def begin(self, version: str) -> bool:
        """Starts a rebuild in the background, if enabled. Returns whether one is running now."""
        if version in self._tasks:
            return True
        if not self._by_itself or time.monotonic() < self._not_before.get(version, 0.0):
            return False
        declared = self._declared(version) is not None or self._own.is_kept(version)
        if not declared and not self._store.integrity.originals(version):
            return False
        task = self._tasks[version] = asyncio.create_task(self._rebuild(version), name=f"rebuild {version}")
        task.add_done_callback(lambda _: self._tasks.pop(version, None))
        return True

    async def rebuild(self, version: str, progress: Progress | None = None) -> None:
        """Unless it is whole by now. Raises InvalidInput where the original is not kept, or has changed."""
        declared = self._declared(version)
        async with self._lock_of(version if declared is None else declared.id):
            found = await asyncio.to_thread(self._store.check, version, progress)
            if isinstance(found, Whole):
                return
            if declared is None and await self._own.rebuild(version, progress):
                return
            if declared is None:
                await ingest_again(version, self._store, self._convert, progress)
                return
            assert self._catalog.folder is not None
            await ingest_declared(
                declared, self._catalog.folder, self._store, self._convert, progress, replace=True
            )

    def _declared(self, version: str) -> Dataset | None:
        if self._catalog.folder is None:
            return None
        return next((dataset for dataset in self._catalog.values() if dataset.version == version), None)

    async def _rebuild(self, version: str) -> None:
        try:
            await self.rebuild(version, self._watched(version))
        except SandtableError as error:
            self._not_before[version] = time.monotonic() + _AGAIN_S
            log.error("data_not_rebuilt", version=version, reason=error.message)
        except Exception:
            self._not_before[version] = time.monotonic() + _AGAIN_S
            log.exception("data_not_rebuilt", version=version)
        else:
            log.warning("data_rebuilt", version=version)

    async def aclose(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
