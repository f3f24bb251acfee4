"""One connection to a MariaDB or MySQL, and what the server may ask of it.

Invariant: every statement is a constant of this package, in which `statements` puts quoted names and values. After
`begin`, all reads see one state of the database, as far as its storage engines have transactions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pymysql

from sandtable_runner.live.mysql.catalog import fetch_schema
from sandtable_runner.live.mysql.connecting import DriverConnection, connect
from sandtable_runner.live.mysql.copying import copy_table, measure
from sandtable_runner.live.mysql.preflight import preflight
from sandtable_runner.live.mysql.statements import rows, run, text
from sandtable_runner.live.worker import Failure, Send, Session

_SETTINGS = (
    # Names in backticks alone; a CHAR without the blanks that fill it up; no rule that makes a SELECT fail.
    "sql_mode = ''",
    "time_zone = '+00:00'",
    "autocommit = 1",
    "sql_auto_is_null = 0",
    "sql_big_selects = 1",
    "sql_select_limit = 18446744073709551615",
    "lock_wait_timeout = 10",
    # A table is sent as slowly as it is written here.
    "net_write_timeout = 3600",
    "wait_timeout = 28800",
)
"""Values are written in the same way whatever the user's or the server's settings are."""
_OF_MARIADB = (
    "max_statement_time = {seconds}",
    "idle_transaction_timeout = 0",
    "idle_readonly_transaction_timeout = 0",
)
_OF_MYSQL = ("max_execution_time = {milliseconds}",)
_BEGIN = (
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "SET SESSION TRANSACTION READ ONLY",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
)
_LOST = {0, 1053, 1927, 2006, 2013, 2055}
"""The server or an administrator ended the connection."""


def open_session(port: int) -> Session:
    return _Session(port)


class _Session:
    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: DriverConnection | None = None
        self._mariadb = False
        self._requests: dict[str, Callable[[dict[str, Any], Send], dict[str, Any]]] = {
            "connect": self._connect,
            "preflight": lambda request, _: preflight(self._open, request, mariadb=self._mariadb),
            "begin": self._begin,
            "fetch_schema": lambda request, _: fetch_schema(self._open, request),
            "measure": lambda request, _: measure(self._open, request),
            "copy_table": lambda request, send: copy_table(self._open, request, send),
        }

    def serve(self, request: dict[str, Any], send: Send) -> dict[str, Any]:
        try:
            return self._requests[request["op"]](request, send)
        except (Failure, MemoryError):
            raise
        except pymysql.Error as error:
            raise failure_of(error, connecting=request["op"] == "connect") from error
        except OSError as error:
            raise Failure("connection", str(error.strerror or error)) from error
        except Exception as error:
            # The driver reads what a server sends without much care: anything may be raised by what is no protocol.
            raise Failure("driver", f"{type(error).__name__}: {error}") from error

    @property
    def _open(self) -> DriverConnection:
        if self._connection is None:
            raise Failure("unconnected")
        return self._connection

    def _connect(self, request: dict[str, Any], _: Send) -> dict[str, Any]:
        connection = connect(request, self._port)
        self._connection = connection
        for setting in _SETTINGS:
            run(connection, f"SET SESSION {setting}")
        ((version, user, database),) = rows(connection, "SELECT VERSION(), CURRENT_USER(), DATABASE()")
        self._mariadb = "mariadb" in text(version).lower()
        limit = int(request["statement_ms"])
        for setting in _OF_MARIADB if self._mariadb else _OF_MYSQL:
            run(connection, f"SET SESSION {setting.format(milliseconds=limit, seconds=limit / 1000)}")
        account = text(user)
        return {
            "role": account.rpartition("@")[0] or account,
            "database": text(database),
            "server_version": _version(text(version)),
            "encrypted": connection.encrypted,
        }

    def _begin(self, request: dict[str, Any], _: Send) -> dict[str, Any]:
        for statement in _BEGIN:
            run(self._open, statement)
        return {}


def _version(shown: str) -> int:
    """10.11.19-MariaDB is 101119."""
    found = re.match(r"(\d{1,4})\.(\d{1,2})\.(\d{1,3})", shown)
    major, minor, patch = map(int, found.groups()) if found else (0, 0, 0)
    return major * 10_000 + minor * 100 + patch


def failure_of(error: pymysql.Error, *, connecting: bool = False) -> Failure:
    """With the number of the error: it says more than its SQLSTATE."""
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    said = str(error.args[-1]) if error.args else ""
    line = said.strip().splitlines()[0] if said.strip() else ""
    if connecting or code in _LOST:
        return Failure("connection", line)
    return Failure("database", line, str(code))
