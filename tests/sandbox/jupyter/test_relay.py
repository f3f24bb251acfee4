"""The relay with the real library on one side, and on the other whatever a kernel may turn into."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
import zmq.asyncio

from sandtable.sandbox.local.relay import Relay
from sandtable.sandbox.local.zmtp import MOST_FRAMES
from tests.sandbox.local.test_zmtp import GREETING

MOST = 1 << 20
_SOCKET_TYPE = b"\x0bSocket-Type" + (6).to_bytes(4, "big") + b"ROUTER"
_READY = b"\x05READY" + _SOCKET_TYPE
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A socket's path must be short."""
    with tempfile.TemporaryDirectory(prefix="relay-", dir="/tmp") as made:
        yield Path(made)


@asynccontextmanager
async def through_a_relay(folder: Path) -> AsyncIterator[tuple[Relay, Any]]:
    relay = Relay(folder / "kernel", MOST)
    await relay.listen(folder / "relay")
    context = zmq.asyncio.Context()
    client = context.socket(zmq.DEALER)
    client.connect(f"ipc://{folder}/relay")
    try:
        yield relay, client
    finally:
        context.destroy(linger=0)
        relay.close()
        await asyncio.sleep(0.01)


async def test_messages_pass_both_ways(folder: Path) -> None:
    context = zmq.asyncio.Context()
    kernel = context.socket(zmq.ROUTER)
    kernel.bind(f"ipc://{folder}/kernel")
    async with through_a_relay(folder) as (relay, client):
        for size in (0, 1, 255, 256, MOST // 2):
            await client.send_multipart([b"ask", bytes(size)])
            who, *asked = await kernel.recv_multipart()
            await kernel.send_multipart([who, *asked, b"answer"])
            assert await client.recv_multipart() == [b"ask", bytes(size), b"answer"]
        assert not relay.breach.done()
    context.destroy(linger=0)


async def _endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"\x01\x01x" * 1000)
        await writer.drain()


async def _huge(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x02" + (1 << 40).to_bytes(8, "big") + b"x" * 1000)
    await writer.drain()


@pytest.mark.parametrize(
    ("talk", "why"),
    [(_endless, f"more than {MOST_FRAMES} parts"), (_huge, "over the limit")],
    ids=["a message that never ends", "a part of a terabyte"],
)
async def test_a_kernel_that_floods_is_cut_off(folder: Path, talk: Talk, why: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GREETING)
        with contextlib.suppress(ConnectionError):
            await reader.readexactly(len(GREETING))
            writer.write(bytes([4, len(_READY)]) + _READY)
            await talk(reader, writer)
            await reader.read()
        writer.close()
        ended.set()

    ended = asyncio.Event()
    server = await asyncio.start_unix_server(serve, folder / "kernel")
    async with through_a_relay(folder) as (relay, client):
        assert why in await asyncio.wait_for(asyncio.shield(relay.breach), 20)
        with pytest.raises(zmq.Again):
            await client.recv_multipart(flags=zmq.NOBLOCK)
    server.close()
    await asyncio.wait_for(ended.wait(), 20)


async def test_no_kernel_there(folder: Path) -> None:
    async with through_a_relay(folder) as (relay, client):
        await client.send(b"ask")
        await asyncio.sleep(0.05)
        assert not relay.breach.done()
