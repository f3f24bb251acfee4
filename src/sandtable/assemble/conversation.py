"""Parts → a conversation. Apart from the parts, because LangGraph takes most of a second to import.

Threads are kept in `threads.db`, one SQLite file beside the runs.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from sandtable.agent.analyst import Analyst
from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.means import Means
from sandtable.agent.models import open_proposer
from sandtable.agent.proposer import Proposer
from sandtable.assemble import Parts

BUSY_TIMEOUT_S = 15.0
THREADS = "threads.db"


@asynccontextmanager
async def converse(
    parts: Parts,
    *,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    proposer: Proposer | None = None,
) -> AsyncGenerator[Analyst, None]:
    """The analyst over these parts. `checkpointer` and `proposer` stand in for those of the settings.

    Raises ModelTrouble when the settings name a chat model that cannot be opened.
    """
    async with AsyncExitStack() as stack:
        if checkpointer is None:
            checkpointer = await stack.enter_async_context(sqlite_threads(parts.settings.home / THREADS))
        builtin = BuiltinProposer()
        means = Means(
            datasets=parts.library,
            runs=parts.runs,
            check=parts.check,
            proposer=proposer or open_proposer(parts.settings) or builtin,
            max_rows=parts.settings.max_rows,
            understands=builtin.understands,
            approval=parts.settings.approval,
            prepare=builtin.prepare,
        )
        yield Analyst(means, checkpointer)


@asynccontextmanager
async def sqlite_threads(path: Path) -> AsyncGenerator[AsyncSqliteSaver, None]:
    """Threads in one file, shared by every process of the same home."""
    path.parent.mkdir(parents=True, exist_ok=True)
    async with aiosqlite.connect(path, timeout=BUSY_TIMEOUT_S) as connection:
        await connection.execute("PRAGMA journal_mode = WAL")
        # The message is on disk before its run begins; runs themselves are kept in their own store.
        await connection.execute("PRAGMA synchronous = FULL")
        saver = AsyncSqliteSaver(connection, serde=plain_serializer())
        await saver.setup()
        yield saver


def plain_serializer() -> JsonPlusSerializer:
    """Messages and plain values only: a changed file cannot make objects of other kinds."""
    return JsonPlusSerializer(allowed_msgpack_modules=None)
