"""What a role may do beside reading: tried where it can be tried, in a transaction that is rolled back."""

from __future__ import annotations

import secrets
from typing import Any

import psycopg
from psycopg import sql

_MOST_NAMED = 20
_DENIED = {"42501", "25006"}
"""No privilege; a server that is read-only, such as a replica."""

# A role that may become another one (SET ROLE) can do what that one can. An owner can grant itself anything.
_WRITABLE = """
SELECT n.nspname, c.relname, count(*) OVER () AS total
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND EXISTS (
    SELECT FROM pg_catalog.pg_roles r
    WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')
      AND (c.relowner = r.oid OR CASE WHEN c.relkind = 'S'
        THEN pg_catalog.has_sequence_privilege(r.oid, c.oid, 'USAGE, UPDATE')
        ELSE pg_catalog.has_table_privilege(r.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
          OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE') END)
  )
ORDER BY 1, 2 LIMIT 20
"""
_CREATES_IN = """
SELECT n.nspname FROM pg_catalog.pg_namespace n
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND EXISTS (
    SELECT FROM pg_catalog.pg_roles r
    WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')
      AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'CREATE')
  )
ORDER BY 1 LIMIT 20
"""
_POWERS = """
SELECT bool_or(r.rolsuper), bool_or(r.rolcreaterole), bool_or(r.rolcreatedb), bool_or(r.rolreplication),
  bool_or(r.rolbypassrls),
  bool_or(r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')),
  bool_or(r.rolname IN ('pg_write_all_data', 'pg_maintain', 'pg_signal_backend', 'pg_checkpoint')),
  bool_or(pg_catalog.has_database_privilege(r.oid, current_database(), 'CREATE'))
FROM pg_catalog.pg_roles r WHERE pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER')
"""
_POWER_NAMES = (
    "superuser", "create_role", "create_database", "replication", "bypass_row_security", "server_files",
    "predefined_writer", "create_schema",
)  # fmt: skip
_SCHEMAS = """
SELECT n.nspname FROM pg_catalog.pg_namespace n
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
ORDER BY 1 LIMIT 20
"""


def preflight(connection: psycopg.Connection[Any], request: dict[str, Any]) -> dict[str, Any]:
    recovering = connection.execute("SELECT pg_catalog.pg_is_in_recovery()").fetchone()
    assert recovering is not None
    # A role's default may be read-only, which it can change at any time. A replica is always so.
    connection.execute("BEGIN TRANSACTION READ ONLY" if recovering[0] else "BEGIN TRANSACTION READ WRITE")
    try:
        return _found(connection, request["schemas"])
    finally:
        connection.execute("ROLLBACK")


def _found(connection: psycopg.Connection[Any], schemas: list[str]) -> dict[str, Any]:
    name = f"sandtable_preflight_{secrets.token_hex(6)}"
    seen = [row[0] for row in connection.execute(_SCHEMAS).fetchall()]
    new = sql.Identifier(name)
    temporary = _can(connection, sql.SQL("CREATE TEMPORARY TABLE {} (x int)").format(new))
    created = [
        schema
        for schema in schemas or seen
        if _can(connection, sql.SQL("CREATE TABLE {} (x int)").format(sql.Identifier(schema, name)))
    ]
    reads = _can(connection, sql.SQL("SELECT pg_catalog.pg_read_file('PG_VERSION', 0, 1)"), otherwise=True)
    writable = connection.execute(_WRITABLE).fetchall()
    by_privilege = [row[0] for row in connection.execute(_CREATES_IN).fetchall()]
    powers = connection.execute(_POWERS).fetchone()
    assert powers is not None
    return {
        "writable": [[row[0], row[1]] for row in writable],
        "writable_count": writable[0][2] if writable else 0,
        "creates_in": sorted({*created, *by_privilege})[:_MOST_NAMED],
        "temporary_tables": temporary,
        "server_files": reads or bool(powers[5]),
        "schemas": seen,
        "powers": [
            power for power, has in zip(_POWER_NAMES, powers, strict=True) if has and power != "server_files"
        ],
    }


def _can(
    connection: psycopg.Connection[Any], statement: sql.SQL | sql.Composed, *, otherwise: bool = False
) -> bool:
    """Whether the statement succeeds. `otherwise`: what a failure means that is no lack of a privilege; without it,
    such a failure is raised."""
    connection.execute("SAVEPOINT attempt")
    try:
        connection.execute(statement)
    except psycopg.Error as error:
        if error.sqlstate not in _DENIED and not otherwise:
            raise
        return otherwise and error.sqlstate not in _DENIED
    else:
        return True
    finally:
        if not connection.closed and not connection.broken:
            connection.execute("ROLLBACK TO SAVEPOINT attempt")
