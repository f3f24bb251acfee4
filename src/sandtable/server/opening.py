"""Opens the conversation: picks where it is kept, and puts the analyst over it.

Loaded by name and beside the server, because it imports LangGraph.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pkgutil import resolve_name
from typing import Any

import structlog

from sandtable.agent.analyst import Analyst
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.agent.models import choose_endpoint, model_name
from sandtable.assemble import Parts
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.assemble.conversation import THREADS, converse
from sandtable.assemble.state import state_of
from sandtable.errors import SandtableError
from sandtable.server.conversations import Conversation, Probe
from sandtable.server.keeping import PAUSE_S, Keeper, keep
from sandtable.server.langgraph.conductor import Conductor
from sandtable.server.threads.line import Line
from sandtable.server.threads.sqlite import SqliteDatabase
from sandtable.server.threads.store import ThreadStore
from sandtable.settings import Settings
from sandtable.stopping import stopped
from sandtable.store.sqlite.file import identity_of, probe_file

_TURNS_PER_RUN = 8
"""Turns at the same time for each run at the same time: most of a turn is waiting for a model."""
_TURNS_PER_RUN_BUILTIN = 1
"""Nobody waits for a model. Who came first is answered first, instead of all a little at a time."""

# By name: the driver is an extra.
_POSTGRES_THREADS = "sandtable.server.threads.postgres:PostgresDatabase"
_POSTGRES_CHECKPOINTS = "sandtable.server.langgraph.postgres_checkpoints:postgres_checkpoints"

AT_ONCE = 10
"""Threads of earlier versions that are brought over together."""

log = structlog.get_logger("sandtable.server")


@asynccontextmanager
async def open_conversation(parts: Parts) -> AsyncGenerator[Conversation, None]:
    """Raises StoreUnavailable, and InvalidInput for an address that cannot be used."""
    async with AsyncExitStack() as stack:
        store, checkpointer = await open_memory(parts.settings, stack, parts.database)
        probes = probes_of(parts.settings, store)
        analyst = await stack.enter_async_context(converse(parts, checkpointer=checkpointer, serving=True))
        line = line_of(parts.settings)
        stack.push_async_callback(line.aclose)
        conductor = Conductor(analyst, store, line, parts.quotas)
        stack.enter_context(parts.quotas.counting(checkpointer.bytes_of))
        stack.push_async_callback(conductor.aclose)
        log.info("conversation_ready", kept_in=kept_in(parts.settings), model=model_name(parts.settings))
        keeper = Keeper(
            parts.run_store,
            store,
            checkpointer,
            parts.settings.session_idle_s,
            forget=parts.runs.forget,
            end_session=parts.sessions.end,
            pause_s=PAUSE_S,
        )
        beside = (
            asyncio.create_task(_learn(analyst, parts), name="vocabularies"),
            asyncio.create_task(keep(keeper, parts.settings), name="retention"),
        )
        try:
            yield Conversation(analyst, conductor, store, line, parts.quotas, probes)
        finally:
            await stopped(*beside)


async def _learn(analyst: Analyst, parts: Parts) -> None:
    """The words of every dataset, so that the first question need not wait for them."""
    for dataset in parts.datasets.datasets():
        try:
            await analyst.prepare(dataset.id)
        except SandtableError as error:
            log.error("vocabulary_not_ready", dataset_id=dataset.id, reason=error.message)
    # What lives until now lives on: it need not be looked through again and again.
    gc.collect()
    gc.freeze()


def line_of(settings: Settings) -> Line:
    waits = choose_endpoint(settings) is not None
    turns = _TURNS_PER_RUN if waits else _TURNS_PER_RUN_BUILTIN
    return Line(settings.concurrency * turns, settings.queue_limit, settings.user_share)


async def open_memory(
    settings: Settings, stack: AsyncExitStack, shared: Any = None
) -> tuple[ThreadStore, Checkpoints]:
    """The thread store and the checkpointer; `stack` closes them. `shared` is a Postgres that is there already."""
    if settings.database_url is None:
        store = ThreadStore(SqliteDatabase(settings.home))
        await _opened(store, stack)
        return store, await stack.enter_async_context(sqlite_checkpoints(settings.home / THREADS))
    postgres = shared or state_of(settings).database
    threads, checkpoints = resolve_name(_POSTGRES_THREADS), resolve_name(_POSTGRES_CHECKPOINTS)
    store = ThreadStore(threads(postgres))
    await _opened(store, stack)
    return store, await checkpoints(postgres)


def probes_of(settings: Settings, store: ThreadStore) -> tuple[Probe, ...]:
    """Of an open memory. In Postgres, threads and checkpoints are in one database."""
    if settings.database_url is not None:
        return (store.probe,)
    checkpoints = settings.home / THREADS
    return (store.probe, partial(probe_file, checkpoints, identity_of(checkpoints)))


async def migrate(settings: Settings) -> str:
    """All tables as this version needs them; where they are kept. Raises StoreUnavailable, InvalidInput."""
    async with AsyncExitStack() as stack:
        state = state_of(settings)
        stack.push_async_callback(state.runs.aclose)
        await state.runs.open()
        _, states = await open_memory(settings, stack, state.database)
        while await states.bring_over_some(AT_ONCE):
            continue
    return kept_in(settings)


def kept_in(settings: Settings) -> str:
    return "postgres" if settings.database_url else "sqlite"


async def _opened(store: ThreadStore, stack: AsyncExitStack) -> None:
    await store.open()
    stack.push_async_callback(store.aclose)
