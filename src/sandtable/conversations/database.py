"""The seam between the thread store and a database: its tables, and which servers are alive, and how to notify them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from sandtable.store.tables import Statement, Tables


class Database(Tables, Protocol):
    @property
    def owner(self) -> str:
        """This server's id while the database is open. It changes when other servers may consider this one dead."""
        ...

    @property
    def notifies(self) -> bool:
        """Whether `listen` receives what other servers send."""
        ...

    async def change(self, *statements: Statement, notify: Iterable[str] = ()) -> list[int]:
        """All or none; how many rows each changed. The notifications are sent when the transaction is committed."""
        ...

    def listen(self, receive: Callable[[str | None], None]) -> None:
        """`receive` is called with each notification, and with None when one may have been missed."""
        ...

    def inherit(self, owner: str) -> AbstractAsyncContextManager[bool]:
        """Holds a lock on that server's turns; yields whether that server is dead."""
        ...
