"""Who waits for which run to end, in this process."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from sandtable.errors import SandtableError


class Waiters:
    def __init__(self) -> None:
        self._futures: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    async def wait(self, run_id: str, seconds: float) -> None:
        """Until the run is told to have ended, or `seconds` have passed. Raises what `fail` was given."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures[run_id].add(future)
        try:
            await asyncio.wait({future}, timeout=seconds)
            if future.done():
                future.result()
        finally:
            self._drop(run_id, future)

    def tell(self, run_id: str) -> None:
        for future in self._futures.pop(run_id, ()):
            if not future.done():
                future.set_result(None)

    def fail(self, run_id: str, error: SandtableError) -> None:
        for future in self._futures.pop(run_id, ()):
            if not future.done():
                future.set_exception(error)

    def _drop(self, run_id: str, future: asyncio.Future[None]) -> None:
        waiting = self._futures.get(run_id)
        if waiting is not None:
            waiting.discard(future)
            if not waiting:
                del self._futures[run_id]
        if future.done() and not future.cancelled():
            future.exception()
