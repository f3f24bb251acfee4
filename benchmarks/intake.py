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
from sandtable_runner.intake.opening import open_tables
from sandtable_runner.intake.scanning import Unproven

MEGABYTES = 60
_LIMIT = 2
"""1.25 (0.8 times the engine's speed) is the aim, and not reached; see docs/benchmarks.md."""
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
    opening: Timings
    """Stage one alone: the file as a table of text."""
    ours: Timings
    """Both stages."""
    peaks_mb: list[float]

    @property
    def ratio(self) -> float:
        """Of the best rounds: a busy moment of the machine makes a round slower, never faster."""
        return min(self.ours.values) / min(self.engine.values)


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
    found = Intake(source.stat().st_size / 1e6, Timings(), Timings(), Timings(), [])
    executor = LocalExecutor(root)
    try:
        for number in range(rounds):
            found.engine.values.append(_engine_ms(source, staging / "engine.parquet"))
            found.opening.values.append(_opening_ms(source, staging))
            took, peak_mb = await _ours(executor, number, rows)
            found.ours.values.append(took)
            found.peaks_mb.append(peak_mb)
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


def _opening_ms(source: Path, out: Path) -> float:
    with duckdb.connect(config={"threads": _THREADS}) as connection:
        unproven = Unproven()
        started = time.perf_counter()
        open_tables(connection, source, "csv", out, None, (), unproven=unproven)
        took = (time.perf_counter() - started) * 1e3
        unproven.stop()
        return took


async def _ours(executor: LocalExecutor, number: int, rows: int) -> tuple[float, float]:
    """Milliseconds, and the most memory in MB."""
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
    return took, result.metrics["peak_kb"] / 1024


def targets(found: Intake) -> list[Target]:
    what = f"a typed CSV of {found.megabytes:.0f} MB becomes a table / the engine's COPY"
    return [Target(what, found.ratio, _LIMIT, "×")]


def print_table(found: Intake) -> None:
    text, ours, engine = min(found.opening.values), min(found.ours.values), min(found.engine.values)
    print(
        f"a typed CSV of {found.megabytes:.0f} MB, best of {len(found.ours.values)} rounds: "
        f"text {text:.0f} ms, types and table {ours - text:.0f} ms, both {ours:.0f} ms; "
        f"the engine's COPY {engine:.0f} ms; {1 / found.ratio:.2f} × its speed; at most {max(found.peaks_mb):.0f} MB\n"
    )
