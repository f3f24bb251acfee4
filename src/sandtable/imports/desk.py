"""Imports at work: files are fetched, tables copied, and both read and registered, one conversion at a time.

Invariant: the record on disk says what is to be done before it is begun, so that another server goes on when this one
ends: what was being read is read again, and questions stay open. A dataset appears when all its files were read, or not
at all.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

import structlog

from sandtable.catalog.own.datasets import Added
from sandtable.catalog.own.uploads import Upload, Uploads
from sandtable.catalog.reading.file_tables import Decided
from sandtable.catalog.reading.filenames import NamedFile, name_files
from sandtable.catalog.stored.source import Progress
from sandtable.errors import ErrorCode, InvalidInput, Problem, QueueFull, SandtableError
from sandtable.imports.copies import Copies, copied_at, require_not_copied
from sandtable.imports.fetches import Fetches, require_address
from sandtable.imports.model import Import, ImportedFile, ImportOrder, ImportProgress, ImportRecord
from sandtable.imports.outcomes import asked_or_failed, ready
from sandtable.imports.records import ImportRecords
from sandtable.observing import UNOBSERVED, Observer
from sandtable.stopping import in_thread, stopped

MOST_OPEN = 100
"""Imports of all users that have not ended."""
_FETCHES = 4
_CLEAN_S = 600.0
_ADOPT_S = 30.0
_FORGOTTEN_S = 30 * 86_400.0
_BROKEN = Problem(
    code=ErrorCode.RUNNER_INTERNAL_ERROR,
    message="the import met an unexpected error",
    suggestion="Try again; if it happens again, report it: the log has the cause.",
)
_UNANSWERED = Problem(
    code=ErrorCode.CANCELLED,
    message="the questions were not answered in time",
    suggestion="Import the files again.",
)

log = structlog.get_logger(__name__)


class OwnData(Protocol):
    """What imports need of `catalog.own.datasets.OwnDatasets`."""

    async def add(
        self,
        files: Sequence[NamedFile],
        *,
        dataset_id: str | None = None,
        title: str = "",
        to: str | None = None,
        decided: Decided = ...,
        progress: Progress | None = None,
        owner: str | None = None,
    ) -> Added: ...

    async def correct(
        self,
        dataset_id: str,
        answers: Mapping[str, str] | None = None,
        *,
        repairs: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> Added: ...


class Imports:
    def __init__(
        self,
        records: ImportRecords,
        uploads: Uploads,
        own: OwnData,
        fetcher: Fetches,
        observer: Observer = UNOBSERVED,
        *,
        copies: Copies,
    ) -> None:
        self._records = records
        self._uploads = uploads
        self._own = own
        self._fetcher = fetcher
        self._observer = observer
        self._copies = copies
        self.then: Callable[[Added], Awaitable[None]] | None = None
        """Called in the background with each dataset that an import made or changed."""
        self._one = asyncio.Lock()
        self._fetches = asyncio.Semaphore(_FETCHES)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._beside: set[asyncio.Task[None]] = set()
        self._progress: dict[str, ImportProgress] = {}

    async def start(self) -> None:
        """Goes on with the imports of servers that have ended, now and from time to time."""
        await asyncio.to_thread(self._records.sign_on)
        await self.adopt()
        self._aside(partial(_repeated, self.clean, _CLEAN_S, "uploads_not_cleaned"))
        self._aside(partial(_repeated, self.adopt, _ADOPT_S, "imports_not_adopted", first_s=_ADOPT_S))

    async def adopt(self) -> None:
        for record in await in_thread(self._records.adopt):
            log.info("import_adopted", import_id=record.shown.id)
            self._begin(record)

    async def aclose(self) -> None:
        """Imports that are being read stay so on disk, for another server."""
        await stopped(*self._tasks.values(), *self._beside)
        self._records.sign_off()

    # Asked by clients

    async def new(self, order: ImportOrder) -> Import:
        """Raises NotFound for an upload that is not there, InvalidInput for what cannot be imported, QueueFull."""
        files = [await asyncio.to_thread(self._uploads.find, upload_id) for upload_id in order.uploads]
        unfinished = [upload.name for upload in files if not upload.complete]
        if unfinished or len(set(order.uploads)) < len(order.uploads):
            raise InvalidInput(
                f"{unfinished[0]} has not arrived completely" if unfinished else "an upload is named twice",
                suggestion="Send the rest of it first." if unfinished else "Name each upload once.",
            )
        if order.url:
            require_address(order.url)
        elif not order.source:
            self._named(files)
        every = await asyncio.to_thread(self._records.all)
        require_not_copied(order.source, every)
        if sum(not record.shown.ended for record in every) >= MOST_OPEN:
            raise QueueFull(
                f"{MOST_OPEN} imports are under way or wait for answers",
                suggestion="Answer or delete some of them, or try again later.",
            )
        if set(order.uploads) & self._used(every):
            raise InvalidInput(
                "an upload is being imported already", suggestion="GET /imports shows by which import."
            )
        now = datetime.now(UTC)
        shown = Import(
            id=f"imp_{secrets.token_hex(16)}",
            files=tuple(ImportedFile(name=upload.name, bytes=upload.offset) for upload in files)
            or tuple(ImportedFile(name=name, bytes=0) for name in order.tables),
            source=order.source or None,
            dataset_id=order.dataset_id,
            created_at=now.isoformat(timespec="milliseconds"),
        )
        return await self._kept_and_begun(ImportRecord(shown=shown, order=order, changed_at=now.timestamp()))

    async def again(
        self, dataset_id: str, user: str, answers: Mapping[str, str], repairs: Sequence[str]
    ) -> Import:
        """Reads the kept files of a dataset in another way."""
        now = datetime.now(UTC)
        shown = Import(
            id=f"imp_{secrets.token_hex(16)}",
            dataset_id=dataset_id,
            created_at=now.isoformat(timespec="milliseconds"),
        )
        order = ImportOrder(dataset_id=dataset_id, user=user)
        record = ImportRecord(
            shown=shown, order=order, answers=dict(answers), agreed=tuple(repairs), changed_at=now.timestamp()
        )
        return await self._kept_and_begun(record)

    async def all(self, user: str | None = None) -> list[Import]:
        """Newest first: those of one user, or of all."""
        records = await asyncio.to_thread(self._records.all)
        return [self._shown(record) for record in records if user in (None, record.order.user)]

    async def get(self, import_id: str) -> Import:
        """Raises NotFound."""
        return self._shown(await asyncio.to_thread(self._records.read, import_id))

    async def order_of(self, import_id: str) -> ImportOrder:
        """Raises NotFound."""
        return (await asyncio.to_thread(self._records.read, import_id)).order

    async def copied_at(self, source: str) -> str | None:
        """When the tables of a connected database were last copied, as far as it is remembered."""
        return copied_at(source, await asyncio.to_thread(self._records.all))

    async def uses(self, upload_id: str) -> bool:
        """Whether an import that has not ended needs the upload."""
        return upload_id in self._used(await asyncio.to_thread(self._records.all))

    async def answer(self, import_id: str, answers: Mapping[str, str], repairs: Sequence[str]) -> Import:
        """Reads the files again with these answers. Raises NotFound, and InvalidInput where nothing was asked."""
        record = await asyncio.to_thread(self._records.read, import_id)
        if record.shown.state != "asks" or import_id in self._tasks:
            raise InvalidInput(
                f"this import is {record.shown.state} and asks nothing",
                suggestion="GET /imports/{import_id} shows what it asks, and when.",
            )
        asking = {"questions": (), "repairs": (), "misfits": (), "problem": None, "state": "reading"}
        more = record.model_copy(
            update={
                "shown": record.shown.model_copy(update=asking),
                "answers": {**record.answers, **answers},
                "agreed": tuple(dict.fromkeys((*record.agreed, *repairs))),
                "changed_at": time.time(),
            }
        )
        return await self._kept_and_begun(more)

    async def cancel(self, import_id: str) -> None:
        """Ends it and removes its uploads; forgets one that had ended. Raises NotFound."""
        await asyncio.to_thread(self._records.read, import_id)
        task = self._tasks.get(import_id)
        if task is not None:
            await stopped(task)
        record = await asyncio.to_thread(self._records.read, import_id)
        if record.shown.ended:
            await asyncio.to_thread(self._records.remove, import_id)
        else:
            await self._end(
                record, record.shown.model_copy(update={"state": "cancelled", "questions": (), "repairs": ()})
            )

    # At work

    async def _kept_and_begun(self, given: ImportRecord) -> Import:
        record = given.model_copy(update={"owner": self._records.owner})
        await asyncio.to_thread(self._records.write, record)
        self._begin(record)
        return self._shown(record)

    def _begin(self, record: ImportRecord) -> None:
        import_id = record.shown.id
        self._progress[import_id] = ImportProgress(done=0, total=0, what="waiting")
        task = self._tasks[import_id] = asyncio.create_task(self._work(record), name=f"import {import_id}")

        def ended(_: object) -> None:
            self._tasks.pop(import_id, None)
            self._progress.pop(import_id, None)

        task.add_done_callback(ended)

    @property
    def under_way(self) -> int:
        return len(self._tasks)

    async def _work(self, record: ImportRecord) -> None:
        began = time.perf_counter()
        try:
            record = await self._fetched(record)
            added = await (self._copied if record.order.source else self._read)(record)
        except SandtableError as error:
            outcome = asked_or_failed(record.shown, error)
            log.info("import_not_ready", import_id=record.shown.id, state=outcome.state, reason=error.message)
        except Exception:
            log.exception("import_broke", import_id=record.shown.id)
            outcome = record.shown.model_copy(update={"state": "failed", "problem": _BROKEN})
        else:
            outcome = ready(record.shown, added)
            if self.then is not None:
                self._aside(partial(self.then, added))
        await self._end(record, outcome)
        self._observer.meter.counted("import", state=outcome.state)
        self._observer.meter.timed("import", time.perf_counter() - began, state=outcome.state)

    async def _fetched(self, record: ImportRecord) -> ImportRecord:
        order = record.order
        if not order.url or order.uploads:
            return record
        async with self._fetches:
            upload = await self._fetcher.fetch(order.url, order.user, self._watch(record, "fetching"))
        file = ImportedFile(name=upload.name, bytes=upload.offset)
        found = record.model_copy(
            update={
                "order": order.model_copy(update={"uploads": (upload.id,)}),
                "shown": record.shown.model_copy(update={"files": (file,)}),
            }
        )
        await in_thread(self._records.write, found)
        return found

    async def _read(self, record: ImportRecord) -> Added:
        order, progress = record.order, self._watch(record, "reading")
        async with self._one:
            if order.again:
                assert order.dataset_id is not None
                return await self._own.correct(
                    order.dataset_id, record.answers, repairs=record.agreed, progress=progress
                )
            uploads = [await asyncio.to_thread(self._uploads.find, upload_id) for upload_id in order.uploads]
            return await self._own.add(
                self._named(uploads),
                title=order.title,
                to=order.dataset_id,
                decided=Decided(record.answers, record.agreed),
                progress=progress,
                owner=order.owner,
            )

    async def _copied(self, record: ImportRecord) -> Added:
        """The copies are there until their dataset has taken them."""
        order, progress = record.order, self._watch(record, "copying")
        async with self._copies.copied(order.source, order.owner, order.tables, progress) as files, self._one:
            return await self._own.add(
                files,
                dataset_id=order.source,
                title=order.title,
                decided=Decided(record.answers, record.agreed),
                progress=self._watch(record, "reading"),
                owner=order.owner,
            )

    def _named(self, uploads: Sequence[Upload]) -> list[NamedFile]:
        """Raises InvalidInput for two files of one table, and for a file that is none of data."""
        return name_files([self._uploads.named(upload) for upload in uploads])

    async def _end(self, record: ImportRecord, outcome: Import) -> None:
        """Until the outcome is on disk, the next process would read the files again: it needs the uploads."""
        ended = record.model_copy(update={"shown": outcome, "changed_at": time.time()})
        await in_thread(self._records.write, ended)
        if outcome.ended:
            for upload_id in record.order.uploads:
                await in_thread(self._uploads.remove, upload_id)

    def _watch(self, record: ImportRecord, what: Any) -> Progress:
        def watch(done: int, total: int) -> None:
            converting = what == "reading" and done >= total
            said = ImportProgress(done=done, total=total, what="converting" if converting else what)
            if record.shown.id in self._tasks:
                self._progress[record.shown.id] = said

        return watch

    def _shown(self, record: ImportRecord) -> Import:
        if record.shown.state != "reading":
            return record.shown
        return record.shown.model_copy(update={"progress": self._progress.get(record.shown.id)})

    @staticmethod
    def _used(records: Sequence[ImportRecord]) -> set[str]:
        return {
            upload_id for record in records if not record.shown.ended for upload_id in record.order.uploads
        }

    # Beside

    def _aside(self, work: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.create_task(_logged(work))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def clean(self, now: float | None = None) -> None:
        """Removes uploads whose time is over, ends imports that were not answered in it, forgets old ones."""
        at = time.time() if now is None else now
        every = await asyncio.to_thread(self._records.all)
        for record in every:
            age = at - record.changed_at
            if record.shown.state == "asks" and age > self._uploads.limits.unfinished_s:
                await self._end(
                    record, record.shown.model_copy(update={"state": "failed", "problem": _UNANSWERED})
                )
            elif record.shown.ended and age > _FORGOTTEN_S:
                await asyncio.to_thread(self._records.remove, record.shown.id)
        await asyncio.to_thread(self._uploads.clean, self._used(every), at)


async def _repeated(
    work: Callable[[], Awaitable[None]], every_s: float, failed: str, *, first_s: float = 0.0
) -> None:
    await asyncio.sleep(first_s)
    while True:
        try:
            await work()
        except (SandtableError, OSError) as error:
            log.error(failed, reason=str(error))
        await asyncio.sleep(every_s)


async def _logged(work: Callable[[], Awaitable[None]]) -> None:
    try:
        await work()
    except SandtableError as error:
        log.warning("after_import", reason=error.message)
    except Exception:
        log.exception("after_import")
