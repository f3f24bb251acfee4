"""The seam between the thread store and a database: run SQL, know which servers still live, hear what they did.

The SQL is written once, with `?` for values; each database translates what little differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

Statement = tuple[str, tuple[Any, ...]]


class Database(Protocol):
    @property
    def owner(self) -> str:
        """This server, as long as the database is open. It changes when others may have taken it for dead."""
        ...

    @property
    def tells(self) -> bool:
        """Whether `listen` hears what other servers tell."""
        ...

    async def open(self) -> None:
        """Connects and brings the tables up to date. Raises `StoreUnavailable`."""
        ...

    async def aclose(self) -> None: ...

    async def probe(self) -> None:
        """Reads and writes, and changes nothing. Raises `StoreUnavailable`, `StoreCorrupt`."""
        ...

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]: ...

    async def change(self, *statements: Statement, tell: Iterable[str] = ()) -> list[int]:
        """All or none; how many rows each changed. Whoever listens is told afterwards."""
        ...

    def listen(self, hear: Callable[[str | None], None]) -> None:
        """`hear` is called with what any server tells, and with nothing when something may have been missed."""
        ...

    def inherit(self, owner: str) -> AbstractAsyncContextManager[bool]:
        """True inside when that server is dead; no other heir is inside at the same time."""
        ...
