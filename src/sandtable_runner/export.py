"""A stored result as a Parquet file, with the types it had.

The job has the rows as `encode` made them: text, numbers, arrays, objects. Every column goes into the engine as text
and is cast to its type there. Invariant: no value is lost or rounded. Where Parquet or a cast would do that (intervals,
integers of more than 38 digits, blobs inside lists), the column stays text, nested values as JSON. The types are
untrusted text too: they become SQL only here, in a sealed sandbox without data.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import duckdb

from sandtable_runner import engine

SCALARS = frozenset(
    """
    BOOLEAN TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE DATE TIME
    TIME_NS TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS UUID JSON
    """.split()
) | {"TIMESTAMP WITH TIME ZONE"}
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*\d+\)")
# Parquet has no integer of 128 bits: the engine would write a rounded DOUBLE.
_WIDE = {"HUGEINT": ("BIGINT", "DECIMAL(38,0)"), "UHUGEINT": ("UBIGINT", "DECIMAL(38,0)")}
_NESTED = re.compile(r"\]$|^(?:STRUCT|MAP)\(")
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
# Nested values of these types cannot be restored from their JSON, or are not kept by Parquet.
_UNTOLD = re.compile(
    r"\b(?:BLOB|INTERVAL|U?HUGEINT|UNION|VARIANT|JSON|BIT|BIGNUM|GEOMETRY|ENUM|TIME_NS|TIMESTAMP_NS|WITH|NULL)\b"
    r"|MAP\((?!VARCHAR,)"
)


class TooLarge(Exception):
    """The file has more bytes than the answer may have."""


def export(connection: engine.Connection, job: dict[str, Any]) -> dict[str, Any]:
    """`{"parquet": base64, "columns": [{name, type}]}`, with the types in the file."""
    columns, rows = job["options"]["columns"], job["options"]["rows"]
    _load(connection, [column["type"] for column in columns], rows)
    names = unlike([column["name"] for column in columns])
    restored = [_restored(connection, f"c{i}", column["type"]) for i, column in enumerate(columns)]
    items = ", ".join(f"{value} AS {engine.quote(name)}" for value, name in zip(restored, names, strict=True))
    target = Path(job["out"]) / "result.parquet"
    connection.execute(f"COPY (SELECT {items} FROM cells) TO {engine.literal(str(target))} (FORMAT parquet)")
    # The job's limit is on the base64 text, which is a third longer than the file.
    size, most = target.stat().st_size, job["limits"]["result_bytes"] // 4 * 3
    if size > most:
        raise TooLarge(f"the file has {size} bytes; the limit is {most}")
    described = connection.execute(f"DESCRIBE SELECT {items} FROM cells").fetchall()
    return {
        "parquet": base64.b64encode(target.read_bytes()).decode(),
        "columns": [{"name": row[0], "type": row[1]} for row in described],
    }


def unlike(names: list[str]) -> list[str]:
    """Makes names distinct regardless of case: `a`, `A` and `a` become `a`, `A_1`, `a_2`."""
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    made: list[str] = []
    for index, name in enumerate(names):
        name = name or f"column_{index + 1}"
        new, count = name, 0
        while new.lower() in seen or (count and new.lower() in taken):
            count += 1
            new = f"{name}_{count}"
        seen.add(new.lower())
        made.append(new)
    return made


def _load(connection: engine.Connection, types: list[str], rows: list[list[Any]]) -> None:
    """The table `cells`: one text column for each column."""
    nested = [bool(_NESTED.search(kind)) for kind in types]
    texts = [[_text(row[i], nested=nested[i]) for row in rows] for i in range(len(types))]
    items = ", ".join(f"unnest(?::VARCHAR[]) AS c{i}" for i in range(len(types)))
    connection.execute(f"CREATE TEMP TABLE cells AS SELECT {items}", texts)


def _text(value: Any, *, nested: bool) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and not nested:
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _restored(connection: engine.Connection, column: str, kind: str) -> str:
    """The expression that casts a column back to its type; the text itself where that is impossible."""
    for expression in _ways(column, kind):
        try:
            connection.execute(f"SELECT count({expression}) FROM cells").fetchall()
        except duckdb.Error:
            continue
        return expression
    return column


def _ways(column: str, kind: str) -> list[str]:
    if kind in _WIDE:
        return [f"CAST({column} AS {narrower})" for narrower in _WIDE[kind]]
    if kind == "BLOB":
        return [f"from_base64({column})"]
    if kind in SCALARS or _DECIMAL.fullmatch(kind):
        return [f"CAST({column} AS {kind})"]
    if _NESTED.search(kind) and not _UNTOLD.search(_QUOTED.sub('""', kind)):
        return [f"CAST(CAST({column} AS JSON) AS {kind})"]
    return []
