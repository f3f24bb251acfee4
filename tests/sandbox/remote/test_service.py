"""Real services, each a process of its own: crashes, restarts, servers that vanish, Python, the self-test."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.remote.executor import RemoteExecutor
from sandtable.sandbox.selftest import examine
from tests.sandbox.remote.forwarder import By, forwarding
from tests.sandbox.remote.process import TOKEN, Execd
from tests.sandbox.stores import Store, make_store, sql_job

pytestmark = pytest.mark.needs("userns")

ENDLESS = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
SECONDS = "SELECT sum(hash(a.range * b.range)) > 0 FROM range(2000) AS a, range(120000) AS b"
_ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def service(store: Store) -> Iterator[Execd]:
    execd = Execd(store.root).start()
    yield execd
    execd.close()


@asynccontextmanager
async def _executor(url: str, **given: Any) -> AsyncGenerator[RemoteExecutor, None]:
    executor = RemoteExecutor(url, TOKEN, **given)
    try:
        yield executor
    finally:
        await executor.aclose()


@asynccontextmanager
async def _own(store: Store, **given: Any) -> AsyncGenerator[tuple[Execd, RemoteExecutor], None]:
    """A service that may come to harm."""
    execd = Execd(store.root).start()
    try:
        async with _executor(execd.url, **given) as executor:
            yield execd, executor
    finally:
        execd.close()


async def _until(condition: Callable[[], Any], seconds: float = 15) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


def _sandboxes(execd: Execd) -> int:
    """Processes of this service that burn processor time."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
            ticks[int(entry.name)] = int(fields[11]) + int(fields[12])
    below, todo = set[int](), [execd.process.pid]
    while todo:
        found = children.get(todo.pop(), [])
        below.update(found)
        todo += found
    return sum(ticks[pid] > 10 for pid in below if not children.get(pid))


async def test_a_killed_and_restarted_service_loses_no_job(store: Store) -> None:
    async with _own(store) as (execd, executor):
        before = await executor.start()
        job = sql_job(store, "crash-1", SECONDS, wall_ms=60_000)
        await executor.submit(job)
        await _until(lambda: _sandboxes(execd))
        execd.kill()
        await asyncio.sleep(0.3)
        assert await executor.status(job.id) == "running"
        execd.start()
        result = await executor.result(job.id)
        assert (result.status, result.rows) == ("succeeded", ((True,),)), result.error
        assert await executor.start() == before
        quick = sql_job(store, "crash-2", "SELECT count(*) FROM orders")
        await executor.submit(quick)
        assert (await executor.result(quick.id)).rows == ((2000,),)


async def test_a_service_lost_twice_under_a_job_is_told(store: Store) -> None:
    async with _own(store) as (execd, executor):
        job = sql_job(store, "crash-twice", ENDLESS, wall_ms=60_000)
        await executor.submit(job)
        for _ in range(2):
            await _until(lambda: _sandboxes(execd))
            execd.kill()
            execd.start()
        result = await executor.result(job.id)
        assert result.error is not None
        assert (result.error.code, result.error.type) == ("RUNNER_INTERNAL_ERROR", "SandboxLost")


async def test_a_service_that_does_not_come_back_is_told(store: Store) -> None:
    async with _own(store, patience_s=0.5) as (execd, executor):
        job = sql_job(store, "crash-end", ENDLESS, wall_ms=60_000)
        await executor.submit(job)
        await _until(lambda: _sandboxes(execd))
        execd.kill()
        with pytest.raises(SandboxUnavailable, match="cannot be reached"):
            await executor.result(job.id)


async def test_a_stopped_service_lets_its_jobs_end_first(store: Store) -> None:
    async with _own(store) as (execd, executor):
        job = sql_job(store, "graceful", SECONDS, wall_ms=60_000)
        await executor.submit(job)
        await _until(lambda: _sandboxes(execd))
        execd.process.send_signal(signal.SIGTERM)
        result = await executor.result(job.id)
        assert result.status == "succeeded", result.error
        assert execd.process.wait(20) == 0
        assert sum(line.get("path") == "/v1/jobs" for line in execd.lines()) == 1, "it ran once"


async def test_a_cancelled_job_burns_no_more_there(store: Store, service: Execd) -> None:
    async with _executor(service.url) as executor:
        job = sql_job(store, "cancel-there", ENDLESS, wall_ms=60_000)
        await executor.submit(job)
        await _until(lambda: _sandboxes(service))
        await executor.cancel(job.id)
        assert (await executor.result(job.id)).status == "cancelled"
        await _until(lambda: not _sandboxes(service))


_SERVER = """
import asyncio, sys
from sandtable.sandbox.job import Job
from sandtable.sandbox.remote.executor import RemoteExecutor

async def main():
    executor = RemoteExecutor(sys.argv[1], sys.argv[2])
    await executor.submit(Job.model_validate_json(sys.argv[3]))
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def test_a_server_that_dies_leaves_nothing_running(store: Store, service: Execd) -> None:
    job = sql_job(store, "orphan", ENDLESS, wall_ms=600_000)
    command = [sys.executable, "-c", _SERVER, service.url, TOKEN, job.model_dump_json()]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(_ROOT / "src")}) as server:
        await _until(lambda: _sandboxes(service), 30)
        server.kill()
    await _until(lambda: not _sandboxes(service))
    assert [line["reason"] for line in service.lines() if line["event"] == "job_dropped"][-1] == (
        "its connection broke"
    )


@pytest.mark.parametrize("by", ["connection", "request"])
async def test_one_of_two_real_replicas_dies(store: Store, by: By) -> None:
    replicas = [Execd(store.root).start(), Execd(store.root).start()]
    try:
        async with (
            forwarding([execd.url for execd in replicas], by) as url,
            _executor(url, parallel=4) as executor,
        ):
            jobs = [sql_job(store, f"two-{by}-{n}", SECONDS, wall_ms=60_000) for n in range(3)]
            for job in jobs:
                await executor.submit(job)
            await _until(lambda: all(_sandboxes(execd) for execd in replicas), 30)
            replicas[0].kill()
            results = await asyncio.gather(*(executor.result(job.id) for job in jobs))
            assert [result.rows for result in results] == [((True,),)] * 3
    finally:
        for execd in replicas:
            execd.close()


async def test_the_same_result_as_here(store: Store, service: Execd) -> None:
    here = LocalExecutor(store.root, parallel=2)
    async with _executor(service.url) as there:
        await _compare(store, here, there)
    await here.aclose()


async def _compare(store: Store, here: Executor, there: Executor) -> None:
    texts = ("SELECT region, sum(amount) AS s FROM orders GROUP BY region ORDER BY region", "SELECT nope")
    for number, text in enumerate(texts):
        results = []
        for executor in (here, there):
            job = sql_job(store, f"same-{number}", text)
            await executor.submit(job)
            results.append(await executor.result(job.id))
        first, second = (result.model_copy(update={"metrics": {}, "exec_time_ms": 0.0}) for result in results)
        assert first == second


async def test_the_sandboxes_there_withstand_the_self_test(
    store: Store, service: Execd, tmp_path: Path
) -> None:
    """With the bait in a folder that the service does not have."""
    async with _executor(service.url) as executor:
        report = await examine(executor, tmp_path)
        assert report.ok, report.problem
        assert len(report.attempts) > 10


async def test_python(store: Store, service: Execd) -> None:
    async with _executor(service.url) as executor:
        await executor.start("py")
        code = "print('hello')\nshow(orders.groupby('region', as_index=False)['amount'].sum())"
        job = sql_job(store, "code-1", code, mode="python", options={"names": {}, "seed": 1, "check": False})
        await executor.submit(job)
        result = await executor.result(job.id)
        assert result.status == "succeeded", result.error
        assert result.stdout.startswith("hello\n")
        assert [row[0] for row in result.rows] == ["east", "north", "south"]


async def test_data_that_are_not_there(store: Store, service: Execd) -> None:
    async with _executor(service.url) as executor:
        job = sql_job(store, "absent", "SELECT 1").model_copy(
            update={"dataset_version": "sha256:" + "7" * 64}
        )
        await executor.submit(job)
        error = (await executor.result(job.id)).error
        assert error is not None
        assert (error.code, error.type) == ("SANDBOX_UNAVAILABLE", "DataMissing")
        assert "7" * 64 in error.message and "read-only" in error.suggestion


@pytest.mark.needs("root")
async def test_data_on_a_read_only_disk(tmp_path: Path) -> None:
    bare = make_store(tmp_path / "bare")
    for folder in ("incoming", "staging", "empty"):
        (bare.root / folder).rmdir()
    execd = Execd(bare.root, read_only=True).start()
    try:
        async with _executor(execd.url) as executor:
            job = sql_job(bare, "read-only", "SELECT count(*) FROM orders")
            await executor.submit(job)
            assert (await executor.result(job.id)).rows == ((2000,),)
    finally:
        execd.close()
    assert [path.name for path in bare.root.iterdir()] == ["versions"]


async def test_no_word_of_the_token_is_logged(service: Execd) -> None:
    async with _executor(service.url) as executor:
        await executor.start()
    written = service.log.read_text("utf-8")
    assert "/v1/hello" in written and TOKEN not in written
