"""Hostile capsules against a server with a real gate and sandbox: no 5xx, no leak, and others are served meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import SqlQuery
from sandtable.capsule.seal import read_statement, unpack
from sandtable.conversations.conversation import Conversation
from sandtable.runs.model import RunRequest
from sandtable.server.app import create_app
from sandtable.settings import Settings
from tests.agent.analysis.declared import declare_trips
from tests.capsule.forging import Ground
from tests.capsule.hostile import CORPUS, NOTHING, Hostile
from tests.own_logs import own_logs
from tests.server.house import THIS_MACHINE, report
from tests.server.talking import listening

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

SQL = "SELECT city, sum(revenue) AS revenue FROM trips GROUP BY city"
MOST_WORK_S = 1.0
"""Of this process while another caller waits. Processor time: how busy the machine is does not count."""


@dataclass(frozen=True)
class Place:
    client: httpx.AsyncClient
    parts: Parts
    ground: Ground
    log: list[Any]


@asynccontextmanager
async def _no_conversation(parts: Parts) -> AsyncGenerator[Conversation, None]:
    yield cast(Conversation, None)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    home = tmp_path_factory.mktemp("home")
    datasets = declare_trips(tmp_path_factory.mktemp("declared") / "trips")
    settings = Settings(
        home=home,
        datasets=datasets,
        web=home / "not-built",
        concurrency=2,
        trusted_proxies=THIS_MACHINE,
        insecure=True,
    )
    async with AsyncExitStack() as stack:
        stack.enter_context(own_logs())
        log = stack.enter_context(capture_logs())
        parts = await stack.enter_async_context(assemble(settings, serving=True))
        url = await stack.enter_async_context(listening(create_app(parts, report(), _no_conversation)))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=60))
        accepted = await parts.runs.submit(RunRequest(dataset_id="trips", query=SqlQuery(SQL)))
        run = await parts.runs.wait(accepted.id, 60)
        assert run.status == "succeeded", run.error
        honest = read_statement(unpack(await parts.runs.capsule(run.id))[0])["predicate"]
        yield Place(client, parts, Ground(parts.key, honest), log)


async def _work_beside(client: httpx.AsyncClient, until: asyncio.Future[Any]) -> float:
    """The most processor time that this process took while another caller waited for a short answer."""
    most = 0.0
    while True:
        begun = time.process_time()
        assert (await client.get("/datasets", headers={"X-Sandtable-User": "bob"})).status_code == 200
        most = max(most, time.process_time() - begun)
        if until.done():
            return most
        await asyncio.sleep(0)


@pytest.mark.parametrize("hostile", [pytest.param(one, id=name) for name, one in CORPUS.items()])
async def test_the_others_are_served_meanwhile(place: Place, hostile: Hostile) -> None:
    body = hostile.make(place.ground)
    place.log.clear()
    headers = {"Content-Type": "application/json", "X-Sandtable-User": "mallory"}
    asked = asyncio.create_task(place.client.post("/verify", content=body, headers=headers))
    work = await _work_beside(place.client, asked)
    answer = await asked
    if hostile.expected.isdigit():
        assert answer.status_code == int(hostile.expected), answer.text[:500]
        assert answer.json()["error"]["suggestion"]
    else:
        assert answer.status_code == 200, answer.text[:500]
        links = {link["name"]: link for link in answer.json()["links"]}
        broken = [name for name, link in links.items() if link["status"] == "broken"]
        assert broken == ([] if hostile.expected == NOTHING else [hostile.expected]), links
    assert len(answer.content) < 10_000
    assert str(place.parts.settings.home) not in answer.text
    assert work < MOST_WORK_S
    assert not [line for line in place.log if line["log_level"] in ("error", "critical")]


async def test_an_honest_capsule_verifies_after_all_that(place: Place) -> None:
    run_id = place.ground.honest["run_id"]
    report = (await place.client.post(f"/runs/{run_id}/verify")).json()
    assert report["ok"] and report["complete"], report
    body = {"dataset_id": "trips", "sql": "SELECT count(*) AS n FROM trips"}
    run = (await place.client.post("/runs", params={"wait": 60}, json=body)).json()
    assert run["status"] == "succeeded", run
