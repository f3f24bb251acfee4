"""Whether columns of just converted tables may refer to each other: counts only. Runs inside a sandbox.

Invariant: the answer has one entry for each question, in order. A count that runs out of memory has no answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

from sandtable_runner import engine

Place = list[str]
"""Table and column."""


def compare(connection: engine.Connection, job: dict[str, Any]) -> dict[str, Any]:
    options = job["options"]
    engine.set_budget(connection, job["limits"]["memory_mb"], None)
    connection.execute(f"SET threads = {job['threads']}")
    views: dict[str, str] = {}
    for table, file in options["files"]:
        views[table] = f"compared_{len(views)}"
        path = engine.literal(f"{job['out']}/{Path(file).name}")
        connection.execute(f"CREATE TEMP VIEW {views[table]} AS SELECT * FROM read_parquet({path})")
    ones = [_counts(connection, views, place) for place in options["ones"]]
    unique = {
        (table, column)
        for (table, column), found in zip(options["ones"], ones, strict=True)
        if found is not None and found[0] == found[1] == found[2]
    }
    pairs = [
        _missing(connection, views, many, one) if tuple(one) in unique else [0, None]
        for many, one in options["pairs"]
    ]
    return {"ones": ones, "pairs": pairs}


def _counts(connection: engine.Connection, views: dict[str, str], place: Place) -> list[int] | None:
    table, column = views[place[0]], engine.quote(place[1])
    # A number has at most 20 digits, so anything longer is text.
    longest = f"coalesce(max(strlen(CAST({column} AS VARCHAR))), 0)"
    found = _row(
        connection,
        f"SELECT count(*), count({column}), count(DISTINCT {column}), {longest} FROM {table}",
    )
    return None if found is None else list(found)


def _missing(
    connection: engine.Connection, views: dict[str, str], many: Place, one: Place
) -> list[int | None]:
    ours, theirs = engine.quote(many[1]), engine.quote(one[1])
    filled = _row(connection, f"SELECT count({ours}) FROM {views[many[0]]}")
    missing = _row(
        connection,
        f"SELECT count(*) FROM (SELECT {ours} AS key FROM {views[many[0]]} WHERE {ours} IS NOT NULL) AS many "
        f"ANTI JOIN (SELECT {theirs} AS key FROM {views[one[0]]}) AS one ON many.key = one.key",
    )
    return [0, None] if filled is None or missing is None else [filled[0], missing[0]]


def _row(connection: engine.Connection, query: str) -> tuple[Any, ...] | None:
    try:
        return connection.execute(query).fetchone()
    except duckdb.Error as error:
        if engine.is_exhaustion(error):
            return None
        raise
