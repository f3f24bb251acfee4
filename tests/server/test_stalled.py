"""Clients that ask and then take nothing: what they hold is bounded and given back, and nobody waits for them."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from socket import SHUT_WR, SO_RCVBUF, SOL_SOCKET, socket
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs
from websockets.asyncio.client import connect

from sandtable.sandbox.fake import Script
from sandtable.server import connections
from sandtable.server.connections import HttpConnection, SocketConnection
from sandtable.server.v2 import stream
from tests.server.talking import WIRE, Served, human, served
from tests.server.v2.listening import ask, until

PATIENCE_S = 20.0
LARGE = Script(columns=(("n", "BIGINT"), ("t", "VARCHAR")), rows=tuple((n, "y" * 4000) for n in range(100)))
QUESTIONS = 6
MOST_KEPT = 1 << 20
"""What may wait for one client: a message, and what the transport takes before it says that it is full."""
KEY = "dGhlIHNhbXBsZSBub25jZQ=="


@dataclass
class Stage:
    server: Served
    log: list[Any]
    made: list[HttpConnection | SocketConnection] = field(default_factory=list)
    most: int = 0

    async def begin(self, request: bytes) -> socket:
        """A client that sends this and then does nothing more."""
        host, _, port = self.server.url.removeprefix("http://").partition(":")
        client = socket()
        client.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, (host, int(port)))
        await asyncio.get_running_loop().sock_sendall(client, request)
        return client

    async def sees(self, what: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self.most = max([self.most, *self.kept()])
                if what():
                    return
                await asyncio.sleep(0.02)

    def kept(self) -> Iterable[int]:
        return (one.transport.get_write_buffer_size() for one in self.made)

    def descriptor_for(self, client: socket) -> int:
        (there,) = {one.transport for one in self.made if one.client == client.getsockname()}
        return there.get_extra_info("socket").fileno()

    def dropped(self) -> list[str]:
        return [line["path"] for line in self.log if line["event"] == "client_dropped"]


@pytest_asyncio.fixture
async def stage(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    """Its server is as patient as the test wants it to be."""
    monkeypatch.setattr(connections, "STALLED_S", request.param)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(served(tmp_path, small=True))
        server.house.executor.on("SELECT 1 AS n FROM orders;", LARGE)
        one = Stage(server, stack.enter_context(capture_logs()))
        for kind in (HttpConnection, SocketConnection):
            monkeypatch.setattr(kind, "connection_made", _noting(kind.connection_made, one.made))
        yield one


def _noting(made: Callable[..., None], into: list[Any]) -> Callable[..., None]:
    def note(self: Any, transport: Any) -> None:
        into.append(self)
        made(self, transport)

    return note


def upgrade(path: str) -> bytes:
    lines = ("Host: localhost", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {KEY}")
    return "\r\n".join((f"GET {path} HTTP/1.1", *lines, "Sec-WebSocket-Version: 13", "", "")).encode()


def post(path: str, body: dict[str, Any]) -> bytes:
    text = json.dumps(body)
    lines = (
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        "Accept: text/event-stream",
        "Content-Type: application/json",
    )
    return "\r\n".join((*lines, f"Content-Length: {len(text)}", "", text)).encode()


async def _v2(server: Served) -> bytes:
    asked = await ask(server.client, "query it")
    for _ in range(QUESTIONS):
        await ask(server.client, "query it", session_id=asked["session_id"])
    return upgrade(f"/v2/stream/{asked['session_id']}?after=0")


async def _langgraph(server: Served) -> bytes:
    body = {"assistant_id": "shop", "stream_mode": ["values", "custom"], "input": human("query it")}
    return post(f"{WIRE}/threads/{await server.new_thread()}/runs/stream", body)


async def _chat(server: Served) -> bytes:
    return post("/chat", {"dataset_id": "shop", "message": "query it"})


async def _agui(server: Served) -> bytes:
    message = {"id": "q1", "role": "user", "content": "query it"}
    return post("/agui", {"threadId": "one", "runId": "one", "messages": [message]})


@pytest.mark.parametrize("stage", [0.5], indirect=True, ids=["impatient"])
@pytest.mark.parametrize(
    ("way", "send_s"),
    [(_v2, 30.0), (_v2, 0.05), (_langgraph, 30.0), (_chat, 30.0), (_agui, 30.0)],
    ids=["websocket", "websocket that is to be closed", "langgraph", "chat", "agui"],
)
async def test_who_takes_nothing_is_dropped_and_leaves_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, way: Any, send_s: float
) -> None:
    monkeypatch.setattr(stream, "SEND_S", send_s)
    request = await way(stage.server)
    path = request.split()[1].decode().partition("?")[0]
    with await stage.begin(request) as client:
        await stage.sees(lambda: any(stage.kept()))
        # The others are served meanwhile, and the work goes on.
        other = await ask(stage.server.client, "query it")
        async with connect(other["websocket_url"]) as listening:
            assert (await until(listening))[-1]["type"] == "final_response"
        await stage.sees(stage.dropped)
        assert stage.dropped() == [path]
        (line,) = [line for line in stage.log if line["event"] == "client_dropped"]
        assert "took nothing" in line["reason"] and line["log_level"] == "warning"
        assert 0 < stage.most < MOST_KEPT
        await stage.sees(lambda: not any(map(_serves, asyncio.all_tasks())))
        await stage.sees(lambda: stage.descriptor_for(client) == -1)
        assert not [line for line in stage.log if line["log_level"] in ("error", "critical")]


def _serves(task: asyncio.Task[Any]) -> bool:
    return "run_asgi" in repr(task)


@pytest.mark.parametrize("stage", [60.0], indirect=True, ids=["patient"])
async def test_who_asks_for_signs_of_life_and_takes_none_is_owed_the_last(stage: Stage) -> None:
    asked = await ask(stage.server.client, "one")
    loop = asyncio.get_running_loop()
    with await stage.begin(upgrade(f"/v2/stream/{asked['session_id']}?after=0")) as client:
        await stage.sees(lambda: stage.made and hasattr(stage.made[-1], "writable"))
        batch, count = 2000, 60
        for first in range(0, batch * count, batch):
            await loop.sock_sendall(client, b"".join(map(ping, range(first, first + batch))))
            assert max(stage.kept()) < MOST_KEPT
        await asyncio.sleep(0.1)
        last = batch * count + 1
        await loop.sock_sendall(client, ping(last - 1) + ping(last))
        client.setsockopt(SOL_SOCKET, SO_RCVBUF, 1 << 20)
        heard = b""
        async with asyncio.timeout(PATIENCE_S):
            while pong(last) not in heard:
                heard = heard[-1000:] + await loop.sock_recv(client, 1 << 16)


def ping(number: int) -> bytes:
    """Masked with zeros, as a client must."""
    return b"\x89\xfd\0\0\0\0" + _payload(number)


def pong(number: int) -> bytes:
    return b"\x8a\x7d" + _payload(number)


def _payload(number: int) -> bytes:
    return struct.pack("!I", number) + b"p" * 121


@pytest.mark.parametrize("stage", [60.0], indirect=True, ids=["patient"])
async def test_a_websocket_whose_client_is_gone_without_a_word_is_closed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half open: the connection stands, and nobody answers a ping any more."""
    made = SocketConnection.connection_made

    def hasty(self: Any, transport: Any) -> None:
        self.ping_interval, self.ping_timeout = 0.1, 0.2
        made(self, transport)

    monkeypatch.setattr(SocketConnection, "connection_made", hasty)
    asked = await ask(stage.server.client, "one")
    with await stage.begin(upgrade(f"/v2/stream/{asked['session_id']}?after=0")) as client:
        listeners = stage.server.app.state.listeners
        await stage.sees(lambda: listeners._users)
        await stage.sees(lambda: not listeners._users)
        await stage.sees(lambda: stage.descriptor_for(client) == -1)
    assert not [line for line in stage.log if line["log_level"] in ("error", "critical")]


@pytest.mark.parametrize("stage", [60.0], indirect=True, ids=["patient"])
@pytest.mark.parametrize("path", ["/chat", "/agui"])
async def test_who_closes_its_half_has_hung_up(stage: Stage, path: str) -> None:
    message = {"id": "q1", "role": "user", "content": "slow one"}
    body = {"/chat": {"dataset_id": "shop", "message": "slow one"}}.get(
        path, {"threadId": "one", "runId": "one", "messages": [message]}
    )
    with await stage.begin(post(path, body)) as client:
        await stage.server.script.waiting.wait()
        client.shutdown(SHUT_WR)
        await stage.sees(lambda: stage.server.script.at_work == 0)
        await stage.sees(lambda: stage.descriptor_for(client) == -1)
    assert not [line for line in stage.log if line["log_level"] in ("error", "critical")]
