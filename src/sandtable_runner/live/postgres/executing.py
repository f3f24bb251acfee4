"""Runs one statement that the server compiled: its rows as the cells of declared types, within the limits of a run.

Invariant: reading stops at the bound. A value that its declared type cannot hold fails the run.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg

from sandtable_runner.live.postgres.catalog import fetch_schema
from sandtable_runner.live.postgres.cells import Cells, Misfit, UnknownType, cells_from
from sandtable_runner.live.postgres.conversation import Conversation, Row
from sandtable_runner.live.worker import Failure
from sandtable_runner.outcomes import (
    Columns,
    Outcome,
    Table,
    bad_unicode,
    failure,
    out_of_memory,
    too_large,
)

_CANCELED = "57014"
_NEARLY = 0.95
_REFRESH = "if the table was changed in the database, refresh the dataset"
_SHOWN = 60
_NO_ROWS = "SELECT 1"
_EXHAUSTED = ("out of memory", "cannot allocate memory", "can't allocate memory")


def execute(connection: psycopg.Connection[Any], request: dict[str, Any]) -> Outcome:
    """`columns`: name and DuckDB type of each. Raises Failure for what the database or its driver reports."""
    began = time.perf_counter()
    conversation = Conversation(connection)
    try:
        outcome = _outcome(connection, conversation, request)
    except UnicodeEncodeError as error:
        outcome = bad_unicode(error)
    except MemoryError:
        outcome = out_of_memory()
    except psycopg.Error as error:
        if _is_exhaustion(error):
            connection.close()
            outcome = out_of_memory()
        elif error.sqlstate == _CANCELED and _elapsed_ms(began) >= _NEARLY * request["statement_ms"]:
            raise Failure("timeout") from error
        else:
            raise
    finally:
        conversation.end()
    outcome["exec_time_ms"] = _elapsed_ms(began)
    return outcome


def _outcome(
    connection: psycopg.Connection[Any], conversation: Conversation, request: dict[str, Any]
) -> Outcome:
    if request["mode"] == "fetch_schema":
        conversation.prepare(_NO_ROWS.encode(), request["statement_ms"])
        return {"status": "succeeded", "output": fetch_schema(connection, request)}
    if "\0" in request["text"]:
        return failure("VALIDATION_ERROR", "BadText", "the text has a NUL character", "leave it out")
    text, columns = request["text"].encode(), request["columns"]
    if refused := Table(columns, request["limits"]).checked():
        return refused
    oids = conversation.prepare(text, request["statement_ms"])
    try:
        cells = _cells(columns, oids)
    except UnknownType as unknown:
        message = f"a column of type {unknown.args[0]} cannot be read from a database"
        return failure("VALIDATION_ERROR", "UnknownType", message, "select another column, or its text")
    if not isinstance(cells, list):
        return cells
    if request["mode"] == "dry_run":
        return _explained(conversation, text, columns, request["limits"]["result_bytes"])
    return _fetched(conversation, Table(columns, request["limits"]), cells)


def _cells(columns: Columns, oids: list[int]) -> list[Cells] | Outcome:
    if not oids:
        message = "the statement returns no columns; only queries run here"
        return failure("VALIDATION_ERROR", "NoQuery", message, "ask for rows")
    if len(oids) != len(columns):
        message = f"the query returns {len(oids)} columns, {len(columns)} were expected"
        return failure("VALIDATION_ERROR", "SchemaChanged", message, _REFRESH)
    made: list[Cells] = []
    for column, oid in zip(columns, oids, strict=True):
        if (cells := cells_from(column["type"], oid)) is None:
            message = f"column {column['name']!r} has another type in the database than {column['type']}"
            return failure("VALIDATION_ERROR", "SchemaChanged", message, _REFRESH)
        made.append(cells)
    return made


def _explained(conversation: Conversation, text: bytes, columns: Columns, most: int) -> Outcome:
    lines = b"\n".join(conversation.explain(text))
    if len(lines) > most:
        return too_large(f"the plan of the query has {len(lines)} bytes", most)
    explain = lines.decode(errors="replace")
    return {"status": "succeeded", "columns": columns, "output": {"explain": explain}}


def _fetched(conversation: Conversation, table: Table, cells: list[Cells]) -> Outcome:
    began, queried = time.perf_counter(), 0.0
    truncated = False
    for row in conversation.rows():
        queried = queried or _elapsed_ms(began)
        if table.is_full:
            truncated = True
            break
        made: list[Any] = []
        if (refused := _add_cells(made, row, cells, table.columns) or table.add_checked(made)) is not None:
            return refused
    total = _elapsed_ms(began)
    _show_edges(table.rows, cells)
    queried = queried or total
    return {
        **table.outcome(truncated=truncated),
        "metrics": {"query_ms": queried, "fetch_ms": total - queried},
    }


def _add_cells(made: list[Any], row: Row, cells: list[Cells], columns: Columns) -> Outcome | None:
    for value, cell, column in zip(row, cells, columns, strict=True):
        try:
            made.append(None if value is None else cell.read(value.decode()))
        except UnicodeDecodeError:
            message = f"a value of column {column['name']!r} is not valid Unicode"
            return failure("VALIDATION_ERROR", "BadValue", message, "leave this column out")
        except Misfit:
            shown = (value or b"")[:_SHOWN].decode(errors="replace")
            message = f"a value of column {column['name']!r} does not fit {column['type']}: {shown!r}"
            return failure("VALIDATION_ERROR", "BadValue", message, _REFRESH)
    return None


def _show_edges(rows: list[list[Any]], cells: list[Cells]) -> None:
    for index, cell in enumerate(cells):
        if cell.edges and any(row[index] in cell.edges for row in rows):
            for row in rows:
                row[index] = cell.as_text(row[index])


def _is_exhaustion(error: psycopg.Error) -> bool:
    """Of the driver: the database's own errors have a number."""
    return error.sqlstate is None and any(word in str(error).lower() for word in _EXHAUSTED)


def _elapsed_ms(began: float) -> float:
    return (time.perf_counter() - began) * 1e3
