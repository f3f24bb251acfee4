"""Queries in a connected PostgreSQL beside the same queries by the bare driver: `python -m benchmarks.sources`.

Both ask a server that this starts, over TCP. *driver* is a connection of psycopg in this process that is kept, and
returns rows of Python values; *sandtable* is `LiveExecutor` with a worker that waits, and returns a checked result.
They take turns, so that a busy machine slows both. The difference of the medians has a target: 5 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import socket
import sys
import tempfile
from pathlib import Path

import psycopg

from benchmarks.measure import Contender, take_turns
from sandtable.assemble.sources import executor_of
from sandtable.sandbox.executor import executed
from sandtable.sandbox.job import Job
from sandtable.sandbox.live.executor import LiveExecutor
from sandtable.settings import Settings
from sandtable.sources.address import read_address
from sandtable.sources.records import SourceRecords, source_of
from tests import postgres

_MOST_MS = 5.0
_SECRET = "of-no-use"
_MADE = f"""
CREATE ROLE reader LOGIN PASSWORD '{_SECRET}';
CREATE SCHEMA shop;
CREATE TABLE shop.orders AS
  SELECT i AS no, 'city ' || i % 50 AS city, (i % 1000)::numeric(10,2) AS amount,
    timestamp '2024-01-01' + i * interval '1 minute' AS ordered FROM generate_series(1, 20000) i;
ANALYZE shop.orders;
GRANT USAGE ON SCHEMA shop TO reader;
GRANT SELECT ON shop.orders TO reader;
"""
_QUERIES: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "select 1": ("SELECT 1", [("n", "INTEGER")]),
    "50 groups": (
        "SELECT city, sum(amount) FROM shop.orders GROUP BY city ORDER BY 2 DESC, 1",
        [("city", "VARCHAR"), ("amount", "DECIMAL(38,2)")],
    ),
    "200 rows": (
        "SELECT no, city, amount, ordered FROM shop.orders ORDER BY no LIMIT 200",
        [("no", "INTEGER"), ("city", "VARCHAR"), ("amount", "DECIMAL(10,2)"), ("ordered", "TIMESTAMP")],
    ),
    "200 of 20000 rows": ("SELECT no FROM shop.orders", [("no", "INTEGER")]),
}


async def _measure(executor: LiveExecutor, connection: psycopg.Connection, rounds: int) -> bool:
    numbers = itertools.count()

    async def by_driver(title: str) -> None:
        connection.execute(_QUERIES[title][0].encode(), prepare=False).fetchall()

    async def by_sandtable(title: str) -> None:
        text, columns = _QUERIES[title]
        declared = [{"name": name, "type": kind} for name, kind in columns]
        job = Job(id=f"{next(numbers)}", mode="sql", text=text, options={"columns": declared})
        result = await executed(executor, job)
        if result.status != "succeeded":
            raise RuntimeError(f"{title}: {result.error}")

    contenders = [Contender("driver", by_driver), Contender("sandtable", by_sandtable)]
    table = await take_turns(contenders, {title: title for title in _QUERIES}, rounds)
    met = True
    print(f"{'milliseconds, median (least)':30}{'driver':>18}{'sandtable':>18}{'more':>10}")
    for title in _QUERIES:
        bare, ours = table["driver"][title], table["sandtable"][title]
        more = ours.median - bare.median
        met &= more <= _MOST_MS
        cells = "".join(f"{f'{each.median:.2f} ({min(each.values):.2f})':>18}" for each in (bare, ours))
        print(f"{title:30}{cells}{more:>10.2f}")
    print(f"{'PASS' if met else 'FAIL'}  a query takes at most {_MOST_MS:g} ms more than by the bare driver")
    return met


async def _compare(url: str, rounds: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="sandtable-bench-") as home:
        address, records = read_address(url), SourceRecords(Path(home))
        named = source_of(address, "shop", only_schema="", password_env="", allowed_writer="")
        records.write(named, address.password)
        executor = executor_of(Settings(home=Path(home)), "shop")
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                return await _measure(executor, connection, rounds)
        finally:
            await executor.aclose()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sources", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with postgres.cluster(("fsync=off", "listen_addresses=127.0.0.1", f"port={port}")) as admin:
        with psycopg.connect(f"{admin}&port={port}", autocommit=True) as connection:
            connection.execute(_MADE)
        met = asyncio.run(_compare(f"postgresql://reader:{_SECRET}@127.0.0.1:{port}/postgres", rounds))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
