"""The graph's states in Postgres, over the pool of runs and threads."""

from __future__ import annotations

from sandtable.agent.checkpoints.earlier import POSTGRES, Earlier
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.agent.checkpoints.schema import MIGRATIONS, VERSIONS
from sandtable.conversations.postgres import PostgresDatabase
from sandtable.store.postgres.pool import Postgres

_EARLIER = "SELECT 1 AS there WHERE to_regclass('checkpoints') IS NOT NULL"


async def postgres_checkpoints(postgres: Postgres) -> Checkpoints:
    await postgres.upgrade(VERSIONS, MIGRATIONS)
    database = PostgresDatabase(postgres)
    return Checkpoints(database, Earlier(database, POSTGRES) if await database.rows(_EARLIER) else None)
