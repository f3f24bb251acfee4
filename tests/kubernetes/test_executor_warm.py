"""Pods that wait for a job: quick, used once, replaced, and never in the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.errors import ErrorCode
from sandtable.sandbox.executor import Kind
from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes import executor as executor_module
from sandtable.sandbox.kubernetes import warm
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from sandtable.sandbox.report import RunnerReport
from tests.kubernetes.target import Target
from tests.sandbox.kubernetes.live import Room, job, run, until, until_running

pytestmark = pytest.mark.needs("cluster")

SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
WARM = "sandtable.dev/warm=true"


@pytest.fixture
def room(cluster: Target, namespace: str, tmp_path: Path) -> Room:
    return Room(cluster, namespace, tmp_path)


async def _ready(executor: KubernetesExecutor, count: int, kind: Kind = "sql") -> None:
    """Pods that are as large as the jobs of these tests."""
    await executor.warm(job("", mode="python" if kind == "py" else "sql"))
    opened = await executor._opened()
    async with asyncio.timeout(60):
        while opened.shelves[kind].ready < count:
            await asyncio.sleep(0.05)


@pytest_asyncio.fixture
async def executor(room: Room) -> AsyncIterator[KubernetesExecutor]:
    made = room.executor(warm=1)
    await _ready(made, 1)
    yield made
    await made.aclose()
    assert not room.jobs()


def _names(room: Room) -> set[str]:
    return {one["metadata"]["name"] for one in room.jobs()}


async def test_a_warm_pod_serves_one_job_and_is_replaced(executor: KubernetesExecutor, room: Room) -> None:
    before = _names(room)
    result = await run(executor, job("SELECT 42 AS answer"))
    assert result.rows == ((42,),)
    assert result.metrics["total_ms"] < 1000, "no Job was made for it"
    await _ready(executor, 1)
    await until("the used one to go", lambda: not before & _names(room))
    assert len(_names(room)) == 1
    assert (await executor.start()).engine.startswith("duckdb")


async def test_a_burst_is_served_by_jobs(executor: KubernetesExecutor) -> None:
    results = await asyncio.gather(*(run(executor, job(f"SELECT {n} AS x")) for n in range(4)))
    assert [result.rows for result in results] == [((n,),) for n in range(4)]
    assert sorted(result.metrics["begun_ms"] for result in results)[0] < 1000


async def test_what_does_not_fit_gets_a_job(executor: KubernetesExecutor, room: Room) -> None:
    before = _names(room)
    result = await run(executor, job("SELECT 1 AS x", memory_mb=1500))
    assert result.rows == ((1,),)
    assert before <= _names(room), "the pod that waits is untouched"


async def test_cancel_ends_a_warm_pod(executor: KubernetesExecutor, room: Room) -> None:
    asked = job(SLOW)
    before = _names(room)
    await executor.submit(asked)
    await until_running(executor, asked.id)
    await executor.cancel(asked.id)
    assert (await executor.result(asked.id)).status == "cancelled"
    await until("the used one to go", lambda: not before & _names(room))


async def test_limits_hold_in_a_warm_pod(executor: KubernetesExecutor) -> None:
    slow = await run(executor, job(SLOW, wall_ms=500))
    assert slow.error is not None
    assert slow.error.code == ErrorCode.RUNNER_TIMEOUT
    await _ready(executor, 1)
    large = await run(executor, job("SELECT list(x) FROM range(1000000000) AS t(x)", memory_mb=128))
    assert large.error is not None
    assert large.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED


async def test_a_warm_pod_that_dies_is_replaced(executor: KubernetesExecutor, room: Room) -> None:
    (before,) = _names(room)
    room.cluster.kubectl("delete", "job", before, "-n", room.namespace)
    await until("another one", lambda: bool(_names(room) - {before}))
    await _ready(executor, 1)
    assert (await run(executor, job("SELECT 1 AS x"))).rows == ((1,),)


async def test_a_pod_that_cannot_be_reached_is_not_needed(
    executor: KubernetesExecutor, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a network policy in between: the job gets a Job, and no more pods are kept."""

    async def to_no_pod(address: str, token: str, nonce: str, job: Job) -> RunnerReport:
        return await warm.talk("127.0.0.1", token, nonce, job)

    monkeypatch.setattr(executor_module, "talk", to_no_pod)
    for _ in range(3):
        await _ready(executor, 1)
        assert (await run(executor, job("SELECT 1 AS x"))).rows == ((1,),)
    await until("the last one to go", lambda: not _names(room))


async def test_a_pod_that_waited_long_is_replaced(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    made = room.executor(warm=1)
    monkeypatch.setattr(made, "_setup", replace(made._setup, warm_idle_s=8.0))
    await _ready(made, 1)
    before = _names(room)
    await until("another one", lambda: bool(_names(room) - before))
    await _ready(made, 1)
    await made.aclose()
    assert not room.jobs()


async def test_without_anybody_they_end_by_themselves(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a server that was killed."""
    made = room.executor(warm=1)
    monkeypatch.setattr(made, "_setup", replace(made._setup, warm_idle_s=6.0))
    await _ready(made, 1)
    opened = await made._opened()
    keeping = opened.shelves["sql"]._task
    assert keeping is not None
    keeping.cancel()
    await until("its end", lambda: any(one["status"].get("succeeded") for one in room.jobs(WARM)))
    await made.aclose()


async def test_code_has_pods_of_its_own_once_some_came(room: Room) -> None:
    image = room.cluster.images["runner"].replace("sandtable-runner:", "sandtable-runner-python:")
    made = room.executor(warm=1, image=image)
    asked = [job(f"print({n})", mode="python", memory_mb=512, wall_ms=30_000) for n in range(2)]
    first = await run(made, asked[0])
    assert first.stdout == "0\n", (first.error, first.stderr)
    await _ready(made, 1, "py")
    second = await run(made, asked[1])
    assert second.stdout == "1\n", (second.error, second.stderr)
    assert second.metrics["begun_ms"] < 1000
    await made.aclose()
    assert not room.jobs()
