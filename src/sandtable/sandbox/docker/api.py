"""The part of the engine's HTTP API that is needed, over its Unix socket. The same for Docker and Podman.

Invariant: every call has its own connection, so no connection to a stopped engine is reused; an answer is bounded in
size, and in time unless the caller waits for an end that may be far away.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpcore2
import httpx2

from sandtable.errors import InvalidInput

OLDEST = (1, 40)
"""Docker 19.03, Podman 3: the oldest versions with all hardening options."""
NEWEST = (1, 51)
_MOST_BYTES = 32 << 20
_READ = 64 << 10
_CALL_S = 60.0
_SWITCHING_PROTOCOLS = 101
_SCHEME = "unix://"
_ORIGIN = "http://localhost"
_PLAIN = {"Connection": "close"}
_UPGRADE = {"Connection": "Upgrade", "Upgrade": "tcp"}


def _usual() -> tuple[str, ...]:
    """Rootless sockets first: they need no rights over the machine."""
    own = f"/run/user/{os.getuid()}"
    return (
        f"{own}/docker.sock",
        str(Path.home() / ".docker/run/docker.sock"),
        "/var/run/docker.sock",
        f"{own}/podman/podman.sock",
        "/run/podman/podman.sock",
    )


def socket_path(host: str | None) -> str:
    """`host` as in DOCKER_HOST. Raises InvalidInput for an address that is not a local socket."""
    if not host:
        usual = _usual()
        return next((path for path in usual if Path(path).exists()), "/var/run/docker.sock")
    path = host.removeprefix(_SCHEME)
    if not path.startswith("/"):
        raise InvalidInput(
            f"DOCKER_HOST is {host!r}: containers are started over a socket of this machine only",
            suggestion=f"Name one as {_SCHEME}/var/run/docker.sock; "
            "for an engine elsewhere, run `sandtable execd` there and use the remote back end",
        )
    return path


class EngineAway(Exception):
    """The engine cannot be reached, or the connection broke during a call."""

    def __init__(self, path: str, reason: OSError | str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class EngineRefused(Exception):
    """The engine answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Attached:
    """A connection that carries a container's standard streams in both directions."""

    def __init__(self, path: str, response: httpx2.Response) -> None:
        self._path = path
        self._response = response
        self._stream: httpcore2.AsyncNetworkStream = response.extensions["network_stream"]

    async def read(self) -> bytes:
        """Empty at the end. Raises EngineAway."""
        try:
            return await self._stream.read(_READ)
        except httpcore2.NetworkError as error:
            raise EngineAway(self._path, str(error)) from error

    async def write(self, data: bytes) -> None:
        """Raises EngineAway."""
        try:
            await self._stream.write(data)
        except httpcore2.NetworkError as error:
            raise EngineAway(self._path, str(error)) from error

    async def aclose(self) -> None:
        await self._response.aclose()


class Api:
    def __init__(self, path: str) -> None:
        self.path = path
        self._prefix = ""
        unshared = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        # The bare transport: the client around it would log every call.
        self._transport = httpx2.AsyncHTTPTransport(verify=False, uds=path, limits=unshared, trust_env=False)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def use_version(self, version: tuple[int, int]) -> None:
        """Use this version of the API in later calls."""
        self._prefix = f"/v{version[0]}.{version[1]}"

    async def version(self) -> dict[str, Any]:
        """The engine's description. Sent without an API version, because none is agreed yet."""
        return self._object(await self._call("GET", "/version", {}, None, _CALL_S))

    async def get(self, path: str, **query: Any) -> Any:
        return await self.call("GET", path, **query)

    async def describe(self, path: str) -> dict[str, Any]:
        """The answer to a call that returns an object."""
        return self._object(await self.get(path))

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
        return await self._call(method, self._prefix + path, query, body, within_s)

    async def attach(self, container: str) -> Attached:
        """The container's standard streams, from before its start to its end. Raises EngineAway and EngineRefused."""
        path = f"{self._prefix}/containers/{container}/attach"
        query = {"stream": 1, "stdin": 1, "stdout": 1, "stderr": 1}
        request = httpx2.Request("POST", _ORIGIN + path, params=query, headers=_UPGRADE)
        async with self._failures("attach", _CALL_S):
            response = await self._transport.handle_async_request(request)
            if response.status_code == _SWITCHING_PROTOCOLS:
                return Attached(self.path, response)
            answer = await self._body(response)
        _read(response.status_code, answer)
        raise EngineRefused(response.status_code, "the engine does not hand over the container's streams")

    async def _call(
        self,
        method: str,
        path: str,
        query: dict[str, Any],
        body: dict[str, Any] | None,
        within_s: float | None,
    ) -> Any:
        request = httpx2.Request(method, _ORIGIN + path, params=query or None, json=body, headers=_PLAIN)
        async with self._failures(f"{method} {path}", within_s):
            response = await self._transport.handle_async_request(request)
            answer = await self._body(response)
        return _read(response.status_code, answer)

    async def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        try:
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            async for part in response.stream:
                body += part
                if len(body) > _MOST_BYTES:
                    raise EngineAway(self.path, f"an answer of more than {_MOST_BYTES >> 20} MiB")
        finally:
            await response.aclose()
        return bytes(body)

    @contextlib.asynccontextmanager
    async def _failures(self, call: str, within_s: float | None) -> AsyncIterator[None]:
        """Bounds a call in time, and raises EngineAway for every failure to get an answer."""
        try:
            async with asyncio.timeout(within_s):
                yield
        except TimeoutError:
            raise EngineAway(self.path, f"no answer to {call} within {within_s:g} s") from None
        except httpx2.TransportError as error:
            raise EngineAway(self.path, _system_error(error) or str(error)) from error

    def _object(self, found: Any) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise EngineAway(self.path, "what answers there is no container engine")
        return found


def _system_error(error: BaseException | None) -> OSError | None:
    """The operating system's error beneath the client's exceptions."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error


def _read(status: int, answer: bytes) -> Any:
    try:
        content = json.loads(answer) if answer.strip() else None
    except (ValueError, RecursionError):
        content = answer.decode(errors="replace").strip()
    if status >= 400:
        message = content.get("message") if isinstance(content, dict) else content
        raise EngineRefused(status, str(message or f"status {status}"))
    return content
