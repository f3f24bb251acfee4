"""Tables that are opened at first use: a server that never needs them never does."""

from __future__ import annotations

import asyncio
from typing import Any, Self

from sandtable.store.tables import Statement, Tables


class OpenedAtFirstUse:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._opened = False
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        if self._opened:
            self._opened = False
            await self._tables.aclose()

    async def probe(self) -> None:
        """Raises StoreUnavailable, StoreCorrupt."""
        await (await self._open()).probe()

    async def _rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await (await self._open()).rows(sql, *values)

    async def _change(self, sql: str, values: tuple[Any, ...]) -> bool:
        return (await self._change_all((sql, values)))[0] > 0

    async def _change_all(self, *statements: Statement) -> list[int]:
        return await (await self._open()).change(*statements)

    async def _open(self) -> Tables:
        async with self._opening:
            if not self._opened:
                await self._tables.open()
                self._opened = True
        return self._tables
