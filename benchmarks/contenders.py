"""Ours in its three ways, in-process DuckDB, and a plain subprocess."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import duckdb

from benchmarks.data import Data, open_in_process
from benchmarks.measure import Contender
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.pool import Origin

ORIGINS: tuple[Origin, ...] = ("presealed", "standby", "fresh")
IN_PROCESS = "in-process DuckDB, warm"
SUBPROCESS = "plain subprocess"
_PROGRAM = """
import duckdb, sys
connection = duckdb.connect(config={"threads": 1})
connection.execute(f"CREATE VIEW orders AS SELECT * FROM read_parquet('{sys.argv[1]}')")
print(connection.execute(sys.argv[2]).fetchall())
"""


def sandtable_name(origin: str) -> str:
    return f"sandtable, {origin}"


def in_process(connection: duckdb.DuckDBPyConnection) -> Contender:
    async def run(text: str) -> None:
        connection.execute(text).fetchall()

    return Contender(IN_PROCESS, run)


def sandtable(data: Data, executor: LocalExecutor, origin: Origin) -> Contender:
    async def run(text: str) -> None:
        job = data.job(text)
        await executor.submit(job)
        result = await executor.result(job.id)
        if result.status != "succeeded":
            raise RuntimeError(f"{origin}: {result.error}")

    async def before() -> None:
        await executor.settle()
        # Let the exits of earlier sandboxes pass: their teardown is not part of this run.
        await asyncio.sleep(0.01)

    return Contender(sandtable_name(origin), run, before)


def subprocess(data: Data) -> Contender:
    async def run(text: str) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", _PROGRAM, str(data.small), text, stdout=asyncio.subprocess.DEVNULL
        )
        if await process.wait():
            raise RuntimeError("the plain subprocess failed")

    return Contender(SUBPROCESS, run, every=3)


def open_executors(root: Path) -> dict[Origin, LocalExecutor]:
    return {origin: LocalExecutor(root, origin=origin) for origin in ORIGINS}


def ours(data: Data, executors: dict[Origin, LocalExecutor]) -> list[Contender]:
    connection = open_in_process(data.small, threads=1)
    return [
        in_process(connection),
        *(sandtable(data, executor, origin) for origin, executor in executors.items()),
        subprocess(data),
    ]
