"""Conversations of an earlier version: read, branched, gone on with and approved as if they were of this one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sandtable.settings import Settings
from tests.earlier import TALKED, WAITING, earlier_database, earlier_home
from tests.server.talking import Served, says, served

Ask = Callable[[str], list[Any]]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Settings, Ask]:
    """Settings of a server over what an earlier version left, and a way to look at it."""
    earlier_home(tmp_path)
    if request.param == "sqlite":
        return Settings(home=tmp_path), lambda sql: _rows(tmp_path / "threads.db", sql)
    url: str = request.getfixturevalue("postgres_url")
    earlier_database(url)

    def ask(sql: str) -> list[Any]:
        with psycopg.connect(url) as connection:
            return connection.execute(sql.encode()).fetchall()

    return Settings.model_validate({"home": tmp_path, "database_url": url}), ask


def _rows(path: Path, sql: str) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _ids(states: list[dict[str, Any]]) -> list[str]:
    return [state["checkpoint"]["checkpoint_id"] for state in states]


async def _history(server: Served, thread: str) -> list[dict[str, Any]]:
    return await server.post(f"/threads/{thread}/history", limit=100)


async def test_a_thread_is_as_it_was_and_goes_on(kept: tuple[Settings, Ask]) -> None:
    settings, ask = kept
    stored = ask(
        "SELECT thread_id, checkpoint_id, parent_checkpoint_id FROM checkpoints ORDER BY checkpoint_id"
    )
    mine = [(id, parent) for thread, id, parent in stored if thread == TALKED]
    async with served(settings.home, settings) as server:
        states = await _history(server, TALKED)
        assert [
            (s["checkpoint"]["checkpoint_id"], (s["parent_checkpoint"] or {}).get("checkpoint_id"))
            for s in reversed(states)
        ] == mine
        assert [m["content"] for m in states[0]["values"]["messages"] if m["type"] == "human"] == [
            "hm",
            "edited",
        ]
        assert ask(f"SELECT count(*) FROM checkpoints WHERE thread_id = '{TALKED}'") == [(0,)]
        assert ask(f"SELECT count(*) FROM checkpoints WHERE thread_id = '{WAITING}'") != [(0,)]
        await server.events(TALKED, "Go on")
    async with served(settings.home, settings) as server:
        whole = await server.get(f"/threads/{TALKED}")
        assert says(whole["values"])[-4:] == ["edited", "You said: edited", "Go on", "You said: Go on"]


async def test_an_old_message_is_edited(kept: tuple[Settings, Ask]) -> None:
    settings, _ = kept
    async with served(settings.home, settings) as server:
        states = await _history(server, TALKED)
        asked = [s for s in states if says(s["values"])[-1:] == ["query one"]]
        await server.events(TALKED, "something else", checkpoint=asked[0]["parent_checkpoint"])
        said = says((await server.get(f"/threads/{TALKED}"))["values"])
        assert said[0] == "hm" and said[-1] == "You said: something else" and "query one" not in said
        assert set(_ids(states)) < set(_ids(await _history(server, TALKED)))


async def test_what_waits_for_a_person_is_approved(kept: tuple[Settings, Ask]) -> None:
    settings, ask = kept
    async with served(settings.home, settings, approval="sql") as server:
        state = await server.get(f"/threads/{WAITING}/state")
        assert state["interrupts"][0]["value"]["action_requests"][0]["name"] == "execute_sql"
        events = await server.events(WAITING, None, command={"resume": {"decisions": [{"type": "approve"}]}})
        assert events[-1].data["ui"][-1]["props"]["rows"] == [[42]]
    assert ask(f"SELECT count(*) FROM sandtable_checkpoint_runs WHERE thread_id = '{WAITING}'") != [(0,)]


async def test_a_thread_of_before_is_deleted(kept: tuple[Settings, Ask]) -> None:
    settings, ask = kept
    async with served(settings.home, settings) as server:
        assert (await server.client.delete(f"/langgraph/threads/{WAITING}")).status_code == 204
    for table in ("checkpoints", "sandtable_checkpoints"):
        assert ask(f"SELECT count(*) FROM {table} WHERE thread_id = '{WAITING}'") == [(0,)]
    assert ask(f"SELECT count(*) FROM checkpoints WHERE thread_id = '{TALKED}'") != [(0,)]
