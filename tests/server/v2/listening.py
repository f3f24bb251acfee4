"""A client of `/v2`: asks over HTTP, listens over a WebSocket."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

PATIENCE_S = 120.0

Said = dict[str, Any]


async def ask(client: httpx.AsyncClient, query: str, dataset: str = "shop", **body: Any) -> dict[str, str]:
    answer = await client.post("/v2/query", json={"dataset_name": dataset, "query": query, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def next_one(socket: ClientConnection) -> Said:
    async with asyncio.timeout(PATIENCE_S):
        return json.loads(await socket.recv())


async def until(socket: ClientConnection, kind: str = "final_response") -> list[Said]:
    """What is said, up to and with the first message of this type."""
    said = [await next_one(socket)]
    while said[-1]["type"] != kind:
        said.append(await next_one(socket))
    return said


async def listen(url: str, after: int | None = None, kind: str = "final_response") -> list[Said]:
    async with connect(url if after is None else f"{url}?after={after}") as socket:
        return await until(socket, kind)


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """Code and reason with which the server ends it."""
    async with asyncio.timeout(PATIENCE_S):
        await socket.wait_closed()
    return socket.close_code or 0, socket.close_reason or ""


def kinds(said: list[Said]) -> list[str]:
    return [one["type"] for one in said]
