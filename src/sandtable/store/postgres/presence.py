"""A server's presence in a Postgres database: one connection that holds the server's lock and receives notifications.

Invariant: while `alive`, the connection holds the advisory lock of `id`. A server that loses the connection loses the
lock, and other servers may adopt its runs; it reconnects with a new id. MISSED stands for the notifications that were
sent in between.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import psycopg
import structlog
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sandtable.retrying import Backoff, retried
from sandtable.stopping import stopped

log = structlog.get_logger(__name__)

Connection = psycopg.AsyncConnection

CHANNEL = "sandtable"
LOCKS = 0x5A7D
"""The class of the advisory locks of servers; each living server holds one."""
MISSED = "missed"
"""Passed to subscribers after a reconnect, in place of the notifications that were lost."""

CONNECT_S = 10
HEARTBEAT_S = 5.0
_RECONNECT = Backoff((0.05, 0.2, 0.5, 1.0, 2.0, 5.0))

_LIMITS = {
    "connect_timeout": CONNECT_S,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""With these limits both ends detect a vanished machine within half a minute."""
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
        self._subscribers: list[Callable[[str], None]] = []
        self._loss_callbacks: list[Callable[[], None]] = []

    def subscribe(self, tell: Callable[[str], None]) -> None:
        """Call `tell` with every payload sent to CHANNEL, by this server too, and with MISSED."""
        self._subscribers.append(tell)

    def on_loss(self, tell: Callable[[], None]) -> None:
        """Call `tell` when the lock is lost: other servers may now treat this one as dead."""
        self._loss_callbacks.append(tell)

    async def open(self) -> None:
        await self._connect()
        self._task = asyncio.create_task(self._keep_present(), name="postgres presence")

    async def aclose(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await stopped(task)
        await self._disconnect()

    async def _connect(self) -> None:
        connection = await Connection.connect(with_timeouts(self._url), autocommit=True)
        self._connection = connection
        for statement in _SERVER_KEEPALIVE:
            await connection.execute(statement)
        name = sql.Literal(f"{CHANNEL} {self.id}")
        await connection.execute(sql.SQL("SET application_name = {}").format(name))
        await connection.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (LOCKS, self.id))
        await connection.execute(f"LISTEN {CHANNEL}".encode())
        self.alive = True

    async def _disconnect(self) -> None:
        self.alive = False
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _keep_present(self) -> None:
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                log.warning("database_presence_lost", owner=self.id, reason=" ".join(str(error).split()))
            await self._disconnect()
            for tell in self._loss_callbacks:
                tell()
            await self._reconnect()
            log.warning("database_presence_back", owner=self.id)
            self._notify(MISSED)

    async def _listen(self) -> None:
        connection = self._connection
        assert connection is not None
        while True:
            async for notify in connection.notifies(timeout=HEARTBEAT_S):
                self._notify(notify.payload)
            async with asyncio.timeout(HEARTBEAT_S):
                await connection.execute("SELECT 1")

    def _notify(self, payload: str) -> None:
        for tell in self._subscribers:
            tell(payload)

    async def _reconnect(self) -> None:
        before, self.id = self.id, secrets.token_hex(8)

        async def connect() -> None:
            await self._connect()
            await self._terminate(before)

        async def report(error: psycopg.Error | OSError) -> None:
            log.warning("database_not_reached", reason=" ".join(str(error).split()))
            await self._disconnect()

        await retried(connect, on=(psycopg.Error, OSError), backoff=_RECONNECT, between=report)

    async def _terminate(self, before: str) -> None:
        """End the lost connection at the database, which may not have noticed and would keep its lock."""
        assert self._connection is not None
        await self._connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = %s AND usename = current_user",
            (f"{CHANNEL} {before}",),
        )


def with_timeouts(url: str) -> str:
    """Add connect timeout and keepalives unless the URL sets them."""
    given = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in _LIMITS.items() if name not in given})
