"""The engine goes away and comes back: jobs are tried again or told so, and afterwards everything is as before."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.docker.executor import DockerExecutor
from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import containers
from tests.sandbox.docker.own_engine import OwnEngine, own_engine
from tests.sandbox.stores import Store, sql_job

pytestmark = [pytest.mark.needs("docker_images", "root")]

_BUSY = "SELECT sum(hash(a.range * b.range)) % 7 AS s FROM range(3000) AS a, range(30000) AS b"


@pytest.fixture(scope="module")
def engine() -> Iterator[OwnEngine]:
    with own_engine() as made:
        yield made


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
async def test_the_engine_is_started_again_under_jobs(
    engine: OwnEngine, store: Store, number: signal.Signals
) -> None:
    executor = DockerExecutor(store.root, image=RUNNER_IMAGE, host=engine.host, warm=1, parallel=2)
    try:
        await executor.warm(sql_job(store, "example", "", wall_ms=60_000))
        jobs = [sql_job(store, f"job-{index}", _BUSY, wall_ms=60_000) for index in range(2)]
        for job in jobs:
            await executor.submit(job)
        await asyncio.sleep(1.0)
        await asyncio.to_thread(engine.end, number)
        # Its absence is noticed before it is back.
        back = threading.Timer(1.0, engine.start)
        back.start()
        try:
            results = await asyncio.gather(*(executor.result(job.id) for job in jobs))
        finally:
            await asyncio.to_thread(back.join)
        assert {result.status for result in results} == {"succeeded"}, results
        assert len({result.rows for result in results}) == 1
        await executor.submit(sql_job(store, "after", "SELECT count(*) FROM orders"))
        assert (await executor.result("after")).rows == ((2000,),)
    finally:
        await executor.aclose()
    assert containers(executor.instance, host=engine.host) == set()


async def test_the_engine_is_away_and_comes_back(engine: OwnEngine, store: Store) -> None:
    executor = DockerExecutor(store.root, image=RUNNER_IMAGE, host=engine.host, warm=1)
    try:
        await executor.start()
        await asyncio.to_thread(engine.end, signal.SIGTERM)
        await executor.submit(sql_job(store, "away", "SELECT 1 AS x"))
        with pytest.raises(SandboxUnavailable):
            await executor.result("away")
        await asyncio.to_thread(engine.start)
        await executor.submit(sql_job(store, "back", "SELECT 1 AS x"))
        assert (await executor.result("back")).rows == ((1,),)
    finally:
        await executor.aclose()
