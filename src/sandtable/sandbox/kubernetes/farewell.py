"""Deleting Jobs beside the work: nobody waits for it, nothing forgets it.

Invariant: what was said farewell to is deleted, or was told to the log; its own deadline and time to live end it then.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import structlog

from sandtable.retrying import retried
from sandtable.sandbox.kubernetes.api import OUTAGE, Api, ApiAway, ApiRefused

_INSIST = replace(OUTAGE, budget_s=60.0)
_AFTERTHOUGHT_S = 1.5

log = structlog.get_logger(__name__)


class Farewell:
    def __init__(self, api: Api) -> None:
        self._api = api
        self._tasks: set[asyncio.Task[None]] = set()

    def say(self, name: str, *, uncertain: bool = False) -> None:
        """`uncertain`: its creation was under way, and may still happen after a deletion that came first."""
        task = asyncio.create_task(self._delete(name, uncertain), name=f"delete {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _delete(self, name: str, uncertain: bool) -> None:
        try:
            found = await self._insist(name)
            if uncertain and not found:
                await asyncio.sleep(_AFTERTHOUGHT_S)
                await self._insist(name)
        except (ApiAway, ApiRefused) as error:
            log.warning("runner_job_left_behind", job=name, reason=str(error))

    async def _insist(self, name: str) -> bool:
        return await retried(lambda: self._api.delete_job(name), on=ApiAway, backoff=_INSIST)

    async def settle(self, within_s: float) -> None:
        """Wait for those under way; end what takes longer."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(set(self._tasks), timeout=within_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
