"""Contents of the bound tables, column by column: counts, ranges, frequent values, a histogram of numbers.

Invariant: the answer fits in `limits.result_bytes`; columns with many values share the room evenly. A column that runs
out of memory or time gets its counts only; the others are not affected.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import duckdb

from sandtable_runner import engine, type_names
from sandtable_runner.encode import Inexact, encode, encode_row, iso
from sandtable_runner.profile_room import Column, Room

LONGEST_TEXT = 200
BINS = 20
EXACT_ROWS = 1_000_000
"""Up to here every value is counted; above, only in columns that seem to have few values."""
FEW_VALUES = 100_000
_CELL_BYTES = 1 << 20
_AT_ONCE = 50
"""Columns whose ends are read by one query."""
_FEW_ROWS = 100_000


class _Look:
    """One column: how its values are written in SQL, and what kind they are."""

    def __init__(self, table: str, name: str, sql_type: str) -> None:
        self.table = table
        self.name = name
        self.sql_type = sql_type
        self.value = engine.quote(name)
        if sql_type.startswith("ENUM("):
            self.value, self.sql_type = f"CAST({self.value} AS VARCHAR)", "VARCHAR"
        self.float = self.sql_type in type_names.FLOATS
        self.number = type_names.is_number(self.sql_type)
        self.text = self.sql_type in type_names.TEXTS
        self.as_text = self.sql_type in type_names.INEXACT
        self.has_values = type_names.has_values(self.sql_type)

    @property
    def short(self) -> str:
        """Condition for values that may be listed."""
        fits = f" AND length({self.value}) <= {LONGEST_TEXT}" if self.text else ""
        return f"{self.value} IS NOT NULL{fits}"

    @property
    def long(self) -> str:
        """How many values are too long to list."""
        return f"count(*) FILTER (length({self.value}) > {LONGEST_TEXT})" if self.text else "0"

    @property
    def ends(self) -> tuple[str, str]:
        """Minimum and maximum of the finite numbers; null for an end that is too long to list."""
        if not self.has_values:
            return "NULL", "NULL"
        finite = f" FILTER (isfinite({self.value}))" if self.float else ""
        found = (f"{name}({self.value}){finite}" for name in ("min", "max"))
        low, high = (self.shown(_if_short(end) if self.text else end) for end in found)
        return low, high

    def shown(self, expression: str) -> str:
        return f"CAST({expression} AS VARCHAR)" if self.as_text else expression


def _if_short(text: str) -> str:
    return f"CASE WHEN length({text}) <= {LONGEST_TEXT} THEN {text} END"


def profile(connection: engine.Connection, job: dict[str, Any]) -> dict[str, Any]:
    most, room = job["options"]["values"], Room(job["limits"]["result_bytes"])
    deadline = time.monotonic() + job["options"]["seconds"]
    tables: list[dict[str, Any]] = []
    for entry in job["data"]:
        name = f"memory.main.{engine.quote(entry['table'])}"
        (rows,) = connection.execute(f"SELECT count(*) FROM {name}").fetchone() or (0,)
        described = connection.execute(f"DESCRIBE {name}").fetchall()
        looks = [_Look(name, column[0], column[1]) for column in described]
        columns: list[Column] = []
        for start in range(0, len(looks), _AT_ONCE):
            some = looks[start : start + _AT_ONCE]
            if len(looks) > _AT_ONCE and rows <= _FEW_ROWS:
                _bring_near(connection, some)
            for look, seen in zip(some, _ends(connection, some), strict=True):
                hurry = time.monotonic() > deadline
                columns.append(_column(connection, look, seen, _Size(rows, most, hurry)))
                room.take(columns[-1])
        tables.append({"name": entry["table"], "rows": rows, "columns": columns})
    room.share()
    return {"tables": tables}


def _bring_near(connection: engine.Connection, looks: list[_Look]) -> None:
    """Every query on a wide file reads a long list of columns first: copies of a few columns in memory are faster."""
    columns = ", ".join(engine.quote(look.name) for look in looks)
    try:
        connection.execute(
            f"CREATE OR REPLACE TEMP TABLE temp.near AS SELECT {columns} FROM {looks[0].table}"
        )
    except duckdb.Error as error:
        if engine.is_exhaustion(error):
            return
        raise
    for look in looks:
        look.table = "temp.near"


@dataclass(frozen=True, slots=True)
class _Ends:
    filled: int
    long: int
    low: Any
    high: Any


@dataclass(frozen=True, slots=True)
class _Size:
    rows: int
    most: int
    """How many values may be listed."""
    hurry: bool


def _ends(connection: engine.Connection, looks: list[_Look]) -> list[_Ends]:
    """For all columns in one pass over the table."""
    while True:
        items = [item for look in looks for item in (f"count({look.value})", look.long, *look.ends)]
        texts = {4 * at + end for at, look in enumerate(looks) if look.as_text for end in (2, 3)}
        found = connection.execute(f"SELECT {', '.join(items)} FROM {looks[0].table}").fetchone() or ()
        try:
            cells, _ = encode_row(found, _CELL_BYTES, texts)
        except Inexact as error:
            looks[error.args[0] // 4].as_text = True
            continue
        return [_Ends(*cells[at : at + 4]) for at in range(0, len(cells), 4)]


def _column(connection: engine.Connection, look: _Look, ends: _Ends, size: _Size) -> Column:
    column: Column = {
        "name": look.name,
        "nulls": size.rows - ends.filled,
        "distinct": 0,
        "minimum": ends.low,
        "maximum": ends.high,
        "values": [],
        "complete": False,
        "edges": [],
        "counts": [],
    }
    large = size.rows > EXACT_ROWS
    try:
        if look.has_values and not size.hurry:
            _look_closely(connection, look, ends, size, column)
        else:
            column["distinct"] = _distinct(connection, look, exact=not large and not size.hurry)
    except duckdb.Error as error:
        if not engine.is_exhaustion(error):
            raise
        column["distinct"] = _distinct(connection, look, exact=False)
    return column


def _look_closely(
    connection: engine.Connection, look: _Look, ends: _Ends, size: _Size, column: Column
) -> None:
    seems = _distinct(connection, look, exact=False) if size.rows > EXACT_ROWS else 0
    if seems > FEW_VALUES:
        column["distinct"] = seems
        if not look.float:
            column["values"] = _frequent(connection, look, size.most, _in_a_sample(look, size))
    else:
        listed = _frequent(connection, look, size.most + 1)
        column["complete"] = len(listed) <= size.most and not ends.long
        column["distinct"] = len(listed) if column["complete"] else _distinct(connection, look, exact=True)
        column["values"] = [] if look.float and len(listed) > size.most else listed[: size.most]
    if look.number:
        column |= _bins_of(column["values"]) if column["complete"] else _histogram(connection, look)


def _distinct(connection: engine.Connection, look: _Look, *, exact: bool) -> int:
    """Counts hashes: equal values have equal hashes, which take little memory for any values."""
    counted = f"count(DISTINCT hash({look.value}))" if exact else f"approx_count_distinct(hash({look.value}))"
    query = f"SELECT {counted} FROM {look.table} WHERE {look.value} IS NOT NULL"
    (found,) = connection.execute(query).fetchone() or (0,)
    return found


def _frequent(connection: engine.Connection, look: _Look, most: int, among: str = "") -> list[list[Any]]:
    """Frequent values with their counts, encoded as in results."""
    grouped = (
        f"SELECT {look.value} AS v, count(*) AS n FROM {look.table} WHERE {look.short} {among} GROUP BY ALL"
    )
    query = f"SELECT {look.shown('v')}, n FROM ({grouped}) ORDER BY n DESC, v LIMIT {most}"
    found = connection.execute(query).fetchall()
    # Values that Python cannot represent are the smallest or the largest: the ends already report them.
    return [[iso(value) if look.as_text else encode(value), count] for value, count in found]


def _in_a_sample(look: _Look, size: _Size) -> str:
    """There are too many values to count each: count only those that occur in a sample."""
    share = f"{100 * EXACT_ROWS / size.rows:.4f} PERCENT (bernoulli, 1)"
    sample = f"SELECT v FROM (SELECT {look.value} AS v FROM {look.table} USING SAMPLE {share})"
    chosen = f"{sample} GROUP BY v HAVING count(*) > 1 ORDER BY count(*) DESC, v LIMIT {size.most}"
    return f"AND {look.value} IN ({chosen})"


def _histogram(connection: engine.Connection, look: _Look) -> dict[str, Any]:
    number = f"CAST({look.value} AS DOUBLE)"
    finite = f"(SELECT {number} AS x FROM {look.table} WHERE isfinite({number}))"
    low, high = connection.execute(f"SELECT min(x), max(x) FROM {finite}").fetchone() or (None, None)
    if low is None or high is None:
        return {}
    edges = _edges(low, high)
    above = ", ".join(f"count(*) FILTER (x >= CAST('{edge!r}' AS DOUBLE))" for edge in edges[:-1])
    reached = connection.execute(f"SELECT {above} FROM {finite}").fetchone() or ()
    return {"edges": edges, "counts": [a - b for a, b in zip(reached, [*reached[1:], 0], strict=True)]}


def _bins_of(listed: list[list[Any]]) -> dict[str, Any]:
    """The same as `_histogram`, from a complete list of values."""
    numbers = [(float(value), count) for value, count in listed]
    finite = [(number, count) for number, count in numbers if math.isfinite(number)]
    if not finite:
        return {}
    edges = _edges(min(finite)[0], max(finite)[0])
    counts = [0] * (len(edges) - 1)
    for number, count in finite:
        counts[min(bisect_right(edges, number), len(counts)) - 1] += count
    return {"edges": edges, "counts": counts}


def _edges(low: float, high: float) -> list[float]:
    """Edges of bins of equal width: one edge more than there are bins."""
    # Halved, because the span of the largest numbers would overflow to infinity.
    step = (high / 2 - low / 2) / BINS
    edges = [low, *(2 * (low / 2 + step * number) for number in range(1, BINS)), high]
    rising = all(before < after for before, after in pairwise(edges))
    return edges if rising else [low, high]
