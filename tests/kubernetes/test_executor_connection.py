"""The executor's connection to the API server: one that does not answer, and a watch that the server has forgotten."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.api import Api
from sandtable.sandbox.kubernetes.cluster import read_kubeconfig
from sandtable.sandbox.kubernetes.pods import PodWatch
from tests.kubernetes.target import Target
from tests.sandbox.kubernetes.live import Room

pytestmark = pytest.mark.needs("cluster")


@pytest.fixture
def room(cluster: Target, namespace: str, tmp_path: Path) -> Room:
    return Room(cluster, namespace, tmp_path)


async def test_a_cluster_that_does_not_answer_is_reported_soon(room: Room, tmp_path: Path) -> None:
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
    """A version that was never there: the server says 410, and the watch begins again."""
    api = Api(read_kubeconfig([Path(room.cluster.kubeconfig)]), room.namespace)
    versions: list[str] = []
    real = api.pods

    async def forgetful(selector: str) -> tuple[list[dict[str, Any]], str]:
        found, version = await real(selector)
        versions.append(version)
        return found, "1" if len(versions) < 3 else version

    api.pods = forgetful
    try:
        async with PodWatch(api, "app=late") as watch, asyncio.timeout(20):
            while len(versions) < 3:
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
