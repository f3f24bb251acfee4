"""Verifies capsules for many users at once: read one at a time, derived again in places separate from those of runs.

Invariants: a capsule without a trusted signature costs one bounded JSON text on a thread, and no place. Verifications
take no place from a run, nor more than their user's share from each other. A verification whose caller is gone
(cancelled) leaves its queue, or is stopped and its sandbox killed; none takes longer than `MOST_S`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sandtable.capsule.document import Document
from sandtable.capsule.examine import Examined, examine
from sandtable.capsule.keys import TrustedKeys
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.verify import derive
from sandtable.catalog.model import Dataset
from sandtable.runs.fair_queue import FairQueue
from sandtable.runs.parts import RunParts
from sandtable.runs.rederive import MOST_S, rederive_with
from sandtable.runs.watch import HUNG, bounded, retrieve

WAITING_EACH = 16
"""How many verifications may wait, for each place."""

Rehash = Callable[[Dataset], Awaitable[str]]


class Verifier:
    def __init__(self, parts: RunParts, rehash: Rehash, *, places: int = 1, share: float = 1.0) -> None:
        """`places`: how many are derived at the same time. `share`: how much of that is for one user."""
        waiting = places * WAITING_EACH
        self._parts = parts
        self._rehash = rehash
        self._reading = FairQueue("capsules to be read", 1, waiting, share)
        self._deriving = FairQueue("verifications", places, waiting, share)
        self._hashing: dict[str, asyncio.Future[str]] = {}

    async def verify(self, given: Document, keys: TrustedKeys, user: str) -> VerifyReport:
        """Raises Unreadable for a text that is not a JSON object, and QueueFull."""
        examined = await self._examined(given, keys, user)
        if examined.hindrance:
            return examined.report
        async with self._deriving.place(user):
            parts = rederive_with(self._parts, keys, self._hashed_once)
            report = await bounded(derive(examined, parts), MOST_S)
        if report is HUNG:
            return examined.unfinished(f"deriving it again took more than {MOST_S:g} s")
        return report

    async def _examined(self, given: Document, keys: TrustedKeys, user: str) -> Examined:
        async with self._reading.place(user):
            reading = asyncio.ensure_future(asyncio.to_thread(examine, given, keys))
            reading.add_done_callback(retrieve)
            try:
                return await asyncio.shield(reading)
            except asyncio.CancelledError:
                # A thread cannot be stopped: its place is free when it has ended.
                await asyncio.wait({reading})
                raise

    async def _hashed_once(self, dataset: Dataset) -> str:
        """The same data is hashed by one thread at a time, for all callers, even if some of them are cancelled."""
        hashing = self._hashing.get(dataset.version)
        if hashing is None:
            hashing = self._hashing[dataset.version] = asyncio.ensure_future(self._rehash(dataset))
            hashing.add_done_callback(retrieve)
            hashing.add_done_callback(lambda _: self._hashing.pop(dataset.version))
        return await asyncio.shield(hashing)
