"""Threads in one SQLite file of the home folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sandtable.conversations.schema import MIGRATIONS
from sandtable.runs.instance import Instance
from sandtable.store.sqlite.file import SqliteFile
from sandtable.store.tables import Statement

FILE = "conversations.db"


class SqliteDatabase:
    notifies = False

    def __init__(self, home: Path) -> None:
        self._file = SqliteFile(home / FILE, MIGRATIONS, synchronous="NORMAL")
        self._instance = Instance(home)

    @property
    def owner(self) -> str:
        return self._instance.id

    async def open(self) -> None:
        try:
            self._instance.acquire()
            await self._file.open()
        except BaseException:
            await self.aclose()
            raise

    async def aclose(self) -> None:
        await self._file.aclose()
        self._instance.release()

    async def probe(self) -> None:
        await self._file.probe()

    async def rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        return await self._file.rows(sql, *values)

    async def change(self, *statements: Statement, notify: Iterable[str] = ()) -> list[int]:
        return await self._file.change(*statements)

    def listen(self, receive: Callable[[str | None], None]) -> None:
        """Does nothing: a SQLite file sends no notifications."""

    @asynccontextmanager
    async def inherit(self, owner: str) -> AsyncGenerator[bool, None]:
        with self._instance.inherit(owner) as dead:
            yield dead
