"""A pandas one-liner in its several ways, sessions, their memory, and how late a kill of Python code lands.

In-process means the same one-liner in a warm process, as it is written: the file read, grouped. The sandbox reads
only the columns that the code can see; a person who picks them by hand is measured too, in two ways.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import python_peers
from benchmarks.contenders import SUBPROCESS, sandtable_name
from benchmarks.data import Data, open_in_process
from benchmarks.measure import Contender, Table, Timings, take_turns
from benchmarks.targets import Target
from sandtable.errors import ErrorCode
from sandtable.sandbox.job import DataRef, Job, Limits
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.pool import Origin
from sandtable.sandbox.local.sandbox import Sandbox

ONE_LINER = 'df.groupby("region")["revenue"].sum()'
PICKED = ["region", "revenue"]
TITLE = "pandas one-liner, 150k rows"
FEW = "pandas one-liner, 50k rows"
FLOOR = "in-process, as it is written"
PICKED_PANDAS = "in-process, columns picked by hand"
PICKED_DUCKDB = "in-process, columns picked by hand, DuckDB to pandas"
CELL = "1+1"
ORIGINS: tuple[Origin, ...] = ("presealed", "standby", "fresh")
_KILL_MS = 300
_PROGRAM = """
import sys
import pandas as pd
df = pd.read_parquet(sys.argv[1])
print(df.groupby("region")["revenue"].sum())
"""
_ids = count()


@dataclass(slots=True)
class Pythons:
    table: Table
    few: Table
    """On a third of the rows, without peers: what a sandbox costs does not shrink with the work."""
    missing: dict[str, str]
    fresh_cpu_ms: Timings = field(default_factory=Timings)
    """Processor time of a fresh sandbox in all: steadier than the clock on a busy machine."""
    session_start: Timings = field(default_factory=Timings)
    session_cell: Timings = field(default_factory=Timings)
    exec_cell: Timings = field(default_factory=Timings)
    """The same cell compiled and run in this process."""
    session_mb: python_peers.Memory = field(default_factory=lambda: python_peers.Memory(0, 0))
    kernels: dict[str, python_peers.Kernel] = field(default_factory=dict)
    """Sessions of peers."""
    kill_ms: list[float] = field(default_factory=list)


def job(path: Path, text: str, mode: Any = "python", **limits: Any) -> Job:
    return Job(
        id=f"bench-python-{next(_ids)}",
        mode=mode,
        dataset_version=f"sha256:{path.parent.name}",
        data=(DataRef(table="sales", path=path.name),),
        text=text,
        limits=Limits(**{"wall_ms": 60_000, **limits}),
    )


async def measure(data: Data, *, quick: bool, with_peers: bool) -> Pythons:
    """Raises SandboxUnavailable where Python's libraries are not installed."""
    rounds = 15 if quick else 50
    executors: dict[Origin, LocalExecutor] = {
        origin: LocalExecutor(data.root, origin=origin) for origin in ORIGINS
    }
    left_out = {"peers": "left out on request"}
    peers, missing = await python_peers.open_peers(data.sales) if with_peers else ([], left_out)
    try:
        for executor in executors.values():
            await executor.warm(job(data.sales, ONE_LINER))
            await executor.warm(job(data.few_sales, ONE_LINER))
        few = await take_turns(list(map(_rested, _ours(data.few_sales, executors))), {FEW: ONE_LINER}, rounds)
        cpu = _overhear(executors["fresh"])
        entered = [
            *_ours(data.sales, executors),
            _subprocess(data.sales),
            *(peer.contender for peer in peers),
        ]
        table = await take_turns(list(map(_rested, entered)), {TITLE: ONE_LINER}, rounds)
        measured = Pythons(table, few, missing, Timings(cpu[2:]))
        await _sessions(data.sales, executors["standby"], measured, 5 if quick else 20)
        measured.kill_ms = await _kill_delays_ms(data.sales, executors["standby"], 5 if quick else 15)
        for peer in peers:
            if name := python_peers.KERNELS.get(peer.name):
                measured.kernels[name] = await peer.kernel(CELL, starts=2 if quick else 5, cells=60)
        return measured
    finally:
        for executor in executors.values():
            await executor.aclose()
        for peer in peers:
            await peer.aclose()


def _ours(path: Path, executors: dict[Origin, LocalExecutor]) -> list[Contender]:
    return [
        *_in_process(path),
        *(_sandtable(path, executor, origin) for origin, executor in executors.items()),
    ]


def _in_process(path: Path) -> list[Contender]:
    connection = open_in_process(path, threads=1)
    columns = ", ".join(PICKED)

    def through_duckdb() -> pd.DataFrame:
        return connection.sql(f"SELECT {columns} FROM orders").to_arrow_table().to_pandas(use_threads=False)

    def reading(read: Callable[[], pd.DataFrame]) -> Callable[[str], Awaitable[None]]:
        async def run(text: str) -> None:
            eval(text, {"df": read()}).reset_index().to_numpy().tolist()

        return run

    return [
        Contender(FLOOR, reading(lambda: pd.read_parquet(path))),
        Contender(PICKED_PANDAS, reading(lambda: pd.read_parquet(path, columns=PICKED))),
        Contender(PICKED_DUCKDB, reading(through_duckdb)),
    ]


async def _pause() -> None:
    """Before everything that is timed: a question comes to a machine that did nothing for a moment.

    It also lets the exits of earlier sandboxes pass, whose teardown is not part of the next run.
    """
    await asyncio.sleep(0.03)


def _rested(contender: Contender) -> Contender:
    return contender if contender.before else replace(contender, before=_pause)


def _sandtable(path: Path, executor: LocalExecutor, origin: Origin) -> Contender:
    async def run(text: str) -> None:
        order = job(path, text)
        await executor.submit(order)
        result = await executor.result(order.id)
        if result.status != "succeeded":
            raise RuntimeError(f"{origin}: {result.error}")

    async def before() -> None:
        await executor.settle()
        await _pause()

    return Contender(sandtable_name(origin), run, before)


def _subprocess(path: Path) -> Contender:
    async def run(text: str) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", _PROGRAM, str(path), stdout=asyncio.subprocess.DEVNULL
        )
        if await process.wait():
            raise RuntimeError("the plain subprocess failed")

    return Contender(SUBPROCESS, run, every=5)


def _overhear(executor: LocalExecutor) -> list[float]:
    """The processor time of every sandbox that ends from now on, as its template tells it."""
    heard: list[float] = []
    template = executor._pools["py"]._template
    assert template is not None
    note = template._note

    def noting(news: dict[str, Any], fds: list[int]) -> None:
        if "ended" in news:
            heard.append(news["cpu_ms"])
        note(news, fds)

    template._note = noting
    return heard


async def _sessions(path: Path, executor: LocalExecutor, measured: Pythons, rounds: int) -> None:
    memory: list[python_peers.Memory] = []
    for _ in range(rounds):
        await executor.settle()
        await _pause()
        started = time.perf_counter()
        session = await executor.open_session(job(path, "", "session"))
        measured.session_start.values.append((time.perf_counter() - started) * 1e3)
        memory.append(python_peers.memory_of(_pid(session._sandbox)))
        for number in range(15):
            for timings, cell in (
                (measured.exec_cell, _exec_cell()),
                (measured.session_cell, session.cell(CELL)),
            ):
                started = time.perf_counter()
                await cell
                if number >= 5:
                    timings.values.append((time.perf_counter() - started) * 1e3)
        await session.aclose()
    measured.session_mb = python_peers.Memory(
        statistics.median(one.private_mb for one in memory), statistics.median(one.pss_mb for one in memory)
    )


async def _exec_cell() -> None:
    repr(eval(compile(CELL, "<cell>", "eval"), {}))


def _pid(sandbox: Sandbox) -> int:
    info = Path(f"/proc/self/fdinfo/{sandbox._pidfd}").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in info.splitlines() if line.startswith("Pid:"))


async def _kill_delays_ms(path: Path, executor: LocalExecutor, rounds: int) -> list[float]:
    delays: list[float] = []
    for _ in range(rounds):
        await executor.settle()
        order = job(path, "while True: pass", wall_ms=_KILL_MS)
        started = time.perf_counter()
        await executor.submit(order)
        result = await executor.result(order.id)
        delays.append((time.perf_counter() - started) * 1e3 - _KILL_MS)
        assert result.error is not None
        assert result.error.code == ErrorCode.RUNNER_TIMEOUT, result.error
    return delays


def _picked_ms(table: Table, title: str) -> float:
    """The fastest way that a person could write it."""
    return min(table[name][title].median for name in (FLOOR, PICKED_PANDAS, PICKED_DUCKDB))


def targets(measured: Pythons) -> list[Target]:
    floor = measured.table[FLOOR][TITLE].median
    _, standby, fresh = (measured.table[sandtable_name(origin)][TITLE].median for origin in ORIGINS)
    overhead = measured.session_cell.median - measured.exec_cell.median
    return [
        Target("python: standby one-liner / in-process", standby / floor, 1.25, "×"),
        Target("python: fresh one-liner / in-process", fresh / floor, 2, "×"),
        Target("python: session start, median", measured.session_start.median, 30, "ms"),
        Target("python: a cell over exec in-process, median", overhead, 1, "ms"),
        Target("python: private memory of an idle session", measured.session_mb.private_mb, 40, "MB"),
        Target("python: a kill lands after its limit, at the latest", max(measured.kill_ms), 100, "ms"),
    ]


def print_table(measured: Pythons) -> None:
    width = max(map(len, (*measured.table, *measured.missing)))
    _print_ratios(measured.few, FEW, width)
    _print_ratios(measured.table, TITLE, width)
    for name, reason in measured.missing.items():
        print(f"{name:{width}}  not measured here: {reason}")
    print(f"processor time of a fresh sandbox in all: {measured.fresh_cpu_ms.median:.1f} ms\n")
    _print_sessions(measured)


def _print_ratios(table: Table, title: str, width: int) -> None:
    print(f"{'milliseconds, median (p95)':{width}}{title:>32}{'/ as written':>16}{'/ by hand':>12}")
    floor, picked = table[FLOOR][title].median, _picked_ms(table, title)
    for name, row in table.items():
        taken = row[title]
        told = f"{taken.median:.2f} ({taken.p95:.2f})"
        print(f"{name:{width}}{told:>32}{taken.median / floor:>14.2f} ×{taken.median / picked:>10.2f} ×")
    print()


def _print_sessions(measured: Pythons) -> None:
    rows = [("sandtable", measured.session_start.median, measured.session_cell.median, measured.session_mb)]
    rows += [(name, peer.start_ms, peer.cell_ms, peer.memory) for name, peer in measured.kernels.items()]
    print(f"{'session':22}{'start ms':>12}{f'cell {CELL} ms':>16}{'private MB':>14}{'Pss MB':>10}")
    for name, start, cell, memory in rows:
        print(f"{name:22}{start:12.1f}{cell:16.2f}{memory.private_mb:14.1f}{memory.pss_mb:10.1f}")
    print(f"{'exec in-process':22}{'':12}{measured.exec_cell.median:16.2f}\n")


def as_json(measured: Pythons) -> dict[str, Any]:
    return {
        "medians_ms": {name: row[TITLE].median for name, row in measured.table.items()},
        "medians_of_few_ms": {name: row[FEW].median for name, row in measured.few.items()},
        "p95_ms": {name: row[TITLE].p95 for name, row in measured.table.items()},
        "not_measured": measured.missing,
        "fresh_cpu_ms": measured.fresh_cpu_ms.median,
        "session_start_ms": measured.session_start.median,
        "session_cell_ms": measured.session_cell.median,
        "session_private_mb": measured.session_mb.private_mb,
        "session_pss_mb": measured.session_mb.pss_mb,
        "sessions_of_peers": {name: asdict(kernel) for name, kernel in measured.kernels.items()},
        "kill_delay_ms": measured.kill_ms,
    }
