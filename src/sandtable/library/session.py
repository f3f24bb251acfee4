"""A session: code in several pieces, with variables kept between them. It runs on the library's loop.

Invariant: every piece is a run like any other, judged, recorded and sealed in a capsule, and one runs at a time. If
the session's process is gone (killed over its time or memory limit, or closed with the library), the earlier
pieces are run again before the next one, and the result says so.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping

from sandtable.capsule.query import CodeQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided
from sandtable.errors import InvalidInput
from sandtable.library.open_parts import OPEN_PARTS, OpenParts
from sandtable.library.result import RunResult, failure
from sandtable.library.work import Data, finished, memory_of, recorded, require_text, timeout_of
from sandtable.runs.code import require_tables
from sandtable.runs.model import RunRequest


class LiveSession:
    def __init__(
        self,
        data: Data,
        seconds: float,
        names: Mapping[str, str] | None,
        check: bool,
        memory_mb: int | None,
        decided: Decided = NOTHING_DECIDED,
    ) -> None:
        timeout_of(seconds)
        self._memory_mb = memory_of(memory_mb)
        self._data = data
        self._decided = decided
        self._seconds = seconds
        self._names = dict(names or {})
        self._check = check
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opened: OpenParts | None = None
        self._dataset: Dataset | None = None
        self._id = _new_id()
        self._process = os.getpid()
        self._closed = False

    async def run(self, code: str, timeout: float | None = None) -> RunResult:  # noqa: ASYNC109 - the sandbox's limit
        """Run the next piece of code; it finds what earlier ones defined. See `sandtable.run` for what it may do.

        A piece that takes longer than `timeout` seconds (default: the session's) is interrupted, and variables are
        kept. If it cannot be interrupted, its process is killed, and the earlier pieces are run again before the
        next one.
        """
        require_text(code, "code")
        timeout_ms = timeout_of(self._seconds if timeout is None else timeout)
        async with self._turn():
            if self._closed:
                raise InvalidInput("the session is closed", suggestion="Open another.")
            opened, dataset = await self._place(timeout_ms / 1000)
            try:
                request = RunRequest(
                    dataset_id=dataset.id,
                    query=CodeQuery(code, self._names, self._check, self._id),
                    timeout_ms=timeout_ms,
                )
            except InvalidInput as error:
                if error.details.get("field") != "python":
                    raise
                return failure(error.problem)
            return recorded(await finished(opened, request), opened)

    async def close(self) -> None:
        """End the session and its process. May be called more than once."""
        async with self._turn():
            self._closed = True
            opened, self._opened = self._opened, None
            if opened is not None:
                await opened.parts.sessions.end(self._id)

    def _turn(self) -> asyncio.Lock:
        """A lock belongs to one loop, and the loop changes after `close()` and in a forked child."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
            self._opened = self._dataset = None
        if self._process != os.getpid():
            # The parent keeps the session: with one id, the pieces of both processes would be mixed.
            self._id, self._process = _new_id(), os.getpid()
        return self._lock

    async def _place(self, seconds: float) -> tuple[OpenParts, Dataset]:
        if self._opened is None or self._dataset is None:
            opened = await OPEN_PARTS.get(timeout_s=max(seconds, self._seconds), memory_mb=self._memory_mb)
            dataset = await opened.handover.dataset(self._data, opened.parts.datasets, self._decided)
            require_tables(self._names, dataset)
            self._opened, self._dataset = opened, dataset
        return self._opened, self._dataset


def _new_id() -> str:
    return f"library-{secrets.token_hex(8)}"
