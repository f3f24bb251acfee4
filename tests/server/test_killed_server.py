"""`kill -9` of a loaded server, again and again on one home: no accepted run is lost, no process is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROUNDS = 5
LOAD_S = 0.5
CLIENTS = 8
RUNS_A_ROUND = 32
TERMINAL = {"succeeded", "failed", "rejected", "cancelled"}
STATEMENTS: tuple[dict[str, Any], ...] = (
    {"sql": "SELECT category, count(*) FROM order_items GROUP BY category"},
    {"sql": "SELECT {n} + count(*) FROM orders"},
    {"sql": "SELECT count(*) FROM range(100000) AS a, range(1000000) AS b", "timeout_ms": 120},
    {"sql": "SELECT len(list(x)) FROM range(400000000) AS t(x)", "timeout_ms": 800},
    {"sql": "SELECT * FROM read_csv('/etc/passwd')"},
    {"plan": {"dataset_id": "ecommerce", "table": "orders", "select": [{"agg": "count"}]}},
)


@contextmanager
def serving(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    environment = {**os.environ, "SANDTABLE_HOME": str(home), "SANDTABLE_MEMORY_MB": "256"}
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


async def press(url: str, until: float, worker: int, accepted: set[str]) -> None:
    """Submit one run after another; every id the server told us counts as accepted."""
    enough = len(accepted) + RUNS_A_ROUND
    async with httpx.AsyncClient(base_url=url, timeout=10) as client:
        turn = worker
        while time.monotonic() < until and len(accepted) < enough:
            body = dict(STATEMENTS[turn % len(STATEMENTS)])
            if "sql" in body:
                body["sql"] = body["sql"].replace("{n}", str(turn))
            turn += 1
            answer = await client.post("/runs", json={"dataset_id": "ecommerce", **body})
            assert answer.status_code in (200, 202), answer.text
            accepted.add(answer.json()["run_id"])


def sandboxes_of(home: Path) -> list[int]:
    """Processes, templates and children alike, that were started for this home's data store."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"sandtable_runner" in command and str(home).encode() in command:
                found.append(int(entry.name))
    return found


async def load_and_kill(home: Path, accepted: set[str]) -> None:
    with serving(home) as (process, url):
        until, before = time.monotonic() + 20, len(accepted)
        workers = [asyncio.create_task(press(url, until, n, accepted)) for n in range(CLIENTS)]
        # On a busy machine the clients take their time to connect; a server without load is not worth killing.
        while len(accepted) == before and time.monotonic() < until - 5:
            await asyncio.sleep(0.01)
        await asyncio.sleep(LOAD_S)
        process.send_signal(signal.SIGKILL)
        outcomes = await asyncio.gather(*workers, return_exceptions=True)
        unexpected = [
            e for e in outcomes if isinstance(e, BaseException) and not isinstance(e, httpx.HTTPError)
        ]
        assert not unexpected, unexpected
    deadline = time.monotonic() + 3
    while (left := sandboxes_of(home)) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    assert left == [], f"processes outlived their server: {left}"


async def test_every_accepted_run_ends_once_and_nothing_is_left(tmp_path: Path) -> None:
    home = tmp_path / "home"
    accepted: set[str] = set()
    with serving(home) as (_, url):
        # The data is converted once; after that a server lives long enough to accept runs.
        body = {"dataset_id": "ecommerce", "sql": "SELECT 1"}
        assert httpx.post(f"{url}/runs", params={"wait": 30}, json=body, timeout=60).status_code == 200
    for _ in range(ROUNDS):
        await load_and_kill(home, accepted)
    assert len(accepted) > ROUNDS * 4
    with serving(home) as (_, url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            for run_id in sorted(accepted):
                run = (await client.get(f"/runs/{run_id}", params={"wait": 50})).json()
                assert run["status"] in TERMINAL, run
                capsule = await client.get(f"/runs/{run_id}/capsule")
                assert capsule.status_code == 200, capsule.text
                assert capsule.json()["signatures"]
