"""Imports as a client makes them."""

from __future__ import annotations

import asyncio
from typing import Any

from httpx import ASGITransport, AsyncClient

from sandtable.catalog.recipe import FileChoice, FileQuestion
from sandtable.server.app import create_app
from tests.server.house import House

SALES = b"day,amount\n2025-01-01,1\n2025-01-02,2\n"
SHOPS = b"shop,city\n1,Bern\n"
WHEN = FileQuestion(
    id="sales.day",
    text="Is 03/04/2024 in column day 3 April or 4 March?",
    choices=(FileChoice(label="3 April", answer="date"), FileChoice(label="Keep as text", answer="text")),
)


async def upload(client: AsyncClient, *files: tuple[str, bytes], **fields: str) -> Any:
    parts = [("file", (name, content, "text/csv")) for name, content in files]
    return await client.post("/upload", files=parts, data=fields)


async def until(client: AsyncClient, import_id: str, *states: str) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for _ in range(500):
        shown = (await client.get(f"/imports/{import_id}")).json()
        if shown.get("state") in states:
            return shown
        await asyncio.sleep(0.01)
    raise AssertionError(shown)


async def imported(client: AsyncClient, *files: tuple[str, bytes], **fields: str) -> dict[str, Any]:
    answer = await upload(client, *files, **fields)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/imports/{answer.json()['id']}"
    return await until(client, answer.json()["id"], "ready", "asks", "failed")


async def ids(client: AsyncClient) -> list[str]:
    return [dataset["id"] for dataset in (await client.get("/datasets")).json()]


async def left_of_uploads(house: House) -> list[str]:
    """They are removed right after the outcome was written."""
    for _ in range(100):
        if not list(house.uploads.all()):
            break
        await asyncio.sleep(0.01)
    return [upload.id for upload in house.uploads.all()]


async def client_of(house: House) -> AsyncClient:
    transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
    return AsyncClient(transport=transport, base_url="http://localhost")
