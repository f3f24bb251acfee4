"""The Kubernetes tier on a real cluster: how a run begins, ends, is cancelled, and what is left of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.errors import ErrorCode, InvalidInput, SandboxUnavailable
from sandtable.sandbox.job import DataRef, JobResult
from sandtable.sandbox.kubernetes import manifest
from sandtable.sandbox.kubernetes.executor import KubernetesExecutor
from sandtable.sandbox.kubernetes.manifest import Timeouts
from sandtable.sandbox.kubernetes.template import pod_of, runner_of
from tests.kubernetes.target import Target
from tests.sandbox.kubernetes.live import Room, job, run, until, until_running

pytestmark = pytest.mark.needs("cluster")

SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"


@pytest.fixture
def room(cluster: Target, namespace: str, tmp_path: Path) -> Room:
    return Room(cluster, namespace, tmp_path)


@pytest_asyncio.fixture
async def executor(room: Room) -> AsyncIterator[KubernetesExecutor]:
    made = room.executor(parallel=4)
    yield made
    await made.aclose()


def _error(result: JobResult) -> tuple[ErrorCode, str]:
    assert result.error is not None, result
    return result.error.code, result.error.type


async def test_what_the_tier_is(executor: KubernetesExecutor) -> None:
    hello = await executor.start()
    assert hello.engine.startswith("duckdb 2.")
    assert {"container:kubernetes", "pod-security:restricted", "read-only-root"} <= set(hello.layers)
    assert len(hello.layers) > 4, "what the runner found inside its container belongs to it"
    assert await executor.start() is hello


async def test_a_run_leaves_nothing(executor: KubernetesExecutor, room: Room) -> None:
    asked = job("SELECT 42 AS answer")
    assert await executor.status(asked.id) == "unknown"
    await executor.submit(asked)
    assert await executor.status(asked.id) == "pending"
    assert await executor.waiting(asked.id)
    result = await executor.result(asked.id)
    assert result.rows == ((42,),)
    assert await executor.waiting(asked.id) is None
    await until("the Job to go", lambda: not room.jobs())
    await until("its pod to go", lambda: not room.pods())


async def test_a_large_result_comes_whole_through_the_log(executor: KubernetesExecutor) -> None:
    """The container runtime cuts lines at 16 KiB; the kubelet puts them together again."""
    text = "SELECT x, repeat('ж🦆\"\\', 2500) AS t FROM range(160) AS r(x)"
    result = await run(executor, job(text, result_bytes=4 << 20))
    assert result.status == "succeeded", result.error
    assert len(result.rows) == 160
    assert {row[1] for row in result.rows} == {'ж🦆"\\' * 2500}


async def test_cancel_is_quick_and_ends_the_pod(executor: KubernetesExecutor, room: Room) -> None:
    asked = job(SLOW)
    await executor.submit(asked)
    await until_running(executor, asked.id)
    started = time.monotonic()
    await executor.cancel(asked.id)
    assert (await executor.result(asked.id)).status == "cancelled"
    assert time.monotonic() - started < 20
    await until("its pod to go", lambda: not room.pods(), 10)
    assert not room.jobs()


async def test_closing_deletes_what_was_started(room: Room) -> None:
    executor = room.executor()
    asked = job(SLOW)
    await executor.submit(asked)
    await until_running(executor, asked.id)
    await executor.aclose()
    assert not room.jobs()


@pytest.mark.parametrize(
    ("overhead_mb", "where"), [(-170, "the run"), (-280, "the whole container")], ids=["run", "container"]
)
async def test_out_of_memory(
    executor: KubernetesExecutor, monkeypatch: pytest.MonkeyPatch, overhead_mb: int, where: str
) -> None:
    """The sandbox's own limit is set out of reach, so that the container's is met: by the run, or before it."""
    monkeypatch.setitem(manifest._OVERHEAD_MB, "sql", overhead_mb)
    text = "SELECT list(x) FROM range(1000000000) AS t(x)"
    result = await run(executor, job(text, memory_mb=300, tmp_mb=0))
    assert _error(result) == (ErrorCode.RUNNER_RESOURCE_EXCEEDED, "MemoryLimit"), (where, result)


async def test_the_deadline_of_the_pod_is_behind_the_runners_own(room: Room) -> None:
    """A runner that hangs without a word."""

    def hang(template: dict[str, Any]) -> None:
        runner_of(template)["command"] = ["python3", "-c", "import time; time.sleep(600)"]

    executor = room.executor(change=hang, timeouts=Timeouts(start=4))
    result = await run(executor, job("SELECT 1", wall_ms=1000))
    assert _error(result) == (ErrorCode.RUNNER_TIMEOUT, "Timeout")
    await executor.aclose()


async def test_a_runner_that_dies_tells_its_last_words(room: Room) -> None:
    def die(template: dict[str, Any]) -> None:
        runner_of(template)["command"] = ["python3", "-c", "import sys; sys.exit('no engine here')"]

    executor = room.executor(change=die)
    result = await run(executor, job("SELECT 1"))
    assert _error(result) == (ErrorCode.RUNNER_INTERNAL_ERROR, "NoAnswer")
    assert "exit code 1" in (result.error.message if result.error else "")
    assert "no engine here" in result.stderr
    await executor.aclose()


def _never_pull(template: dict[str, Any]) -> None:
    runner_of(template).update(image="sandtable-runner:missing", imagePullPolicy="Never")


def _bad_secret(template: dict[str, Any]) -> None:
    source = {"secretKeyRef": {"name": "missing", "key": "x"}}
    runner_of(template)["env"] = [{"name": "X", "valueFrom": source}]


def _not_a_program(template: dict[str, Any]) -> None:
    runner_of(template)["command"] = ["/no/such/program"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_never_pull, "image cannot be pulled"),
        (_bad_secret, 'secret "missing" not found'),
        (_not_a_program, "does not start"),
    ],
    ids=["image", "secret", "program"],
)
async def test_what_will_never_run_is_told_at_once(room: Room, change: Any, told: str) -> None:
    executor = room.executor(change=change)
    started = time.monotonic()
    with pytest.raises(SandboxUnavailable, match=told) as caught:
        await run(executor, job("SELECT 1"))
    assert caught.value.suggestion
    assert time.monotonic() - started < 20
    await executor.aclose()


async def test_a_pod_that_the_policy_refuses_is_told_at_once(room: Room) -> None:
    """With events that may be read, the cluster's own words; nobody waits for the queue's patience."""

    def no_such_class(template: dict[str, Any]) -> None:
        pod_of(template)["serviceAccountName"] = "missing"

    executor = room.executor(change=no_such_class)
    with pytest.raises(SandboxUnavailable, match='serviceaccount "missing" not found'):
        await run(executor, job("SELECT 1"))
    await executor.aclose()


async def test_data_that_the_runners_do_not_have(executor: KubernetesExecutor) -> None:
    version = "sha256:" + "e" * 64
    asked = job("SELECT count(*) FROM t").model_copy(
        update={"dataset_version": version, "data": (DataRef(table="t", path="t.parquet"),)}
    )
    result = await run(executor, asked)
    assert _error(result) == (ErrorCode.SANDBOX_UNAVAILABLE, "DataMissing")
    assert version in (result.error.message if result.error else "")


async def test_a_namespace_that_is_not_there(cluster: Target, tmp_path: Path) -> None:
    executor = Room(cluster, "no-such-namespace", tmp_path).executor()
    with pytest.raises(SandboxUnavailable, match="namespace 'no-such-namespace' does not exist"):
        await executor.start()
    await executor.aclose()


async def test_a_cluster_without_room_is_waited_for_and_then_given_up(room: Room) -> None:
    def huge(template: dict[str, Any]) -> None:
        runner_of(template)["resources"] = {
            "requests": {"cpu": "0.1", "memory": "1Mi", "ephemeral-storage": "99Ti"}
        }
        pod_of(template)["nodeSelector"] = {"no": "such-node"}

    executor = room.executor(change=huge, timeouts=Timeouts(queue=4))
    asked = job("SELECT 1")
    await executor.submit(asked)
    async with asyncio.timeout(4):
        while "no room for it" not in (await executor.waiting(asked.id) or ""):
            await asyncio.sleep(0.1)
    assert await executor.status(asked.id) == "pending"
    with pytest.raises(SandboxUnavailable, match="no pod began within 4 s: the cluster has no room"):
        await executor.result(asked.id)
    await executor.aclose()


@pytest.mark.parametrize("mode", ["ingest", "export", "session"])
async def test_what_a_job_cannot_do(executor: KubernetesExecutor, mode: str) -> None:
    with pytest.raises(InvalidInput, match=mode):
        await executor.submit(job("", mode=mode))
