"""A server with people: Anna owns everything that is asked for, and the others are what the matrix says they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from sandtable.settings import Settings
from tests.server.files.importing import SALES, imported
from tests.server.house import THIS_MACHINE, House
from tests.server.talking import served

GROUPS = "X-Sandtable-Groups"
PEOPLE: dict[str, dict[str, str]] = {
    "anonymous": {},
    "other": {"X-Sandtable-User": "bob"},
    "team": {"X-Sandtable-User": "carl", GROUPS: "sales"},
    "owner": {"X-Sandtable-User": "anna"},
    "admin": {"X-Sandtable-User": "olga", GROUPS: "operators"},
}
"""Requests of a key that has expired are refused before there is a principal: they get a row here with the keys."""
SECRET = "zebra"
"""In Anna's question, and nowhere else."""
TUS = {"Tus-Resumable": "1.0.0"}


@dataclass
class Things:
    """Anna's, by the names that paths use."""

    ids: dict[str, str] = field(default_factory=dict)
    count: int = 0


@dataclass
class World:
    app: FastAPI
    house: House
    things: Things = field(default_factory=Things)

    def client(self, who: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, client=("127.0.0.1", 4242))
        return httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=PEOPLE[who], timeout=30
        )

    async def make(self) -> None:
        """Anna's things once more, under other names."""
        self.things.count += 1
        name = f"annas_figures_{self.things.count}"
        async with self.client("owner") as anna:
            made = await imported(anna, (f"{name}.csv", SALES))
            assert made["dataset_id"] == name, made
            # The double behind the run queue knows datasets by itself.
            self.house.world.datasets.current[name] = self.house.datasets.get(name)
            files = (await anna.get("/files")).json()
            metadata = {"Upload-Length": "3", "Upload-Metadata": "filename YS5jc3Y="}
            begun = await anna.post("/uploads", headers={**TUS, **metadata})
            thread = (await anna.post("/langgraph/threads", json={})).json()["thread_id"]
            turn = {
                "assistant_id": "shop",
                "input": {"messages": [{"type": "human", "content": f"plan {SECRET}"}]},
            }
            answer = await anna.post(f"/langgraph/threads/{thread}/runs/wait", json=turn)
            assert answer.status_code == 200, answer.text
            state = (await anna.get(f"/langgraph/threads/{thread}/state")).json()
            turns = (await anna.get(f"/langgraph/threads/{thread}/runs")).json()
            alone = await anna.post("/runs?wait=10", json={"dataset_id": "shop", "sql": "SELECT 7"})
            assert alone.status_code == 200, alone.text
            self.things.ids = {
                "dataset": name,
                "import": made["id"],
                "file": next(file["id"] for file in files if file["dataset_id"] == name),
                "upload": begun.headers["location"].rpartition("/")[2],
                "thread": thread,
                "turn": turns[0]["run_id"],
                "checkpoint": state["checkpoint"]["checkpoint_id"],
                "run": alone.json()["run_id"],
                "thread_run": (await anna.get("/runs", params={"text": SECRET})).json()["runs"][0]["run_id"],
            }

    async def share(self, **recipient: str) -> None:
        async with self.client("owner") as anna:
            for kind in ("thread", "run", "dataset"):
                answer = await anna.put(f"/shares/{kind}/{self.things.ids[kind]}", json=recipient)
                assert answer.status_code == 200, answer.text

    async def unshare(self, **recipient: str) -> None:
        async with self.client("owner") as anna:
            for kind in ("thread", "run", "dataset"):
                address = f"/shares/{kind}/{self.things.ids[kind]}"
                answer = await anna.delete(address, params=recipient)
                assert answer.status_code == 200, answer.text

    async def listens(self, who: str, path: str) -> int:
        """Opens a WebSocket: the code with which the server closes it, 101 where it stays open."""
        sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        given: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        given.put_nowait({"type": "websocket.connect"})
        headers = [(name.lower().encode(), value.encode()) for name, value in PEOPLE[who].items()]
        scope = {
            "type": "websocket", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "ws",
            "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
            "headers": [(b"host", b"localhost"), *headers], "subprotocols": [],
            "client": ("127.0.0.1", 4242), "server": ("localhost", 80), "state": {},
        }  # fmt: skip

        async def send(message: MutableMapping[str, Any]) -> None:
            await sent.put(dict(message))

        serving = asyncio.create_task(self.app(scope, given.get, send))
        try:
            async with asyncio.timeout(10):
                while True:
                    message = await sent.get()
                    if message["type"] == "websocket.close":
                        return message["code"]
                    if message["type"] != "websocket.accept":
                        return 101
                    # Nothing is sent on an idle thread: it is open when it has not been closed by then.
                    with_message = asyncio.create_task(sent.get())
                    done, _ = await asyncio.wait({with_message}, timeout=0.3)
                    if not done:
                        with_message.cancel()
                        return 101
                    sent.put_nowait(with_message.result())
        finally:
            given.put_nowait({"type": "websocket.disconnect", "code": 1000})
            await asyncio.wait({serving}, timeout=5)


@asynccontextmanager
async def peopled(home: Path) -> AsyncIterator[World]:
    settings = Settings(
        home=home,
        web=home / "not-built",
        trusted_proxies=THIS_MACHINE,
        groups_header=GROUPS,
        admin_groups=("operators",),
    )
    async with served(home, settings) as server:
        world = World(server.app, server.house)
        await world.make()
        yield world
