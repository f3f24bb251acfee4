"""The graph's states in Postgres: LangGraph's own tables, over the pool of runs and threads."""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from sandtable.assemble.serializer import StateSerializer
from sandtable.capsule.postgres_pool import Postgres


async def postgres_checkpoints(database: Postgres) -> AsyncPostgresSaver:
    # Its cursors ask for the rows they want, whatever the pool's default is.
    saver = AsyncPostgresSaver(cast(Any, database.pool), serde=StateSerializer())
    async with database.upgrading():
        await saver.setup()
    return saver
