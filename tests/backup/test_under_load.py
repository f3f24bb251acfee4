"""A server that executes runs is backed up; the home that is made from it verifies completely."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.backup.conftest import MAIN, invoke
from tests.server.test_killed_server import serving

pytestmark = pytest.mark.needs("userns")


async def load(url: str, accepted: list[str], backed_up: asyncio.Event) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        asked = {"dataset_id": "ecommerce", "message": "how many orders are there"}
        assert (await client.post("/chat", json=asked)).status_code == 200
        number = 0
        while not backed_up.is_set():
            number += 1
            asked = {"dataset_id": "ecommerce", "sql": f"SELECT {number} + count(*) AS n FROM orders"}
            answer = await client.post("/runs", json=asked)
            assert answer.status_code in (200, 202), answer.text
            accepted.append(answer.json()["run_id"])
            await asyncio.sleep(0.2)


async def loaded_and_backed_up(url: str, home: Path, target: Path) -> tuple[list[str], int]:
    accepted: list[str] = []
    done = asyncio.Event()
    loading = asyncio.create_task(load(url, accepted, done))
    while len(accepted) < 12:
        await asyncio.sleep(0.05)
    before = len(accepted)
    process = await asyncio.create_subprocess_exec(
        *MAIN, "backup", str(target),
        env={**os.environ, "SANDTABLE_HOME": str(home)},
    )  # fmt: skip
    assert await process.wait() == 0
    done.set()
    await loading
    return accepted, before


def as_json(*arguments: str) -> dict[str, Any]:
    done = invoke(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def rows_of(home: Path, name: str, table: str) -> list[Any]:
    with closing(sqlite3.connect(home / f"{name}.db")) as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def runs_of(home: Path) -> list[str]:
    with closing(sqlite3.connect(home / "sandtable.db")) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY id")]


def test_backup_restore_verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, new, target = tmp_path / "home", tmp_path / "new", tmp_path / "copy.tar"
    with serving(home) as (_, url):
        accepted, before = asyncio.run(loaded_and_backed_up(url, home, target))
    monkeypatch.setenv("SANDTABLE_HOME", str(new))
    restored = as_json("restore", str(target))
    assert restored["home"] == str(new)
    asked, *found = runs_of(new)
    # All that were accepted before the backup began, in order, and no gap after that.
    assert found == accepted[: len(found)] and len(found) >= before
    named = rows_of(new, "threads", "sandtable_checkpoint_runs")
    assert [run_id for _, run_id in named] == [asked]
    assert named == rows_of(home, "threads", "sandtable_checkpoint_runs")
    totals = as_json("verify", "--all")
    assert (totals["ok"], totals["incomplete"], totals["broken"]) == (True, 0, [])
    assert totals["verified"] + totals["not_ended"] == 1 + len(found) and totals["verified"] > 0
    # Another key now, and the old one is trusted.
    assert (new / "keys/signing.pem").read_bytes() != (home / "keys/signing.pem").read_bytes()

    with closing(sqlite3.connect(new / "sandtable.db", isolation_level=None)) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        broken = connection.execute("SELECT min(run_id) FROM capsules").fetchone()[0]
        connection.execute(
            "UPDATE capsules SET envelope = (SELECT envelope FROM capsules WHERE run_id <> ?1) WHERE run_id = ?1",
            (broken,),
        )
    done = invoke("verify", "--all")
    assert done.exit_code == 1 and f"{broken} is broken at run" in done.stdout and "1 broken" in done.stdout


def test_a_target_and_all_exclude_each_other() -> None:
    for arguments in ((), ("--all", "run_1")):
        done = invoke("verify", *arguments)
        assert done.exit_code == 2 and "or --all" in done.stderr
