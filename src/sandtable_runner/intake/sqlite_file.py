"""SQLite databases: every ordinary table becomes a table, with its own name.

The file is opened read-only and as one that does not change, so nothing beside it is read and nothing is written. Our
SQL can only read, and the library has no functions but its own: what the schema computes has no side effects.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote as quoted_path

from sandtable_runner.engine import quote
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.recognising import SQLITE, head_of, refuse_other_kind
from sandtable_runner.intake.sqlite_table import TableColumn, holds_text, open_table
from sandtable_runner.intake.text_table import Keys, TextTable
from sandtable_runner.intake.workbench import Workbench

_MOST_TABLES = 1000
_WAL = 2
_SETTINGS = ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0")
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_PRAGMAS = {"table_xinfo", "foreign_key_list"}
_SHADOWS = (
    *("content", "docsize", "segdir", "segments", "stat", "config", "data", "idx"),
    *("node", "parent", "rowid", "vocab"),
)
"""After the name of a table for full-text search or for places: where it keeps its index."""
_GENERATED = (2, 3)
"""Of a column that is computed, when it is read or when its row is written."""
_UNWRITTEN = (
    "The database is in WAL mode: rows that were written last may be in a file beside it, whose name ends in -wal and "
    "which was not read. To have them in the database itself, run PRAGMA wal_checkpoint(TRUNCATE) on it."
)
_NO_DATABASE = "If it is encrypted, save it without encryption; if it is of another kind, give it that ending"
_LONGEST_NAME = 255
_MOST_NAMED = 20
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class _Schema:
    tables: list[str]
    """Ordinary ones, in their order."""
    notes: list[str]
    """On what is left out."""
    keys: dict[str, Keys]
    """By table."""

    @property
    def places(self) -> set[tuple[str, str]]:
        """Table and column, in lower case, of everything that is part of a key."""
        return {
            (table.lower(), column.lower())
            for name, keys in self.keys.items()
            for table, column in (
                *((name, column) for column in keys.primary),
                *((name, column) for column, _, _ in keys.references),
                *((table, column) for _, table, column in keys.references),
            )
        }


def open_sqlite(bench: Workbench, path: Path, given: list[Mapping[str, Any]] | None) -> list[TextTable]:
    """One table for each ordinary table of the database; with `given`, exactly those."""
    source = bench.source
    head = head_of(path)
    if not head.startswith(SQLITE):
        refuse_other_kind(source, path, "a SQLite database")
        raise BadFile(f"{source} is not a SQLite database, or is encrypted", _NO_DATABASE)
    with _reading(source, path) as database:
        schema = _read_schema(source, database)
        notes = list(schema.notes)
        recipes = {one["sheet"]: one for one in given or ()}
        _require_tables(source, list(recipes), schema.tables)
        tables: list[TextTable] = []
        in_keys = schema.places
        for name in schema.tables:
            columns, left_out = _columns(database, name, in_keys)
            place = replace(bench, source=f"table {name} of {source}", unproven=None)
            if given is not None and name not in recipes:
                if holds_text(database, name, columns):
                    raise BadFile(
                        f"{source} has the table {name!r}, which the recipes do not name",
                        "Name it, or add the file without recipes",
                    )
                continue
            opened = open_table(place, database, name, columns, recipes.get(name))
            if opened is None:
                notes += [*left_out, f"The table {name} is left out: no column of it can be read."]
            else:
                found = replace(opened, notes=(*left_out, *opened.notes), keys=schema.keys[name])
                tables.append(found)
    if not tables:
        raise BadFile(
            f"{source} has no table that can be read: {' '.join(notes)[:600]}",
            "Save the data in an ordinary table",
        )
    if head[18] == _WAL:
        notes.insert(0, _UNWRITTEN)
    tables[0] = replace(tables[0], notes=(*notes, *tables[0].notes))
    return [table for name in recipes for table in tables if table.name == name] if recipes else tables


@contextmanager
def _reading(source: str, path: Path) -> Iterator[sqlite3.Connection]:
    try:
        address = f"file:{quoted_path(str(path))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as database:
            for setting in _SETTINGS:
                database.execute(f"PRAGMA {setting}")
            _trust_json(database)
            database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            # As bytes, so that texts that are not UTF-8 are recognised like those of any file.
            database.text_factory = bytes
            database.set_authorizer(_authorize)
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # Where a message of SQLite quotes damaged names, Python cannot decode it.
        reason = "its names are damaged" if isinstance(error, UnicodeDecodeError) else error
        raise BadFile(
            f"{source} cannot be read as a SQLite database: {reason}",
            "It may be damaged, or a copy that was made while a program wrote to it: copy it with VACUUM INTO",
        ) from error


def _trust_json(database: sqlite3.Connection) -> None:
    """Older versions of SQLite count JSON among the unsafe functions, and read no schema that computes a column so."""
    try:
        database.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        if "unsafe use of" not in str(error):
            raise
        database.execute("PRAGMA trusted_schema = ON")


def _authorize(action: int, first: str | None, *_: str | None) -> int:
    allowed = action in _ALLOWED or (action == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _text(value: Any) -> str:
    """Of the schema."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _read_schema(source: str, database: sqlite3.Connection) -> _Schema:
    rows = database.execute(
        "SELECT type, name, rootpage, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid"
    ).fetchall()
    listed = [(_text(kind), _text(name), root, _text(sql)) for kind, name, root, sql in rows]
    listed = [entry for entry in listed if not entry[1].lower().startswith("sqlite_")]
    if not listed:
        raise BadFile(f"{source} has no table: the database is empty", "Give a database with a table")
    if longest := next((name for _, name, *_ in listed if len(name) > _LONGEST_NAME), ""):
        raise BadFile(
            f"{source} has a table whose name has {len(longest)} characters: {longest[:60]!r} and so on",
            f"Shorten it to {_LONGEST_NAME} characters",
        )
    virtual = {name: sql for kind, name, root, sql in listed if kind == "table" and not root}
    shadows = {f"{name}_{suffix}".lower() for name in virtual for suffix in _SHADOWS}
    tables = [
        name for kind, name, root, _ in listed if kind == "table" and root and name.lower() not in shadows
    ]
    if len(tables) > _MOST_TABLES:
        raise BadFile(
            f"{source} has {len(tables):,} tables; the limit is {_MOST_TABLES:,}",
            "Copy those that are needed to another database",
        )
    views = [name for kind, name, *_ in listed if kind == "view"]
    notes = [_views(views)] if views else []
    notes += [_virtual(name, sql) for name, sql in virtual.items()]
    return _Schema(tables, notes, _keys(database, tables))


def _views(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    listed = f"{'views' if len(names) > 1 else 'view'} {', '.join(names[:_MOST_NAMED])}{more}"
    return f"Left out, because only tables are read: the {listed}."


def _virtual(name: str, sql: str) -> str:
    module = re.search(r"(?i)\busing\s+(\w+)", sql)
    by = f" of the module {module[1]}" if module else ""
    return f"The table {name} is left out, with the tables of its index: it is a virtual table{by}."


def _require_tables(source: str, named: Sequence[str], tables: Sequence[str]) -> None:
    if missing := [name for name in named if name not in tables]:
        raise BadFile(
            f"{source} has no table {missing[0]!r}", f"Name one of its tables: {', '.join(tables[:20])}"
        )


def _keys(database: sqlite3.Connection, tables: Sequence[str]) -> dict[str, Keys]:
    """References of several columns together are left out."""
    primary: dict[str, tuple[str, ...]] = {}
    for table in tables:
        parts = [
            (place, _text(name))
            for _, name, _, _, _, place, _ in _about(database, "table_xinfo", table)
            if place
        ]
        primary[table.lower()] = tuple(name for _, name in sorted(parts))
    return {
        table: Keys(primary[table.lower()], tuple(_references(database, table, primary))) for table in tables
    }


def _references(
    database: sqlite3.Connection, table: str, primary: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str, str]]:
    declared = _about(database, "foreign_key_list", table)
    parts = Counter(number for number, *_ in declared)
    for number, _, other, column, referred, *_ in declared:
        # Without a column it is the primary key.
        whole = (_text(referred),) if referred is not None else primary.get(_text(other).lower(), ())
        if parts[number] == len(whole) == 1:
            yield _text(column), _text(other), whole[0]


def _about(database: sqlite3.Connection, pragma: str, table: str) -> list[tuple[Any, ...]]:
    return database.execute(f"PRAGMA {pragma}({quote(table)})").fetchall()


def _columns(
    database: sqlite3.Connection, table: str, keys: Collection[tuple[str, str]]
) -> tuple[list[TableColumn], list[str]]:
    """Those that can be read, and notes on the others."""
    found: list[TableColumn] = []
    notes: list[str] = []
    for _, raw, declared, _, _, _, hidden in _about(database, "table_xinfo", table):
        name = _text(raw)
        if hidden in _GENERATED:
            try:
                database.execute(f"SELECT count({quote(name)}) FROM {quote(table)} NOT INDEXED").fetchall()
            except sqlite3.OperationalError as error:
                notes.append(
                    f"Column {name} is left out: it cannot be computed: {str(error)[:_LONGEST_REASON]}."
                )
                continue
        in_key = (table.lower(), name.lower()) in keys
        found.append(TableColumn(name, _text(declared)[:_LONGEST_NAME], in_key))
    return found, notes
