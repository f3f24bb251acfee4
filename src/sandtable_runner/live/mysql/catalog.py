"""The tables that a user may read, their columns and their keys: from the information schema."""

from __future__ import annotations

from typing import Any

from sandtable_runner.live.mysql.connecting import DriverConnection
from sandtable_runner.live.mysql.statements import Row, number, rows, text, value
from sandtable_runner.live.worker import Failure

_MOST_TABLES = 5000
_MOST_COLUMNS = 50_000
_VIEWS = ("VIEW", "SYSTEM VIEW")
_READ_LIKE_TABLES = ("BASE TABLE", "SYSTEM VERSIONED", *_VIEWS)

# An estimate; a table of an engine without transactions is not of one moment with the others.
_TABLES = """
SELECT t.TABLE_SCHEMA, t.TABLE_NAME, t.TABLE_TYPE, t.TABLE_ROWS, e.TRANSACTIONS
FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
WHERE t.TABLE_SCHEMA = {schema} ORDER BY t.TABLE_NAME LIMIT 5001
"""
_COLUMNS = """
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, NUMERIC_PRECISION, NUMERIC_SCALE, IS_NULLABLE
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = {schema} AND FIND_IN_SET('select', PRIVILEGES)
ORDER BY TABLE_NAME, ORDINAL_POSITION LIMIT 50001
"""
_KEYS = """
SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME,
  REFERENCED_COLUMN_NAME
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = {schema} AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_COLUMN_NAME IS NOT NULL)
ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
"""


def fetch_schema(connection: DriverConnection, request: dict[str, Any]) -> dict[str, Any]:
    tables: dict[tuple[str, str], dict[str, Any]] = {}
    for schema in request["schemas"]:
        found = _of(connection, _TABLES, schema)
        if len(found) > _MOST_TABLES:
            raise Failure("tables")
        tables |= {(text(row[0]), text(row[1])): _table(row) for row in found if _is_read(row)}
        _add_columns(connection, schema, tables)
        _add_keys(connection, schema, tables)
    return {"tables": [table for table in tables.values() if table["columns"]]}


def _of(connection: DriverConnection, statement: str, schema: str) -> list[Row]:
    """The information schema compares names regardless of case, which need not be what this server does."""
    found = rows(connection, statement.format(schema=value(schema)))
    return [row for row in found if text(row[0]) == schema]


def _is_read(row: Row) -> bool:
    return text(row[2]) in _READ_LIKE_TABLES


def _table(row: Row) -> dict[str, Any]:
    schema, name, kind, estimate, transactions = row
    return {
        "schema": text(schema),
        "name": text(name),
        "kind": "v" if text(kind) in _VIEWS else "r",
        "rows": None if estimate is None else number(estimate),
        "of_one_moment": transactions in (b"YES", None),
        "columns": [],
        "key": [],
        "refers": [],
    }


def _add_columns(
    connection: DriverConnection, schema: str, tables: dict[tuple[str, str], dict[str, Any]]
) -> None:
    columns = _of(connection, _COLUMNS, schema)
    if len(columns) > _MOST_COLUMNS:
        raise Failure("tables")
    for place, table, name, data_type, shown, precision, scale, nullable in columns:
        if (text(place), text(table)) in tables:
            tables[text(place), text(table)]["columns"].append(
                {
                    "name": text(name),
                    "type": text(data_type).lower(),
                    "shown": text(shown)[:1000],
                    "precision": number(precision),
                    "scale": number(scale),
                    "not_null": nullable == b"NO",
                }
            )


def _add_keys(
    connection: DriverConnection, schema: str, tables: dict[tuple[str, str], dict[str, Any]]
) -> None:
    references: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in _of(connection, _KEYS, schema):
        place, name, constraint, column, other_schema, other, other_column = map(text, row)
        if (place, name) not in tables:
            continue
        if not other:
            tables[place, name]["key"].append(column)
            continue
        empty = {"columns": [], "schema": other_schema, "table": other, "to": []}
        found = references.setdefault((place, name, constraint), empty)
        found["columns"].append(column)
        found["to"].append(other_column)
    for (place, name, _), found in references.items():
        if (found["schema"], found["table"]) in tables:
            tables[place, name]["refers"].append(found)
