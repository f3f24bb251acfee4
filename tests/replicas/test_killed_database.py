"""`kill -9` of Postgres under a loaded server: what was accepted is kept, and requests are told when to come again."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests import postgres
from tests.replicas.replica import Replica, prepared, replicas

pytestmark = pytest.mark.needs("postgres", "userns")

RUNS = 24
SLOW = "SELECT {n} + count(*) AS n FROM range(20000) AS a, range(3000) AS b"


async def until_ready(client: httpx.AsyncClient, status: int) -> None:
    async with asyncio.timeout(90):
        while (await client.get("/readyz")).status_code != status:
            await asyncio.sleep(0.1)


def postmaster(folder: Path) -> int:
    return int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


async def backends_gone(folder: Path) -> None:
    """The database's other processes end by themselves; a new one starts only after that."""
    mark = str(folder / "data").encode()
    async with asyncio.timeout(30):
        while any(mark in line for line in _command_lines()):
            await asyncio.sleep(0.05)


def _command_lines() -> list[bytes]:
    found: list[bytes] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
    return found


async def submitted(client: httpx.AsyncClient, number: int) -> httpx.Response:
    body = {"dataset_id": "ecommerce", "sql": SLOW.replace("{n}", str(number))}
    return await client.post("/runs", json=body)


async def test_a_killed_database_loses_nothing(tmp_path: Path) -> None:
    with postgres.cluster(postgres.LASTING) as url:
        folder = Path(parse_qs(urlsplit(url).query)["host"][0])
        with replicas(prepared(tmp_path, "a"), url, CONCURRENCY="2", USER_SHARE="1") as (server,):
            async with httpx.AsyncClient(base_url=server.url, timeout=90) as client:
                await _while_it_is_killed(client, server, folder)


async def _while_it_is_killed(client: httpx.AsyncClient, server: Replica, folder: Path) -> None:
    first = {"dataset_id": "ecommerce", "sql": "SELECT 1"}
    assert (await client.post("/runs", params={"wait": 50}, json=first)).status_code == 200
    chat: dict[str, Any] = {"dataset_id": "ecommerce", "message": "How many orders are there?"}
    thread = (await client.post("/chat", json=chat)).json()["thread_id"]
    accepted = [(await submitted(client, n)).json()["run_id"] for n in range(RUNS)]

    os.kill(postmaster(folder), signal.SIGKILL)
    await backends_gone(folder)
    try:
        await _is_told(client, {**chat, "thread_id": thread})
    finally:
        postgres.start(folder, postgres.LASTING)
    await until_ready(client, 200)
    for run_id in accepted:
        run = (await client.get(f"/runs/{run_id}", params={"wait": 50})).json()
        assert run["status"] == "succeeded", run
        assert (await client.get(f"/runs/{run_id}/capsule")).json()["signatures"]
    report = (await client.post(f"/runs/{accepted[-1]}/verify")).json()
    assert report["ok"], report
    answer = (await client.post("/chat", json={**chat, "thread_id": thread})).json()
    assert answer["ending"] == "answered", answer
    assert server.process.poll() is None


async def _is_told(client: httpx.AsyncClient, chat: dict[str, Any]) -> None:
    # Each waits as long as a connection may take.
    for asked in await asyncio.gather(
        submitted(client, 999), client.get("/runs"), client.post("/chat", json=chat)
    ):
        assert asked.status_code == 503 and asked.headers["retry-after"], asked.text
        assert asked.json()["error"]["suggestion"]
        assert "postgresql://" not in asked.text and postgres.PASSWORD not in asked.text
    await until_ready(client, 503)
    assert (await client.get("/healthz")).status_code == 200, "the server itself goes on"
