"""The seam between what is kept in tables and a database: SQL written once, with `?` for values.

`sqlite.file.SqliteFile` and `postgres.tables.PostgresTables` implement it.
"""

from __future__ import annotations

from typing import Any, Protocol

Statement = tuple[str, tuple[Any, ...]]


class Tables(Protocol):
    async def open(self) -> None:
        """Connects and brings the tables up to date. Raises `StoreUnavailable`."""
        ...

    async def aclose(self) -> None: ...

    async def probe(self) -> None:
        """Reads and writes, and changes nothing. Raises `StoreUnavailable`, `StoreCorrupt`."""
        ...

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]: ...

    async def change(self, *statements: Statement) -> list[int]:
        """All or none; how many rows each changed."""
        ...
