"""What stands before several replicas: a balancer of connections, or one of requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle
from typing import Literal
from urllib.parse import urlsplit

By = Literal["connection", "request"]


@asynccontextmanager
async def forwarding(urls: Sequence[str], by: By, *, hides: bool = False) -> AsyncGenerator[str, None]:
    """The address under which all of `urls` answer in turn. `hides`: a client that hangs up in the middle of a
    request is not told of further on."""
    ports = cycle([urlsplit(url).port for url in urls])

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if by == "connection":
                await _pipe_both(reader, writer, next(ports))
            else:
                while await _one_request(reader, writer, ports, hides):
                    pass
        except (ConnectionError, asyncio.IncompleteReadError):
            # Either side may hang up at any time: that is what is tested.
            return
        finally:
            writer.close()

    at_work: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        at_work.add(task)
        task.add_done_callback(at_work.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)


async def _pipe_both(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int | None) -> None:
    theirs, ours = await asyncio.open_connection("127.0.0.1", port)
    ways = [asyncio.create_task(_pipe(reader, ours)), asyncio.create_task(_pipe(theirs, writer))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        ours.close()


async def _pipe(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(1 << 16):
        target.write(data)
        await target.drain()


async def _one_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ports: Iterator[int | None], hides: bool
) -> bool:
    request = await _message(reader)
    if not request:
        return False
    theirs, ours = await asyncio.open_connection("127.0.0.1", next(ports))
    try:
        ours.write(request)
        answer = asyncio.create_task(_message(theirs))
        hung_up = asyncio.create_task(asyncio.sleep(3600) if hides else reader.read(1))
        await asyncio.wait({answer, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            answer.cancel()
            return False
        hung_up.cancel()
        with suppress(asyncio.CancelledError):
            await hung_up
        writer.write(answer.result())
        await writer.drain()
        return bool(answer.result())
    finally:
        ours.close()


async def _message(reader: asyncio.StreamReader) -> bytes:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    return head + await reader.readexactly(length)
