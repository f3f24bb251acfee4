"""A server with people: Anna owns everything that is asked for, and the others are what the matrix says they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
from fastapi import FastAPI

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.passwords import Passwords
from sandtable.accounts.schema import FILE, MIGRATIONS
from sandtable.settings import Settings
from sandtable.sources.address import read_address
from sandtable.sources.records import SourceRecords, source_of
from sandtable.store.sqlite.file import SqliteFile
from tests.accounts.conftest import CHEAP, LIFETIME, Clock
from tests.server.accounts.conftest import OWN
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
"""As a trusted proxy names them."""
SHARED = ("thread", "run", "dataset", "question", "board")
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
    people: dict[str, dict[str, str]]
    """The headers by which each is known."""
    things: Things = field(default_factory=Things)

    def client(self, who: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self.app, client=("127.0.0.1", 4242))
        return httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=self.people[who], timeout=30
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
            kept = {"run_id": alone.json()["run_id"], "name": "Seven"}
            question = (await anna.post("/questions", json=kept)).json()["id"]
            tile = {"id": "t", "question_id": question, "x": 0, "y": 0, "w": 6, "h": 4}
            board = await anna.post("/boards", json={"name": "Numbers", "tiles": [tile]})
            assert board.status_code == 201, board.text
            self.things.ids = {
                "question": question,
                "board": board.json()["id"],
                "dataset": name,
                "database": self._database(f"annas_shop_{self.things.count}"),
                "import": made["id"],
                "file": next(file["id"] for file in files if file["dataset_id"] == name),
                "upload": begun.headers["location"].rpartition("/")[2],
                "thread": thread,
                "turn": turns[0]["run_id"],
                "checkpoint": state["checkpoint"]["checkpoint_id"],
                "run": alone.json()["run_id"],
                "thread_run": (await anna.get("/runs", params={"text": SECRET})).json()["runs"][0]["run_id"],
            }

    def _database(self, name: str) -> str:
        """One that Anna connected, at an address where nothing answers."""
        address = read_address("postgresql://reader@127.0.0.1:1/shop")
        source = source_of(address, name, only_schema="", password_env="", allowed_writer="")
        records = SourceRecords(self.house.settings.home)
        records.write(source.model_copy(update={"owner": "anna"}), None)
        return name

    async def share(self, **recipient: str) -> None:
        async with self.client("owner") as anna:
            for kind in SHARED:
                answer = await anna.put(f"/shares/{kind}/{self.things.ids[kind]}", json=recipient)
                assert answer.status_code == 200, answer.text

    async def let_edit(self, team: str) -> None:
        """The dataset, by those with whom it was shared to ask about."""
        async with self.client("owner") as anna:
            body = {"recipient": "team", "name": team, "right": "edit"}
            answer = await anna.put(f"/shares/dataset/{self.things.ids['dataset']}", json=body)
            assert answer.status_code == 200, answer.text

    async def unshare(self, **recipient: str) -> None:
        async with self.client("owner") as anna:
            for kind in SHARED:
                address = f"/shares/{kind}/{self.things.ids[kind]}"
                answer = await anna.delete(address, params=recipient)
                assert answer.status_code == 200, answer.text

    async def listens(self, who: str, path: str) -> int:
        """Opens a WebSocket: the status of a refusal, the code with which the server closes it, 101 where it stays
        open."""
        sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        given: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        given.put_nowait({"type": "websocket.connect"})
        headers = [(name.lower().encode(), value.encode()) for name, value in self.people[who].items()]
        scope = {
            "type": "websocket", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "ws",
            "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "",
            "headers": [(b"host", b"localhost"), *headers], "subprotocols": [],
            "client": ("127.0.0.1", 4242), "server": ("localhost", 80), "state": {},
            "extensions": {"websocket.http.response": {}},
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
                    if message["type"] == "websocket.http.response.start":
                        return message["status"]
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
        database_hosts=("127.0.0.1",),
    )
    async with served(home, settings) as server:
        world = World(server.app, server.house, PEOPLE)
        await world.make()
        yield world


@asynccontextmanager
async def with_accounts(home: Path, **given: Any) -> AsyncIterator[tuple[World, Accounts]]:
    """The same, where people have accounts: Bob, Anna and Olga signed in with browsers, and Carl has an API key."""
    # One person sends more here than people do.
    given = {"rate_reads": 0, "rate_writes": 0, "database_hosts": ("127.0.0.1",), **given}
    settings = Settings(home=home, web=home / "not-built", accounts="on", **given)
    tables = SqliteFile(home / FILE, MIGRATIONS, synchronous="NORMAL")
    accounts = Accounts(tables, LIFETIME, Passwords(CHEAP), Clock())
    await accounts.open()
    try:
        for name in ("anna", "bob", "carl", "olga"):
            await accounts.people.add(name, accounts.now(), is_admin=name == "olga")
        await accounts.teams.add("sales", accounts.now())
        await accounts.teams.join("sales", "carl")
        async with served(home, settings, accounts=accounts) as server:
            world = World(server.app, server.house, {"anonymous": {}})
            await sign_in(world, accounts)
            world.people["team"] = await key_of(accounts, "carl", "ask", "data", "read", "share")
            await world.make()
            yield world, accounts
    finally:
        await accounts.aclose()


async def sign_in(world: World, accounts: Accounts) -> None:
    """Gives those who have browsers new sessions."""
    for who, name in (("other", "bob"), ("owner", "anna"), ("admin", "olga")):
        world.people[who] = await session_of(accounts, name) | OWN


async def session_of(accounts: Accounts, name: str, age_s: int = 0) -> dict[str, str]:
    _, token = await accounts.sessions.begin(name, accounts.now() - age_s)
    return {"Cookie": f"sandtable_session={token}"}


async def key_of(
    accounts: Accounts, name: str, *scopes: str, ended: Literal["", "expired", "revoked"] = ""
) -> dict[str, str]:
    made, until = (accounts.now() - 20, accounts.now() - 10) if ended == "expired" else (accounts.now(), None)
    key, token = await accounts.keys.add(name, "a program", scopes, made, until)
    if ended == "revoked":
        await accounts.keys.revoke(key.id)
    return {"Authorization": f"Bearer {token}"}
