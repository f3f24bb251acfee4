"""The conversation is opened beside the server: who asks early waits, what fails is told and tried again."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from sandtable.assemble.memory import open_memory
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.line import Line
from sandtable.errors import InvalidInput
from sandtable.server.app import create_app
from sandtable.settings import Settings
from sandtable.store.run_store import StoreUnavailable
from tests.server.house import open_house
from tests.server.talking import listening

QUESTION = {"dataset_id": "shop", "message": "Hm?"}
CHAT = "/chat"
SEARCH = "/langgraph/threads/search"


class NoThreads:
    async def search(self, wanted: Any) -> list[Any]:
        return []


@asynccontextmanager
async def serving(home: Path, *outcomes: Any) -> AsyncGenerator[httpx.AsyncClient, None]:
    """Opens as the outcomes say: waits for an event, raises an error, or succeeds when there are none left."""
    left = list(outcomes)

    @asynccontextmanager
    async def open_one(_: Any) -> AsyncGenerator[Conversation, None]:
        outcome = left.pop(0) if left else None
        if isinstance(outcome, asyncio.Event):
            await outcome.wait()
        elif outcome is not None:
            raise outcome
        made: Any = (SimpleNamespace(threads=None), None, NoThreads(), Line(1, 1))
        yield Conversation(*made)

    async with open_house(home) as house:
        app = create_app(house, open_conversation=open_one)  # pyright: ignore[reportArgumentType] - a double
        async with listening(app) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
            yield client


async def test_who_asks_early_waits(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with serving(tmp_path, gate) as client:
        early = asyncio.create_task(client.post(SEARCH, json={}))
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).json()["ready"]
        assert not early.done()
        gate.set()
        assert (await early).json() == []


async def test_a_store_that_is_away_is_told_and_tried_again(tmp_path: Path, log_lines: Any) -> None:
    away = StoreUnavailable("the database is away", suggestion="Start it.")
    async with serving(tmp_path, away, away, away) as client:
        refused = await client.post(SEARCH, json={})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["error"]["message"] == "the database is away"
        ready = await client.get("/readyz")
        assert ready.status_code == 503
        assert ready.json()["checks"][-1]["detail"] == "the database is away"
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.post(SEARCH, json={})).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
    assert [line for line in log_lines() if line["event"] == "conversation_not_opened"]


async def test_an_unforeseen_failure_is_not_shown(tmp_path: Path, log_lines: Any) -> None:
    async with serving(tmp_path, RuntimeError("inside"), RuntimeError("inside")) as client:
        broken = await client.post(CHAT, json=QUESTION)
        assert broken.status_code == 500 and "inside" not in broken.text
        assert "inside" not in (await client.get("/readyz")).text
    assert [line for line in log_lines() if "inside" in line.get("exception", "")]


async def test_a_missing_driver_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("run_store", "pool", "presence", "errors"):
        monkeypatch.delitem(sys.modules, f"sandtable.store.postgres.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    settings = Settings.model_validate({"home": tmp_path, "database_url": "postgresql://a:hunter2@h/d"})
    async with AsyncExitStack() as stack:
        with pytest.raises(InvalidInput, match="driver is not installed") as caught:
            await open_memory(settings, stack)
    assert "sandtable[postgres]" in caught.value.suggestion


def test_the_password_is_not_shown_with_the_settings() -> None:
    settings = Settings.model_validate({"database_url": "postgresql://ada:hunter2@host/db"})
    assert "hunter2" not in repr(settings) + str(settings.model_dump_json())
