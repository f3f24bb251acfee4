"""What was opened with a key or a session ends with it, in every protocol; the turn goes on as it was asked to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
import pytest_asyncio
from a2a.types import SendMessageRequest
from a2a.types.a2a_pb2_grpc import A2AServiceStub
from google.protobuf.json_format import MessageToDict
from websockets.asyncio.client import connect

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.principal import Principal
from sandtable.accounts.schema import FILE, MIGRATIONS
from sandtable.server import open_streams
from sandtable.server.a2a.ports import opened
from sandtable.server.acceptor import room_here
from sandtable.server.open_streams import SIGNED_OUT, OpenStreams
from sandtable.settings import Settings
from sandtable.store.run_store import StoreUnavailable
from sandtable.store.sqlite.file import SqliteFile
from tests.accounts.conftest import LIFETIME, Clock
from tests.server.a2a.asking import says
from tests.server.accounts.conftest import OWN, opened_accounts
from tests.server.conftest import LogLines
from tests.server.talking import WIRE, Served, human, served
from tests.server.v2.listening import ask, closed

PATIENCE_S = 20.0
NEVER_S = 600.0
EVENTS = {"Accept": "text/event-stream"}
TURN = {
    "assistant_id": "shop",
    "stream_mode": ["values"],
    "input": human("slow one"),
    "on_disconnect": "continue",
}
A2A = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "SendStreamingMessage",
    "params": {"message": MessageToDict(says("slow one", {"dataset": "shop"}))},
}
AGUI = {
    "threadId": "one",
    "runId": "one",
    "messages": [{"id": "1", "role": "user", "content": "slow one"}],
    "forwardedProps": {"dataset": "shop"},
}
MCP = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "ask", "arguments": {"dataset_id": "shop", "question": "slow one"}},
}


@dataclass
class Held:
    server: Served
    accounts: Accounts
    clock: Clock

    async def key(self, name: str = "bob", days: int | None = None) -> tuple[str, dict[str, str]]:
        """The id of a new key, and the headers of who has it."""
        now = self.accounts.now()
        until = None if days is None else now + days * 86_400
        key, token = await self.accounts.keys.add(name, "test", ["ask", "read"], now, until)
        return key.id, {"Authorization": f"Bearer {token}"}

    @asynccontextmanager
    async def chatting(self, headers: dict[str, str], **form: Any) -> AsyncGenerator[httpx.Response, None]:
        """A stream whose answer waits for `go`."""
        body = {"dataset_id": "shop", "message": "slow one"}
        async with self.streaming("/chat", body, headers) as answer:
            yield answer

    @asynccontextmanager
    async def streaming(
        self, path: str, body: Any, headers: dict[str, str]
    ) -> AsyncGenerator[httpx.Response, None]:
        given = {**EVENTS, "A2A-Version": "1.0", **headers}
        if path == "/mcp":
            given["Accept"] = "application/json, text/event-stream"
        async with (
            httpx.AsyncClient(base_url=self.server.url, timeout=PATIENCE_S) as client,
            client.stream("POST", path, json=body, headers=given) as answer,
        ):
            assert answer.status_code == 200, await answer.aread()
            async with asyncio.timeout(PATIENCE_S):
                await self.server.script.waiting.wait()
            yield answer


@asynccontextmanager
async def held_at(home: Path, **given: Any) -> AsyncIterator[Held]:
    clock, settings = Clock(), Settings(home=home, web=home / "not-built", accounts="on", **given)
    async with (
        opened_accounts(home, clock) as accounts,
        served(home, settings, accounts=accounts) as server,
    ):
        yield Held(server, accounts, clock)


@pytest_asyncio.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    async with held_at(tmp_path) as held:
        yield held


@pytest.fixture
def looks_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what this process reports is known."""
    monkeypatch.setattr(open_streams, "EVERY_S", NEVER_S)


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_streams, "EVERY_S", 0.05)


async def rest_of(answer: httpx.Response) -> tuple[str, Any]:
    """Name and data of the last event."""
    text = (await answer.aread()).decode().replace("\r\n", "\n")
    last = [line for line in text.strip().rpartition("\n\n")[2].splitlines() if not line.startswith(":")]
    fields = dict(line.split(": ", 1) for line in last)
    return fields.get("event", ""), json.loads(fields["data"])


WORDS = "does not hold any more"


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        pytest.param("/chat", {"dataset_id": "shop", "message": "slow one"}, "problem", id="chat"),
        pytest.param(f"{WIRE}/threads/THREAD/runs/stream", TURN, "message", id="langgraph"),
        pytest.param("/agui", AGUI, "message", id="ag-ui"),
        pytest.param("/a2a", A2A, "error", id="a2a"),
        pytest.param("/mcp", MCP, "problem", id="mcp"),
    ],
)
async def test_a_stream_ends_with_its_key(
    held: Held, looks_never: None, path: str, body: Any, words: str
) -> None:
    key_id, headers = await held.key()
    made = await held.server.client.post(f"{WIRE}/threads", json={}, headers=headers)
    path = path.replace("THREAD", made.json()["thread_id"])
    async with held.streaming(path, body, headers) as answer:
        await held.accounts.keys.revoke(key_id)
        name, data = await rest_of(answer)
    assert name == "error" and WORDS in str(data[words]), data
    assert not held.server.app.state.open_streams._open


async def test_a_websocket_is_closed_with_its_key(held: Held, looks_never: None) -> None:
    key_id, headers = await held.key()
    _, other = await held.key()
    async with httpx.AsyncClient(base_url=held.server.url, headers=headers) as client:
        url = (await ask(client, "slow one"))["websocket_url"]
    async with (
        connect(url, additional_headers=headers) as lost,
        connect(url, additional_headers=other) as kept,
    ):
        await held.accounts.keys.revoke(key_id)
        assert await closed(lost) == (SIGNED_OUT, "the API key or session does not hold any more")
        await (await kept.ping())


async def test_a_grpc_stream_ends_with_its_key(tmp_path: Path, looks_never: None) -> None:
    home, clock = tmp_path, Clock()
    settings = Settings(home=home, accounts="on", a2a=True, a2a_port=0, a2a_grpc_port=0)
    async with (
        opened(settings) as ports,
        opened_accounts(home, clock) as accounts,
        served(home, settings, accounts=accounts) as server,
    ):
        assert ports is not None
        key, token = await accounts.keys.add("bob", "test", ["ask", "read"], accounts.now())
        async with (
            ports.serving(server.app, room_here(), 2),
            grpc.aio.insecure_channel(f"127.0.0.1:{ports.grpc_port}") as channel,
        ):
            call = A2AServiceStub(channel).SendStreamingMessage(
                SendMessageRequest(message=says("slow one", {"dataset": "shop"})),
                metadata=(("authorization", f"Bearer {token}"), ("a2a-version", "1.0")),
                timeout=PATIENCE_S,
            )
            await server.script.waiting.wait()
            await accounts.keys.revoke(key.id)
            with pytest.raises(grpc.aio.AioRpcError, match=WORDS) as ended:
                async for _ in call:
                    pass
    assert ended.value.code() == grpc.StatusCode.UNAUTHENTICATED


Act = Callable[[Held, str], Awaitable[Any]]
ACTS: dict[str, Act] = {
    "revoked": lambda held, key: held.accounts.keys.revoke(key),
    "disabled": lambda held, key: held.accounts.people.disable("bob"),
    "removed": lambda held, key: held.accounts.people.remove("bob", held.accounts.now()),
}


@pytest.mark.parametrize("act", ACTS)
async def test_what_takes_the_key_away_ends_the_stream(held: Held, looks_never: None, act: str) -> None:
    key_id, headers = await held.key()
    async with held.chatting(headers) as answer:
        await ACTS[act](held, key_id)
        assert (await rest_of(answer))[1]["problem"]["code"] == "UNAUTHORIZED"


async def test_a_key_that_expires_ends_its_stream_and_no_other(held: Held, looks_often: None) -> None:
    _, headers = await held.key(days=1)
    _, lasting = await held.key(days=3)
    async with held.chatting(headers) as answer, held.chatting(lasting) as kept:
        held.clock.now += 2 * 86_400
        assert (await rest_of(answer))[1]["problem"]["code"] == "UNAUTHORIZED"
        held.server.script.go.set()
        assert (await rest_of(kept))[0] == "message"


async def test_lost_rights_end_the_stream_of_who_had_them(held: Held, looks_never: None) -> None:
    await held.accounts.people.add("eve", held.accounts.now(), is_admin=True)
    await held.accounts.teams.add("sales", held.accounts.now())
    await held.accounts.teams.join("sales", "bob")
    signed = await held.accounts.begin_session(await held.accounts.people.get("eve"))
    _, headers = await held.key()
    cookie = {**OWN, "Cookie": f"sandtable_session={signed.token}"}
    async with held.chatting(cookie) as admin, held.chatting(headers) as member:
        await held.accounts.people.set_admin("eve", False)
        assert (await rest_of(admin))[1]["problem"]["code"] == "UNAUTHORIZED"
        await held.accounts.teams.leave("sales", "bob")
        assert (await rest_of(member))[1]["problem"]["code"] == "UNAUTHORIZED"


async def test_signing_out_ends_the_streams_of_that_session(held: Held, looks_never: None) -> None:
    bob = await held.accounts.people.get("bob")
    first, second = [await held.accounts.begin_session(bob) for _ in range(2)]
    ours, others = ({**OWN, "Cookie": f"sandtable_session={each.token}"} for each in (first, second))
    async with held.chatting(ours) as ended, held.chatting(others) as kept:
        answer = await held.server.client.post("/logout", headers=ours)
        assert answer.status_code == 204
        assert (await rest_of(ended))[1]["problem"]["code"] == "UNAUTHORIZED"
        held.server.script.go.set()
        assert (await rest_of(kept))[0] == "message"


async def test_the_turn_goes_on_as_after_a_disconnect(held: Held, looks_never: None) -> None:
    key_id, headers = await held.key()
    _, again = await held.key()
    client = held.server.client
    thread = (await client.post(f"{WIRE}/threads", json={}, headers=headers)).json()["thread_id"]
    async with held.streaming(f"{WIRE}/threads/{thread}/runs/stream", TURN, headers) as answer:
        await held.accounts.keys.revoke(key_id)
        await answer.aread()
        run = answer.headers["content-location"].rpartition("/")[2]
    held.server.script.go.set()
    ended = await client.get(f"{WIRE}/threads/{thread}/runs/{run}/join", headers=again)
    assert ended.status_code == 200 and "You said: slow one" in ended.text


async def test_another_process_is_followed_by_looking_again(held: Held, looks_often: None) -> None:
    key_id, headers = await held.key()
    elsewhere = Accounts(
        SqliteFile(held.server.house.settings.home / FILE, MIGRATIONS, synchronous="FULL"), LIFETIME
    )
    await elsewhere.open()
    try:
        async with held.chatting(headers) as answer:
            await elsewhere.keys.revoke(key_id)
            assert (await rest_of(answer))[1]["problem"]["code"] == "UNAUTHORIZED"
    finally:
        await elsewhere.aclose()


async def test_without_the_store_a_stream_goes_on_for_a_while_only(
    held: Held, looks_often: None, monkeypatch: pytest.MonkeyPatch, log_lines: LogLines
) -> None:
    asked = asyncio.Event()

    async def fails(*_: Any) -> Any:
        asked.set()
        raise StoreUnavailable("the disk is away", suggestion="Wait.")

    _, headers = await held.key()
    async with held.chatting(headers) as answer:
        monkeypatch.setattr(held.accounts.keys, "people", fails)
        await asked.wait()
        [stream] = held.server.app.state.open_streams._open
        assert not stream.ended
        monkeypatch.setattr(open_streams, "UNCHECKED_S", 0.0)
        assert (await rest_of(answer))[1]["problem"]["code"] == "UNAUTHORIZED"
    assert [line["reason"] for line in log_lines() if line["event"] == "open_streams_not_checked"] == [
        "the disk is away"
    ]


async def test_without_accounts_nothing_is_watched() -> None:
    streams, task = OpenStreams(None), asyncio.current_task()
    assert task is not None
    with streams.joined(Principal("@127.0.0.1"), task):
        assert streams._watching is None
