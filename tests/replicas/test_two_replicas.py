"""Two servers on one Postgres: one is killed in the middle of its work, and nobody misses anything."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
import psycopg
import pytest

from tests.replicas.replica import Replica, prepared, replicas
from tests.server.talking import WIRE, SseEvent, sse

pytestmark = pytest.mark.needs("postgres")

RUNS = 200
TIMEOUT_S = 6
PATIENCE_S = 50.0
SLOW = "SELECT count(*) AS n FROM range(100000) AS a, range(1000000) AS b"
STATEMENTS: tuple[dict[str, Any], ...] = (
    {"sql": "SELECT {n} + count(*) AS n FROM orders"},
    {"sql": "SELECT category, count(*) FROM order_items GROUP BY category LIMIT {n}"},
    {"sql": "SELECT {n} + count(*) FROM range(20000) AS a, range(1000) AS b"},
    {"sql": "SELECT * FROM read_csv('/etc/{n}')"},
    {"plan": {"dataset_id": "ecommerce", "table": "orders", "select": [{"agg": "count"}]}, "cache": False},
)


def request(number: int) -> dict[str, Any]:
    body = dict(STATEMENTS[number % len(STATEMENTS)])
    if "sql" in body:
        body["sql"] = body["sql"].replace("{n}", str(number + 1))
    return {"dataset_id": "ecommerce", **body}


Pair = tuple[Replica, Replica, str]


@pytest.fixture(scope="module")
def pair(cluster: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers, and the address of what they share. The last test kills one of them."""
    with psycopg.connect(cluster, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA two_replicas")
    url = f"{cluster}&options=-csearch_path%3Dtwo_replicas"
    homes = prepared(tmp_path_factory.mktemp("replicas"), "ab")
    with replicas(homes, url, CONCURRENCY="2", USER_SHARE="1", TIMEOUT_S=str(TIMEOUT_S)) as (a, b):
        yield a, b, url


@asynccontextmanager
async def client(replica: Replica) -> AsyncGenerator[httpx.AsyncClient, None]:
    async with httpx.AsyncClient(base_url=replica.url, timeout=60) as made:
        # The data is converted once in each home.
        first = {"dataset_id": "ecommerce", "sql": "SELECT 1", "cache": False}
        assert (await made.post("/runs", params={"wait": 50}, json=first)).status_code == 200
        yield made


async def submit(at: httpx.AsyncClient, body: dict[str, Any]) -> str:
    answer = await at.post("/runs", json=body)
    assert answer.status_code in (200, 202), answer.text
    return answer.json()["run_id"]


async def ask(at: httpx.AsyncClient, text: str) -> str:
    """A question that is worked on in the background; the path of its run."""
    thread = (await at.post(f"{WIRE}/threads", json={})).json()["thread_id"]
    message = {"messages": [{"type": "human", "content": text}]}
    body = {"assistant_id": "ecommerce", "input": message, "stream_mode": ["values", "custom"]}
    run = await at.post(f"{WIRE}/threads/{thread}/runs", json=body)
    assert run.status_code == 200, run.text
    return f"{WIRE}/threads/{thread}/runs/{run.json()['run_id']}"


async def listen(
    at: httpx.AsyncClient, path: str, after: str = "", most: int | None = None
) -> list[SseEvent]:
    """The events after this one: the first few, or all to the end."""
    events: list[SseEvent] = []
    headers = {"Last-Event-ID": after} if after else {}
    async with at.stream("GET", f"{path}/stream", headers=headers) as answer:
        async for event in sse(answer):
            events.append(event)
            if len(events) == most:
                break
    return events


async def test_a_cancel_reaches_the_replica_that_executes(pair: Pair) -> None:
    a, b, _ = pair
    async with client(a) as at_a, client(b) as at_b:
        run_id = await submit(at_a, {"dataset_id": "ecommerce", "sql": SLOW})
        at_work: list[bool] = []
        for _ in range(500):
            at_work = [any(line["run_id"] == run_id for line in r.said("run_started")) for r in (a, b)]
            if any(at_work):
                break
            await asyncio.sleep(0.01)
        assert sum(at_work) == 1
        elsewhere = at_b if at_work[0] else at_a
        answer = await elsewhere.post(f"/runs/{run_id}/cancel")
        assert answer.json()["status"] == "cancelled", answer.text
        report = (await elsewhere.post(f"/runs/{run_id}/verify")).json()
        assert report["ok"], report


async def test_a_killed_replica_loses_nothing(pair: Pair) -> None:
    a, b, url = pair
    async with client(a) as at_a, client(b) as at_b:
        accepted = await asyncio.gather(*(submit(at_a, request(n)) for n in range(RUNS)))
        # Their queries wait behind the others: both streams are open when the server behind them dies.
        of_a, of_b = await ask(at_a, SLOW), await ask(at_b, "How many orders are there?")
        heard_a, heard_b = await listen(at_a, of_a, most=2), await listen(at_a, of_b, most=2)
        await until_both_work(url)
        a.kill()
        rest_b = await listen(at_b, of_b, after=heard_b[-1].id or "")
        rest_a = await listen(at_b, of_a, after=heard_a[-1].id or "")
        assert_whole(heard_b + rest_b)
        assert "9,172" in rest_b[-1].data["messages"][-1]["content"]
        # The other one takes up the question that the dead one had, and tells what became of it.
        assert_whole(heard_a + rest_a)
        assert rest_a[-1].name == "values"
        assert f"{TIMEOUT_S} s" in rest_a[-1].data["messages"][-1]["content"], rest_a[-1]
        for run_id in accepted:
            run = (await at_b.get(f"/runs/{run_id}", params={"wait": PATIENCE_S})).json()
            assert run["status"] in ("succeeded", "rejected"), run
        assert_ended_once(url, accepted, a, b)
        assert any(line["attempt"] == 2 for line in b.said("run_started"))
        await assert_verified(at_b, accepted)


def assert_whole(events: Sequence[SseEvent]) -> None:
    """From the first event to the end, numbered without a hole, but for whole states that a later one made
    unnecessary. Where another server took the answer up, it begins anew, further on."""
    numbers = [int(event.id or 0) for event in events]
    assert numbers == sorted(set(numbers)) and numbers[0] == 1
    anew = [n for n, event in zip(numbers, events, strict=True) if event.name == "metadata"]
    for begin, end in zip(anew, [*anew[1:], numbers[-1] + 1], strict=True):
        told = [n for n in numbers if begin <= n < end]
        missing = set(range(begin, told[-1])) - set(told)
        assert len(missing) <= sum(event.name == "values" for event in events), numbers


async def until_both_work(url: str) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        with psycopg.connect(url) as connection:
            owners = connection.execute(
                "SELECT count(DISTINCT owner), count(*) FROM sandtable_runs WHERE status = 'running'"
            ).fetchone()
            done = connection.execute("SELECT count(*) FROM sandtable_capsules").fetchone()
        if owners and done and owners[0] == 2 and owners[1] >= 3 and done[0] > RUNS // 5:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the two never worked at the same time")


def assert_ended_once(url: str, accepted: Sequence[str], *servers: Replica) -> None:
    with psycopg.connect(url) as connection:
        ended = dict(
            connection.execute(
                "SELECT id, count(run_id) FROM sandtable_runs LEFT JOIN sandtable_capsules ON run_id = id"
                " WHERE status NOT IN ('pending', 'running') GROUP BY id"
            ).fetchall()
        )
    assert set(accepted) <= set(ended)
    assert set(ended.values()) == {1}
    told = Counter(str(line["run_id"]) for server in servers for line in server.said("run_finished"))
    assert told.most_common(1)[0][1] == 1
    for server in servers:
        assert len(server.said("run_finished")) > RUNS // 20


async def assert_verified(at: httpx.AsyncClient, accepted: Sequence[str]) -> None:
    places = asyncio.Semaphore(4)

    async def verified(run_id: str) -> dict[str, Any]:
        async with places:
            return (await at.post(f"/runs/{run_id}/verify")).json()

    for report in await asyncio.gather(*map(verified, accepted)):
        assert report["ok"] and report["complete"], [
            link for link in report["links"] if link["status"] != "ok"
        ]
