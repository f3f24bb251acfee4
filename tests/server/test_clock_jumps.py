"""The machine's clock steps back or forward while a server works: order, ends and proofs do not depend on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import ClassVar, Self

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from sandtable.agent.checkpoints import saver
from sandtable.conversations import engine, model
from sandtable.runs import desk
from tests.server.talking import Served, says, served
from tests.server.v2.listening import ask, until

HOUR, YEARS = timedelta(hours=1), timedelta(days=3000)


class Clock(datetime):
    """What modules that read the wall clock have in place of `datetime`."""

    off: ClassVar[timedelta] = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) + cls.off


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> type[Clock]:
    for module in (saver, engine, model, desk):
        monkeypatch.setattr(module, "datetime", Clock)
    monkeypatch.setattr(Clock, "off", timedelta())
    return Clock


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


@pytest.mark.parametrize("jump", [-HOUR, -YEARS, HOUR, YEARS], ids=str)
async def test_a_conversation_keeps_its_order(server: Served, clock: type[Clock], jump: timedelta) -> None:
    first = await ask(server.client, "plan one")
    session = first["session_id"]
    async with connect(first["websocket_url"]) as socket:
        said = await until(socket)
        whole = len(said)
        clock.off = jump
        for question in ("plan two", "plan three"):
            await ask(server.client, question, session_id=session)
            said += await until(socket)
        numbers = [one["seq"] for one in said]
        assert numbers == sorted(set(numbers))
    # A client that comes back gets the newest query, and every message after the ones it has.
    async with connect(first["websocket_url"]) as again:
        assert (await until(again))[-1]["seq"] == numbers[-1]
    async with connect(f"{first['websocket_url']}?after={numbers[whole - 1]}") as again:
        rest = [one["seq"] for _ in range(2) for one in await until(again)]
    assert rest == numbers[whole:]
    thread = await server.get(f"/threads/{session}")
    assert says(thread["values"])[::2] == ["plan one", "plan two", "plan three"]
    runs = (await server.client.get("/runs")).json()["runs"]
    assert [run["question"] for run in runs] == ["plan three", "plan two", "plan one"]


@pytest.mark.parametrize("jump", [-YEARS, YEARS], ids=str)
async def test_a_run_under_way_ends_and_is_proven(
    server: Served, clock: type[Clock], jump: timedelta
) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT 1"}
    before = (await server.client.post("/runs", json=body)).json()
    clock.off = jump
    after = (await server.client.post("/runs", json={**body, "sql": "SELECT 2"})).json()
    for run in (before, after):
        ended = (await server.client.get(f"/runs/{run['run_id']}", params={"wait": 20})).json()
        assert ended["status"] == "succeeded"
        report = (await server.client.post(f"/runs/{run['run_id']}/verify")).json()
        assert report["ok"], report
