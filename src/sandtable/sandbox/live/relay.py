"""Passes the bytes of a worker's connections to one declared address, and reads none of them.

Invariant: the address is fixed before the worker starts. The worker's listening socket lies in a network namespace that
has no other way out.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from dataclasses import dataclass

_PIECE = 256 << 10
_CONNECT_S = 15.0
_MOST_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Target:
    host: str
    """A name or number; or, with a `/` in front, the path of a Unix socket."""
    port: int

    @property
    def is_path(self) -> bool:
        return self.host.startswith("/")


class TargetRelay:
    def __init__(self, target: Target) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._serving = 0
        self.trouble = ""
        """Why the last connection to the target could not be made; empty where it was."""

    async def serve(self, listener: socket.socket) -> None:
        # In two steps, so that a caller who is cancelled in the second one can close it.
        self._server = await asyncio.start_server(
            self._serve, sock=listener, limit=_PIECE, start_serving=False
        )
        await self._server.start_serving()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._serving >= _MOST_AT_ONCE:
            writer.close()
            return
        self._serving += 1
        ends = {writer}
        self._writers.add(writer)
        try:
            theirs, to_target = await self._connect()
            self.trouble = ""
            ends.add(to_target)
            self._writers.add(to_target)
            await _both_ways((reader, to_target), (theirs, writer))
        except (OSError, TimeoutError) as error:
            self.trouble = str(getattr(error, "strerror", None) or error) or "no answer in time"
        finally:
            self._serving -= 1
            self._writers -= ends
            for end in ends:
                end.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        target = self._target
        async with asyncio.timeout(_CONNECT_S):
            if target.is_path:
                return await asyncio.open_unix_connection(target.host, limit=_PIECE)
            return await asyncio.open_connection(target.host, target.port, limit=_PIECE)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for end in self._writers:
            end.transport.abort()


async def _both_ways(*ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
    """Until one side closes its connection."""
    tasks = [asyncio.create_task(_pass(*way)) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
