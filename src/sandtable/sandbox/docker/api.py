"""The engine's HTTP API, as much of it as is needed, over its Unix socket. Docker's and Podman's alike.

Invariant: every call has a connection of its own, so that nothing of an engine that went away is used again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any
from urllib.parse import urlencode

import h11

OLDEST = (1, 40)
"""Docker 19.03, Podman 3: the first with all that a container is hardened by."""
NEWEST = (1, 51)
_MOST_BYTES = 32 << 20
_READ = 64 << 10
_CALL_S = 60.0

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class EngineAway(Exception):
    """The engine cannot be reached, or went away in the middle of a call."""

    def __init__(self, path: str, reason: OSError | str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class EngineRefused(Exception):
    """The engine answered, and the answer is no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Api:
    def __init__(self, path: str) -> None:
        self.path = path
        self._prefix = ""

    def speak(self, version: tuple[int, int]) -> None:
        """Calls name this version of the API from now on."""
        self._prefix = f"/v{version[0]}.{version[1]}"

    async def get(self, path: str, **query: Any) -> Any:
        return await self.call("GET", path, **query)

    async def describe(self, path: str) -> dict[str, Any]:
        """What can only be an object."""
        found = await self.get(path)
        if not isinstance(found, dict):
            raise EngineAway(self.path, "what answers there is no container engine")
        return found

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        within_s: float | None = _CALL_S,
        **query: Any,
    ) -> Any:
        """The answer's JSON, or None. Raises EngineAway and EngineRefused."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = [("Connection", "close")]
        connection, stream = await self._send(method, path, query, headers, content)
        try:
            async with asyncio.timeout(within_s):
                status, answer = await self._receive(connection, stream[0])
        except TimeoutError:
            raise EngineAway(self.path, f"no answer to {method} {path} within {within_s:g} s") from None
        finally:
            _close(stream)
        return _read(status, answer)

    async def attach(self, container: str) -> Stream:
        """The container's standard streams, from before its start to its end."""
        query = {"stream": 1, "stdin": 1, "stdout": 1, "stderr": 1}
        headers = [("Connection", "Upgrade"), ("Upgrade", "tcp")]
        connection, stream = await self._send("POST", f"/containers/{container}/attach", query, headers, b"")
        reader, _ = stream
        try:
            async with asyncio.timeout(_CALL_S):
                event = await self._next(connection, reader)
                if isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                    early, _ = connection.trailing_data
                    if early:
                        raise EngineAway(self.path, "a container spoke before it was started")
                    return stream
                status, answer = await self._rest(connection, reader, event)
        except TimeoutError:
            _close(stream)
            raise EngineAway(self.path, f"no answer to attach within {_CALL_S:g} s") from None
        except BaseException:
            _close(stream)
            raise
        _close(stream)
        _read(status, answer)
        raise EngineRefused(status, "the engine does not hand over the container's streams")

    async def _send(
        self, method: str, path: str, query: dict[str, Any], headers: list[tuple[str, str]], content: bytes
    ) -> tuple[h11.Connection, Stream]:
        target = self._prefix + path + (f"?{urlencode(query)}" if query else "")
        headers = [("Host", "localhost"), ("Content-Length", str(len(content))), *headers]
        if content:
            headers.append(("Content-Type", "application/json"))
        connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        parts = [
            connection.send(h11.Request(method=method, target=target, headers=headers)),
            connection.send(h11.Data(content)) if content else b"",
            connection.send(h11.EndOfMessage()),
        ]
        try:
            reader, writer = await asyncio.open_unix_connection(self.path, limit=1 << 20)
        except OSError as error:
            raise EngineAway(self.path, error) from error
        try:
            writer.write(b"".join(part or b"" for part in parts))
            await writer.drain()
        except OSError as error:
            writer.close()
            raise EngineAway(self.path, error) from error
        return connection, (reader, writer)

    async def _receive(self, connection: h11.Connection, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        return await self._rest(connection, reader, await self._next(connection, reader))

    async def _rest(
        self, connection: h11.Connection, reader: asyncio.StreamReader, event: h11.Event
    ) -> tuple[int, bytes]:
        status = 0
        body = bytearray()
        while not isinstance(event, h11.EndOfMessage):
            if isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > _MOST_BYTES:
                    raise EngineAway(self.path, f"an answer of more than {_MOST_BYTES >> 20} MiB")
            elif isinstance(event, h11.ConnectionClosed):
                raise EngineAway(self.path, "it hung up in the middle of an answer")
            event = await self._next(connection, reader)
        return status, bytes(body)

    async def _next(self, connection: h11.Connection, reader: asyncio.StreamReader) -> h11.Event:
        try:
            while (event := connection.next_event()) is h11.NEED_DATA:
                connection.receive_data(await reader.read(_READ))
        except (OSError, h11.RemoteProtocolError) as error:
            raise EngineAway(self.path, str(error)) from error
        if not isinstance(event, h11.Event):
            raise EngineAway(self.path, "it changed the protocol unasked")
        return event


def _close(stream: Stream) -> None:
    with contextlib.suppress(RuntimeError):
        # The event loop may be closed already.
        stream[1].close()


def _read(status: int, answer: bytes) -> Any:
    try:
        content = json.loads(answer) if answer.strip() else None
    except ValueError:
        content = answer.decode(errors="replace").strip()
    if status >= 400:
        told = content.get("message") if isinstance(content, dict) else content
        raise EngineRefused(status, str(told or f"status {status}"))
    return content
