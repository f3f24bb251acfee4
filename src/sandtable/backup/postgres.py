"""The rows of a Postgres database as files, read in one snapshot, and a database filled from them.

Invariant: rows are loaded in one transaction, into tables that it makes at the version that the rows had; a database
with tables of ours is refused. Written by COPY itself, because `pg_dump` must be installed and no older than the
database's server, and its output is a program that a restore would execute.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from sandtable.accounts import schema as accounts
from sandtable.accounts import shares
from sandtable.agent.checkpoints import schema as checkpoints
from sandtable.backup.manifest import Manifest, not_one
from sandtable.backup.taking import Rows
from sandtable.boards import schema as boards
from sandtable.conversations import postgres as conversations
from sandtable.conversations.schema import MIGRATIONS as OF_CONVERSATIONS
from sandtable.errors import InvalidInput
from sandtable.store.postgres import migrations as runs
from sandtable.store.postgres.errors import check_address, explained
from sandtable.store.postgres.presence import with_timeouts

SCHEMAS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    runs.VERSIONS: tuple(runs.MIGRATIONS),
    conversations.VERSIONS: tuple(OF_CONVERSATIONS),
    checkpoints.VERSIONS: tuple(checkpoints.MIGRATIONS),
    accounts.VERSIONS: tuple(accounts.MIGRATIONS),
    shares.VERSIONS: tuple(shares.MIGRATIONS),
    boards.VERSIONS: tuple(boards.MIGRATIONS),
}
"""By the table that records the steps taken; in the order in which they are made."""
_VERSIONS = "_schema"
_NAME = re.compile(r"sandtable_[a-z0-9_]{1,50}")
_UNCHECKED = ("sandtable_removals",)
"""Its triggers allow a row only while the run is still there."""
_EARLIER = "SELECT 1 WHERE to_regclass('checkpoints') IS NOT NULL"
_EARLIER_THREAD = "SELECT 1 FROM checkpoints LIMIT 1"
_TABLES = r"""
    SELECT c.relname FROM pg_class AS c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname LIKE 'sandtable\_%'
    ORDER BY c.relname
"""
_REFERENCES = """
    SELECT DISTINCT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
    WHERE contype = 'f' AND conrelid <> confrelid AND connamespace = current_schema()::regnamespace
"""
_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = to_regclass(quote_ident(%s)) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""

Connection = psycopg.AsyncConnection[Any]


async def dump(url: str, folder: Path) -> Rows:
    """Raises StoreUnavailable, InvalidInput."""
    async with _connected(url) as connection:
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        if await _rows(connection, _EARLIER) and await _rows(connection, _EARLIER_THREAD):
            raise InvalidInput(
                "the database has conversations in tables of an earlier version",
                suggestion="Bring them over first: `sandtable migrate`.",
            )
        tables = [row[0] for row in await _rows(connection, _TABLES)]
        versions = {name: await _version(connection, name) for name in tables if name.endswith(_VERSIONS)}
        if unknown := sorted(versions.keys() - SCHEMAS.keys()):
            raise InvalidInput(
                f"the database has tables of another Sandtable: {', '.join(unknown)}",
                suggestion="Make the backup with the version that the servers have.",
            )
        files: dict[str, Path] = {}
        for table in tables:
            if table not in versions:
                files[table] = folder / f"{table}.copy"
                await _write(connection, table, files[table])
        return Rows(files, versions)


@asynccontextmanager
async def loaded(url: str, manifest: Manifest, files: Mapping[str, Path]) -> AsyncGenerator[None, None]:
    """Loads the rows; they stay if the body ends without an error. Raises StoreUnavailable, InvalidInput."""
    async with _connected(url) as connection:
        if await _rows(connection, _TABLES):
            raise InvalidInput(
                "the database has tables of Sandtable already",
                suggestion="Name an empty database or schema in SANDTABLE_DATABASE_URL.",
            )
        await _make_tables(connection, manifest)
        made = {row[0] for row in await _rows(connection, _TABLES)} - manifest.schemas.keys()
        if strange := sorted(files.keys() ^ made):
            raise not_one(f"it does not fit the tables of its version: {strange[0]}")
        for table in _in_order(files, await _rows(connection, _REFERENCES)):
            await _load(connection, table, files[table])
        yield


@asynccontextmanager
async def _connected(url: str) -> AsyncGenerator[Connection, None]:
    """A connection in a transaction."""
    check_address(url)
    with explained():
        async with await psycopg.AsyncConnection.connect(with_timeouts(url)) as connection:
            yield connection


async def _rows(connection: Connection, sql: str, *values: Any) -> list[Any]:
    return await (await connection.execute(sql.encode(), values or None)).fetchall()


async def _version(connection: Connection, table: str) -> int:
    found = await connection.execute(
        SQL("SELECT coalesce(max(version), 0) FROM {}").format(Identifier(table))
    )
    return (await found.fetchall())[0][0]


async def _write(connection: Connection, table: str, path: Path) -> None:
    columns = [row[0] for row in await _rows(connection, _COLUMNS, table)]
    listed = SQL(", ").join(map(Identifier, columns))
    statement = SQL("COPY (SELECT {} FROM {}) TO STDOUT").format(listed, Identifier(table))
    with path.open("xb") as file:
        file.write(json.dumps(columns).encode() + b"\n")
        async with connection.cursor().copy(statement) as copy:
            async for piece in copy:
                file.write(piece)


async def _make_tables(connection: Connection, manifest: Manifest) -> None:
    for name, version in manifest.schemas.items():
        if (name in SCHEMAS and version > len(SCHEMAS[name])) or (
            name.startswith("sandtable_") and name not in SCHEMAS
        ):
            raise InvalidInput(
                "the backup was made by a newer Sandtable",
                suggestion="Restore it with the version that made it.",
            )
    for name, steps in SCHEMAS.items():
        done = manifest.schemas.get(name, 0)
        if not done:
            continue
        await connection.execute(SQL("CREATE TABLE {} (version INTEGER NOT NULL)").format(Identifier(name)))
        for number, step in enumerate(steps[:done], 1):
            for statement in step:
                await connection.execute(statement.encode())
            await connection.execute(SQL("INSERT INTO {} VALUES (%s)").format(Identifier(name)), (number,))


def _in_order(files: Mapping[str, Path], references: list[tuple[str, str]]) -> list[str]:
    """What is referred to comes first."""
    left, order = set(files), list[str]()
    while left:
        free = sorted(
            table for table in left if not any(one == table and other in left for one, other in references)
        )
        order += free or sorted(left)
        left -= set(free or left)
    return order


async def _load(connection: Connection, table: str, path: Path) -> None:
    name = Identifier(table)
    if not _NAME.fullmatch(table):
        raise not_one(f"it has no such table: {table!a}")
    with path.open("rb") as file:
        try:
            columns = json.loads(file.readline())
        except ValueError as error:
            raise not_one(f"{path.name} cannot be read") from error
        known = [row[0] for row in await _rows(connection, _COLUMNS, table)]
        if not isinstance(columns, list) or sorted(map(str, columns)) != sorted(known):
            raise not_one(f"{path.name} has other columns than the table")
        if table in _UNCHECKED:
            await connection.execute(SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(name))
        listed = SQL(", ").join(map(Identifier, columns))
        async with connection.cursor().copy(SQL("COPY {} ({}) FROM STDIN").format(name, listed)) as copy:
            while piece := file.read(1 << 20):
                await copy.write(piece)
        if table in _UNCHECKED:
            await connection.execute(SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(name))
