"""Threads in a Postgres database, over the connection pool of runs and checkpoints."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from sandtable.conversations.schema import MIGRATIONS
from sandtable.store.postgres.pool import Postgres
from sandtable.store.postgres.presence import MISSED
from sandtable.store.postgres.tables import PostgresTables

VERSIONS = "sandtable_schema"


class PostgresDatabase(PostgresTables):
    notifies = True

    def __init__(self, postgres: Postgres) -> None:
        super().__init__(postgres, VERSIONS, MIGRATIONS)

    @property
    def owner(self) -> str:
        return self.postgres.presence.id

    def listen(self, receive: Callable[[str | None], None]) -> None:
        self.postgres.presence.subscribe(lambda payload: receive(None if payload == MISSED else payload))

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        async with self.postgres.inherit(owner) as dead:
            yield dead
