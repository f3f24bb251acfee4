"""Opens the conversation of a server, with its background tasks.

Imported by name while the server already listens, because it imports LangGraph.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog

from sandtable.agent.analyst import Analyst
from sandtable.agent.models import choose_endpoint, model_name
from sandtable.assemble import Parts
from sandtable.assemble.conversation import converse
from sandtable.assemble.memory import kept_in, open_memory, probes_of
from sandtable.catalog.model import Dataset
from sandtable.catalog.own.datasets import Added
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.engine import TurnEngine
from sandtable.conversations.line import Line
from sandtable.errors import SandtableError
from sandtable.server.keeping import PAUSE_S, Keeper, keep
from sandtable.settings import Settings
from sandtable.stopping import stopped

_TURNS_PER_RUN = 8
"""Concurrent turns per concurrent run: most of a turn is spent waiting for a model."""
_TURNS_PER_RUN_BUILTIN = 1
"""With the built-in planner no turn waits for a model: one after the other is faster than sharing the processor."""

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
        turns = TurnEngine(analyst, store, line, parts.quotas, parts.telemetry.observer)
        stack.enter_context(parts.quotas.counting(checkpointer.bytes_of))
        stack.push_async_callback(turns.aclose)
        log.info("conversation_ready", kept_in=kept_in(parts.settings), model=model_name(parts.settings))
        keeper = Keeper(
            parts.run_store,
            store,
            checkpointer,
            parts.settings.session_idle_s,
            forget=parts.runs.forget,
            end_session=parts.sessions.end,
            unshare=parts.shares.forget,
            kept_runs=parts.boards.named_runs,
            pause_s=PAUSE_S,
        )
        parts.imports.then = partial(_prepare_added, analyst, parts)
        beside = (
            asyncio.create_task(_learn(analyst, parts), name="vocabularies"),
            asyncio.create_task(keep(keeper, parts.settings), name="retention"),
        )
        try:
            yield Conversation(analyst, turns, store, line, parts.quotas, probes, checkpointer.runs_named_by)
        finally:
            parts.imports.then = None
            await stopped(*beside)


async def _learn(analyst: Analyst, parts: Parts) -> None:
    """Indexes the vocabulary of every dataset, so that the first question does not wait for it."""
    for dataset in parts.datasets.datasets():
        try:
            await analyst.prepare(dataset.id)
            await _suggest(analyst, parts, dataset)
        except SandtableError as error:
            log.error("vocabulary_not_ready", dataset_id=dataset.id, reason=error.message)
    # Objects that are alive now stay alive: the garbage collector need not scan them again.
    gc.collect()
    gc.freeze()


async def _prepare_added(analyst: Analyst, parts: Parts, added: Added) -> None:
    dataset = added.record.dataset
    await parts.warm(dataset)
    await analyst.prepare(dataset.id)
    await _suggest(analyst, parts, dataset)


async def _suggest(analyst: Analyst, parts: Parts, dataset: Dataset) -> None:
    """Questions to begin with, for a dataset that was added."""
    if not dataset.prompts and parts.datasets.own.find(dataset.id) is not None:
        prompts = await analyst.first_questions(dataset)
        records = parts.datasets.own.records
        await asyncio.to_thread(records.keep_prompts, dataset.id, dataset.version, prompts)


def line_of(settings: Settings) -> Line:
    waits = choose_endpoint(settings) is not None
    turns = _TURNS_PER_RUN if waits else _TURNS_PER_RUN_BUILTIN
    return Line(settings.concurrency * turns, settings.queue_limit, settings.user_share)
