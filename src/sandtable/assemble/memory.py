"""Settings → where conversations are kept: thread store and checkpoints, in SQLite files or in a shared Postgres."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from sandtable.accounts import schema, shares
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.assemble.conversation import THREADS
from sandtable.boards import schema as boards_schema
from sandtable.conversations.conversation import Probe
from sandtable.conversations.sqlite import SqliteDatabase
from sandtable.conversations.store import ThreadStore
from sandtable.settings import Settings
from sandtable.state import state_of
from sandtable.store.sqlite.file import identity_of, probe_file

AT_ONCE = 10
"""Threads of earlier versions that are migrated together."""


async def open_memory(
    settings: Settings, stack: AsyncExitStack, shared: Any = None
) -> tuple[ThreadStore, Checkpoints]:
    """The thread store and the checkpointer; `stack` closes them. `shared` is a `Postgres` that exists already."""
    if settings.database_url is None:
        store = ThreadStore(SqliteDatabase(settings.home))
        await _opened(store, stack)
        return store, await stack.enter_async_context(sqlite_checkpoints(settings.home / THREADS))
    postgres = shared or state_of(settings).database
    # The driver is an optional dependency.
    from sandtable.assemble.postgres_checkpoints import postgres_checkpoints
    from sandtable.conversations.postgres import PostgresDatabase

    store = ThreadStore(PostgresDatabase(postgres))
    await _opened(store, stack)
    return store, await postgres_checkpoints(postgres)


def probes_of(settings: Settings, store: ThreadStore) -> tuple[Probe, ...]:
    """One for each database. In Postgres, threads and checkpoints are in one."""
    if settings.database_url is not None:
        return (store.probe,)
    checkpoints = settings.home / THREADS
    return (store.probe, partial(probe_file, checkpoints, identity_of(checkpoints)))


async def migrate(settings: Settings) -> str:
    """Brings all tables up to date, and returns where they are kept. Raises StoreUnavailable, InvalidInput."""
    async with AsyncExitStack() as stack:
        state = state_of(settings)
        stack.push_async_callback(state.runs.aclose)
        await state.runs.open()
        _, states = await open_memory(settings, stack, state.database)
        while await states.bring_over_some(AT_ONCE):
            continue
        if state.database is not None:
            await _make_tables_of_people(state.database, stack)
    return kept_in(settings)


async def _make_tables_of_people(database: Any, stack: AsyncExitStack) -> None:
    """Servers open these tables at their first use, perhaps as a role that cannot make tables."""
    # The driver is an optional dependency.
    from sandtable.store.postgres.tables import PostgresTables

    for module in (schema, shares, boards_schema):
        tables = PostgresTables(database, module.VERSIONS, module.MIGRATIONS)
        await tables.open()
        stack.push_async_callback(tables.aclose)


def kept_in(settings: Settings) -> str:
    return "postgres" if settings.database_url else "sqlite"


async def _opened(store: ThreadStore, stack: AsyncExitStack) -> None:
    await store.open()
    stack.push_async_callback(store.aclose)
