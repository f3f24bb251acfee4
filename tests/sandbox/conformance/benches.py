"""The executors that must all behave alike. A new back end is one more entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from sandtable.sandbox.executor import Executor
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.stores import Store, sql_job

QUICK = "SELECT 42 AS answer"
SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
SLOTS = 2
_ids = count()


@dataclass(frozen=True, slots=True)
class Bench:
    """An executor with `SLOTS` places, and the data it runs on."""

    executor: Executor
    store: Store

    def job(self, text: str, **given: Any) -> Job:
        return sql_job(self.store, f"job-{next(_ids)}", text, **given)

    async def run(self, text: str, **given: Any) -> JobResult:
        job = self.job(text, **given)
        await self.executor.submit(job)
        return await self.executor.result(job.id)


def _fake(store: Store) -> Executor:
    executor = FakeExecutor()
    executor.on(SLOW, Script(delay_s=3600))
    return executor


def _local(store: Store) -> Executor:
    return LocalExecutor(store.root, parallel=SLOTS)


def _local_landlock(store: Store) -> Executor:
    return LocalExecutor(store.root, parallel=SLOTS, isolation="landlock")


SCRIPTED: dict[str, Callable[[Store], Executor]] = {"fake": _fake}
"""Keep the seam's rules, but run nothing."""
REAL: dict[str, tuple[Callable[[Store], Executor], tuple[str, ...]]] = {
    "local": (_local, ("userns",)),
    "local-landlock": (_local_landlock, ("landlock",)),
}
"""Run the text. Each with what it needs of the machine (`tests/needs.py`)."""
