"""What is looked at for a caller outside any run (checks, fixes, downloads): few at a time, and fairly."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandtable.capsule.query import Query, SqlQuery
from sandtable.policy.verdict import Approved, Verdict
from sandtable.sandbox.executor import executed
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.sandbox.job import Job
from sandtable.server import exports
from sandtable.settings import Settings
from tests.server.house import THIS_MACHINE
from tests.server.talking import Served, served


class Busy:
    """Work that ends when it is let go, and counts who is at it."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.at_it = 0
        self.most = 0
        self.given_up = 0

    async def __call__(self) -> None:
        self.at_it += 1
        self.most = max(self.most, self.at_it)
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        finally:
            self.at_it -= 1


@pytest.fixture
def busy() -> Busy:
    return Busy()


@pytest_asyncio.fixture
async def server(tmp_path: Path, busy: Busy, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    async with served(tmp_path, Settings(home=tmp_path, trusted_proxies=THIS_MACHINE)) as made:

        async def check(dataset: Any, query: Query) -> Verdict:
            if query == SqlQuery("SELECT slow"):
                await busy()
            return Approved("SELECT 1;")

        monkeypatch.setattr(made.house, "check", check)
        yield made


def ask(server: Served, sql: str, user: str) -> asyncio.Task[httpx.Response]:
    body, headers = {"dataset_id": "shop", "sql": sql}, {"X-Sandtable-User": user}
    return asyncio.create_task(server.client.post("/check", json=body, headers=headers))


async def sees(what: Any) -> None:
    async with asyncio.timeout(20):
        while not what():
            await asyncio.sleep(0.01)


async def test_one_user_has_one_check_at_a_time_and_others_theirs(server: Served, busy: Busy) -> None:
    slow = [ask(server, "SELECT slow", "mallory") for _ in range(8)]
    await sees(lambda: busy.at_it)
    assert (await ask(server, "SELECT 1", "bob")).json()["verdict"] == "approved"
    assert busy.most == 1
    busy.go.set()
    assert Counter(answer.status_code for answer in await asyncio.gather(*slow)) == {200: 8}


async def test_too_many_checks_are_refused_for_a_while(server: Served, busy: Busy) -> None:
    slow = [ask(server, "SELECT slow", "mallory") for _ in range(1 + 96)]
    await sees(lambda: len(server.app.state.checks._queues.get("mallory", ())) == 96)
    refused = await ask(server, "SELECT slow", "mallory")
    assert refused.status_code == 503 and refused.headers["retry-after"]
    assert "the user mallory has 96 checks waiting" in refused.json()["error"]["message"]
    assert (await ask(server, "SELECT 1", "bob")).status_code == 200
    busy.go.set()
    await asyncio.gather(*slow)


async def test_a_client_that_hangs_up_gives_its_place_back(server: Served, busy: Busy) -> None:
    slow = ask(server, "SELECT slow", "mallory")
    await sees(lambda: busy.at_it)
    slow.cancel()
    await sees(lambda: busy.given_up)
    assert (await ask(server, "SELECT 1", "mallory")).status_code == 200


async def test_a_download_has_its_place_only_while_it_is_made(
    server: Served, busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = exports.export_run

    async def slowly(*given: Any) -> Any:
        await busy()
        return await made(*given)

    monkeypatch.setattr(exports, "export_run", slowly)
    body = {"dataset_id": "shop", "sql": "SELECT 1"}
    paths: list[str] = []
    bob = {"X-Sandtable-User": "bob"}
    for headers in ({}, bob):
        run = await server.client.post("/runs", params={"wait": 20}, json=body, headers=headers)
        paths.append(f"/runs/{run.json()['run_id']}/result.csv")
    asked = [asyncio.create_task(server.client.get(paths[0])) for _ in range(3)]
    await sees(lambda: busy.at_it)
    other = asyncio.create_task(server.client.get(paths[1], headers=bob))
    await sees(lambda: busy.at_it == 2)
    busy.go.set()
    answers = await asyncio.gather(*asked, other)
    assert {answer.status_code for answer in answers} == {200} and busy.most == 2
    assert not server.app.state.checks._held


async def test_a_run_is_shown_without_fixes_when_the_checks_are_full(server: Served, busy: Busy) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT * FROM read_csv('x')"}
    mallory = {"X-Sandtable-User": "mallory"}
    run = (await server.client.post("/runs", params={"wait": 20}, json=body, headers=mallory)).json()
    assert run["status"] == "rejected"
    slow = [ask(server, "SELECT slow", "mallory") for _ in range(1 + 96)]
    await sees(lambda: len(server.app.state.checks._queues.get("mallory", ())) == 96)
    answer = await server.client.get(f"/runs/{run['run_id']}", headers=mallory)
    assert answer.status_code == 200 and answer.json()["status"] == "rejected"
    busy.go.set()
    await asyncio.gather(*slow)


async def test_a_text_that_is_being_parsed_for_someone_who_left_is_killed() -> None:
    executor = FakeExecutor(Script(delay_s=60))
    job = Job(id="parse_1", mode="parse", text="SELECT 1")
    waiting = asyncio.create_task(executed(executor, job))
    await executor.taken()
    waiting.cancel()
    assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], asyncio.CancelledError)
    assert executor.cancelled == ["parse_1"]
    await executor.aclose()
