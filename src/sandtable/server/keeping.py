"""Applies retention: lists what is stored, lets `runs.retention` decide, and removes it in small batches.

Invariant: conversations are removed before the runs that they name, and the decision is repeated in between, so
that a run is removed only if no remaining conversation names it. One process at a time removes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import inf

import structlog

from sandtable.accounts.shares import Kind
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.assemble.conversation import THREADS
from sandtable.conversations.sqlite import FILE as CONVERSATIONS
from sandtable.conversations.store import ThreadStore
from sandtable.errors import SandtableError
from sandtable.runs.retention import Decision, Name, Rule, Rules, Thing, decide, unneeded
from sandtable.runs.retention import Kind as HeldKind
from sandtable.settings import Settings
from sandtable.state import RUNS
from sandtable.store.holdings import Holding
from sandtable.store.run_store import RunStore
from sandtable.store.sqlite.file import give_back

BATCH = 100
EVERY_S = 3600.0
FIRST_S = 20.0
"""Delay after the start, when there is more urgent work."""
PAUSE_S = 0.1
"""Pause between two batches, so that other users of the database can proceed."""
_JUST_ENDED_S = 60.0
"""Runs that ended this recently stay: a conversation of another process may be about to name one."""

log = structlog.get_logger("sandtable.server")


@dataclass(frozen=True, slots=True)
class Removed:
    runs: int = 0
    threads: int = 0
    given_back: int = 0
    """Bytes of files."""


@dataclass(frozen=True, slots=True)
class Keeper:
    runs: RunStore
    threads: ThreadStore
    states: Checkpoints
    idle_s: float
    """How long a Python session may be idle."""
    forget: Callable[[Iterable[str]], None] = lambda run_ids: None
    """Called with the ids of runs that were removed."""
    end_session: Callable[[str], Awaitable[None]] | None = None
    unshare: Callable[[Kind, list[str]], Awaitable[None]] | None = None
    """Called with what was removed: `Shares.forget`."""
    kept_runs: Callable[[], Awaitable[Collection[str]]] | None = None
    """The runs that kept questions and boards show, which always stay: `Boards.named_runs`."""
    pause_s: float = 0.0

    async def decide(self, rules: Rules, *, threads: bool = True) -> Decision:
        """What would be removed now. Without `threads`, all conversations stay, with the runs that they name."""
        now = time.time()
        return await asyncio.to_thread(decide, await self._things(now, threads=threads), rules, now)

    async def remove(self, decision: Decision, *, threads: bool = True) -> Removed:
        """Removes what was decided, except what was used or became needed since."""
        if decision.rule is None:
            return Removed()
        chosen = await self._chosen(decision, "thread", threads=threads)
        gone = await self._remove_threads(chosen, decision.at)
        chosen = await self._chosen(decision, "run", threads=threads)
        removed = await self._remove_runs(chosen, decision.rule)
        log.info("retention", threads=gone, runs=removed, rule=decision.rule)
        return Removed(removed, gone)

    async def _chosen(self, decision: Decision, kind: HeldKind, *, threads: bool) -> list[str]:
        things = await self._things(time.time(), threads=threads)
        found = await asyncio.to_thread(unneeded, decision, things)
        return sorted(name for of, name in found if of == kind)

    async def _things(self, now: float, *, threads: bool) -> list[Thing]:
        things = [*await self._runs(now), *await self._threads(threads=threads)]
        if self.kept_runs is not None and (shown := await self.kept_runs()):
            things.append(Thing(("boards", ""), inf, needs=_names(shown)))
        return things

    # What is stored

    async def _runs(self, now: float) -> list[Thing]:
        held = await self.runs.holdings.runs()
        oldest_turn = _moment(await self.threads.under_way_since())
        since = min(now - _JUST_ENDED_S, inf if oldest_turn is None else oldest_turn)
        things = [_run(one, since) for one in held]
        cells = sorted((one for one in held if one.session is not None), key=lambda one: str(one.session))
        for session, found in groupby(cells, key=lambda one: str(one.session)):
            named = list(found)
            last = max(_moment(one.at) or 0.0 for one in named)
            living = now - last < self.idle_s or not all(one.ended for one in named)
            at, needs = inf if living else last, _names(one.id for one in named)
            things.append(Thing(("session", session), at, needs=needs))
        return things

    async def _threads(self, *, threads: bool) -> list[Thing]:
        used, named = await self.threads.last_used(), await self.states.named_runs()
        stored = {one.thread_id: one for one in await self.states.threads()}
        things: list[Thing] = []
        for thread_id in used.keys() | stored.keys():
            said_at, busy = used.get(thread_id, (None, False))
            one = stored.get(thread_id)
            at = max(_moment(said_at) or 0.0, _moment(one.updated_at if one else None) or 0.0)
            at, size = inf if busy or not threads else at, one.bytes if one else 0
            things.append(Thing(("thread", thread_id), at, size, _names(named.get(thread_id, ()))))
        return things

    # What is removed

    async def _remove_threads(self, chosen: Iterable[str], before: float) -> int:
        """Removes those that were not used since `before`."""
        since, gone = datetime.fromtimestamp(before, UTC).isoformat(timespec="microseconds"), 0
        known = await self.threads.last_used()
        for thread_id in chosen:
            if thread_id in known and not await self.threads.delete_unused(thread_id, since):
                continue
            if not await self.states.delete_unused(thread_id, since) and thread_id not in known:
                continue
            if self.end_session is not None:
                await self.end_session(thread_id)
            if self.unshare is not None:
                await self.unshare("thread", [thread_id])
            gone += 1
            await asyncio.sleep(self.pause_s)
        return gone

    async def _remove_runs(self, chosen: list[str], rule: Rule) -> int:
        sessions = {one.id: one.session for one in await self.runs.holdings.runs()} if chosen else {}
        at, count = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"), 0
        for batch in _batches(chosen, sessions):
            gone = await self.runs.holdings.remove(batch, at, rule)
            self.forget(gone)
            if self.unshare is not None:
                await self.unshare("run", gone)
            count += len(gone)
            await asyncio.sleep(self.pause_s)
        return count


def _run(one: Holding, under_way_since: float) -> Thing:
    """A run stays if it ended after the oldest turn under way began: that turn may be about to name it."""
    at = _moment(one.at) or 0.0
    stays = not one.ended or at >= under_way_since
    holder: tuple[Name, ...] = (("run", one.result_of),) if one.result_of else ()
    session: tuple[Name, ...] = (("session", one.session),) if one.session else ()
    return Thing(("run", one.id), inf if stays else at, one.bytes, holder + session)


def _names(run_ids: Iterable[str]) -> tuple[Name, ...]:
    return tuple(("run", run_id) for run_id in run_ids)


def _moment(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()


def _batches(chosen: list[str], sessions: dict[str, str | None]) -> Iterator[list[str]]:
    """Newest first, because a cached run depends on an older one; all cells of a session are in one batch."""
    together: dict[str, list[str]] = {}
    for run_id in sorted(chosen, reverse=True):
        together.setdefault(sessions.get(run_id) or run_id, []).append(run_id)
    batch: list[str] = []
    for run_ids in together.values():
        batch += run_ids
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def keep(keeper: Keeper, settings: Settings, *, first_s: float = FIRST_S) -> None:
    """Background task of a server: migrates threads of earlier versions, and applies the settings' rules."""
    rules = Rules.of(settings)
    await asyncio.sleep(first_s)
    while True:
        try:
            async with keeper.runs.holdings.alone() as alone:
                if alone:
                    await _sweep(keeper, settings, rules)
        except SandtableError as error:
            log.error("retention_failed", reason=error.message)
        await asyncio.sleep(EVERY_S)


async def _sweep(keeper: Keeper, settings: Settings, rules: Rules) -> None:
    brought = await keeper.states.bring_over_some(1)
    while brought:
        await asyncio.sleep(keeper.pause_s)
        brought = await keeper.states.bring_over_some(1)
    if rules.any:
        removed = await keeper.remove(await keeper.decide(rules))
        if removed.runs or removed.threads:
            await give_back_space(settings, whole=False)


async def give_back_space(settings: Settings, *, whole: bool) -> int:
    """Shrinks the SQLite files; Postgres reclaims space by itself (autovacuum)."""
    if settings.database_url is not None:
        return 0
    paths = [settings.home / name for name in (RUNS, CONVERSATIONS, THREADS)]
    return sum([await asyncio.to_thread(give_back, path, whole=whole) for path in paths if path.exists()])
