"""One connection to a PostgreSQL, and what the server may ask of it.

Invariant: every statement is a constant of this package, in which psycopg's `sql` module puts quoted identifiers; but
`execute` runs what the server compiled. After `begin`, all reads see one state of the database.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

from sandtable_runner.live.postgres.catalog import fetch_schema
from sandtable_runner.live.postgres.conversation import watch
from sandtable_runner.live.postgres.copying import copy_table, measure
from sandtable_runner.live.postgres.executing import execute
from sandtable_runner.live.postgres.pinned import WRITTEN
from sandtable_runner.live.postgres.preflight import preflight
from sandtable_runner.live.worker import ROOTS, Failure, Send, Session

_BEGIN = "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"


def open_session(port: int) -> Session:
    return _Session(port)


class _Session:
    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: psycopg.Connection[Any] | None = None
        self._requests: dict[str, Callable[[dict[str, Any], Send], dict[str, Any]]] = {
            "connect": self._connect,
            "preflight": lambda request, _: preflight(self._open, request),
            "begin": self._begin,
            "fetch_schema": lambda request, _: fetch_schema(self._open, request),
            "measure": lambda request, _: measure(self._open, request),
            "copy_table": lambda request, send: copy_table(self._open, request, send),
            "watch": lambda request, _: watch(self._open, request),
            "execute": lambda request, _: execute(self._open, request),
        }

    def serve(self, request: dict[str, Any], send: Send) -> dict[str, Any]:
        try:
            return self._requests[request["op"]](request, send)
        except psycopg.Error as error:
            raise failure_of(error) from error

    @property
    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise Failure("unconnected")
        return self._connection

    def _connect(self, request: dict[str, Any], _: Send) -> dict[str, Any]:
        mode = request["sslmode"]
        verified = mode.startswith("verify-")
        if self._connection is not None:
            self._connection.close()
        self._connection = psycopg.connect(
            host=request["host"],
            hostaddr="127.0.0.1",
            port=self._port,
            user=request["user"],
            password=request["password"],
            dbname=request["database"],
            sslmode=mode,
            sslrootcert=ROOTS if verified else None,
            # A password in the clear is sent to a server that proved its name, and to no other.
            require_auth=None if verified else "!password",
            gssencmode="disable",
            connect_timeout=request["connect_s"],
            application_name="sandtable",
            autocommit=True,
        )
        connection = self._connection
        for name, value in WRITTEN.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, value))
        connection.execute(
            "SELECT pg_catalog.set_config('statement_timeout', %s, false)", (str(request["statement_ms"]),)
        )
        found = connection.execute("SELECT current_user::text, current_database()::text").fetchone()
        assert found is not None
        return {
            "role": found[0],
            "database": found[1],
            "server_version": connection.info.server_version,
            "encrypted": bool(connection.pgconn.ssl_in_use),
        }

    def _begin(self, request: dict[str, Any], _: Send) -> dict[str, Any]:
        self._open.execute(sql.SQL(_BEGIN))
        return {}


def failure_of(error: psycopg.Error) -> Failure:
    """Its first line alone: further ones quote statements and rows."""
    state = error.sqlstate or ""
    text = error.diag.message_primary or str(error)
    kind = "database" if state else "connection"
    if not state and isinstance(error, psycopg.ProgrammingError | psycopg.InterfaceError):
        kind = "driver"
    return Failure(kind, text.strip().splitlines()[0] if text.strip() else "", state)
