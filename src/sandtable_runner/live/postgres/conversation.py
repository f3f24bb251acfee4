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
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus, version
from psycopg.pq.abc import PGresult

from sandtable_runner.live.postgres.pinned import MEANT, in_transaction
from sandtable_runner.live.worker import Failure

_LOOKS_SINCE = 140000
_LOOK = "SELECT pg_catalog.set_config('client_connection_check_interval', '500ms', false)"
_BEGIN = b"BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
_PIN = in_transaction(MEANT).encode()
# With its options in parentheses, `ANALYZE` cannot follow.
_EXPLAIN = b"EXPLAIN (ANALYZE FALSE) "
_CHUNKS = version() >= 170000
"""Whether the driver's library can give several rows at once, which costs less for each."""
_CHUNK = 64
_HAS_ROWS = (ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK, ExecStatus.TUPLES_OK)
_DRAINED = 1 << 20
_ROW = 16
"""Bytes that reading a row without values is worth."""
_CANCEL_S = 5.0

Row = list[bytes | None]


def watch(connection: psycopg.Connection[Any], _: dict[str, Any]) -> dict[str, Any]:
    """Has the database look whether its client is still there, so that the statement of a worker that was killed ends.
    On a system that cannot look, the statement's time limit ends it."""
    if connection.info.server_version >= _LOOKS_SINCE:
        with suppress(psycopg.errors.InvalidParameterValue):
            connection.execute(_LOOK)
    return {}


class Conversation:
    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._pg = connection.pgconn

    def prepare(self, text: bytes, statement_ms: int) -> list[int]:
        """Begins, sets what must not depend on the connection, and has the database read the text without running it,
        all in one round trip. Returns the type of each
        column by its number. Raises Failure `unsent` where the connection turns out to be lost."""
        pg = self._pg
        if pg.status == ConnStatus.BAD:
            raise Failure("unsent")
        try:
            pg.nonblocking = 0
            pg.enter_pipeline_mode()
            pg.send_query_params(_BEGIN, None)
            pg.send_query_params(_PIN, [str(statement_ms).encode()])
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
        """Of the prepared statement, a few at a time as they arrive."""
        self._pg.send_query_prepared(b"", None)
        if _CHUNKS:
            self._pg.set_chunked_rows_mode(_CHUNK)
        else:
            self._pg.set_single_row_mode()
        failed: PGresult | None = None
        while (result := self._pg.get_result()) is not None:
            if result.status in _HAS_ROWS:
                for row in range(result.ntuples):
                    yield [result.get_value(row, index) for index in range(result.nfields)]
            else:
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
            if result.ntuples:
                first = sum(len(result.get_value(0, index) or b"") for index in range(result.nfields))
                left -= result.ntuples * (first + _ROW)
        self._connection.cancel_safe(timeout=_CANCEL_S)
        while self._pg.get_result() is not None:
            pass
