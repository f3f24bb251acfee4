"""This server's presence in a Postgres database: one connection that says it lives, and hears what others do.

Invariant: the advisory lock of `id` is held while `alive`. Whoever loses the connection has lost the lock, and with it
whatever was done under that id: it comes back under another. What it did not hear meanwhile it is told as MISSED.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import psycopg
import structlog
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sandtable.stopping import stopped

log = structlog.get_logger(__name__)

Connection = psycopg.AsyncConnection

CHANNEL = "sandtable"
LOCKS = 0x5A7D
"""The class of our advisory locks; one per living server."""
MISSED = "missed"
"""Told instead of what was said while nobody could hear it."""

CONNECT_S = 10
HEARTBEAT_S = 5.0
_COME_BACK_S = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)

_LIMITS = {
    "connect_timeout": CONNECT_S,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""A machine that is gone says nothing: both ends notice within half a minute."""
_SERVER_KEEPALIVE = (
    "SET tcp_keepalives_idle = 10",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 3",
    "SET tcp_user_timeout = 25000",
)


class Presence:
    def __init__(self, url: str) -> None:
        self._url = url
        self.id = secrets.token_hex(8)
        self.alive = False
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._hearers: list[Callable[[str], None]] = []
        self._mourners: list[Callable[[], None]] = []

    def hear(self, tell: Callable[[str], None]) -> None:
        """`tell` is called with every text that a server sends to CHANNEL, this one too, and with MISSED."""
        self._hearers.append(tell)

    def on_loss(self, tell: Callable[[], None]) -> None:
        """`tell` is called when others may take this server for dead."""
        self._mourners.append(tell)

    async def open(self) -> None:
        await self._enter()
        self._task = asyncio.create_task(self._stay(), name="postgres presence")

    async def aclose(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await stopped(task)
        await self._leave()

    async def _enter(self) -> None:
        connection = await Connection.connect(patient(self._url), autocommit=True)
        self._connection = connection
        for statement in _SERVER_KEEPALIVE:
            await connection.execute(statement)
        name = sql.Literal(f"{CHANNEL} {self.id}")
        await connection.execute(sql.SQL("SET application_name = {}").format(name))
        await connection.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (LOCKS, self.id))
        await connection.execute(f"LISTEN {CHANNEL}".encode())
        self.alive = True

    async def _leave(self) -> None:
        self.alive = False
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _stay(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                log.warning("database_presence_lost", owner=self.id, reason=" ".join(str(error).split()))
            await self._leave()
            for tell in self._mourners:
                tell()
            await self._come_back()
            log.warning("database_presence_back", owner=self.id)
            self._tell(MISSED)

    async def _listen(self) -> None:
        connection = self._connection
        assert connection is not None
        while True:
            async for notify in connection.notifies(timeout=HEARTBEAT_S):
                self._tell(notify.payload)
            async with asyncio.timeout(HEARTBEAT_S):
                await connection.execute("SELECT 1")

    def _tell(self, payload: str) -> None:
        for tell in self._hearers:
            tell(payload)

    async def _come_back(self) -> None:
        before, self.id = self.id, secrets.token_hex(8)
        tries = 0
        while True:
            try:
                await self._enter()
                await self._bury(before)
                return
            except (psycopg.Error, OSError) as error:
                log.warning("database_not_reached", reason=" ".join(str(error).split()))
                await self._leave()
            await asyncio.sleep(_COME_BACK_S[min(tries, len(_COME_BACK_S) - 1)])
            tries += 1

    async def _bury(self, before: str) -> None:
        """The database may not have noticed yet that the connection is gone, and would keep its lock."""
        assert self._connection is not None
        await self._connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = %s AND usename = current_user",
            (f"{CHANNEL} {before}",),
        )


def patient(url: str) -> str:
    """The address with a time limit for connecting, and signs of life; what it says of these itself stays."""
    given = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in _LIMITS.items() if name not in given})
