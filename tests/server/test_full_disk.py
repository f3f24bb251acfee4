"""A disk that is full to its last block under a real server: requests say so, and nothing accepted is lost."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

MEGABYTES = 96
_PROGRAM = "from sandtable.cli import main; main()"


@contextmanager
def serving_on_a_small_disk(home: Path) -> Iterator[tuple[str, Path]]:
    """The address, and the home as it is seen from outside the server's mounts."""
    home.mkdir()
    mount = f"mount -t tmpfs -o size={MEGABYTES}m,mode=755 tmpfs '{home}' && exec \"$@\""
    serve = [sys.executable, "-c", _PROGRAM, "serve", "--port", "0", "--json"]
    process = subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", mount, "sh", *serve],
        env={**os.environ, "SANDTABLE_HOME": str(home), "SANDTABLE_MEMORY_MB": "256"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout
        url = json.loads(process.stdout.readline())["url"].replace("localhost", "127.0.0.1")
        yield url, Path(f"/proc/{process.pid}/root{home}")
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def fill(filler: Path) -> None:
    """Takes every free block."""
    with filler.open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue


@pytest.mark.needs("root")
async def test_a_full_disk_is_said_and_passes(tmp_path: Path) -> None:
    with serving_on_a_small_disk(tmp_path / "home") as (url, home):
        async with httpx.AsyncClient(base_url=url, timeout=90) as client:
            await _while_it_is_full(client, home / "filler")


async def _while_it_is_full(client: httpx.AsyncClient, filler: Path) -> None:
    async def run(sql: str, wait: float = 50) -> httpx.Response:
        return await client.post("/runs", params={"wait": wait}, json={"dataset_id": "ecommerce", "sql": sql})

    chat: dict[str, Any] = {"dataset_id": "ecommerce", "message": "How many orders are there?"}
    assert (await run("SELECT 1")).status_code == 200
    thread = (await client.post("/chat", json=chat)).json()["thread_id"]
    waiting = [
        (await run(f"SELECT {n} + count(*) AS n FROM range(20000) AS a, range(2000) AS b", wait=0)).json()
        for n in range(6)
    ]
    fill(filler)
    large = "SELECT 'x' || repeat('y', 20000) AS " + "n" * 60
    refused = [await run(f"{large}, {n} AS m FROM orders LIMIT 40") for n in range(8)]
    said = [answer for answer in refused if answer.status_code != 200]
    assert said, "the disk was full"
    for answer in said:
        error = answer.json()["error"]
        assert answer.status_code in (503, 507), answer.text
        assert "ree space" in error["suggestion"], error
    asked = await client.post("/chat", json={**chat, "thread_id": thread})
    assert asked.status_code in (200, 503, 507), asked.text
    assert (await client.get("/healthz")).status_code == 200
    assert (await client.get("/runs")).status_code == 200, "what is there can be read"

    filler.unlink()
    async with asyncio.timeout(60):
        while (await client.get("/readyz")).status_code != 200:
            await asyncio.sleep(0.1)
    accepted = [one["run_id"] for one in waiting]
    accepted += [answer.json()["run_id"] for answer in refused if answer.status_code == 200]
    for run_id in accepted:
        ended = (await client.get(f"/runs/{run_id}", params={"wait": 50})).json()
        assert ended["status"] == "succeeded", ended
        capsule = await client.get(f"/runs/{run_id}/capsule")
        verified = await client.post(
            "/verify", content=capsule.content, headers={"content-type": "application/json"}
        )
        assert verified.json()["ok"], verified.text
    again = (await client.post("/chat", json={**chat, "thread_id": thread})).json()
    assert again["ending"] == "answered", again
