"""A server that is killed in the middle of a copy: the next one copies again, with the password that was kept."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.databases.conftest import body
from tests.server.test_serve import served
from tests.sources.conftest import Database


@contextmanager
def calling(home: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    with served(home, "--port", "0", "--json") as process:
        assert process.stdout
        with httpx.Client(base_url=json.loads(process.stdout.readline())["url"], timeout=60) as client:
            yield process, client


def until(client: httpx.Client, path: str, *states: str, what: str = "") -> dict[str, Any]:
    end = time.monotonic() + 120
    while True:
        shown = client.get(path).json()
        if shown["state"] in states and (not what or (shown["progress"] or {}).get("what") == what):
            return shown
        assert time.monotonic() < end, shown
        time.sleep(0.05)


@pytest.mark.needs("postgres", "userns")
def test_a_copy_goes_on_with_another_server(database: Database, tmp_path: Path) -> None:
    database.execute(
        "CREATE TABLE shop.long AS SELECT i, md5(i::text) AS text FROM generate_series(1, 800000) i"
    )
    database.execute("GRANT SELECT ON shop.long TO reader")
    home = tmp_path / "home"
    with calling(home) as (process, client):
        assert client.post("/database", json=body(database)).status_code == 201
        begun = client.post("/database/shop/snapshot", json={"tables": ["shop.long"]}).json()
        until(client, f"/imports/{begun['id']}", "reading", what="copying")
        process.kill()
        process.wait(20)
    with calling(home) as (process, client):
        shown = until(client, f"/imports/{begun['id']}", "ready", "failed")
        assert (shown["state"], shown["dataset_id"]) == ("ready", "shop"), shown
        sql = {"dataset_id": "shop", "sql": "SELECT count(*) AS n FROM long"}
        assert client.post("/runs", params={"wait": 30}, json=sql).json()["rows"] == [[800000]]
        process.terminate()
        assert process.wait(30) == 0
