"""Statements: text of ours with names and values in it, and what a connection answers.

Invariant: a name or a value has the same meaning whatever `sql_mode` and character set say: names are in backticks,
values in hexadecimal digits.
"""

from __future__ import annotations

from collections.abc import Iterator

from pymysql.cursors import SSCursor

from sandtable_runner.live.mysql.connecting import DriverConnection
from sandtable_runner.live.worker import Failure

Row = tuple[bytes | None, ...]


def name(text: str) -> str:
    if not text or "\0" in text:
        raise Failure("driver", "an identifier that no database has")
    return "`" + text.replace("`", "``") + "`"


def table_name(schema: str, table: str) -> str:
    return f"{name(schema)}.{name(table)}"


def value(text: str) -> str:
    return f"_utf8mb4 X'{text.encode().hex()}'" if text else "''"


def rows(connection: DriverConnection, statement: str) -> list[Row]:
    """All at once."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def streamed(connection: DriverConnection, statement: str) -> Iterator[Row]:
    """One by one. When the caller gives up, the connection is of no use: the rest is not read."""
    cursor = SSCursor(connection)
    cursor.execute(statement)
    ended = False
    try:
        yield from cursor.fetchall_unbuffered()
        ended = True
    finally:
        if ended:
            cursor.close()
        elif connection.open:
            connection.close()


def run(connection: DriverConnection, statement: str) -> None:
    rows(connection, statement)


def text(cell: bytes | None) -> str:
    return "" if cell is None else cell.decode()


def number(cell: bytes | None) -> int:
    """Counts and sums; the sum of no rows is NULL."""
    return 0 if cell is None else int(cell)
