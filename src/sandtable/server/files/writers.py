"""The requests that write to uploads now.

Invariant: one request writes to an upload. A client that resumes over another network is not kept waiting for its lost
connection to time out: the later request ends the earlier one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from sandtable.catalog.own.uploads import OtherOffset
from sandtable.stopping import stopped

T = TypeVar("T")


class Writers:
    def __init__(self) -> None:
        self._writing: dict[str, asyncio.Task[Any]] = {}

    async def write(self, upload_id: str, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises, after an earlier request has ended. Raises OtherOffset when a later request
        ends this one."""
        try:
            await self.end(upload_id)
        except BaseException:
            work.close()
            raise
        writing = self._writing[upload_id] = asyncio.create_task(work)
        try:
            await asyncio.wait({writing})
            if writing.cancelled():
                raise OtherOffset(
                    "another request continues this upload",
                    suggestion="Ask for its offset, and continue there.",
                )
            return writing.result()
        finally:
            await stopped(writing)
            if self._writing.get(upload_id) is writing:
                del self._writing[upload_id]

    async def end(self, upload_id: str) -> None:
        """Ends the request that writes to the upload, if there is one."""
        while (writing := self._writing.get(upload_id)) is not None:
            await stopped(writing)
            if self._writing.get(upload_id) is writing:
                del self._writing[upload_id]
