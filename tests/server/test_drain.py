"""A server that is asked to end finishes what is under way, refuses what is new, and leaves the queue for the next."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandtable.sandbox.fake import FakeExecutor, Script
from tests.server.talking import WIRE, Served, served
from tests.server.test_shutdown import EVENTS, RUN, SLOW_QUESTION, SLOW_TURN, last_event

GRACE_S = 8
SLOW = {
    "dataset_id": "ecommerce",
    "sql": "SELECT count(*) FROM range(100000) AS a, range(10000000) AS b",
    "timeout_ms": 2500,
}
"""Takes as long as it may, on any machine."""


@asynccontextmanager
async def asked_to_end(home: Path, **given: Any) -> AsyncIterator[tuple[Served, asyncio.Event]]:
    """The event, when set, asks the server to end; it is left when the server has ended."""
    ending = asyncio.Event()
    ready: asyncio.Future[Served] = asyncio.get_running_loop().create_future()

    async def serve() -> None:
        async with served(home, drains=True, **given) as server:
            ready.set_result(server)
            await ending.wait()

    serving = asyncio.create_task(serve())
    try:
        yield await ready, ending
        ending.set()
    finally:
        ending.set()
        await serving


async def begun(server: Served) -> None:
    async with asyncio.timeout(10):
        await server.app.state.shutdown.begun.wait()


async def test_new_requests_are_refused_while_answers_end(tmp_path: Path) -> None:
    async with (
        httpx.AsyncClient(timeout=30) as client,
        asked_to_end(tmp_path, grace_s=12) as (server, ending),
    ):
        thread = await server.new_thread()
        chat = asyncio.create_task(client.post(f"{server.url}/chat", json=SLOW_QUESTION, headers=EVENTS))
        whole = asyncio.create_task(client.post(f"{server.url}/chat", json=SLOW_QUESTION))
        turn = asyncio.create_task(
            client.post(f"{server.url}{WIRE}/threads/{thread}/runs/stream", json=SLOW_TURN)
        )
        async with asyncio.timeout(20):
            while server.script.at_work < 3:
                await asyncio.sleep(0.02)
        ending.set()
        await begun(server)
        # Over an open connection, and over a new one.
        for asking in (client, httpx.AsyncClient()):
            refused = await asking.post(f"{server.url}/runs", json=RUN)
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            assert refused.headers["connection"] == "close"
            assert refused.json()["error"]["message"] == "the server is stopping, and takes no new requests"
            ready = await asking.get(f"{server.url}/readyz")
            assert (ready.status_code, ready.json()["ready"]) == (503, False)
            assert ready.json()["checks"][0]["detail"] == "it is stopping"
            assert (await asking.get(f"{server.url}/healthz")).status_code == 200
            await asking.aclose() if asking is not client else None
        server.script.go.set()
        assert (await whole).status_code == 200
        assert last_event(await chat)[0] == "message"
        ended = (await turn).text
        assert "You said: slow one" in ended.rpartition("event: values")[2] and "event: error" not in ended


async def test_a_turn_without_a_listener_ends(tmp_path: Path) -> None:
    async with asked_to_end(tmp_path, grace_s=12) as (server, ending):
        asked = {"dataset_name": "shop", "query": "slow one"}
        session = (await server.client.post("/v2/query", json=asked)).json()["session_id"]
        await server.script.waiting.wait()
        store = (await server.conversation()).store
        ending.set()
        await begun(server)
        server.script.go.set()
        async with asyncio.timeout(10):
            while [turn.status for turn in await store.turns(session)] != ["success"]:
                await asyncio.sleep(0.02)


async def test_runs_that_are_executed_end_and_the_queue_stays(tmp_path: Path) -> None:
    executor = FakeExecutor(Script(delay_s=1.0))
    async with asked_to_end(tmp_path, grace_s=12, executor=executor) as (server, ending):
        for number in range(12):
            sent = await server.client.post("/runs", json={**RUN, "sql": f"SELECT {number}"})
            assert sent.status_code == 202
        async with asyncio.timeout(10):
            while not (await server.client.get("/runs", params={"status": "running"})).json()["runs"]:
                await asyncio.sleep(0.02)
        ending.set()
    found = states(tmp_path)
    # None was begun and put back.
    assert {status for status, attempts in found if attempts} == {"succeeded"}
    assert {status for status, attempts in found if not attempts} == {"pending"}
    async with served(tmp_path) as again:
        await until_ended(again.client, 12)
    assert states(tmp_path) == [("succeeded", 1)] * 12


def states(home: Path) -> list[tuple[str, int]]:
    with closing(sqlite3.connect(home / "sandtable.db")) as connection:
        return connection.execute("SELECT status, attempts FROM runs ORDER BY id").fetchall()


async def until_ended(client: httpx.AsyncClient, count: int) -> None:
    async with asyncio.timeout(60):
        while True:
            runs = (await client.get("/runs", params={"limit": 100})).json()["runs"]
            if len(runs) == count and all(run["status"] not in ("pending", "running") for run in runs):
                return
            await asyncio.sleep(0.1)


# A real process


@contextmanager
def serving(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    environment = {
        **os.environ,
        "SANDTABLE_HOME": str(home),
        "SANDTABLE_CONCURRENCY": "2",
        "SANDTABLE_USER_SHARE": "1",
        "SANDTABLE_GRACE_S": str(GRACE_S),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", "from sandtable.cli import main; main()", "serve", "--port", "0", "--json"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert process.stdout
        yield process, json.loads(process.stdout.readline())["url"].replace("localhost", "127.0.0.1")
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


async def loaded_and_asked_to_end(process: subprocess.Popen[bytes], url: str) -> list[str]:
    """The ids of the runs that were accepted."""
    accepted: list[str] = []
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        for number in range(10):
            asked = SLOW if number < 2 else {**SLOW, "sql": f"SELECT {number} + count(*) FROM orders"}
            accepted.append((await client.post("/runs", json=asked)).json()["run_id"])
        async with asyncio.timeout(20):
            while len((await client.get("/runs", params={"status": "running"})).json()["runs"]) < 2:
                await asyncio.sleep(0.02)
        waiting = asyncio.create_task(client.get(f"/runs/{accepted[-1]}", params={"wait": 60}))
        await asyncio.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        seen = await waiting
        assert (seen.status_code, seen.json()["run_id"]) == (200, accepted[-1])
        refused = await client.post("/runs", json=SLOW)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    return accepted


@pytest.mark.needs("userns")
def test_sigterm_under_load_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url):
        accepted = asyncio.run(loaded_and_asked_to_end(process, url))
        begun_at = time.monotonic()
        assert process.wait(GRACE_S + 15) == 0
        took = time.monotonic() - begun_at
    # The slow ones had 2.5 s; the rest is closing sandboxes.
    assert took < GRACE_S + 3
    found = states(tmp_path)
    assert found[:2] == [("failed", 1)] * 2 and ("pending", 0) in found
    assert not [one for one in found if one[0] == "running" or one[1] > 1]
    with serving(tmp_path) as (_, url):

        async def rest() -> None:
            async with httpx.AsyncClient(base_url=url, timeout=30) as client:
                await until_ended(client, len(accepted))

        asyncio.run(rest())
    assert states(tmp_path) == [("failed", 1)] * 2 + [("succeeded", 1)] * 8
    with closing(sqlite3.connect(tmp_path / "sandtable.db")) as connection:
        capsules = [row[0] for row in connection.execute("SELECT run_id FROM capsules ORDER BY run_id")]
    assert capsules == sorted(accepted)
