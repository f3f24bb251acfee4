"""Daemons of the cluster come and go under running jobs: none is lost, none is done wrong."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.job import JobResult
from sandtable.sandbox.kubernetes.api import Api
from sandtable.sandbox.kubernetes.cluster import read_kubeconfig
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from sandtable.sandbox.kubernetes.pods import PodWatch
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


async def test_a_cluster_that_does_not_answer_is_told_soon(room: Room, tmp_path: Path) -> None:
    config = json.loads(room.cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    for cluster in config["clusters"]:
        cluster["cluster"]["server"] = "https://127.0.0.1:9"
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    executor = room.executor(kubeconfig=[path])
    started = time.monotonic()
    with pytest.raises(SandboxUnavailable, match=r"does not answer: .*https://127\.0\.0\.1:9"):
        await executor.start()
    assert time.monotonic() - started < 20
    await executor.aclose()


async def test_a_watch_outlives_the_memory_of_the_server(room: Room) -> None:
    """A version that was never there: the server says 410, and the watch begins anew."""
    api = Api(read_kubeconfig([Path(room.cluster.kubeconfig)]), room.namespace)
    told: list[str] = []
    real = api.pods

    async def forgetful(selector: str) -> tuple[list[dict[str, Any]], str]:
        found, version = await real(selector)
        told.append(version)
        return found, "1" if len(told) < 3 else version

    api.pods = forgetful
    try:
        async with PodWatch(api, "app=late") as watch, asyncio.timeout(20):
            while len(told) < 3:
                await watch.changed(1)
            _make_pod(room)
            while watch.newest is None:
                await watch.changed(1)
    finally:
        await api.aclose()


def _make_pod(room: Room) -> None:
    overrides = {
        "spec": {
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "late",
                    "image": room.cluster.images["runner"],
                    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                }
            ],
        }
    }
    room.cluster.kubectl(
        "run", "late", "-n", room.namespace, f"--image={room.cluster.images['runner']}", "--labels=app=late",
        "--restart=Never", f"--overrides={json.dumps(overrides)}",
    )  # fmt: skip
