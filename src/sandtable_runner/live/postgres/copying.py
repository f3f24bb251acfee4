"""The rows of a table as CSV, streamed; and before, which of its values have no place in the type they would get."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from sandtable_runner.live.worker import Send

_BLOCK = 256 << 10

# What a number needs: a place for each digit. NaN and infinities are no numbers.
_NUMBER = sql.SQL("""
count(*) FILTER (WHERE {c}::pg_catalog.text IN ('NaN', 'Infinity', '-Infinity')),
coalesce(max(pg_catalog.scale({c})), 0),
coalesce(pg_catalog.length(pg_catalog.trunc(max(pg_catalog.abs({c}))
  FILTER (WHERE {c}::pg_catalog.text NOT IN ('NaN', 'Infinity', '-Infinity')))::pg_catalog.text), 0)
""")
_MOMENT = sql.SQL("""
count(*) FILTER (WHERE NOT pg_catalog.isfinite({c})),
count(*) FILTER (WHERE pg_catalog.isfinite({c}) AND ({c} < '0001-01-01' OR {c} >= '10000-01-01')), 0
""")
_TIME = sql.SQL("count(*) FILTER (WHERE {c} = '24:00:00'), 0, 0")
_MEASURES = {"number": _NUMBER, "moment": _MOMENT, "time": _TIME}
_READ = {
    "plain": sql.SQL("{c}"),
    "utc": sql.SQL("{c} AT TIME ZONE 'UTC'"),
    "text": sql.SQL("{c}::pg_catalog.text"),
}
_COPY = sql.SQL("COPY (SELECT {columns} FROM {table}) TO STDOUT (FORMAT csv)")


def measure(connection: psycopg.Connection[Any], request: dict[str, Any]) -> dict[str, Any]:
    """In one pass, for each column that is asked about: three numbers, which depend on its kind."""
    asked = [(each["name"], each["kind"]) for each in request["columns"]]
    wanted = sql.SQL(", ").join(_MEASURES[kind].format(c=sql.Identifier(name)) for name, kind in asked)
    table = sql.Identifier(request["schema"], request["table"])
    row = connection.execute(sql.SQL("SELECT {} FROM {}").format(wanted, table)).fetchone() or ()
    return {"columns": [list(row[3 * at : 3 * at + 3]) for at in range(len(asked))]}


def copy_table(connection: psycopg.Connection[Any], request: dict[str, Any], send: Send) -> dict[str, Any]:
    columns = sql.SQL(", ").join(
        _READ[each["read"]].format(c=sql.Identifier(each["name"])) for each in request["columns"]
    )
    table = sql.Identifier(request["schema"], request["table"])
    statement = _COPY.format(columns=columns, table=table)
    block, sent = bytearray(), 0
    with connection.cursor() as cursor:
        with cursor.copy(statement) as copy:
            while part := copy.read():
                block += part
                if len(block) >= _BLOCK:
                    sent += len(block)
                    _send_all(block, send)
        sent += len(block)
        _send_all(block, send)
        return {"rows": cursor.rowcount, "bytes": sent}


def _send_all(block: bytearray, send: Send) -> None:
    view = bytes(block)
    block.clear()
    for start in range(0, len(view), _BLOCK):
        send(view[start : start + _BLOCK])
