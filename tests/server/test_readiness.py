"""`/readyz` says what is wrong with the stores and the data folder, in time, and is well again when they are."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from sandtable.server import health
from tests.server.talking import Served, served

Undo = Callable[[], object]


@pytest.fixture(autouse=True)
def _always_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "FRESH_S", 0.0)


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as made:
        await made.conversation()
        yield made


async def looked_at(server: Served) -> tuple[httpx.Response, dict[str, Any]]:
    answer = await server.client.get("/readyz")
    return answer, {check["name"]: check for check in answer.json()["checks"] if not check["ok"]}


def deleted(database: Path) -> Undo:
    aside = database.with_name("aside")
    database.rename(aside)
    return lambda: aside.rename(database)


def replaced(database: Path) -> Undo:
    aside = database.with_name("aside")
    database.rename(aside)
    sqlite3.connect(database).close()
    return lambda: aside.replace(database)


def overwritten(database: Path) -> None:
    """What was damaged is restored with the server stopped."""
    for file in database.parent.glob(f"{database.name}*"):
        if not file.name.endswith("-shm"):
            with file.open("r+b") as opened:
                opened.write(b"\xa5" * file.stat().st_size)


def locked(database: Path) -> Undo:
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection.close


DAMAGES = [
    pytest.param(deleted, "moved, deleted or replaced", id="deleted"),
    pytest.param(replaced, "moved, deleted or replaced", id="replaced"),
    pytest.param(overwritten, "damaged", id="overwritten"),
    pytest.param(locked, "another process keeps it locked", id="locked"),
]


@pytest.mark.parametrize(
    ("file", "check"),
    [("sandtable.db", "store"), ("conversations.db", "conversation"), ("threads.db", "conversation")],
)
@pytest.mark.parametrize(("harm", "words"), DAMAGES)
async def test_a_store_that_cannot_be_used_and_its_recovery(
    server: Served, tmp_path: Path, file: str, check: str, harm: Callable[[Path], Undo | None], words: str
) -> None:
    assert (await looked_at(server))[0].status_code == 200
    undo = harm(tmp_path / file)
    answer, bad = await looked_at(server)
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert words in bad[check]["detail"] and file in bad[check]["detail"]
    assert str(tmp_path) not in answer.text
    if undo is not None:
        undo()
        assert (await looked_at(server))[0].status_code == 200


def without_folder(data: Path) -> Undo:
    data.rename(data.with_name("elsewhere"))
    return lambda: data.with_name("elsewhere").rename(data)


def not_a_folder(data: Path) -> Undo:
    shutil.rmtree(data)
    data.write_text("a file")
    return lambda: (data.unlink(), data.mkdir())


@pytest.mark.parametrize("harm", [without_folder, not_a_folder], ids=lambda harm: harm.__name__)
async def test_a_data_folder_that_cannot_be_used(
    server: Served, tmp_path: Path, harm: Callable[[Path], Undo]
) -> None:
    undo = harm(tmp_path / "data")
    answer, bad = await looked_at(server)
    assert answer.status_code == 503 and "the data folder is not writable" in bad["data"]["detail"]
    assert str(tmp_path) not in answer.text
    undo()
    assert (await looked_at(server))[0].status_code == 200


async def test_a_store_that_hangs_is_asked_once(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "DEADLINE_S", 0.2)
    go, attempts = asyncio.Event(), 0

    async def hang() -> None:
        nonlocal attempts
        attempts += 1
        await go.wait()

    monkeypatch.setattr(server.house.runs, "probe", hang)
    answers = await asyncio.gather(*(looked_at(server) for _ in range(20)))
    assert {answer.status_code for answer, _ in answers} == {503}
    assert all("no answer within" in bad["store"]["detail"] for _, bad in answers)
    assert (await server.client.get("/healthz")).status_code == 200
    assert attempts == 1
    go.set()
    assert (await looked_at(server))[0].status_code == 200


async def test_a_good_outcome_serves_many_probes(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "FRESH_S", 600.0)
    attempts = 0

    async def probe() -> None:
        nonlocal attempts
        attempts += 1

    monkeypatch.setattr(server.house.runs, "probe", probe)
    for _ in range(10):
        assert (await looked_at(server))[0].status_code == 200
    assert attempts == 1


async def test_probing_leaves_nothing_behind(server: Served, tmp_path: Path) -> None:
    def content() -> list[str]:
        connection = sqlite3.connect(tmp_path / "sandtable.db")
        try:
            return list(connection.iterdump())
        finally:
            connection.close()

    before = content()
    for _ in range(3):
        await looked_at(server)
    assert content() == before
