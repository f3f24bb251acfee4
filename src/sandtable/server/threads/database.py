"""The seam between the thread store and a database: run SQL, and know which servers still live.

The SQL is written once, with `?` for values; each database translates what little differs.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

Statement = tuple[str, tuple[Any, ...]]


class Database(Protocol):
    @property
    def owner(self) -> str:
        """This server, as long as the database is open."""
        ...

    async def open(self) -> None:
        """Connects and brings the tables up to date. Raises `StoreUnavailable`."""
        ...

    async def aclose(self) -> None: ...

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]: ...

    async def change(self, *statements: Statement) -> list[int]:
        """All or none; how many rows each changed."""
        ...

    def inherit(self, owner: str) -> AbstractAsyncContextManager[bool]:
        """True inside when that server is dead; no other heir is inside at the same time."""
        ...
