"""Servers that are no database, or an evil one: an error for people, in bounded time, and nothing left."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from sandtable.errors import RunnerBroken, SandtableError
from sandtable.sources import session
from sandtable.sources.troubles import SourceRefused
from tests.sources.conftest import SECRET, Shop

pytestmark = pytest.mark.needs("userns")

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack(">I", len(body) + 4) + body


SIGNED_IN = message(b"R", struct.pack(">I", 0))
ERROR = message(b"E", b"SFATAL\0VFATAL\0C28P01\0Mthe password is " + SECRET.encode() + b"\0\0")


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[str]:
    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"postgresql://reader:{SECRET}@127.0.0.1:{port}/postgres"
    finally:
        listening.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\0" * 100_000,
        message(b"R", struct.pack(">I", 77)),
        b"R\x7f\xff\xff\xff" + b"x" * 100_000,
        b"E\xff\xff\xff\xff",
        SIGNED_IN + message(b"Z", b"I") + b"\xff" * 10_000,
        SIGNED_IN + message(b"S", b"client_encoding\0SQL_ASCII\0") * 20_000,
        SIGNED_IN + message(b"Z", b"I") + message(b"H", b"\0\0\0"),
        ERROR,
    ],
    ids=[
        "closes", "is-a-web-server", "sends-zeros", "asks-for-an-unknown-method", "announces-two-gigabytes",
        "has-a-negative-length", "sends-garbage-later", "sends-parameters-without-end", "copies-unasked",
        "quotes-the-password",
    ],
)  # fmt: skip
async def test_what_is_no_database_is_refused(shop: Shop, answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(answer)
        writer.close()

    async with server(serve) as url:
        with pytest.raises((SourceRefused, RunnerBroken)) as caught:
            await asyncio.wait_for(shop.connect(url), 30)
    assert SECRET not in str(caught.value.problem)
    assert shop.is_untouched()
    assert shop.sources.records.list() == ()


async def test_a_server_that_never_answers_is_given_up(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_CONNECT_S", 2)
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            pass
        writer.close()
        gone.set()

    async with server(serve) as url:
        with pytest.raises(SandtableError) as caught:
            await asyncio.wait_for(shop.connect(url), 20)
        await asyncio.wait_for(gone.wait(), 5)
    assert "connecting" in caught.value.message.lower()


async def test_a_server_that_sends_without_end_takes_no_memory_of_ours(shop: Shop) -> None:
    """It fills a worker, whose memory is limited, or is refused; the relay holds no more than a few pieces."""
    sent = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.read(4096)
        writer.write(SIGNED_IN + b"E\x3f\xff\xff\xff")
        try:
            while True:
                writer.write(b"M" * (1 << 20))
                await writer.drain()
                sent += 1 << 20
        except ConnectionError:
            writer.close()

    async with server(serve) as url:
        with pytest.raises(SandtableError):
            await asyncio.wait_for(shop.connect(url), 60)
    assert sent < 1 << 30
