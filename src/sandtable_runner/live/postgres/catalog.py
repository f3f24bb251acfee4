"""The tables that a role may read, their columns with base types, and their keys: from PostgreSQL's own catalog."""

from __future__ import annotations

from typing import Any

import psycopg

from sandtable_runner.live.worker import Failure

_MOST_TABLES = 5000
_MOST_COLUMNS = 50_000

# Views and foreign tables are read like tables; partitions are read through their table.
_TABLES = """
SELECT c.oid::bigint, n.nspname, c.relname, c.relkind::text,
  CASE WHEN c.relkind IN ('r', 'm') AND c.reltuples >= 0 THEN c.reltuples::bigint END
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND (%(schemas)s::text[] IS NULL OR n.nspname = ANY (%(schemas)s::text[]))
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
ORDER BY n.nspname, c.relname LIMIT 5001
"""
_COLUMNS = """
SELECT a.attrelid::bigint, a.attnum::int, a.attname, a.atttypid::bigint, a.atttypmod::int, a.attnotnull,
  pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a
WHERE a.attrelid = ANY (%(tables)s::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
  AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum LIMIT 50001
"""
_DOMAINS = (
    "SELECT oid::bigint, typbasetype::bigint, typtypmod::int FROM pg_catalog.pg_type WHERE typtype = 'd'"
)
_TYPES = """
SELECT t.oid::bigint, t.typname, t.typtype::text, n.nspname = 'pg_catalog', t.typcategory::text
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.oid = ANY (%(types)s::oid[])
"""
# A foreign key that is not validated may have rows without a partner.
_KEYS = """
SELECT k.conrelid::bigint, k.contype::text, k.conkey::int[], k.confrelid::bigint, k.confkey::int[]
FROM pg_catalog.pg_constraint k
WHERE k.conrelid = ANY (%(tables)s::oid[]) AND k.contype IN ('p', 'f') AND k.convalidated
ORDER BY k.conrelid, k.contype DESC, k.conname
"""


def fetch_schema(connection: psycopg.Connection[Any], request: dict[str, Any]) -> dict[str, Any]:
    rows = connection.execute(_TABLES, {"schemas": request["schemas"]}).fetchall()
    if len(rows) > _MOST_TABLES:
        raise Failure("tables")
    tables: dict[int, dict[str, Any]] = {
        row[0]: {
            "schema": row[1],
            "name": row[2],
            "kind": row[3],
            "rows": row[4],
            "columns": [],
            "key": [],
            "refers": [],
        }
        for row in rows
    }
    named = _add_columns(connection, tables)
    _add_keys(connection, tables, named)
    return {"tables": [table for table in tables.values() if table["columns"]]}


def _add_columns(
    connection: psycopg.Connection[Any], tables: dict[int, dict[str, Any]]
) -> dict[tuple[int, int], str]:
    """Returns the names by table and number."""
    columns = connection.execute(_COLUMNS, {"tables": list(tables)}).fetchall()
    if len(columns) > _MOST_COLUMNS:
        raise Failure("tables")
    domains = {row[0]: (row[1], row[2]) for row in connection.execute(_DOMAINS).fetchall()}
    based = [_base(row[3], row[4], domains) for row in columns]
    wanted = {"types": sorted({oid for oid, _ in based})}
    types = {row[0]: row[1:] for row in connection.execute(_TYPES, wanted).fetchall()}
    named: dict[tuple[int, int], str] = {}
    for (table, number, name, _, _, not_null, shown), (oid, modifier) in zip(columns, based, strict=True):
        named[table, number] = name
        base, kind, built_in, category = types.get(oid, ("unknown", "b", True, "X"))
        tables[table]["columns"].append(
            {
                "name": name,
                "type": base,
                "kind": kind,
                "built_in": built_in,
                "category": category,
                "modifier": modifier,
                "not_null": not_null,
                "shown": shown,
            }
        )
    return named


def _base(oid: int, modifier: int, domains: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """A domain is read as the type below it."""
    while oid in domains:
        oid, declared = domains[oid]
        modifier = declared if modifier < 0 else modifier
    return oid, modifier


def _add_keys(
    connection: psycopg.Connection[Any],
    tables: dict[int, dict[str, Any]],
    named: dict[tuple[int, int], str],
) -> None:
    for table, kind, columns, other, others in connection.execute(_KEYS, {"tables": list(tables)}):
        names = [named.get((table, number)) for number in columns]
        if None in names:
            continue
        if kind == "p":
            tables[table]["key"] = names
            continue
        targets = [named.get((other, number)) for number in others]
        if other in tables and None not in targets:
            found = {"columns": names, "schema": tables[other]["schema"], "table": tables[other]["name"]}
            tables[table]["refers"].append({**found, "to": targets})
