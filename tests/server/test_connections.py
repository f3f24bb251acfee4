"""Clients that send slowly, too much, or nothing: each connection ends in time, where possible with an answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from sandtable.server import connections
from sandtable.server.acceptor import Room
from sandtable.server.standing import Server, bound, configured

PATIENCE_S = 30.0
SHORT_S = 0.3
HEAD = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
WHOLE = HEAD + b"\r\n"


@dataclass
class Small:
    """An application that answers at once, or when it is let."""

    seen: list[str] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.seen.append(scope["path"])
        if scope["path"] == "/slow":
            self.waiting.set()
            await self.go.wait()
        if scope["path"] == "/whole":
            while (await receive()).get("more_body"):
                pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@dataclass
class Stage:
    app: Small
    port: int
    room: Room
    log: list[Any]
    clients: list[Client] = field(default_factory=list)

    async def client(self, sent: bytes = b"") -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(sent)
        self.clients.append(Client(reader, writer))
        return self.clients[-1]

    async def close(self) -> None:
        for client in self.clients:
            client.writer.close()
            with suppress(ConnectionError):
                await client.writer.wait_closed()


@dataclass
class Client:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[int, bytes]:
        async with asyncio.timeout(PATIENCE_S):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(head.split("content-length: ")[1].split("\r\n")[0])
            return int(head.split()[1]), await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        """What comes before the server closes the connection."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""

    async def trickle(self, text: bytes) -> None:
        """Until the server has had enough."""
        try:
            while not self.reader.at_eof():
                self.writer.write(text)
                await self.writer.drain()
                await asyncio.sleep(SHORT_S / 10)
        except ConnectionError:
            return


@pytest_asyncio.fixture
async def stage(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    for name in ("HEAD_S", "REST_S", "LINGER_S"):
        monkeypatch.setattr(connections, name, SHORT_S)
    app, room = Small(), Room(64)
    with bound("127.0.0.1", 0) as listening, capture_logs() as log:
        server = Server(configured(app, grace_s=1, keep_alive_s=1, room=room), lambda: None)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.005)
        one = Stage(app, listening.getsockname()[1], room, log)
        yield one
        app.go.set()
        await one.close()
        server.should_exit = True
        await task
    assert room.open == 0, "what enters leaves"


def problem(body: bytes) -> dict[str, Any]:
    answer = json.loads(body)
    assert set(answer) == {"error", "request_id"}
    return answer["error"]


async def test_who_connects_and_says_nothing_is_let_go(stage: Stage) -> None:
    client = await stage.client()
    assert await client.rest() == b""
    assert stage.app.seen == []


@pytest.mark.parametrize(
    ("before", "piece"),
    [(HEAD, b"X-Slow: a\r\n"), (b"", b"G"), (WHOLE + b"GET ", b"/")],
    ids=["header by header", "byte by byte", "the second request"],
)
async def test_a_head_must_arrive_in_time(stage: Stage, before: bytes, piece: bytes) -> None:
    client = await stage.client(before)
    if before.startswith(WHOLE):
        assert (await client.answer())[0] == 200
    trickling = asyncio.create_task(client.trickle(piece))
    status, body = await client.answer()
    assert status == 408 and "did not arrive" in problem(body)["message"]
    assert await client.rest() == b""
    await trickling
    # However many there are of them, it is one line in ten seconds.
    (line,) = [line for line in stage.log if line["event"] == "client_dropped"]
    assert "did not arrive" in line["reason"]


async def test_a_whole_head_has_no_deadline(stage: Stage) -> None:
    client = await stage.client(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await stage.app.waiting.wait()
    await asyncio.sleep(SHORT_S * 3)
    stage.app.go.set()
    assert await client.answer() == (200, b"ok")


async def test_the_rest_of_a_body_is_not_waited_for(stage: Stage) -> None:
    """Each byte of it would otherwise put off the end of an idle connection."""
    client = await stage.client(HEAD + b"Content-Length: 1000000\r\n\r\n")
    assert (await client.answer())[0] == 200
    trickling = asyncio.create_task(client.trickle(b"x"))
    assert await client.rest() == b""
    await trickling


async def test_a_rest_that_comes_at_once_is_read(stage: Stage) -> None:
    client = await stage.client(HEAD + b"Content-Length: 5\r\n\r\n")
    assert (await client.answer())[0] == 200
    client.writer.write(b"hello" + WHOLE)
    assert (await client.answer())[0] == 200


async def test_an_idle_connection_is_closed(stage: Stage) -> None:
    client = await stage.client(WHOLE)
    assert (await client.answer())[0] == 200
    assert await client.rest() == b""


LARGE = {
    "a header": (HEAD + b"X: " + b"a" * 20_000 + b"\r\n\r\n", 431),
    "a header that does not end": (HEAD + b"X: " + b"a" * 20_000, 431),
    "many headers": (HEAD + b"X: a\r\n" * 200 + b"\r\n", 431),
    "an address": (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
}


@pytest.mark.parametrize(("sent", "status"), LARGE.values(), ids=LARGE)
async def test_a_head_is_bounded(stage: Stage, sent: bytes, status: int) -> None:
    """Also one that arrives whole, in a single piece."""
    client = await stage.client(sent)
    found, body = await client.answer()
    assert found == status and problem(body)["suggestion"]
    assert stage.app.seen == []


@pytest.mark.parametrize("path", ["/whole", "/slow"], ids=["that is waited for", "that is not"])
async def test_a_body_that_cannot_be_read_ends_the_request(stage: Stage, path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
    client = await stage.client(head.encode())
    await asyncio.sleep(0.05)
    client.writer.write(b"nonsense\r\n")
    status, body = await client.answer()
    assert status == 400 and "cannot be read" in problem(body)["message"]
    stage.app.go.set()
    assert await client.rest() == b""
    assert not [line for line in stage.log if line["log_level"] in ("error", "critical")]


async def test_a_reason_is_in_plain_words(stage: Stage) -> None:
    client = await stage.client(HEAD + b"X-Odd: a\0b\r\n\r\n")
    status, body = await client.answer()
    assert (status, problem(body)["message"]) == (400, "the request cannot be read: illegal header line")


async def test_the_answer_to_a_bad_request_can_be_read_while_it_is_still_sent(stage: Stage) -> None:
    client = await stage.client(HEAD + b"X: " + b"a" * 20_000)
    trickling = asyncio.create_task(client.trickle(b"a" * 4000))
    status, body = await client.answer()
    assert status == 431 and problem(body)
    assert await client.rest() == b""
    await trickling


async def test_what_waits_makes_way_for_what_comes(stage: Stage) -> None:
    """A server full of clients that send nothing still answers."""
    for _ in range(80):
        await stage.client(HEAD)
    client = await stage.client(WHOLE)
    assert await client.answer() == (200, b"ok")
    assert stage.room.open <= 64 + 1


async def test_a_connection_too_many_is_answered_at_once(stage: Stage) -> None:
    slow = b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"
    held = [await stage.client(slow) for _ in range(64)]
    async with asyncio.timeout(PATIENCE_S):
        while len(stage.app.seen) < 64:
            await asyncio.sleep(0.01)
    for _ in range(3):
        client = await stage.client(WHOLE)
        status, body = await client.answer()
        assert status == 503 and problem(body)["code"] == "QUEUE_FULL"
    assert len([line for line in stage.log if line["event"] == "connection_refused"]) == 1
    stage.app.go.set()
    for one in held:
        assert (await one.answer())[0] == 200
    assert (await (await stage.client(WHOLE)).answer())[0] == 200
