"""A container's standard streams, as the engine mixes them into one: eight bytes of header, then a piece.

Invariant: what comes out is a stranger's: a line is bounded before it is kept, and what is no JSON object is
passed over.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
from typing import Any

from sandtable.sandbox.strict import parse_strictly

_HEADER = struct.Struct(">BxxxI")
_STDOUT, _STDERR = 1, 2
_ERRORS_KEPT = 64 << 10
_LENGTH = struct.Struct(">I")
OVERLONG = "overlong"
"""Kind of the message that stands for a line longer than it may be."""


class Streams:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.most_bytes = 1 << 20
        """Of one line."""
        self._line = bytearray()
        self._errors = bytearray()
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._pump = asyncio.create_task(self._read(), name="container streams")

    @property
    def open(self) -> bool:
        return not self._pump.done()

    @property
    def errors(self) -> str:
        """What came on standard error."""
        return self._errors.decode(errors="replace")

    async def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        with contextlib.suppress(OSError):
            # A container that is gone is noticed by `hear`, which can say how it ended.
            self._writer.write(_LENGTH.pack(len(body)) + body)
            await self._writer.drain()

    async def hear(self) -> dict[str, Any] | None:
        """The next message, or None at the end."""
        message = await self._messages.get()
        if message is None:
            self._messages.put_nowait(None)
        return message

    def close(self) -> None:
        self._pump.cancel()
        with contextlib.suppress(RuntimeError):
            # The event loop may be closed already.
            self._writer.close()

    async def _read(self) -> None:
        try:
            while True:
                stream, length = _HEADER.unpack(await self._reader.readexactly(_HEADER.size))
                while length:
                    piece = await self._reader.readexactly(min(length, 64 << 10))
                    length -= len(piece)
                    self._take(stream, piece)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self._messages.put_nowait(None)

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
            self._messages.put_nowait(message)
