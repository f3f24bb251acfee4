"""A container's standard streams, which the engine multiplexes: a header of eight bytes, then a chunk of a stream.

Invariant: the output is untrusted: a line is bounded before it is kept, and a line that is no JSON object is skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
import time
from typing import Any, Protocol

from sandtable.sandbox.docker.api import EngineAway
from sandtable.sandbox.wire import parse_strictly

_HEADER = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_ERRORS_KEPT = 64 << 10
_LENGTH = struct.Struct(">I")
OVERLONG = "overlong"
"""Kind of the message that replaces a line that is too long."""


class Connection(Protocol):
    """The part of `docker.api.Attached` that is used here."""

    async def read(self) -> bytes: ...

    async def write(self, data: bytes) -> None: ...

    async def aclose(self) -> None: ...


class Streams:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._header = bytearray()
        self._stream, self._left = 0, 0
        """The chunk that is being read: its stream, and how many bytes are still to come."""
        self.most_bytes = 1 << 20
        """Limit of one line."""
        self._line = bytearray()
        self._line_began = 0.0
        self.message_began = 0.0
        """When the first byte of the last message came: seconds since 1970."""
        self._errors = bytearray()
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._pump = asyncio.create_task(self._read(), name="container streams")

    @property
    def open(self) -> bool:
        return not self._pump.done()

    @property
    def errors(self) -> str:
        """The start of standard error."""
        return self._errors.decode(errors="replace")

    async def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        with contextlib.suppress(EngineAway):
            # `next_message` returns None when the container is gone, and its caller finds out how it ended.
            await self._connection.write(_LENGTH.pack(len(body)) + body)

    async def next_message(self) -> dict[str, Any] | None:
        """The next message, or None at the end."""
        message = await self._messages.get()
        if message is None:
            self._messages.put_nowait(None)
        return message

    async def aclose(self) -> None:
        self._pump.cancel()
        await asyncio.gather(self._pump, return_exceptions=True)
        await self._connection.aclose()

    async def _read(self) -> None:
        try:
            with contextlib.suppress(EngineAway):
                # The container's exit code tells a broken connection from an ended one.
                while data := await self._connection.read():
                    self._demultiplex(memoryview(data))
        finally:
            self._messages.put_nowait(None)

    def _demultiplex(self, data: memoryview) -> None:
        while data:
            if self._left:
                piece, data = data[: self._left], data[self._left :]
                self._left -= len(piece)
                self._take(self._stream, bytes(piece))
                continue
            missing = _HEADER.size - len(self._header)
            self._header += data[:missing]
            data = data[missing:]
            if len(self._header) == _HEADER.size:
                self._stream, self._left = _HEADER.unpack(self._header)
                self._header.clear()

    def _take(self, stream: int, piece: bytes) -> None:
        if stream == _STDERR:
            self._errors += piece[: max(0, _ERRORS_KEPT - len(self._errors))]
        elif stream == _STDOUT:
            *ended, rest = piece.split(b"\n")
            for part in ended:
                self._keep(part)
                self._end_line()
            self._keep(rest)

    def _keep(self, part: bytes) -> None:
        if not self._line:
            self._line_began = time.time()
        self._line += part[: max(0, self.most_bytes + 1 - len(self._line))]

    def _end_line(self) -> None:
        line, self._line = bytes(self._line), bytearray()
        if len(line) > self.most_bytes:
            self._messages.put_nowait({"kind": OVERLONG})
            return
        try:
            message = parse_strictly(line)
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict):
            self.message_began = self._line_began
            self._messages.put_nowait(message)
