"""Tables that report their own changes, so that what depends on accounts is checked again at once.

Only changes of this process are reported: those of other servers and of commands are found by looking again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sandtable.store.tables import Statement, Tables


class ReportingTables:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.listeners: list[Callable[[], None]] = []
        """Called after every change, also after one that failed: it may have been made all the same."""

    async def open(self) -> None:
        await self._tables.open()

    async def aclose(self) -> None:
        await self._tables.aclose()

    async def probe(self) -> None:
        await self._tables.probe()

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await self._tables.rows(sql, *values)

    async def change(self, *statements: Statement) -> list[int]:
        try:
            return await self._tables.change(*statements)
        finally:
            for listener in self.listeners:
                listener()
