"""Runs as the principal may see them: their own, those shared with them, and those that threads, kept questions and
boards show that are shared with them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sandtable.accounts.asking import Asking, asking
from sandtable.accounts.refusals import NotAllowed
from sandtable.accounts.shares import MOST_LISTED, Thing
from sandtable.boards.store import Boards
from sandtable.conversations.conversation import RunsNamedBy
from sandtable.errors import NotFound
from sandtable.runs.cache import HIDDEN
from sandtable.runs.desk import Runs, no_run
from sandtable.runs.model import Run, RunRequest
from sandtable.server.access.boards import shows_run
from sandtable.server.access.datasets import SeenDatasets
from sandtable.store.run_store import OwnRuns, Status

Named = Callable[[], Awaitable[RunsNamedBy]]
"""Which runs threads name; the conversation may have to be opened first."""


class SeenRuns:
    """Has what routes use of `Runs`."""

    def __init__(self, every: Runs, datasets: SeenDatasets, named: Named, boards: Boards) -> None:
        self._every = every
        self._datasets = datasets
        self._named = named
        self._boards = boards

    async def submit(self, request: RunRequest) -> Run:
        found = asking()
        self._datasets.require(request.dataset_id)
        return await self._every.submit(request.model_copy(update={"user": found.principal.user}))

    async def get(self, run_id: str) -> Run:
        """Raises NotFound."""
        found = asking()
        try:
            run = await self._every.get(run_id)
        except NotFound:
            if found.owns(await self._every.user_of_removed(run_id) or ""):
                raise
            raise no_run(run_id) from None
        if not await self._may_see(run.id, run.request.user, found):
            raise no_run(run_id)
        return await self._fitted(run, found)

    async def wait(self, run_id: str, timeout_s: float | None = None) -> Run:
        found = asking()
        if not found.principal.sees_all or found.principal.is_admin:
            await self.get(run_id)
        return await self._fitted(await self._every.wait(run_id, timeout_s), found)

    async def list(
        self,
        status: Status | None = None,
        dataset_id: str | None = None,
        text: str | None = None,
        user: str | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> list[Run]:
        found = asking()
        if found.principal.sees_all:
            found.note_list("run")
            return await self._every.list(status, dataset_id, text, user, limit, before)
        shared = await self._shared(found)
        seen = OwnRuns(found.principal.user, shared)
        runs = await self._every.list(status, dataset_id, text, user, limit, before, seen)
        known = set(shared)
        return [run if _names_nothing(run, found) or _holder(run) in known else _hiding(run) for run in runs]

    @property
    def executing(self) -> int:
        """Of everyone's runs: a number for the operator."""
        return self._every.executing

    async def counts(self) -> dict[str, int]:
        """Of everyone's runs, by status: numbers for the operator."""
        return await self._every.counts()

    async def capsule(self, run_id: str) -> dict[str, Any]:
        if not asking().principal.sees_all or asking().principal.is_admin:
            await self.get(run_id)
        return await self._every.capsule(run_id)

    async def cancel(self, run_id: str) -> Run:
        found = asking()
        if not found.principal.sees_all or found.principal.is_admin:
            run = await self.get(run_id)
            if not found.owns(run.request.user):
                raise NotAllowed(
                    "this run is shared with you to look at",
                    suggestion=f"Ask {run.request.user} to cancel it.",
                    run_id=run_id,
                )
        return await self._every.cancel(run_id)

    async def _fitted(self, run: Run, found: Asking) -> Run:
        """The run without the id of the one that answered it, where that may not be seen."""
        if _names_nothing(run, found) or await self._is_shared(*_holder(run), found):
            return run
        return _hiding(run)

    async def _may_see(self, run_id: str, user: str, found: Asking) -> bool:
        if found.owns(user):
            found.note_look("run", run_id, user)
            return True
        return await self._is_shared(run_id, user, found)

    async def _is_shared(self, run_id: str, user: str, found: Asking) -> bool:
        if await found.shares.right(Thing("run", run_id, user), found.principal) is not None:
            return True
        if (run_id, user) in await self._of_threads(found, user):
            return True
        return await shows_run(self._boards, run_id, user, found)

    async def _shared(self, found: Asking) -> tuple[tuple[str, str], ...]:
        direct = [(thing.id, thing.owner) for thing in await found.shares.granted("run", found.principal)]
        pairs = {*direct, *await self._of_threads(found)}
        return tuple(sorted(pairs, reverse=True)[:MOST_LISTED])

    async def _of_threads(self, found: Asking, owner: str | None = None) -> set[tuple[str, str]]:
        """The runs of threads that are shared with the principal, each with the thread's user: a run counts only if it
        was that user's."""
        granted = await found.shares.granted("thread", found.principal)
        threads = {thing.id: thing.owner for thing in granted if owner in (None, thing.owner)}
        if not threads:
            return set()
        named = await self._named()
        return {(run_id, threads[thread_id]) for thread_id, run_id in await named(list(threads))}


def _names_nothing(run: Run, found: Asking) -> bool:
    """Whether the principal may know all that the run names: an owner's run names only runs of the same owner."""
    return run.cached_from in (None, HIDDEN) or found.owns(run.request.user)


def _holder(run: Run) -> tuple[str, str]:
    return run.cached_from or "", run.request.user


def _hiding(run: Run) -> Run:
    return run.model_copy(update={"cached_from": HIDDEN})
