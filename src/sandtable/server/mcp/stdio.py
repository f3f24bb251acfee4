"""MCP over stdin and stdout, for a client that starts this process and serves one person.

Invariant: stdout carries nothing but the protocol: the SDK points the descriptor of other output to stderr. A line of
input is bounded, and waiting for one can be cancelled, so that a signal ends the process at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server

from sandtable.agent.analyst import Analyst
from sandtable.runs.fair_queue import FairQueue
from sandtable.server.guard import MAX_BODY
from sandtable.server.mcp.asking import AnalystAsking
from sandtable.server.mcp.place import Place
from sandtable.server.mcp.protocol import server_of
from sandtable.stopping import stopped

if TYPE_CHECKING:
    from sandtable.assemble import Parts

_CHECKS_WAITING = 128
_TOO_LONG = "{"
"""In place of a line that is too long: no JSON, so the client gets an error."""

Converse = Callable[["Parts"], AbstractAsyncContextManager[Analyst]]


async def serve(parts: Parts, converse: Awaitable[Converse]) -> None:
    """Until stdin ends. The conversation is opened beside it."""
    opened: asyncio.Future[Analyst] = asyncio.get_running_loop().create_future()
    holding = asyncio.create_task(_hold(parts, converse, opened))

    async def analyst() -> Analyst:
        return await asyncio.shield(opened)

    checks = FairQueue("checks", parts.settings.checks, _CHECKS_WAITING)
    server = server_of(Place(parts, AnalystAsking(analyst), checks))
    try:
        async with _lines() as lines, stdio_server(stdin=lines) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await stopped(holding)
        opened.cancel()


async def _hold(parts: Parts, converse: Awaitable[Converse], opened: asyncio.Future[Analyst]) -> None:
    """Opens and closes in one task, as context managers require."""
    try:
        async with (await converse)(parts) as analyst:
            opened.set_result(analyst)
            await asyncio.Event().wait()
    except Exception as error:
        if opened.done():
            raise
        opened.set_exception(error)
        # Marks it as retrieved: perhaps nothing is asked.
        opened.exception()


@asynccontextmanager
async def _lines() -> AsyncGenerator[Any, None]:
    """What stdin holds, line by line; descriptor 0 is the null device meanwhile."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    file = os.fdopen(own, "rb", buffering=0)
    reader = asyncio.StreamReader(limit=MAX_BODY)
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
    except ValueError:
        # A regular file, which is never waited for.
        yield anyio.wrap_file(os.fdopen(own, encoding="utf-8", errors="replace", closefd=False))
        file.close()
        return
    try:
        yield _read(reader)
    finally:
        transport.close()


async def _read(reader: asyncio.StreamReader) -> AsyncIterator[str]:
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            yield _TOO_LONG
            continue
        if not line:
            return
        yield line.decode("utf-8", "replace")
