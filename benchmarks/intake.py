"""How long a typed CSV file takes to become a table, beside the engine's own COPY, which guesses types from a sample.

Ours runs in a sandbox: it reads the bytes, decides the type of each column, and checks every cell. The sandbox ends a
job that takes more memory than its limit, whatever the size of the file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import duckdb

from benchmarks.measure import Timings
from benchmarks.targets import Target
from sandtable.sandbox.job import Job, Limits
from sandtable.sandbox.local.executor import LocalExecutor

MEGABYTES = 60
_BYTES_PER_ROW = 118
_THREADS = 2
_MEMORY_MB = 768
_ROWS = """
    SELECT i AS id, (i * 7919) % 100000 AS customer, round(((i * 31) % 1000000) / 100, 2) AS price,
        DATE '2020-01-01' + (i % 1500)::INTEGER AS day, TIMESTAMP '2020-01-01' + INTERVAL (i % 50000000) SECOND AS at,
        ['north', 'south', 'east', 'west'][1 + i % 4] AS region, 'Product ' || ((i * 13) % 5000) AS product,
        (i % 100) / 7.0 AS score, i % 2 = 0 AS flag, 'note ' || hash(i) AS note
    FROM range({rows}) AS t(i)
"""


@dataclass(frozen=True, slots=True)
class Intake:
    megabytes: float
    engine: Timings
    ours: Timings


async def measure(root: Path, megabytes: int = MEGABYTES, rounds: int = 5) -> Intake:
    """In turns, so that a busy moment of the machine falls on both."""
    folder, staging = root / "incoming" / "bench", root / "staging" / "bench"
    for path in (folder, staging):
        path.mkdir(parents=True)
    staging.chmod(0o777)
    source = folder / "sales.csv"
    rows = megabytes * 1_000_000 // _BYTES_PER_ROW
    with duckdb.connect(config={"threads": _THREADS}) as connection:
        connection.execute(f"COPY ({_ROWS.format(rows=rows)}) TO '{source}' (HEADER)")
    found = Intake(source.stat().st_size / 1e6, Timings(), Timings())
    executor = LocalExecutor(root)
    try:
        for number in range(rounds):
            found.engine.values.append(_engine_ms(source, staging / "engine.parquet"))
            found.ours.values.append(await _ours_ms(executor, number, rows))
    finally:
        await executor.aclose()
    return found


def _engine_ms(source: Path, target: Path) -> float:
    with duckdb.connect(
        config={"threads": _THREADS, "memory_limit": f"{_MEMORY_MB * 7 // 10}MiB"}
    ) as connection:
        started = time.perf_counter()
        connection.execute(f"COPY (FROM '{source}') TO '{target}' (FORMAT parquet, ROW_GROUP_SIZE 122880)")
        return (time.perf_counter() - started) * 1e3


async def _ours_ms(executor: LocalExecutor, number: int, rows: int) -> float:
    options = {
        "source": "sales.csv", "format": "csv", "table": "sales", "columns": None, "recipes": None, "answers": {},
        "repairs": [], "folder": "incoming/bench", "staging": "bench", "file_mb": 4096,
    }  # fmt: skip
    limits = Limits(wall_ms=600_000, cpu_s=1200, memory_mb=_MEMORY_MB, tmp_mb=0, rows=0)
    job = Job(id=f"intake-{number}", mode="ingest", threads=_THREADS, limits=limits, options=options)
    started = time.perf_counter()
    await executor.submit(job)
    result = await executor.result(job.id)
    took = (time.perf_counter() - started) * 1e3
    if result.status != "succeeded" or result.output["tables"][0]["rows"] != rows:
        raise RuntimeError(f"the file was not converted: {result.error}")
    return took


def targets(found: Intake) -> list[Target]:
    what = f"a typed CSV of {found.megabytes:.0f} MB becomes a table / the engine's COPY"
    return [Target(what, found.ours.median / found.engine.median, 2, "×")]


def print_table(found: Intake) -> None:
    print(
        f"a typed CSV of {found.megabytes:.0f} MB: {found.ours.median:.0f} ms (best {min(found.ours.values):.0f}), "
        f"the engine's COPY {found.engine.median:.0f} ms (best {min(found.engine.values):.0f})\n"
    )
