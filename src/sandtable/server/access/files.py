"""Uploads and imports as the principal may see them: their own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from sandtable.accounts.asking import asking, owner_name
from sandtable.catalog.own.uploads import Upload, UploadLimits, Uploads
from sandtable.errors import NotFound
from sandtable.imports.desk import Imports
from sandtable.imports.model import Import, ImportOrder
from sandtable.imports.records import no_import
from sandtable.server.access.datasets import SeenDatasets


class SeenUploads:
    """Has what routes use of `Uploads`. All calls block."""

    def __init__(self, every: Uploads) -> None:
        self._every = every

    @property
    def limits(self) -> UploadLimits:
        return self._every.limits

    def begin(self, name: str, size: int | None, user: str) -> Upload:
        return self._every.begin(name, size, asking().principal.user)

    def find(self, upload_id: str) -> Upload:
        """Raises NotFound."""
        upload, found = self._every.find(upload_id), asking()
        if not found.owns(upload.user):
            raise self._every.unknown(upload_id)
        found.note_look("upload", upload_id, upload.user)
        return upload

    def require_fit(self, upload_id: str, offset: int, count: int) -> Upload:
        self.find(upload_id)
        return self._every.require_fit(upload_id, offset, count)

    def append(self, upload_id: str, offset: int, data: bytes) -> int:
        self.find(upload_id)
        return self._every.append(upload_id, offset, data)

    def complete(self, upload_id: str) -> Upload:
        self.find(upload_id)
        return self._every.complete(upload_id)

    def sync(self, upload_id: str) -> None:
        self._every.sync(upload_id)

    def remove(self, upload_id: str) -> None:
        try:
            self.find(upload_id)
        except NotFound:
            return
        self._every.remove(upload_id)

    def expires_at(self, upload: Upload) -> float:
        return self._every.expires_at(upload)


class SeenImports:
    """Has what routes use of `Imports`."""

    def __init__(self, every: Imports, uploads: SeenUploads, datasets: SeenDatasets) -> None:
        self._every = every
        self._uploads = uploads
        self._datasets = datasets

    @property
    def under_way(self) -> int:
        """Of everyone's imports: a number for the operator."""
        return self._every.under_way

    async def new(self, order: ImportOrder) -> Import:
        for upload_id in order.uploads:
            await asyncio.to_thread(self._uploads.find, upload_id)
        await self._require_edit(order)
        user = asking().principal.user
        return await self._every.new(order.model_copy(update={"user": user, "owner": owner_name(user)}))

    async def again(
        self, dataset_id: str, user: str, answers: Mapping[str, str], repairs: Sequence[str]
    ) -> Import:
        await asyncio.to_thread(self._datasets.require_edit, dataset_id)
        return await self._every.again(dataset_id, asking().principal.user, answers, repairs)

    async def all(self) -> list[Import]:
        principal = asking().principal
        return await self._every.all(None if principal.sees_all else principal.user)

    async def get(self, import_id: str) -> Import:
        await self._order(import_id)
        return await self._every.get(import_id)

    async def uses(self, upload_id: str) -> bool:
        return await self._every.uses(upload_id)

    async def answer(self, import_id: str, answers: Mapping[str, str], repairs: Sequence[str]) -> Import:
        # What it adds to may not be the principal's to change any more.
        await self._require_edit(await self._order(import_id))
        return await self._every.answer(import_id, answers, repairs)

    async def cancel(self, import_id: str) -> None:
        await self._order(import_id)
        await self._every.cancel(import_id)

    async def _order(self, import_id: str) -> ImportOrder:
        """Raises NotFound."""
        order, found = await self._every.order_of(import_id), asking()
        if not found.owns(order.user):
            raise no_import(import_id)
        found.note_look("import", import_id, order.user)
        return order

    async def _require_edit(self, order: ImportOrder) -> None:
        if order.dataset_id is not None:
            await asyncio.to_thread(self._datasets.require_edit, order.dataset_id)
