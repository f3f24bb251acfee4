"""A server that stops answers what is under way: with the run, with 503, with the `error` event of a stream."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx

from sandtable.sandbox.fake import FakeExecutor, Script
from tests.server.talking import WIRE, served

RUN = {"dataset_id": "shop", "sql": "SELECT 1"}
SLOW_QUESTION = {"dataset_id": "shop", "message": "slow one"}
SLOW_TURN = {
    "assistant_id": "shop",
    "stream_mode": ["values"],
    "input": {"messages": [{"type": "human", "content": "slow one"}]},
}
EVENTS = {"Accept": "text/event-stream"}


async def under_way(client: httpx.AsyncClient, url: str, count: int) -> None:
    """As many runs as expected were accepted."""
    async with asyncio.timeout(20):
        while len((await client.get(f"{url}/runs")).json()["runs"]) < count:
            await asyncio.sleep(0.02)


def last_event(answer: httpx.Response) -> tuple[str, Any]:
    name, data = answer.text.strip().rpartition("\n\n")[2].splitlines()
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def test_a_request_that_waits_for_a_run_gets_the_run(tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=30) as client:
        async with served(tmp_path, executor=FakeExecutor(Script(delay_s=25))) as server:
            submitted = asyncio.create_task(client.post(f"{server.url}/runs?wait=60", json=RUN))
            await under_way(client, server.url, 1)
            run_id = (await client.get(f"{server.url}/runs")).json()["runs"][0]["run_id"]
            looking = asyncio.create_task(client.get(f"{server.url}/runs/{run_id}?wait=60"))
            await asyncio.sleep(0.2)
        answer = await submitted
        assert (answer.status_code, answer.headers["location"]) == (202, f"/runs/{run_id}")
        assert answer.json()["status"] in ("pending", "running")
        assert (await looking).json()["run_id"] == run_id


async def test_what_cannot_be_answered_in_time_is_503(tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=30) as client:
        async with served(tmp_path) as server:
            asking = asyncio.create_task(client.post(f"{server.url}/chat", json=SLOW_QUESTION))
            await server.script.waiting.wait()
        answer = await asking
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error"]["code"] == "SANDBOX_UNAVAILABLE"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


async def test_streams_end_with_their_error_event(tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=30) as client:
        async with served(tmp_path) as server:
            thread = await server.new_thread()
            asking = asyncio.create_task(
                client.post(f"{server.url}/chat", json=SLOW_QUESTION, headers=EVENTS)
            )
            turn = asyncio.create_task(
                client.post(f"{server.url}{WIRE}/threads/{thread}/runs/stream", json=SLOW_TURN)
            )
            async with asyncio.timeout(20):
                while server.script.at_work < 2:
                    await asyncio.sleep(0.02)
        name, said = last_event(await asking)
        assert (name, said["problem"]["code"]) == ("error", "SANDBOX_UNAVAILABLE")
        name, said = last_event(await turn)
        assert (name, said["error"]) == ("error", "ServerStopped")
