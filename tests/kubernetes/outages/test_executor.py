"""Daemons of the cluster end and start under running jobs: none is lost, each result is right."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandtable.sandbox.job import JobResult
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from tests.kubernetes.cluster.cluster import Cluster
from tests.kubernetes.target import Target
from tests.sandbox.kubernetes.live import Room, job, run, until_running

pytestmark = pytest.mark.needs("cluster")

AWAY_S = 20.0


@pytest.fixture
def room(cluster: Target, namespace: str, tmp_path: Path) -> Room:
    return Room(cluster, namespace, tmp_path)


def _text(number: int) -> str:
    return f"SELECT {number} AS x, count(*) AS n FROM range(40000000) AS t(x) WHERE hash(x) % 7 = 1"


async def _twenty(executor: KubernetesExecutor) -> list[asyncio.Task[JobResult]]:
    """Under way: one runs, others start, wait for their pod or for a place."""
    asked = [job(_text(number), wall_ms=60_000) for number in range(20)]
    working = [asyncio.create_task(run(executor, one)) for one in asked]
    await until_running(executor, asked[0].id)
    return working


async def _all_right(working: list[asyncio.Task[JobResult]]) -> None:
    results = await asyncio.gather(*working)
    assert [(result.status, result.rows and result.rows[0][0]) for result in results] == [
        ("succeeded", number) for number in range(20)
    ], [result.error for result in results if result.error]
    assert len({result.rows[0][1] for result in results}) == 1


async def test_the_api_server_is_away_for_a_while(room: Room, own_cluster: Cluster) -> None:
    executor = room.executor(parallel=4)
    working = await _twenty(executor)
    await asyncio.to_thread(own_cluster.stop, "kube-apiserver")
    await asyncio.sleep(AWAY_S)
    assert not any(task.done() and task.exception() for task in working)
    await asyncio.to_thread(own_cluster.start, "kube-apiserver")
    await asyncio.to_thread(own_cluster.wait_for, "kube-apiserver")
    await _all_right(working)
    await executor.aclose()
    assert not room.jobs()


@pytest.mark.parametrize("daemon", ["kubelet", "kube-controller-manager", "containerd"])
async def test_a_daemon_restarts(room: Room, own_cluster: Cluster, daemon: str) -> None:
    executor = room.executor(parallel=4)
    working = await _twenty(executor)
    await asyncio.to_thread(own_cluster.restart, daemon)
    await _all_right(working)
    await executor.aclose()
