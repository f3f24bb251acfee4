"""Verifications over HTTP: fair between users, no burden for runs, and over when their client hangs up."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandtable.capsule import examine as examining
from sandtable.runs import verifier
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import Job, JobResult
from sandtable.settings import Settings
from tests.capsule.forging import Ground
from tests.capsule.hostile import CORPUS
from tests.server.house import THIS_MACHINE
from tests.server.talking import Served, served

SLOW = Script(delay_s=60)
"""As long as a job may take, two seconds here."""
_ANN = {"X-Sandtable-User": "ann"}
Post = Callable[..., asyncio.Task[httpx.Response]]


class Places(FakeExecutor):
    """As a real tier: so many jobs at the same time, and the others wait while their clocks run."""

    def __init__(self, places: int) -> None:
        super().__init__()
        self._places = asyncio.Semaphore(places)

    async def _play(self, job: Job) -> JobResult:
        async with self._places:
            return await super()._play(job)


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    settings = Settings(
        home=tmp_path, concurrency=1, web=tmp_path / "not-built", trusted_proxies=THIS_MACHINE
    )
    async with served(tmp_path, settings, executor=Places(settings.places)) as made:
        yield made


@pytest_asyncio.fixture
async def capsule(server: Served) -> dict[str, Any]:
    """Of a run that takes long when it is run again."""
    run = await _run(server, "SELECT slow", "ann")
    assert run["status"] == "succeeded"
    made = (await server.client.get(f"/runs/{run['run_id']}/capsule", headers=_ANN)).json()
    server.house.executor.on("SELECT slow;", SLOW)
    return made


async def _run(server: Served, sql: str, user: str) -> dict[str, Any]:
    body = {"dataset_id": "shop", "sql": sql, "timeout_ms": 500}
    headers = {"X-Sandtable-User": user}
    return (await server.client.post("/runs", params={"wait": 20}, json=body, headers=headers)).json()


def _verify(server: Served, given: Any, user: str = "mallory") -> asyncio.Task[httpx.Response]:
    headers = {"X-Sandtable-User": user}
    return asyncio.create_task(server.client.post("/verify", json=given, headers=headers))


async def _sees(what: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not what():
            await asyncio.sleep(0.01)


def _derived(server: Served) -> list[str]:
    """The jobs of verifications, in order."""
    return [job.id for job in server.house.executor.jobs if job.id.startswith("verify-")]


async def _hang_up(*asked: asyncio.Task[Any]) -> None:
    for task in asked:
        task.cancel()
    await asyncio.gather(*asked, return_exceptions=True)


async def test_twelve_verifications_do_not_make_another_users_run_fail(
    server: Served, capsule: dict[str, Any]
) -> None:
    asked = [_verify(server, capsule) for _ in range(12)]
    await _sees(lambda: _derived(server))
    await asyncio.sleep(0.2)
    run = await _run(server, "SELECT 1", "bob")
    assert run["status"] == "succeeded", run
    assert len(_derived(server)) == 1
    await _hang_up(*asked)


async def test_a_client_that_hangs_up_ends_its_verification(server: Served, capsule: dict[str, Any]) -> None:
    asked = _verify(server, capsule)
    await _sees(lambda: _derived(server))
    await _hang_up(asked)
    await _sees(lambda: server.house.executor.cancelled)
    assert server.house.executor.cancelled == _derived(server)
    server.house.executor.on("SELECT slow;", Script())
    again = await _verify(server, capsule)
    assert again.json()["ok"], "its place is free again"


async def test_a_client_that_hangs_up_while_it_waits_leaves_the_queue(
    server: Served, capsule: dict[str, Any]
) -> None:
    first = _verify(server, capsule)
    await _sees(lambda: _derived(server))
    waiting = [_verify(server, capsule) for _ in range(3)]
    await _sees(lambda: server.house.verifier._deriving._queues.get("mallory"))
    await _hang_up(*waiting)
    await _sees(lambda: not server.house.verifier._deriving._queues)
    server.house.executor.on("SELECT slow;", Script())
    await _hang_up(first)
    assert (await _verify(server, capsule)).json()["ok"]
    assert len(_derived(server)) == 2


async def test_beyond_the_queue_is_refused_and_others_still_come_in(
    server: Served, capsule: dict[str, Any]
) -> None:
    waiting = [_verify(server, capsule) for _ in range(13)]
    await _sees(lambda: len(server.house.verifier._deriving._queues.get("mallory", ())) == 12)
    refused = await _verify(server, capsule)
    assert refused.status_code == 503 and refused.headers["retry-after"]
    problem = refused.json()["error"]
    assert problem["message"].startswith("the user mallory has 12 verifications waiting")
    assert "SANDTABLE_USER_SHARE" in problem["suggestion"]
    server.house.executor.on("SELECT slow;", Script())
    other = await _verify(server, capsule, "bob")
    assert (other.status_code, other.json()["ok"]) == (200, True)
    await _hang_up(*waiting)


@pytest.mark.parametrize(
    "name",
    ["a capsule like any other", "1,500 earlier cells", "SQL of 20,000 brackets", "a payload of digits"],
)
async def test_a_capsule_by_an_unknown_key_needs_no_place(
    server: Served, capsule: dict[str, Any], name: str
) -> None:
    waiting = [_verify(server, capsule) for _ in range(8)]
    await _sees(lambda: server.house.verifier._deriving._queues)
    body = CORPUS[f"unknown key: {name}"].make(Ground(server.house.key))
    answer = await server.client.post("/verify", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200 and not answer.json()["ok"]
    assert server.house.verifier._deriving._queues, "the others still wait"
    derived = [job.text for job in server.house.executor.jobs if job.id.startswith("verify-")]
    assert set(derived) == {"SELECT slow;"}
    await _hang_up(*waiting)


async def test_it_takes_no_longer_than_it_may(
    server: Served, capsule: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "MOST_S", 0.2)
    report = (await _verify(server, capsule)).json()
    assert report["ok"] and not report["complete"]
    assert {link["detail"] for link in report["links"][4:]} == {"deriving it again took more than 0.2 s"}
    await _sees(lambda: server.house.executor.cancelled == _derived(server))


async def test_a_stored_capsule_waits_in_the_same_queue(server: Served, capsule: dict[str, Any]) -> None:
    first = _verify(server, capsule)
    await _sees(lambda: _derived(server))
    run_id = (await server.client.get("/runs", headers=_ANN)).json()["runs"][0]["run_id"]
    second = asyncio.create_task(server.client.post(f"/runs/{run_id}/verify", headers=_ANN))
    await _sees(lambda: server.house.verifier._deriving._queues)
    await _hang_up(second)
    await _sees(lambda: not server.house.verifier._deriving._queues)
    await _hang_up(first)


async def test_a_capsule_is_read_on_a_thread(
    server: Served, capsule: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_on: list[int] = []
    real = examining.parted

    def noting(given: Any) -> Any:
        read_on.append(threading.get_ident())
        return real(given)

    monkeypatch.setattr(examining, "parted", noting)
    server.house.executor.on("SELECT slow;", Script())
    assert (await _verify(server, capsule)).json()["ok"]
    assert read_on and threading.get_ident() not in read_on


async def test_the_same_data_is_hashed_once_at_a_time(server: Served, capsule: dict[str, Any]) -> None:
    hashing, go = list[str](), asyncio.Event()

    async def slowly(dataset: Any) -> str:
        hashing.append(dataset.version)
        await go.wait()
        return dataset.version

    server.house.verifier._rehash = slowly
    server.house.executor.on("SELECT slow;", Script())
    for _ in range(3):
        asked = _verify(server, capsule)
        await _sees(lambda: server.house.verifier._deriving._held)
        await _sees(lambda: hashing)
        await _hang_up(asked)
        await _sees(lambda: not server.house.verifier._deriving._held)
    last = _verify(server, capsule)
    await _sees(lambda: server.house.verifier._deriving._held)
    go.set()
    assert (await last).json()["ok"]
    assert len(hashing) == 1


async def test_what_is_no_json_is_refused_as_such(server: Served) -> None:
    for body in (b"", b"{", b"[]", json.dumps("x").encode()):
        headers = {"Content-Type": "application/json"}
        answer = await server.client.post("/verify", content=body, headers=headers)
        problem = answer.json()["error"]
        assert (answer.status_code, problem["code"]) == (422, "VALIDATION_ERROR")
        assert problem["message"].startswith("the capsule file") and problem["suggestion"]
