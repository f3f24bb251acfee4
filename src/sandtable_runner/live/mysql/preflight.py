"""What a user may do beside reading: what its grants and those of its roles say, and what succeeds when it is tried.

Nothing that is tried can succeed, except a temporary table: a statement that is allowed fails because of a column that
occurs twice, a table or a folder that is not there. Privileges are looked at before that.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pymysql

from sandtable_runner.live.mysql.connecting import DriverConnection
from sandtable_runner.live.mysql.grants import EVERYWHERE, Grant, grants_of, roles_of
from sandtable_runner.live.mysql.statements import name, rows, run, table_name, text

_MOST_NAMED = 20
_DENIED = {1044, 1045, 1142, 1143, 1227, 1370}
_READ_ONLY = {1290, 1792, 1836}
"""A server that is read-only, such as a replica. 1290 names any option that forbids a statement."""
_WRITES = {"INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "DELETE HISTORY"}
_READS = {
    "USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "REPLICATION CLIENT", "BINLOG MONITOR", "SLAVE MONITOR",
    "REPLICA MONITOR", "SHOW CREATE ROUTINE", "SHOW_ROUTINE",
}  # fmt: skip
_REMARKED = {"PROCESS", "LOCK TABLES"}
_POWERS = {
    "SUPER": "superuser",
    "CREATE USER": "create_user",
    "CREATE ROLE": "create_user",
    "ALL PRIVILEGES": "superuser",
}
_SCHEMAS = """
SELECT SCHEMA_NAME FROM information_schema.SCHEMATA
WHERE SCHEMA_NAME NOT IN ('information_schema', 'performance_schema', 'sys') ORDER BY SCHEMA_NAME LIMIT 20
"""


def preflight(connection: DriverConnection, request: dict[str, Any], *, mariadb: bool) -> dict[str, Any]:
    found = _Found()
    for grant in dict.fromkeys(_grants(connection, mariadb=mariadb)):
        found.add(grant)
    for schema in request["schemas"]:
        _try_in(connection, schema, found)
    # Permission is asked before the server looks at its own options and folders.
    found.files = found.files or not _denied(
        connection, f"SELECT 1 INTO OUTFILE '/{secrets.token_hex(12)}/none'", _DENIED
    )
    writable = sorted(found.writable)
    return {
        "writable": [list(each) for each in writable[:_MOST_NAMED]],
        "writable_count": len(writable),
        "creates_in": sorted(found.creates_in)[:_MOST_NAMED],
        "temporary_tables": found.temporary,
        "server_files": found.files,
        "schemas": [text(row[0]) for row in rows(connection, _SCHEMAS)],
        "powers": sorted(found.powers),
        "privileges": [list(each) for each in sorted(found.privileges)[:_MOST_NAMED]],
        "also": sorted(found.also),
    }


class _Found:
    def __init__(self) -> None:
        self.writable: set[tuple[str, str]] = set()
        self.creates_in: set[str] = set()
        self.powers: set[str] = set()
        self.privileges: set[tuple[str, str]] = set()
        self.also: set[str] = set()
        self.files = False
        self.temporary = False

    def add(self, grant: Grant) -> None:
        """A privilege is harmless only if it is known to be."""
        privilege = grant.privilege
        everywhere = grant.schema == EVERYWHERE
        if privilege in _READS:
            return
        if privilege in _REMARKED:
            self.also.add(privilege)
        elif privilege in _POWERS and (everywhere or privilege != "ALL PRIVILEGES"):
            self.powers.add(_POWERS[privilege])
        elif privilege in _WRITES or privilege == "ALL PRIVILEGES":
            self.writable.add((grant.schema, grant.table))
        elif privilege == "CREATE":
            self.creates_in.add(grant.schema)
        elif privilege == "CREATE TEMPORARY TABLES":
            self.temporary = True
        elif privilege == "FILE":
            self.files = True
        else:
            self.privileges.add((privilege[:100], grant.place[:255]))


def _grants(connection: DriverConnection, *, mariadb: bool) -> Iterator[Grant]:
    """Also those of every role that the user may take. A line may hold the digest of a password: no line leaves this
    function."""
    lines = _shown(connection, "SHOW GRANTS")
    if mariadb:
        lines += _of_roles(connection)
    elif roles := [role for line in lines for role in roles_of(line)]:
        listed = ", ".join(f"{name(role)}@{name(host)}" for role, host in roles)
        lines += _shown(connection, f"SHOW GRANTS FOR CURRENT_USER() USING {listed}")
    for line in lines:
        yield from grants_of(line)


def _of_roles(connection: DriverConnection) -> list[str]:
    """MariaDB shows the grants of the current role and of those that this one has: each becomes it for a moment."""
    granted = rows(connection, "SELECT GRANTEE, ROLE_NAME FROM information_schema.APPLICABLE_ROLES")
    roles = {text(role) for _, role in granted}
    ((current,),) = rows(connection, "SELECT CURRENT_ROLE()")
    lines: list[str] = []
    for role in sorted({text(role) for grantee, role in granted if text(grantee) not in roles}):
        run(connection, f"SET ROLE {name(role)}")
        lines += _shown(connection, "SHOW GRANTS")
    if roles:
        run(connection, f"SET ROLE {name(text(current)) if current else 'NONE'}")
    return lines


def _shown(connection: DriverConnection, statement: str) -> list[str]:
    return [text(row[0]) for row in rows(connection, statement)]


def _try_in(connection: DriverConnection, schema: str, found: _Found) -> None:
    new = table_name(schema, f"sandtable_preflight_{secrets.token_hex(6)}")
    if not _denied(connection, f"CREATE TABLE {new} (x INT, x INT)"):
        found.creates_in.add(schema)
    for write in (f"INSERT INTO {new} VALUES (1)", f"UPDATE {new} SET x = 1", f"DELETE FROM {new}"):
        if not _denied(connection, write):
            found.writable.add((schema, EVERYWHERE))
    if not _denied(connection, f"CREATE TEMPORARY TABLE {new} (x INT)"):
        found.temporary = True
        run(connection, f"DROP TEMPORARY TABLE IF EXISTS {new}")


def _denied(connection: DriverConnection, statement: str, codes: set[int] = _DENIED | _READ_ONLY) -> bool:
    """Whether the statement fails because of a privilege: every other end means that the user has it."""
    try:
        run(connection, statement)
    except pymysql.Error as error:
        if not connection.open:
            raise
        return error.args[:1] != () and error.args[0] in codes
    return False
