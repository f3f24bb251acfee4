"""Callers in this process that wait for a run to end."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager

from sandtable.errors import SandtableError


class Watch:
    """Records a run's end from its creation on, even before `wait` is called."""

    def __init__(self, future: asyncio.Future[None]) -> None:
        self._future = future

    async def wait(self, seconds: float) -> None:
        """Wait until the run's end is announced, or `seconds` have passed. Raises the error passed to `fail`."""
        await asyncio.wait({self._future}, timeout=seconds)
        if self._future.done():
            self._future.result()


class Waiters:
    def __init__(self) -> None:
        self._futures: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    @contextmanager
    def watch(self, run_id: str) -> Generator[Watch, None, None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures[run_id].add(future)
        try:
            yield Watch(future)
        finally:
            self._drop(run_id, future)

    async def wait(self, run_id: str, seconds: float) -> None:
        with self.watch(run_id) as watch:
            await watch.wait(seconds)

    def tell(self, run_id: str) -> None:
        for future in self._futures.pop(run_id, ()):
            if not future.done():
                future.set_result(None)

    def tell_all(self) -> None:
        """Wake all waiters: any run may have ended."""
        for run_id in list(self._futures):
            self.tell(run_id)

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
