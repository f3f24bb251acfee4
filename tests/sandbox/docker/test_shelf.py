"""Containers that wait: there before they are needed, used once, replaced, and not too many."""

from __future__ import annotations

import asyncio

import pytest

from sandtable.observing import Tracer
from sandtable.sandbox.docker.container import Container
from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.job import Job, JobResult
from tests.sandbox.docker.engine import containers, until
from tests.sandbox.stores import Store, sql_job

pytestmark = pytest.mark.needs("docker_images")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the containers that served a job, in order."""
    names: list[str] = []
    real = Container.serve

    async def serve(self: Container, job: Job, tracer: Tracer) -> JobResult:
        names.append(self.name)
        return await real(self, job, tracer)

    monkeypatch.setattr(Container, "serve", serve)
    return names


async def _run(executor: DockerExecutor, job: Job) -> JobResult:
    await executor.submit(job)
    return await executor.result(job.id)


async def test_the_first_job_finds_one_that_waits(
    executor: DockerExecutor, store: Store, served: list[str]
) -> None:
    await executor.warm(sql_job(store, "example", ""))
    waiting = containers(executor.instance)
    assert len(waiting) == 1
    assert (await _run(executor, sql_job(store, "job", "SELECT 1 AS x"))).rows == ((1,),)
    assert set(served) == waiting


async def test_no_container_serves_twice(executor: DockerExecutor, store: Store, served: list[str]) -> None:
    for index in range(4):
        result = await _run(executor, sql_job(store, f"job-{index}", "SELECT count(*) FROM orders"))
        assert result.rows == ((2000,),), result.error
    assert len(set(served)) == 4
    await executor.settle()
    assert not await until(executor.instance, 1) & set(served), "what served a job is gone"


async def test_another_memory_limit_is_another_container(
    executor: DockerExecutor, store: Store, served: list[str]
) -> None:
    await executor.warm(sql_job(store, "example", "", memory_mb=256))
    waiting = containers(executor.instance)
    await _run(executor, sql_job(store, "job", "SELECT 1 AS x", memory_mb=300))
    assert not set(served) & waiting


async def test_only_the_kinds_used_lately_wait(executor: DockerExecutor, store: Store) -> None:
    for memory in (256, 257, 258, 259, 260):
        await executor.warm(sql_job(store, "example", "", memory_mb=memory))
    await until(executor.instance, 4)


async def test_one_that_died_while_it_waited_is_not_used(
    executor: DockerExecutor, store: Store, served: list[str]
) -> None:
    await executor.warm(sql_job(store, "example", ""))
    (waiting,) = containers(executor.instance)
    process = await asyncio.create_subprocess_exec(
        "docker", "kill", waiting, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    await process.wait()
    assert (await _run(executor, sql_job(store, "job", "SELECT 1 AS x"))).rows == ((1,),)


async def test_nothing_is_left_when_it_is_closed(store: Store, executor: DockerExecutor) -> None:
    await executor.warm(sql_job(store, "example", ""))
    slow = sql_job(
        store, "slow", "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"
    )
    await executor.submit(slow)
    await asyncio.sleep(0.2)
    await executor.aclose()
    assert containers(executor.instance) == set()


async def test_a_cancelled_start_leaves_nothing(store: Store, executor: DockerExecutor) -> None:
    """At whatever point of a container's making the cancel meets it."""
    for index, pause in enumerate((0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4)):
        job = sql_job(store, f"job-{index}", "SELECT 1", memory_mb=200 + index)
        await executor.submit(job)
        await asyncio.sleep(pause)
        await executor.cancel(job.id)
        assert (await executor.result(job.id)).status in ("cancelled", "succeeded")
    await executor.aclose()
    assert containers(executor.instance) == set()
