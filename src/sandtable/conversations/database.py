"""The seam between the thread store and a database: run SQL, know which servers are alive, notify them.

The SQL is written once, with `?` for values; each database translates what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

Statement = tuple[str, tuple[Any, ...]]


class Database(Protocol):
    @property
    def owner(self) -> str:
        """This server's id while the database is open. It changes when other servers may consider this one dead."""
        ...

    @property
    def notifies(self) -> bool:
        """Whether `listen` receives what other servers send."""
        ...

    async def open(self) -> None:
        """Connects and brings the tables up to date. Raises `StoreUnavailable`."""
        ...

    async def aclose(self) -> None: ...

    async def probe(self) -> None:
        """Reads and writes, and changes nothing. Raises `StoreUnavailable`, `StoreCorrupt`."""
        ...

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]: ...

    async def change(self, *statements: Statement, notify: Iterable[str] = ()) -> list[int]:
        """All or none; how many rows each changed. The notifications are sent when the transaction is committed."""
        ...

    def listen(self, receive: Callable[[str | None], None]) -> None:
        """`receive` is called with each notification, and with None when one may have been missed."""
        ...

    def inherit(self, owner: str) -> AbstractAsyncContextManager[bool]:
        """Holds a lock on that server's turns; yields whether that server is dead."""
        ...
