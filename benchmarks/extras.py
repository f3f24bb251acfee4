"""Beyond plain timings: idle memory, how late a kill lands, the gate, large data, and a long mixed load."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.data import GROUP_BY, LARGE_GROUP_BY, Data, open_in_process
from benchmarks.measure import Contender, take_turns
from sandtable.assemble import assemble
from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.stored.source import digest_source
from sandtable.engines.duckdb.rules import RULES
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Approved
from sandtable.sandbox.gate import Gate
from sandtable.sandbox.job import JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.sandbox import Sandbox
from sandtable.settings import Settings

_ENDLESS = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
_STALL_S = 30
_KILL_MS = 200
_SETTLED_S = 2.5


def _private_mb(sandbox: Sandbox) -> float:
    info = Path(f"/proc/self/fdinfo/{sandbox._pidfd}").read_text(encoding="ascii")
    pid = next(line.split()[1] for line in info.splitlines() if line.startswith("Pid:"))
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_")) / 1024


async def idle_memory_mb(data: Data) -> float:
    """What one more standby costs: the memory that no other process shares with it."""
    executor = LocalExecutor(data.root, standby=4, presealed=0)
    try:
        await executor.warm(data.job(GROUP_BY))
        pool = executor._pools["sql"]._pool
        assert pool is not None
        shelves = pool._standby._shelves.values()
        return statistics.median(_private_mb(sandbox) for shelf in shelves for sandbox in shelf)
    finally:
        await executor.aclose()


async def kill_delays_ms(data: Data, executor: LocalExecutor, rounds: int) -> list[float]:
    delays: list[float] = []
    for _ in range(rounds):
        await executor.settle()
        started = time.perf_counter()
        job = data.job(_ENDLESS, wall_ms=_KILL_MS)
        await executor.submit(job)
        result = await executor.result(job.id)
        delays.append((time.perf_counter() - started) * 1e3 - _KILL_MS)
        assert result.error is not None
        assert result.error.code == ErrorCode.RUNNER_TIMEOUT, result.error
    return delays


def _dataset() -> Dataset:
    kinds = {
        "g": ColumnType.INTEGER,
        "v": ColumnType.FLOAT,
        "k": ColumnType.INTEGER,
        "id": ColumnType.INTEGER,
    }
    columns = tuple(Column(name=name, type=kind, sql_type="BIGINT") for name, kind in kinds.items())
    table = Table(name="orders", file="orders.parquet", sha256="a" * 64, columns=columns)
    return Dataset(id="bench", tables=(table,), version="sha256:" + "a" * 64)


async def gate_ms(executor: LocalExecutor, rounds: int, *, one_person: bool) -> list[float]:
    gate, dataset = Gate(executor, RULES, max_bytes=1 << 20, one_person=one_person, remembered=0), _dataset()
    taken: list[float] = []
    for number in range(-3, rounds):
        await executor.settle()
        started = time.perf_counter()
        verdict = await gate(GROUP_BY, dataset)
        if number >= 0:
            taken.append((time.perf_counter() - started) * 1e3)
        assert isinstance(verdict, Approved), verdict
    return taken


async def digest_check_ms(rounds: int) -> list[float]:
    """What a run pays to know that its data are whole: looked at before it, and again before its answer is taken."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory(prefix="sandtable-bench-") as home:
        async with assemble(Settings(home=Path(home), standby=0, presealed=0)) as parts:
            datasets = parts.datasets
            dataset = max(datasets.datasets(), key=lambda each: len(each.tables))
            await datasets.ready(dataset.id)
            # Just after they were written, files are hashed for every run.
            await asyncio.sleep(_SETTLED_S)
            for _ in range(rounds):
                started = time.perf_counter()
                same = await datasets.unchanged(await datasets.open(dataset.id, dataset.version))
                taken.append((time.perf_counter() - started) * 1e3)
                assert same
    return taken


def hashed_mb_per_s(data: Data) -> float:
    """How fast files are hashed, once after each change."""
    started = time.perf_counter()
    digest_source(data.large)
    return data.large.stat().st_size / 1e6 / (time.perf_counter() - started)


async def large_data_ms(data: Data, rounds: int) -> tuple[float, float]:
    """Medians: in-process, then ours, with as many threads as there are cores for both."""
    threads = os.cpu_count() or 1
    connection = open_in_process(data.large, threads)
    executor = LocalExecutor(data.root)

    async def floor(text: str) -> None:
        connection.execute(text).fetchall()

    async def sandboxed(text: str) -> None:
        job = data.job(text, large=True, threads=threads, memory_mb=2048)
        await executor.submit(job)
        result = await executor.result(job.id)
        assert result.status == "succeeded", result.error

    contenders = [Contender("floor", floor), Contender("ours", sandboxed, executor.settle)]
    try:
        table = await take_turns(contenders, {"large": LARGE_GROUP_BY}, rounds)
    finally:
        await executor.aclose()
        connection.close()
    return table["floor"]["large"].median, table["ours"]["large"].median


_MIX: tuple[tuple[str, dict[str, Any], str | None], ...] = (
    (GROUP_BY, {}, None),
    ("SELECT 1 AS one", {}, None),
    ("SELECT list(x) FROM range(1000000000) AS t(x)", {"memory_mb": 96, "tmp_mb": 1, "wall_ms": 20_000},
     "RUNNER_RESOURCE_EXCEEDED"),
    ("SELECT max(id) FROM orders WHERE v > 50", {}, None),
    ("SELECT k, count(*) FROM orders GROUP BY k", {}, None),
    (_ENDLESS, {"wall_ms": 60}, "RUNNER_TIMEOUT"),
)  # fmt: skip


async def soak(data: Data, runs: int, at_once: int = 8) -> tuple[int, Counter[str], float]:
    """Hangs, unexpected outcomes by kind, and seconds. A third of the runs meets a limit."""
    executor = LocalExecutor(data.root, parallel=at_once)
    places = asyncio.Semaphore(at_once)
    hangs, unexpected = 0, Counter[str]()

    async def one(number: int) -> None:
        nonlocal hangs
        text, limits, expected = _MIX[number % len(_MIX)]
        async with places:
            job = data.job(text, **limits)
            await executor.submit(job)
            try:
                result = await asyncio.wait_for(executor.result(job.id), _STALL_S)
            except TimeoutError:
                hangs += 1
                return
        if (found := _kind(result)) != expected:
            unexpected[f"{found} instead of {expected}"] += 1

    started = time.perf_counter()
    try:
        await asyncio.gather(*(one(number) for number in range(runs)))
    finally:
        await executor.aclose()
    return hangs, unexpected, time.perf_counter() - started


def _kind(result: JobResult) -> str | None:
    return result.error.code if result.error else None if result.status == "succeeded" else result.status
