"""DuckDB as the sandbox uses it: one connection, made in the template, locked in the child.

`threads=1, async_threads=0` leaves no background thread, so that the open connection survives a fork; with DuckDB's
default threads before the fork, every child would hang.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb

Connection = duckdb.DuckDBPyConnection
ENGINE_ERRORS = duckdb.Error

_EXHAUSTED = (
    "No space left",
    "File too large",
    "max_temp_directory_size",
    "bad_alloc",
    "Out of Memory",
    "failed to allocate",
)

_TEMPLATE = {
    "threads": 1,
    "async_threads": 0,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}
PARSER_MB = 200
SAMPLE = ".rehearsal.parquet"
_SAMPLE_ROWS = "SELECT x % 7 AS k, x * 1.5 AS v, (x % 5)::VARCHAR AS t FROM range(3000) AS r(x)"
_WARM_UP = """
SELECT k, sum(v) AS s, avg(v) AS a, count(*) AS n, max(t) AS m
FROM (SELECT x % 7 AS k, x * 1.5 AS v, x::VARCHAR AS t FROM range(3000) AS r(x))
GROUP BY k ORDER BY s DESC
"""


class _Utc(dt.tzinfo):
    """UTC with the one method of a pytz zone that the driver needs beyond tzinfo."""

    def utcoffset(self, moment: dt.datetime | None) -> dt.timedelta:
        return dt.timedelta(0)

    def dst(self, moment: dt.datetime | None) -> dt.timedelta:
        return dt.timedelta(0)

    def tzname(self, moment: dt.datetime | None) -> str:
        return "UTC"

    def localize(self, moment: dt.datetime) -> dt.datetime:
        return moment.replace(tzinfo=self)


def _zone_for(connection: Connection) -> None:
    """The driver asks pytz for the zone of TIMESTAMPTZ values and keeps the answer: ours is UTC. It asks now, because
    nothing can be imported later. The stand-in is removed, because pandas would take it for the package and fail.
    """
    module = ModuleType("pytz")
    module.__dict__["timezone"] = lambda name: _Utc()
    found = sys.modules.get("pytz")
    sys.modules["pytz"] = module
    try:
        connection.execute("SELECT TIMESTAMPTZ '2000-01-01 00:00:00+00'").fetchall()
    finally:
        del sys.modules["pytz"]
        if found is not None:
            sys.modules["pytz"] = found


def connect() -> Connection:
    connection = duckdb.connect(config=dict(_TEMPLATE))
    connection.execute("SET TimeZone = 'UTC'")
    _zone_for(connection)
    # In 2.0.0 this rewrite can give silently wrong numbers for a ratio to a partition's sum.
    connection.execute("SET disabled_optimizers = 'window_self_join'")
    warm_up(connection)
    return connection


def connect_parser() -> Connection:
    """A separate engine without data or access, made once for every parser."""
    connection = duckdb.connect(config=dict(_TEMPLATE))
    connection.execute(
        # Without data there is only parsing, which the optimizer would do twice.
        f"PRAGMA disable_optimizer; SET memory_limit = '{PARSER_MB}MiB'; SET temp_directory = ''; "
        "SET enable_external_access = false; SET lock_configuration = true"
    )
    return connection


def is_exhaustion(error: duckdb.Error) -> bool:
    """Whether memory, scratch space or disk ran out: not an error in names or values."""
    text = str(error)
    return isinstance(error, duckdb.OutOfMemoryException) or any(word in text for word in _EXHAUSTED)


def version() -> str:
    return f"duckdb {duckdb.__version__}"


def warm_up(connection: Connection) -> None:
    """Touch the code and memory that most queries need, before a request waits for it."""
    connection.execute(_WARM_UP).fetchall()


def write_sample(connection: Connection, store: str) -> None:
    """A small Parquet file in the store, for rehearsals. Skipped if the store is not writable."""
    target = Path(store) / SAMPLE
    draft = target.with_name(f"{SAMPLE}.{os.getpid()}")
    try:
        connection.execute(f"COPY ({_SAMPLE_ROWS}) TO {literal(str(draft))} (FORMAT parquet)")
        draft.chmod(0o644)
        draft.rename(target)
    except (OSError, duckdb.IOException):
        # On a read-only disk this fails too, and there is nothing to remove.
        with contextlib.suppress(OSError):
            draft.unlink()


def read_sample(connection: Connection, path: str) -> None:
    """Like a job: a view over Parquet, and a query on it."""
    connection.execute(f"CREATE VIEW sample AS SELECT * FROM read_parquet({literal(path)})")
    connection.execute(
        "SELECT t, sum(v) AS s, avg(v), max(k) FROM sample GROUP BY t ORDER BY s DESC"
    ).fetchall()
    connection.execute("DROP VIEW sample")


def set_budget(connection: Connection, memory_mb: int, scratch: str | None) -> None:
    """The engine's own limit, somewhat below the process's limit in the kernel."""
    budget = literal(f"{max(32, memory_mb * 8 // 10)}MiB")
    connection.execute(f"SET memory_limit = {budget}; SET temp_directory = {literal(scratch or '')}")


def reseed(connection: Connection) -> None:
    """Otherwise every fork would draw the same random numbers."""
    seed = int.from_bytes(os.urandom(4), "little") / 2**32
    connection.execute(f"SELECT setseed({seed!r})").fetchall()


def draws_lots(text: str) -> bool:
    """Whether a query may use random numbers. False positives are harmless."""
    lowered = text.lower()
    return any(word in lowered for word in ("random", "uuid", "sample", "reservoir"))


def open_tables(connection: Connection, tables: list[dict[str, Any]], threads: int) -> None:
    """One view for each table over its Parquet file, read relative to the current folder; then lock.

    After this nothing can be set or loaded, and no file but these can be opened, except in the folder that the engine
    spills to: the engine adds that folder to its `allowed_directories`.
    """
    statements = [
        f"CREATE VIEW {quote(table['table'])} AS SELECT * FROM read_parquet({literal(table['path'])})"
        for table in tables
    ]
    if tables:
        paths = ", ".join(literal(table["path"]) for table in tables)
        statements.append(f"SET allowed_paths = [{paths}]")
    if threads > 1:
        statements.append(f"SET threads = {threads}")
    statements += ["SET enable_external_access = false", "SET lock_configuration = true"]
    connection.execute("; ".join(statements))


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
