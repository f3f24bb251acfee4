"""Between a kernel in its sandbox and the library that reads its answers: passes bytes on, and checks the kernel's.

Invariant: the first byte out of bounds ends the connection and is never passed on.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from sandtable.sandbox.local.zmtp import OutOfBounds, Watch

_PIECE = 64 << 10


class Relay:
    def __init__(self, target: Path, most_bytes: int) -> None:
        self._target = target
        self._most_bytes = most_bytes
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.breach: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """Which bound the kernel has exceeded, once it has."""

    async def listen(self, path: Path) -> None:
        self._server = await asyncio.start_unix_server(self._serve, path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.breach.done():
            writer.close()
            return
        try:
            theirs, to_kernel = await asyncio.open_unix_connection(self._target)
        except OSError:
            # The kernel is gone. The session notices that by itself.
            writer.close()
            return
        ends = {writer, to_kernel}
        self._open |= ends
        ways = [
            asyncio.create_task(self._pass(reader, to_kernel, None)),
            asyncio.create_task(self._pass(theirs, writer, Watch(self._most_bytes))),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in ends:
                end.close()
            self._open -= ends

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, watch: Watch | None
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(_PIECE):
                if watch is not None:
                    try:
                        watch.feed(piece)
                    except OutOfBounds as error:
                        if not self.breach.done():
                            self.breach.set_result(str(error))
                        return
                writer.write(piece)
                await writer.drain()

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for end in self._open:
            end.close()
        self.breach.cancel()
