"""`sandtable prune` over the stores that the settings name, without starting a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from sandtable.accounts.shares import FILE as SHARES
from sandtable.assemble.boards import boards_of
from sandtable.assemble.memory import AT_ONCE, open_memory
from sandtable.assemble.shares import shares_of
from sandtable.boards.schema import FILE as BOARDS
from sandtable.runs.instance import Instance
from sandtable.runs.retention import Decision, Rules
from sandtable.server.keeping import Keeper, Removed, give_back_space
from sandtable.settings import Settings
from sandtable.state import state_of
from sandtable.store.run_store import StoreUnavailable


@asynccontextmanager
async def open_keeper(settings: Settings) -> AsyncGenerator[Keeper, None]:
    """Raises StoreUnavailable, InvalidInput."""
    async with AsyncExitStack() as stack:
        state = state_of(settings)
        stack.push_async_callback(state.runs.aclose)
        await state.runs.open()
        threads, states = await open_memory(settings, stack, state.database)
        unshare = None
        if state.database is not None or (settings.home / SHARES).exists():
            unshare = (await stack.enter_async_context(shares_of(settings, state.database))).forget
        kept_runs = None
        if state.database is not None or (settings.home / BOARDS).exists():
            kept_runs = (await stack.enter_async_context(boards_of(settings, state.database))).named_runs
        idle_s = settings.session_idle_s
        yield Keeper(state.runs, threads, states, idle_s, unshare=unshare, kept_runs=kept_runs)


async def prune(
    settings: Settings, rules: Rules, *, threads: bool, approve: Callable[[Decision], bool]
) -> tuple[Decision, Removed | None]:
    """What the rules select, and what was removed if `approve` agreed. Raises StoreUnavailable, InvalidInput."""
    async with open_keeper(settings) as keeper, keeper.runs.holdings.alone() as alone:
        if not alone:
            raise StoreUnavailable(
                "another process is removing old runs at this moment", suggestion="Try again when it is done."
            )
        while await keeper.states.bring_over_some(AT_ONCE):
            continue
        decision = await keeper.decide(rules, threads=threads)
        if not await asyncio.to_thread(approve, decision):
            return decision, None
        removed = await keeper.remove(decision, threads=threads)
    # Compaction rewrites the whole file, so it is skipped while other processes use it.
    given_back = await give_back_space(settings, whole=not _others(settings.home))
    return decision, replace(removed, given_back=given_back)


def _others(home: Path) -> bool:
    """Whether another process uses the home folder."""
    here = Instance(home)
    for owner in here.others():
        with here.inherit(owner) as dead:
            if not dead:
                return True
    return False
