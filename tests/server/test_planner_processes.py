"""`sandtable serve` plans in a process of its own, which may be killed and ends with the server."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import httpx
import pytest

from tests.sandbox.local.processes import family, gone
from tests.server.test_killed_server import serving

QUESTION = "how much money came in per channel in {year}"


def _planners(server: int) -> set[int]:
    found: set[int] = set()
    for pid in family(server):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"sandtable.agent.planning" in command:
            found.add(pid)
    return found


async def _there(server: int, but: frozenset[int] = frozenset()) -> set[int]:
    async with asyncio.timeout(60):
        while not (found := _planners(server) - but):
            await asyncio.sleep(0.05)
    return found


async def _answered(url: str, year: int) -> str:
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        body = {"dataset_id": "ecommerce", "message": QUESTION.format(year=year)}
        answer = (await client.post("/chat", json=body)).json()
    assert answer["ending"] == "answered", answer
    return answer["message"]


@pytest.mark.needs("userns")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
async def test_questions_are_answered_whatever_becomes_of_it(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path / "home") as (server, url):
        first = await _there(server.pid)
        assert "2024" in await _answered(url, 2024)
        assert _planners(server.pid) >= first
        for pid in _planners(server.pid):
            os.kill(pid, signal.SIGKILL)
        assert "2023" in await _answered(url, 2023)
        again = await _there(server.pid, frozenset(first))
        server.send_signal(number)
        await asyncio.to_thread(server.wait, 30)
        assert not await gone(again, 10), "a planner process outlived its server"


@pytest.mark.needs("userns")
async def test_with_none_the_server_plans_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDTABLE_PLANNERS", "0")
    with serving(tmp_path / "home") as (server, url):
        assert "2024" in await _answered(url, 2024)
        assert not _planners(server.pid)
