"""Tables with very many columns.

The time that the engine's optimizer takes grows with the square of their number, and every step of an expression takes
the memory of one vector. Such a table is checked some columns at a time, and then written by short expressions, on one
thread and in small groups of rows: each thread holds a vector of every column several times, and a group as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.checking import is_common
from sandtable_runner.intake.text_table import TextTable

MOST_AT_ONCE = 200
"""Columns in one query."""
_MOST_ROWS = 122_880
_FEWEST_ROWS = 2_048


@contextmanager
def planned_for(connection: engine.Connection, columns: int) -> Iterator[None]:
    """Queries over a wide table run as they are written."""
    if columns <= MOST_AT_ONCE:
        yield
        return
    (threads,) = connection.execute("SELECT current_setting('threads')").fetchone() or (1,)
    connection.execute("PRAGMA disable_optimizer; SET threads = 1")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA enable_optimizer; SET threads = {threads}")


def rows_in_group(columns: int) -> int:
    """Of the Parquet file: so few that a group of a wide table has no more cells than one of 200 columns."""
    return max(_FEWEST_ROWS, _MOST_ROWS * MOST_AT_ONCE // max(MOST_AT_ONCE, columns))


def refuse_for_memory(source: str, columns: int, memory_mb: int) -> BadFile:
    return BadFile(
        f"{source} has {columns:,} columns: reading them takes more than {memory_mb:,} MB, the limit of memory",
        "Reshape it to a long table, or leave out columns",
    )


def common_only(
    connection: engine.Connection, table: TextTable, columns: Sequence[Mapping[str, Any]]
) -> frozenset[int]:
    """Positions of columns with cells in their most common form only. Looked for in wide tables; else none."""
    if len(columns) <= MOST_AT_ONCE:
        return frozenset()
    positions = range(1, len(columns) + 1)
    found: set[int] = set()
    for start in range(0, len(columns), MOST_AT_ONCE):
        some = positions[start : start + MOST_AT_ONCE]
        wanted = ", ".join(
            f"bool_and({is_common(dict(columns[position - 1]), position)})" for position in some
        )
        row = connection.execute(f"SELECT {wanted} FROM {table.relation}").fetchone() or ()
        found |= {position for position, holds in zip(some, row, strict=True) if holds}
    return frozenset(found)
