"""The graph's states in Postgres: LangGraph's own tables, over the pool of the thread store."""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from sandtable.assemble.serializer import StateSerializer
from sandtable.server.threads.postgres import PostgresDatabase


async def postgres_checkpoints(database: PostgresDatabase) -> AsyncPostgresSaver:
    # Its cursors ask for the rows they want, whatever the pool's default is.
    saver = AsyncPostgresSaver(cast(Any, database.pool), serde=StateSerializer())
    async with database.upgrading():
        await saver.setup()
    return saver
