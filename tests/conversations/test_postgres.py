"""Postgres: what is wrong with it is told, and its password is not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import psycopg
import pytest

from sandtable.conversations.postgres import PostgresDatabase
from sandtable.conversations.schema import MIGRATIONS
from sandtable.conversations.store import ThreadStore
from sandtable.errors import InvalidInput, SandtableError
from sandtable.settings import Settings
from sandtable.store.postgres.pool import Postgres
from sandtable.store.postgres.run_store import PostgresStore
from sandtable.store.run_store import StoreUnavailable
from tests import postgres
from tests.conversations.test_store import a_thread
from tests.server.talking import WIRE, Served, says, served
from tests.store.conformance import record

SECRET = "hunter2hunter2"


def threads_at(url: str) -> PostgresDatabase:
    return PostgresDatabase(Postgres(url))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@/db?nonsense=1",
        f"postgres//ada:{SECRET}@host/db",
        f"postgresql://ada:{SECRET}@host:port%/db",
        f"host=x password={SECRET} zzz",
    ],
    ids=["unknown option", "no colon", "bad escape", "no value"],
)
def test_an_address_that_cannot_be_read(url: str) -> None:
    with pytest.raises(InvalidInput, match="SANDTABLE_DATABASE_URL cannot be read") as caught:
        threads_at(url)
    assert_secret_is_kept(caught.value)


def assert_secret_is_kept(error: BaseException, *more: str) -> None:
    seen: list[str] = [*more]
    link: BaseException | None = error
    while link is not None:
        if not link.__suppress_context__ or link is error:
            seen.append(repr(link) + str(link))
        link = link.__cause__
    assert isinstance(error, SandtableError)
    assert SECRET not in str(error.problem) + "".join(seen)


async def test_a_server_that_is_not_there(log_lines: Any) -> None:
    store = ThreadStore(threads_at(f"postgresql://ada:{SECRET}@127.0.0.1:1/db"))
    with pytest.raises(StoreUnavailable, match="the Postgres database cannot be used") as caught:
        await store.open()
    assert "Connection refused" in caught.value.message
    assert_secret_is_kept(caught.value, *map(str, log_lines()))


@pytest.mark.needs("postgres")
async def test_a_wrong_password(cluster: str, log_lines: Any) -> None:
    store = ThreadStore(threads_at(cluster.replace(postgres.PASSWORD, SECRET)))
    with pytest.raises(StoreUnavailable, match="password authentication failed") as caught:
        await store.open()
    assert_secret_is_kept(caught.value, *map(str, log_lines()))


@pytest.mark.needs("postgres")
async def test_a_newer_schema_is_left_alone(postgres_url: str) -> None:
    store = ThreadStore(threads_at(postgres_url))
    await store.open()
    await store.aclose()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("INSERT INTO sandtable_schema VALUES (%s)", (len(MIGRATIONS) + 1,))
    with pytest.raises(StoreUnavailable, match="supports versions up to"):
        await ThreadStore(threads_at(postgres_url)).open()


@pytest.mark.needs("postgres")
async def test_a_database_that_kept_conversations_alone_takes_runs_too(postgres_url: str) -> None:
    """As an earlier version made it: the first step of threads, and no runs."""
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in ("CREATE TABLE sandtable_schema (version INTEGER NOT NULL)", *MIGRATIONS[0]):
            connection.execute(statement.encode())
        connection.execute("INSERT INTO sandtable_schema VALUES (1)")
        connection.execute(
            "INSERT INTO sandtable_threads (id, user_name, created_at, updated_at, status, metadata)"
            " VALUES ('old', 'ada', '2024', '2024', 'busy', '{}')"
        )
        connection.execute(
            "INSERT INTO sandtable_turns"
            " (id, thread_id, owner, dataset_id, created_at, updated_at, status, strategy, metadata)"
            " VALUES ('turn', 'old', 'gone', 'shop', '2024', '2024', 'running', 'enqueue', '{}')"
        )
    shared = Postgres(postgres_url)
    runs, threads = PostgresStore(shared), ThreadStore(PostgresDatabase(shared))
    await asyncio.gather(runs.open(), threads.open())
    await runs.accept(record(1), 10)
    await threads.recover()
    found = await threads.get("old")
    assert found is not None and found.status == "error"
    await runs.aclose()
    # The other one still needs it.
    assert await threads.create(a_thread("new"))
    await threads.aclose()
    with psycopg.connect(postgres_url) as connection:
        counted = connection.execute("SELECT max(version) FROM sandtable_schema").fetchone()
    assert counted == (len(MIGRATIONS),)


@pytest.mark.needs("postgres")
async def test_a_lost_connection_is_made_again(postgres_url: str) -> None:
    store = ThreadStore(threads_at(postgres_url))
    await store.open()
    await store.create(a_thread("t"))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    assert await store.get("t")
    await store.aclose()


@pytest.mark.needs("postgres")
async def test_a_conversation_kept_in_postgres(tmp_path: Path, postgres_url: str, log_lines: Any) -> None:
    settings = Settings.model_validate({"home": tmp_path, "database_url": postgres_url})
    async with served(tmp_path, settings) as server:
        thread = await _talk(server)
    async with served(tmp_path / "other", settings.model_copy(update={"home": tmp_path / "other"})) as server:
        whole = await server.get(f"/threads/{thread}")
        assert says(whole["values"])[:2] == ["What \ufffd is?", "You said: What is?"]
        assert says((await server.events(thread, "Go on"))[-1].data)[-1] == "You said: Go on"
        states = await server.post(f"/threads/{thread}/history", limit=3)
        assert len(states) == 7
    assert not list(tmp_path.glob("**/conversations.db"))
    assert unquote(postgres.PASSWORD) not in str(log_lines()) and postgres.PASSWORD not in str(settings)


async def _talk(server: Served) -> str:
    thread = await server.new_thread(metadata={"a": "b"})
    events = await server.events(thread, "What \x00 is?")
    run_id = events[0].data["run_id"]
    async with server.client.stream("GET", f"{WIRE}/threads/{thread}/runs/{run_id}/stream") as again:
        assert (await again.aread()).count(b"event: ") >= 4
    answer = await server.client.post("/chat", json={"thread_id": thread, "message": "plan it"})
    assert answer.json()["result"]["rows"] == [[42]]
    return thread
