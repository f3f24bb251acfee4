"""One statement by the extended protocol, in a transaction that can only read and is always rolled back.

Invariant: a text with more than one statement is refused by the database, one that returns no columns is refused before
it runs, and no setting that a statement changes outlives its transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from sandtable_runner.live.worker import Failure

_SETTINGS = {
    # Names are looked up where their schema says, and functions and operators in the database's own catalog.
    "search_path": "pg_catalog",
    "default_transaction_read_only": "on",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "lc_numeric": "C",
    "lc_time": "C",
    "idle_in_transaction_session_timeout": "60s",
}
_PIN = """
SELECT pg_catalog.set_config(s.name, s.setting, false)
FROM ROWS FROM (pg_catalog.unnest(%s::pg_catalog.text[]), pg_catalog.unnest(%s::pg_catalog.text[])) AS s (name, setting)
"""
_LOOKS_SINCE = 140000
_LOOK = "SELECT pg_catalog.set_config('client_connection_check_interval', '500ms', false)"
_BEGIN = b"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_LIMIT = b"SELECT pg_catalog.set_config('statement_timeout', $1, true)"
# With its options in parentheses, `ANALYZE` cannot follow.
_EXPLAIN = b"EXPLAIN (ANALYZE FALSE) "
_DRAINED = 256 << 10
_ROW = 64
"""Bytes that reading a row without values is worth."""
_CANCEL_S = 5.0

Row = list[bytes | None]


def pin(connection: psycopg.Connection[Any], _: dict[str, Any]) -> dict[str, Any]:
    """Whatever the role's or the database's settings are, a statement means the same."""
    connection.execute(_PIN, (list(_SETTINGS), list(_SETTINGS.values())))
    if connection.info.server_version >= _LOOKS_SINCE:
        # It ends the statement of a worker that is gone. On a system that cannot look, its time limit does.
        with suppress(psycopg.errors.InvalidParameterValue):
            connection.execute(_LOOK)
    return {}


class Conversation:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._pg = connection.pgconn

    def prepare(self, text: bytes, statement_ms: int) -> list[int]:
        """Begins, and has the database read the text without running it, in one round trip. Returns the type of each
        column by its number. Raises Failure `unsent` where the connection turns out to be lost."""
        pg = self._pg
        if pg.status == ConnStatus.BAD:
            raise Failure("unsent")
        try:
            pg.nonblocking = 0
            pg.enter_pipeline_mode()
            pg.send_query_params(_BEGIN, None)
            pg.send_query_params(_LIMIT, [str(statement_ms).encode()])
            pg.send_prepare(b"", text)
            pg.send_describe_prepared(b"")
            pg.pipeline_sync()
            results = self._until_sync()
        except psycopg.OperationalError as error:
            self._pg.finish()
            raise Failure("unsent", str(error)) from error
        failed = next((each for each in results if each.status == ExecStatus.FATAL_ERROR), None)
        if pg.status == ConnStatus.BAD:
            raise Failure("unsent", failed.error_message.decode(errors="replace") if failed else "")
        pg.exit_pipeline_mode()
        if failed:
            raise error_from_result(failed)
        described = results[-1]
        return [described.ftype(index) for index in range(described.nfields)]

    def _until_sync(self) -> list[PGresult]:
        results: list[PGresult] = []
        while self._pg.status != ConnStatus.BAD:
            result = self._pg.get_result()
            if result is None:
                continue
            if result.status == ExecStatus.PIPELINE_SYNC:
                break
            results.append(result)
        return results

    def rows(self) -> Iterator[Row]:
        """Of the prepared statement, one by one as they arrive."""
        self._pg.send_query_prepared(b"", None)
        self._pg.set_single_row_mode()
        failed: PGresult | None = None
        while (result := self._pg.get_result()) is not None:
            if result.status == ExecStatus.SINGLE_TUPLE:
                yield [result.get_value(0, index) for index in range(result.nfields)]
            elif result.status != ExecStatus.TUPLES_OK:
                failed = failed or result
        if failed is not None:
            raise error_from_result(failed)

    def explain(self, text: bytes) -> list[bytes]:
        """How the database would run it."""
        result = self._pg.exec_params(_EXPLAIN + text, None)
        if result.status != ExecStatus.TUPLES_OK:
            raise error_from_result(result)
        return [result.get_value(row, 0) or b"" for row in range(result.ntuples)]

    def end(self) -> None:
        """Nothing of it stays. A connection that cannot be brought back to its beginning is closed."""
        try:
            if self._pg.transaction_status == TransactionStatus.ACTIVE:
                self._stop()
            if self._pg.status == ConnStatus.OK:
                self._pg.exec_(b"ROLLBACK")
        except psycopg.Error:
            self._pg.finish()
            return
        if self._pg.status == ConnStatus.OK and self._pg.transaction_status != TransactionStatus.IDLE:
            self._pg.finish()

    def _stop(self) -> None:
        """What is left of a short result is read, a long one is cancelled."""
        left = _DRAINED
        while left > 0:
            if (result := self._pg.get_result()) is None:
                return
            left -= _ROW + sum(
                len(result.get_value(0, index) or b"") for index in range(result.nfields) if result.ntuples
            )
        self._connection.cancel_safe(timeout=_CANCEL_S)
        while self._pg.get_result() is not None:
            pass
