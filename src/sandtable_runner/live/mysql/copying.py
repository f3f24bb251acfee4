"""The rows of a table as CSV, streamed; and before, which of its values have no place in the type they would get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable_runner.live.mysql.connecting import DriverConnection
from sandtable_runner.live.mysql.statements import Row, name, number, rows, streamed, table_name
from sandtable_runner.live.worker import Failure, Send

_BLOCK = 256 << 10

# What a DECIMAL needs: a place for each digit that is not a zero at its end.
_NUMBER = """
0,
MAX(IF(LOCATE('.', ABS({c})),
  CHAR_LENGTH(TRIM(TRAILING '0' FROM SUBSTRING_INDEX(ABS({c}), '.', -1))), 0)),
CHAR_LENGTH(TRUNCATE(MAX(ABS({c})), 0))
"""
_NO_DAY = """(MONTH({c}) = 0 OR DAYOFMONTH({c}) = 0 OR DAYOFMONTH({c}) > CASE
  WHEN MONTH({c}) IN (4, 6, 9, 11) THEN 30
  WHEN MONTH({c}) <> 2 THEN 31
  WHEN YEAR({c}) % 4 = 0 AND (YEAR({c}) % 100 <> 0 OR YEAR({c}) % 400 = 0) THEN 29
  ELSE 28 END)"""
_MOMENT = f"SUM({_NO_DAY}), SUM(YEAR({{c}}) = 0 AND NOT {_NO_DAY}), 0"
_TIME = "SUM({c} < CAST('00:00:00' AS TIME) OR {c} >= CAST('24:00:00' AS TIME)), 0, 0"
_BOOLEAN = "SUM({c} NOT IN (0, 1)), 0, 0"
_MEASURES = {"number": _NUMBER, "moment": _MOMENT, "time": _TIME, "boolean": _BOOLEAN}
_READ = {
    "plain": "{c}",
    "text": "{c}",
    # As a FLOAT, it is written with six digits.
    "double": "{c} * 1e0",
    "bits": "{c} + 0",
}
_QUOTED = "text"


def measure(connection: DriverConnection, request: dict[str, Any]) -> dict[str, Any]:
    """In one pass, for each column that is asked about: three numbers, which depend on its kind."""
    asked = [(name(each["name"]), each["kind"]) for each in request["columns"]]
    wanted = ", ".join(_MEASURES[kind].replace("{c}", column) for column, kind in asked)
    (row,) = rows(connection, f"SELECT {wanted} FROM {table_name(request['schema'], request['table'])}")
    return {"columns": [[number(cell) for cell in row[3 * at : 3 * at + 3]] for at in range(len(asked))]}


def copy_table(connection: DriverConnection, request: dict[str, Any], send: Send) -> dict[str, Any]:
    columns = [each["name"] for each in request["columns"]]
    wanted = ", ".join(_READ[each["read"]].replace("{c}", name(each["name"])) for each in request["columns"])
    quoted = [each["read"] == _QUOTED for each in request["columns"]]
    block, sent, count = bytearray(), 0, 0
    statement = f"SELECT {wanted} FROM {table_name(request['schema'], request['table'])}"
    for row in streamed(connection, statement):
        if len(row) != len(columns):
            raise Failure("driver", "a row with another number of cells")
        line = _line(row, quoted)
        if b"\0" in line:
            raise Failure("nul", _with_nul(row, columns))
        block += line
        count += 1
        if len(block) >= _BLOCK:
            sent += len(block)
            _send_all(block, send)
    sent += len(block)
    _send_all(block, send)
    return {"rows": count, "bytes": sent}


def _line(row: Row, quoted: Sequence[bool]) -> bytes:
    """No value is nothing, an empty text is `""`."""
    return b",".join(map(_cell, row, quoted)) + b"\n"


def _cell(cell: bytes | None, quoted: bool) -> bytes:
    if cell is None:
        return b""
    if not quoted:
        return cell
    return b'"%b"' % (cell.replace(b'"', b'""') if b'"' in cell else cell)


def _with_nul(row: Row, columns: Sequence[str]) -> str:
    return next(column for column, cell in zip(columns, row, strict=True) if cell and b"\0" in cell)


def _send_all(block: bytearray, send: Send) -> None:
    view = bytes(block)
    block.clear()
    for start in range(0, len(view), _BLOCK):
        send(view[start : start + _BLOCK])
