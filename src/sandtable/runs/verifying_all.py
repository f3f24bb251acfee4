"""Verifies the capsule of every run that a store holds, a few at the same time.

Invariant: each run that had ended when the listing reached it is counted once; a capsule that cannot be read or
verified counts as broken, and the next one is verified.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandtable.capsule.report import VerifyReport
from sandtable.catalog.stored.source import Progress
from sandtable.errors import NotFound, SandtableError
from sandtable.runs.model import Run

_PAGE = 500


class StoredRuns(Protocol):
    async def list(self, *, limit: int, before: str | None) -> list[Run]:
        """Newest first."""
        ...

    async def counts(self) -> dict[str, int]: ...

    async def capsule(self, run_id: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Broken:
    run_id: str
    links: tuple[str, ...]
    why: str


@dataclass(slots=True)
class Totals:
    verified: int = 0
    incomplete: int = 0
    """Nothing is broken, and not all could be checked: the data are not here any more, for example."""
    not_ended: int = 0
    removed: int = 0
    """Removed by retention while this went on."""
    broken: list[Broken] = field(default_factory=list)

    @property
    def ended(self) -> int:
        return self.verified + self.incomplete + len(self.broken)


async def verify_all(
    runs: StoredRuns,
    verify: Callable[[dict[str, Any]], Awaitable[VerifyReport]],
    at_once: int,
    progress: Progress = lambda done, total: None,
) -> Totals:
    """Raises what listing the runs raises."""
    totals, waiting = Totals(), asyncio.Semaphore(at_once)
    total, done = sum((await runs.counts()).values()), 0

    async def one(run: Run) -> None:
        nonlocal done
        try:
            await _verify(run, runs, verify, totals)
        finally:
            waiting.release()
            done += 1
            progress(done, total)

    async with asyncio.TaskGroup() as group:
        async for run in _all(runs):
            await waiting.acquire()
            group.create_task(one(run))
    totals.broken.sort(key=lambda broken: broken.run_id)
    return totals


async def _all(runs: StoredRuns) -> AsyncIterator[Run]:
    before: str | None = None
    while page := await runs.list(limit=_PAGE, before=before):
        for run in page:
            yield run
        before = page[-1].id


async def _verify(
    run: Run,
    runs: StoredRuns,
    verify: Callable[[dict[str, Any]], Awaitable[VerifyReport]],
    totals: Totals,
) -> None:
    if not run.ended:
        totals.not_ended += 1
        return
    try:
        report = await verify(await runs.capsule(run.id))
    except NotFound:
        totals.removed += 1
    except SandtableError as error:
        totals.broken.append(Broken(run.id, (), error.message))
    else:
        _count(run.id, report, totals)


def _count(run_id: str, report: VerifyReport, totals: Totals) -> None:
    if report.run_id is not None and report.run_id != run_id:
        totals.broken.append(Broken(run_id, ("run",), f"the capsule is that of {report.run_id}"))
    elif not report.ok:
        links = [link for link in report.links if link.status == "broken"]
        totals.broken.append(
            Broken(run_id, tuple(link.name for link in links), links[0].detail if links else "")
        )
    elif report.complete:
        totals.verified += 1
    else:
        totals.incomplete += 1
