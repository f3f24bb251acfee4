"""Several servers on one namespace: a run happens once, whoever dies; nobody touches what lives."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes import connection
from sandtable.sandbox.kubernetes.template import pod_of
from tests.kubernetes.target import Target
from tests.sandbox.kubernetes.live import Room, job, run, until, until_running

pytestmark = pytest.mark.needs("cluster")

LASTING = "SELECT random() AS drawn, count(*) AS n FROM range(60000000) AS t(x) WHERE hash(x) % 7 = 1 "
"""A second or more of work, and another answer each time it is done."""
RUNS_SLOWLY = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"


@pytest.fixture
def room(cluster: Target, namespace: str, tmp_path: Path) -> Room:
    return Room(cluster, namespace, tmp_path)


def _run_id() -> str:
    return f"run_{secrets.token_hex(16)}"


async def test_replicas_share_a_namespace(room: Room) -> None:
    """Ids of their own, results of their own."""
    replicas = [room.executor(parallel=3) for _ in range(2)]
    asked = [[job(f"SELECT {10 * number + place} AS x") for place in range(4)] for number in range(2)]
    results = await asyncio.gather(
        *(run(replica, one) for replica, jobs in zip(replicas, asked, strict=True) for one in jobs)
    )
    assert [result.rows for result in results] == [((10 * n + p,),) for n in range(2) for p in range(4)]
    await asyncio.gather(*(replica.aclose() for replica in replicas))
    await until("all Jobs to go", lambda: not room.jobs())


async def test_the_same_job_runs_once(room: Room) -> None:
    """Both hear the number that was drawn in the one run."""
    replicas = [room.executor() for _ in range(2)]
    asked = job(LASTING, job_id=f"{_run_id()}-1")
    first, second = await asyncio.gather(*(run(replica, asked) for replica in replicas))
    assert first.status == "succeeded", first.error
    assert first.rows == second.rows
    await asyncio.gather(*(replica.aclose() for replica in replicas))


async def test_the_same_id_with_another_text_is_another_job(room: Room) -> None:
    replicas = [room.executor() for _ in range(2)]
    asked = job(RUNS_SLOWLY)
    await replicas[0].submit(asked)
    await until_running(replicas[0], asked.id)
    result = await run(replicas[1], asked.model_copy(update={"text": "SELECT 7 AS x"}))
    assert result.rows == ((7,),)
    await asyncio.gather(*(replica.aclose() for replica in replicas))


def _die_while_running(room: Room, asked: Job) -> None:
    told: dict[str, Any] = {
        "image": room.cluster.images["runner"],
        "namespace": room.namespace,
        "kubeconfig": room.cluster.kubeconfig,
        "job": asked.model_dump(mode="json"),
    }
    command = [sys.executable, "-m", "tests.sandbox.kubernetes.dying", json.dumps(told)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.kill()


async def test_the_job_of_a_dead_server_is_taken_over(room: Room) -> None:
    run_id = _run_id()
    await asyncio.to_thread(_die_while_running, room, job(LASTING, job_id=f"{run_id}-1"))
    (left,) = room.jobs()
    heir = room.executor()
    asked = job(LASTING, job_id=f"{run_id}-2")
    await heir.submit(asked)
    working = asyncio.create_task(heir.result(asked.id))
    while not working.done():
        found = await asyncio.to_thread(room.jobs)
        assert {one["metadata"]["uid"] for one in found} <= {left["metadata"]["uid"]}, "it was done again"
        await asyncio.sleep(0.2)
    assert (await working).status == "succeeded"
    await heir.aclose()
    assert not room.jobs()


async def test_what_a_dead_server_finished_is_read(room: Room) -> None:
    run_id = _run_id()
    await asyncio.to_thread(_die_while_running, room, job(LASTING, job_id=f"{run_id}-1"))
    await until("its end", lambda: room.jobs()[0]["status"].get("succeeded") == 1)
    (left,) = room.pods()
    said = room.cluster.kubectl("logs", left["metadata"]["name"], "-n", room.namespace)
    heir = room.executor()
    result = await run(heir, job(LASTING, job_id=f"{run_id}-2"))
    report = json.loads(said.splitlines()[-1])
    assert [list(row) for row in result.rows] == report["answer"]["rows"]
    await heir.aclose()


async def test_an_earlier_attempt_at_something_else_is_ended(room: Room) -> None:
    run_id = _run_id()
    await asyncio.to_thread(_die_while_running, room, job(RUNS_SLOWLY, job_id=f"{run_id}-1"))
    heir = room.executor()
    result = await run(heir, job("SELECT 1 AS x", job_id=f"{run_id}-2"))
    assert result.rows == ((1,),)
    await heir.aclose()
    assert not room.jobs()


async def test_only_what_is_over_is_swept_away(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    done, living = job("SELECT 1 AS x"), job(RUNS_SLOWLY)
    await asyncio.to_thread(_die_while_running, room, living)
    await asyncio.to_thread(_die_while_running, room, job(LASTING, job_id=done.id))
    await until("its end", lambda: sum(one["status"].get("succeeded", 0) for one in room.jobs()) == 1)
    monkeypatch.setattr(connection, "_LEFT_S", 0.5)
    await asyncio.sleep(2)
    newcomer = room.executor()
    await run(newcomer, job("SELECT 3 AS x"))
    await newcomer.aclose()
    (left,) = room.jobs()
    assert left["metadata"]["labels"]["sandtable.dev/run"] == living.id


async def test_a_sandbox_that_is_taken_away_is_made_again(room: Room) -> None:
    executor = room.executor()
    asked = job(LASTING)
    await executor.submit(asked)
    await until_running(executor, asked.id)
    room.cluster.kubectl("delete", "pods", "--all", "-n", room.namespace, "--force", "--grace-period=0")
    result = await executor.result(asked.id)
    assert result.status == "succeeded", result.error
    await executor.aclose()


async def test_a_full_quota_is_a_queue(room: Room) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": room.namespace},
        "spec": {"hard": {"pods": "2", "count/jobs.batch": "4"}},
    }
    room.cluster.apply(quota)
    executor = room.executor(parallel=7)
    asked = [job(f"SELECT {number} AS x") for number in range(7)]
    for one in asked:
        await executor.submit(one)
    reasons: set[str] = set()
    working = asyncio.gather(*(executor.result(one.id) for one in asked))
    while not working.done():
        reasons |= {reason for one in asked if (reason := await executor.waiting(one.id))}
        await asyncio.sleep(0.2)
    assert [result.rows for result in await working] == [((number,),) for number in range(7)]
    assert any("exceeded quota" in reason for reason in reasons), reasons
    await executor.aclose()


_ALL = ["create", "get", "list", "watch", "delete"]


def _account(room: Room, *rules: dict[str, Any]) -> Path:
    """A kubeconfig of an account that may do this and no more."""
    named = {"name": "server", "namespace": room.namespace}
    group = "rbac.authorization.k8s.io"
    room.cluster.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": named},
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": named, "rules": list(rules)},
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": named,
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "server"},
            "subjects": [{"kind": "ServiceAccount", **named}],
        },
    )
    token = room.cluster.kubectl("create", "token", "server", "-n", room.namespace).strip()
    config = json.loads(room.cluster.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    for user in config["users"]:
        user["user"] = {"token": token}
    path = room.folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path


_JOBS = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": _ALL}
_PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}
_LOGS = {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}


async def test_a_role_of_a_few_verbs_is_enough(room: Room) -> None:
    executor = room.executor(kubeconfig=[_account(room, _JOBS, _PODS, _LOGS)])
    assert (await run(executor, job("SELECT 1 AS x"))).rows == ((1,),)
    asked = job(RUNS_SLOWLY)
    await executor.submit(asked)
    await until_running(executor, asked.id)
    await executor.cancel(asked.id)
    await executor.aclose()
    assert not room.jobs()


async def test_without_the_right_to_read_events_a_wait_is_still_explained(room: Room) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": room.namespace},
        "spec": {"hard": {"pods": "0"}},
    }
    room.cluster.apply(quota)
    executor = room.executor(kubeconfig=[_account(room, _JOBS, _PODS, _LOGS)])
    asked = job("SELECT 1 AS x")
    await executor.submit(asked)
    async with asyncio.timeout(10):
        while "most likely because a quota is full" not in (await executor.waiting(asked.id) or ""):
            await asyncio.sleep(0.1)
    room.cluster.kubectl("delete", "resourcequota", "none", "-n", room.namespace)
    assert (await executor.result(asked.id)).rows == ((1,),)
    await executor.aclose()


async def test_what_is_missing_in_a_role_is_named(room: Room) -> None:
    jobs = {**_JOBS, "verbs": ["create", "get", "list"]}
    executor = room.executor(kubeconfig=[_account(room, jobs, _PODS)])
    with pytest.raises(SandboxUnavailable, match=r"may not do this .*: delete jobs, get pods/log"):
        await executor.start()
    await executor.aclose()


async def test_a_token_that_nobody_knows(room: Room) -> None:
    path = _account(room, _JOBS)
    path.write_text(path.read_text().replace('"token": "', '"token": "x'))
    executor = room.executor(kubeconfig=[path])
    with pytest.raises(SandboxUnavailable, match="does not accept our credentials"):
        await executor.start()
    await executor.aclose()


async def test_the_operators_template_reaches_the_pod(room: Room) -> None:
    def labelled(template: dict[str, Any]) -> None:
        template["spec"]["template"]["metadata"] = {"labels": {"team": "a"}}
        pod_of(template)["tolerations"] = [{"key": "runners", "operator": "Exists"}]

    executor = room.executor(change=labelled)
    asked = job(RUNS_SLOWLY)
    await executor.submit(asked)
    await until_running(executor, asked.id)
    (pod,) = room.pods()
    assert pod["metadata"]["labels"]["team"] == "a"
    assert {"key": "runners", "operator": "Exists"} in pod["spec"]["tolerations"]
    await executor.aclose()
