"""The server's end of one sandbox: a socket for its one job, a pipe for its output, a handle to kill it.

Invariant: everything that comes through the socket is untrusted. Its length is checked before it is read, it is parsed
as JSON and validated as a JobResult, and nothing else is done with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
from collections.abc import Sequence
from typing import Any

from sandtable.sandbox.outcome import Ended
from sandtable.sandbox.wire import parse_strictly

_LENGTH = struct.Struct(">I")
_OUTPUT_KEPT = 64 << 10
UNASKED = "the sandbox answered before it was asked"


class Garbled(Exception):
    """The sandbox closed its channel early, or sent a message that is too long or malformed."""


class Sandbox:
    def __init__(self, channel: socket.socket, output: int) -> None:
        self._channel = channel
        self._output = output
        self._kept = bytearray()
        self._pidfd: int | None = None
        self._doomed = False
        self._disposed = False
        loop = asyncio.get_running_loop()
        self._loop = loop
        self.started: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[Ended] = loop.create_future()
        channel.setblocking(False)
        os.set_blocking(output, False)
        loop.add_reader(output, self._drain)

    @property
    def alive(self) -> bool:
        return not self.ended.done()

    @property
    def end(self) -> Ended | None:
        """How it ended, if it has."""
        return self.ended.result() if self.ended.done() else None

    def has_started(self, pidfd: int) -> None:
        self._pidfd = pidfd
        if self._doomed:
            self.kill()
        if self._disposed:
            self._close_handle()
        if not self.started.done():
            self.started.set_result(None)

    def has_ended(self, ended: Ended) -> None:
        if not self.ended.done():
            self.ended.set_result(ended)
        if not self.started.done():
            self.started.set_result(None)

    async def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        with contextlib.suppress(ConnectionError):
            # `receive` notices that a sandbox is gone, and its caller finds out how it ended.
            await self._loop.sock_sendall(self._channel, _LENGTH.pack(len(body)) + body)

    def hand_over(self, sockets: Sequence[socket.socket]) -> None:
        """Call after a message that announces them: the sandbox has them too from now on."""
        with contextlib.suppress(ConnectionError):
            socket.send_fds(self._channel, [b"s"], [each.fileno() for each in sockets])

    async def receive(self, limit: int) -> dict[str, Any]:
        (length,) = _LENGTH.unpack(await self._read(_LENGTH.size))
        if length > limit:
            raise Garbled(f"an answer of {length} bytes is over the limit of {limit}")
        try:
            message = parse_strictly(await self._read(length))
        except (ValueError, RecursionError) as error:
            raise Garbled(f"the answer is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise Garbled("the answer is not a JSON object")
        return message

    @property
    def has_spoken(self) -> bool:
        """Whether its channel has unread data. A ready sandbox that was sent nothing must have none."""
        try:
            return bool(self._channel.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        except OSError:
            # Its channel is closed: the next `receive` reports how it ended.
            return False

    async def _read(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count:
            try:
                part = await self._loop.sock_recv(self._channel, min(count, 1 << 20))
            except ConnectionError:
                part = b""
            if not part:
                raise Garbled("the sandbox ended before it answered")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _drain(self) -> None:
        try:
            part = os.read(self._output, 1 << 16)
        except BlockingIOError:
            return
        if not part:
            self._close_output()
        elif len(self._kept) < _OUTPUT_KEPT:
            self._kept += part[: _OUTPUT_KEPT - len(self._kept)]

    @property
    def output(self) -> str:
        """What the process wrote to its standard streams, bounded."""
        if self._output >= 0:
            self._drain()
        return self._kept.decode(errors="replace")

    def kill(self) -> None:
        """At once, or as soon as it is known to have started."""
        self._doomed = True
        if self._pidfd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def interrupt(self) -> None:
        """Ask its code to stop, as Ctrl-C would. The code may ignore it."""
        if self._pidfd is not None and self.alive:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGINT)

    def forget_output(self) -> None:
        """Discard what was written so far, so that the next job starts with empty output."""
        if self._output >= 0:
            self._drain()
        self._kept.clear()

    def _close_output(self) -> None:
        if self._output >= 0:
            self._loop.remove_reader(self._output)
            os.close(self._output)
            self._output = -1

    def dispose(self) -> None:
        """Kill it if it is alive and close its descriptors. May be called more than once."""
        self.kill()
        self._close_output()
        self._channel.close()
        self._disposed = True
        self._close_handle()

    def _close_handle(self) -> None:
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None
